"""State machines beside a table by hand and beside ``transitions``: the same states from the same events."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import State, StateMachineDefinition, Transition
from tools.benchmarking.declarations import Case, Contest

ELAPSED_S = 1 / 60

LEAVES = (
    "peace/idle", "peace/patrol", "hostile/alert/listen", "hostile/alert/search", "hostile/combat/chase",
    "hostile/combat/melee",
)
MOVES = (
    ("noise", "peace", "hostile"), ("see", "peace", "hostile/combat"), ("see", "hostile/alert", "hostile/combat"),
    ("lose", "hostile/combat", "hostile/alert"), ("calm", "hostile", "peace"), ("bored", "peace/idle", "peace/patrol"),
    ("bored", "peace/patrol", "peace/idle"),
)
"""By event, from, to: a guard in three levels."""

FIRST = {
    "peace": LEAVES[0], "hostile": LEAVES[2], "hostile/alert": LEAVES[2], "hostile/combat": LEAVES[4],
}

EVENTS = ["tick"] * 36 + ["noise", "see", "lose", "calm"]
"""Nine of ten change nothing."""


def told(machine: StateMachine) -> None:
    """Count what was told, as an enter or exit of a game would do something small."""
    machine.owner[0] += 1


def guard(*, is_told: bool) -> StateMachineDefinition:
    """Return the definition of a guard."""
    tell = told if is_told else None

    def state(name: str, *states: State) -> State:
        return State(name, states, enter=tell, exit=tell)

    return StateMachineDefinition(
        "guard",
        [
            state("peace", state("idle"), state("patrol")),
            state("hostile", state("alert", state("listen"), state("search")),
                  state("combat", state("chase"), state("melee"))),
        ],
        [*(Transition(*move) for move in MOVES), Transition("tick", None, None)],
    )


def leaf_transitions(n: int) -> Contest:
    """Return n machines of three levels that each change between two leaves, an exit and an enter called."""
    definition, count = guard(is_told=True), [0]
    machines = [StateMachine(definition, owner=count) for _ in range(n)]
    for machine in machines:
        machine.start()

    def ours() -> None:
        for machine in machines:
            machine.send("bored")

    def complaint() -> str:
        before = count[0], {machine.state for machine in machines}
        ours()
        after = count[0] - before[0], {machine.state for machine in machines}
        wanted = 2 * n, {other for other in LEAVES[:2] if other not in before[1]}
        return "" if after == wanted else f"{after} instead of {wanted}"

    return Contest(ours, complaint=complaint)


def a_frame_with_changes(n: int) -> Contest:
    """Return a frame of n machines: all are updated, every tenth changes its state."""
    definition, count = guard(is_told=True), [0]
    machines = [StateMachine(definition, owner=count) for _ in range(n)]
    frame = [0]

    def ours() -> None:
        frame[0] += 1
        for machine in machines[frame[0] % 10 :: 10]:
            machine.send("bored")
        for machine in machines:
            machine.update(ELAPSED_S)

    def complaint() -> str:
        ours()
        before, states = count[0], [machine.state for machine in machines]
        ours()
        changed = sum(machine.state != state for machine, state in zip(machines, states, strict=True))
        return "" if changed == n // 10 and count[0] - before == 2 * changed else f"{changed} changed"

    for _ in range(10):
        ours()
    return Contest(ours, complaint=complaint)


def ticks(n: int) -> Contest:
    """Return n machines that are each told one event, nine of ten of which change nothing."""
    definition = guard(is_told=False)
    machines = [StateMachine(definition) for _ in range(n)]
    for machine in machines:
        machine.start()
    return Contest(
        _rounds([machine.send for machine in machines], lambda: [machine.state for machine in machines]),
        {"table by hand": _by_hand(n)},
        {"transitions": lambda: _transitions(n)},
    )


def creation(n: int) -> Contest:
    """Return the making of n machines of one definition."""
    definition = guard(is_told=True)
    kept: list[Any] = []

    def ours() -> int:
        kept[:] = [StateMachine(definition) for _ in range(n)]
        return len(kept)

    return Contest(ours, complaint=lambda: "" if kept[-1].state == "" else "it began by itself")


def _rounds(sends: list[Callable[[str], object]], states: Callable[[], list[str]]) -> Case:
    """Return one event for each, all of them over and over; the events of a run bring all back to peace."""
    plans = [[EVENTS[(number * 7 + moment) % len(EVENTS)] for moment in range(4)] for number in range(len(sends))]

    def run() -> list[str]:
        for send, plan in zip(sends, plans, strict=True):
            for event in plan:
                send(event)
        reached = states()
        for send, state in zip(sends, reached, strict=True):
            if state[0] == "h":
                send("calm")
        return reached

    return run


def _by_hand(n: int) -> Case:
    table: dict[tuple[str, str], str] = {}
    for leaf in LEAVES:
        for event, source, target in reversed(MOVES):
            if leaf.startswith(source):
                table[leaf, event] = FIRST.get(target, target)
    states = [LEAVES[0]] * n

    def sender(number: int) -> Callable[[str], object]:
        def send(event: str) -> None:
            target = table.get((states[number], event))
            if target is not None:
                states[number] = target

        return send

    return _rounds([sender(number) for number in range(n)], lambda: list(states))


def _transitions(n: int) -> Case:
    from transitions.extensions.nesting import HierarchicalMachine, NestedState

    NestedState.separator = "/"

    class Guard:
        state: str
        trigger: Callable[[str], bool]

    states = [
        {"name": "peace", "initial": "idle", "children": ["idle", "patrol"]},
        {"name": "hostile", "initial": "alert", "children": [
            {"name": "alert", "initial": "listen", "children": ["listen", "search"]},
            {"name": "combat", "initial": "chase", "children": ["chase", "melee"]},
        ]},
    ]
    moves = [[event, source, target] for event, source, target in MOVES]
    moves += [["tick", source, None] for source in ("peace", "hostile")]
    guards = [Guard() for _ in range(n)]
    HierarchicalMachine(
        guards, states=states, transitions=moves, initial="peace/idle", ignore_invalid_triggers=True,
        auto_transitions=False,
    )
    return _rounds([one.trigger for one in guards], lambda: [one.state for one in guards])
