"""A state machine: one character that is in one state at a time, and changes it by events."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, ClassVar, Literal

from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.decisions.callback_faults import CallbackFaults, read_failing
from ai_core.decisions.state_machines.state_machine_definition import (
    OWN_EVENTS,
    Route,
    StateMachineDefinition,
    StateNode,
    Step,
    TransitionPath,
)
from ai_core.errors import UnknownNameError, check_callables, check_kind, finite_number, shown
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import LATEST_S, Fields, State
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace

ROUNDING_S = 1e-9
"""What sums of times may differ by (s): who rests until a time is over wakes that much earlier, not a frame late."""


def rest_in(leaf: StateNode, since_s: float, since_around: Mapping[int, float] | None, now_s: float) -> float:
    """Return for how long an update in a state does nothing (s): 0, or until a time is over, or inf until an event.

    Args:
        leaf: the innermost active state.
        since_s: when it began (s).
        since_around: by index, when states around it began (s), where that counts.
        now_s: the time (s).
    """
    if leaf.updates:
        return 0.0
    rest_s = inf
    for route in leaf.automatic:
        if route.after_s is None:
            return 0.0
        began_s = (since_around or {}).get(route.source.index, since_s)
        rest_s = min(rest_s, began_s + route.after_s - now_s - ROUNDING_S)
    return max(rest_s, 0.0)


def live_view(
    definition: StateMachineDefinition, name: str, leaf: StateNode | None, time_in_state_s: float, reason: str
) -> str:
    """Return one line per state, the active ones marked, with the events the leaf waits for.

    Args:
        definition: of the machine.
        name: of the character.
        leaf: the innermost active state, None while none is.
        time_in_state_s: since it began (s).
        reason: why it did.

    Cost: O(states).
    """
    active = [] if leaf is None else leaf.up()
    lines = [name if leaf is not None else f"{name}: in no state; it begins with start, send or update"]
    for node in definition.nodes:
        indent = "  " * (node.depth - 1)
        if node not in active:
            lines.append(f"{indent}  {node.name}")
        elif node is not leaf:
            lines.append(f"{indent}* {node.name}")
        else:
            waits = ", ".join(event for event, routes in node.table.items() if routes) or "nothing"
            lines.append(f"{indent}* {node.name}: for {time_in_state_s:.2f} s, {reason}; waits for {waits}")
    return "\n".join(lines)


VERSION = 1


def without_removed(state: State, definition: StateMachineDefinition) -> State:
    """Return what ``save_state`` returned, for a machine that lives by another definition from now on.

    What was in states that are not there any more is left out; the active state is kept as it is.
    """
    nodes = {node.path: node for node in definition.nodes}
    leaves = {path for path, node in nodes.items() if not node.children}
    names = definition.callback_names()
    return {
        **state,
        "previous": state["previous"] if state["previous"] in leaves else "",
        "since_around": {path: since_s for path, since_s in state["since_around"].items() if path in nodes},
        "left": {
            path: leaf for path, leaf in state["left"].items()
            if path in nodes and leaf in leaves and leaf.startswith(f"{path}/")
        },
        "failing": [one for one in state["failing"] if one["name"] in names],
    }


def _saved(machine: StateMachine) -> State:
    _check_at_rest(machine)
    nodes = machine.definition.nodes
    return {
        "version": VERSION,
        "state": machine.state,
        "reason": machine._reason,
        "previous": machine.previous_state,
        "updates": machine._frame,
        "seconds": machine._seconds,
        "since_s": machine._since_s,
        "since_around": {nodes[index].path: since for index, since in sorted((machine._since_around or {}).items())},
        "left": {nodes[index].path: nodes[leaf].path for index, leaf in sorted((machine._left or {}).items())},
        "failing": [] if machine._faults is None else machine._faults.save(),
    }


def _prepared(machine: StateMachine, state: object) -> Callable[[], None]:
    _check_at_rest(machine)
    fields = Fields.versioned(state, version=VERSION)
    leaf, previous = _leaf_or_none(machine, fields, "state"), _leaf_or_none(machine, fields, "previous")
    reason, frame = fields.text("reason"), fields.whole("updates")
    seconds = fields.number("seconds", minimum=0.0, maximum=LATEST_S)
    since_s = fields.seconds("since_s")
    around = fields.group("since_around")
    since_around = {_node(machine, around, path, path).index: around.seconds(path) for path in around.names()}
    left = _read_left(machine, fields.group("left"))
    failing = read_failing(fields, machine.definition.callback_names())
    fields.end()

    def change() -> None:
        machine._leaf, machine._previous, machine._reason = leaf, previous, reason
        machine._come_to_rest()
        machine._frame, machine._seconds, machine._since_s = frame, seconds, since_s
        machine._since_around, machine._left = since_around or None, left or None
        if failing or machine._faults is not None:
            machine._callback_faults().put(failing)

    return change


def _check_at_rest(machine: StateMachine) -> None:
    if machine.is_busy:
        raise RuntimeError(f"{machine.name!r} is in the middle of a transition; save and load between two frames")


def _node(machine: StateMachine, fields: Fields, field: str, path: str) -> StateNode:
    try:
        return machine.definition.node(path)
    except UnknownNameError as error:
        fields.refuse(field, f"is not here: {error}")


def _leaf(machine: StateMachine, fields: Fields, field: str) -> StateNode:
    node = _node(machine, fields, field, fields.text(field))
    if node.children:
        fields.refuse(field, f"must be a state without states inside, got {node.path!r}")
    return node


def _leaf_or_none(machine: StateMachine, fields: Fields, field: str) -> StateNode | None:
    return None if fields.text(field) == "" else _leaf(machine, fields, field)


def _read_left(machine: StateMachine, fields: Fields) -> dict[int, int]:
    """Return by state the leaf it was left in."""
    left: dict[int, int] = {}
    for path in fields.names():
        node, leaf = _node(machine, fields, path, path), _leaf(machine, fields, path)
        if node is leaf or node not in leaf.up():
            fields.refuse(path, f"must be a state inside {path!r}, got {leaf.path!r}")
        left[node.index] = leaf.index
    return left


MOST_EVENTS_AT_ONCE = 64
"""Events that callbacks may send before the first is settled (count): chains of states have under ten, circles more."""
BUSY: dict[str, tuple[Route, ...]] = {}
"""The table while a transition runs: it knows no event, so each goes the slow way, to wait."""
NOWHERE: dict[str, tuple[Route, ...]] = {}
"""The table before the beginning and after ``stop``."""


class StateMachine:
    """Runs one definition for one character.

    - It begins with ``start``, or by itself with the first ``send`` or ``update``.
    - An event sent while a transition runs waits until that is over; ``send``
      returns None then. Events that go on for ever are cut off and reported.
    - A transition calls ``exit`` from the inside out, its ``action``, then
      ``enter`` from the outside in. Callbacks are called with the machine.
    - A state is active (``state``, ``is_in``) from its own ``enter`` to its own
      ``exit``, both included, as in SCXML: not while an outer one is entered or left.
    - ``update`` calls those of the active states from the outside in, then
      takes at most one transition that has no event.
    - A callback that raises is reported, and the machine goes on: the state is
      entered all the same, a guard says no. One that failed several times in a
      row is left out until ``release_quarantined``.

    Args:
        definition: shared with other characters.
        owner: the character, for its callbacks.
        name: what traces, reports and ``to_text`` call it; else the definition's.
        clock: tells the time; None adds up the times of ``update``: an event then happens at the last one.
        trace: ``state_entered`` is called for each state that begins.
        faults: told of callbacks that raise; None makes one that logs.
        parts: what of the character callbacks of a shared definition need to find; ``machine.parts``.
        listening: asked with ``parts`` and the time (s) before a change that calls only notices,
            which have a true attribute ``is_notice``; no: they are left out.

    Attributes:
        event, payload: inside callbacks: the event that led here, and what was sent with it; else None.
        elapsed_s: inside ``update``: since the last one (s).

    Cost: O(1); about 250 bytes. A transition is O(states left and entered); any other event or update O(1).
    """

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    __slots__ = (
        "__weakref__",
        "_at",
        "_clock",
        "_definition",
        "_faults",
        "_frame",
        "_isolation",
        "_kept_errors",
        "_leaf",
        "_left",
        "_listening",
        "_previous",
        "_queue",
        "_reason",
        "_seconds",
        "_should_stop",
        "_since_around",
        "_since_s",
        "_table",
        "_trace",
        "elapsed_s",
        "event",
        "name",
        "owner",
        "parts",
        "payload",
    )

    def __init__(
        self,
        definition: StateMachineDefinition,
        *,
        owner: Any = None,
        name: str = "",
        clock: Clock | None = None,
        trace: Trace | None = None,
        faults: FaultIsolation | None = None,
        parts: Any = None,
        listening: Callable[[Any, float], object] | None = None,
    ) -> None:
        if not isinstance(definition, StateMachineDefinition):
            raise TypeError(f"definition must be a StateMachineDefinition, got {shown(definition)}")
        if clock is not None:
            checked_clock(clock)
        check_kind("trace", trace, Trace)
        check_kind("faults", faults, FaultIsolation)
        check_callables(listening=listening)
        self._definition, self._table = definition, NOWHERE
        self._leaf: StateNode | None = None
        self._at: StateNode | None = None     # the innermost active state while some are left and entered; else None
        self._previous: StateNode | None = None
        self._left: dict[int, int] | None = None
        self._since_around: dict[int, float] | None = None
        self._queue: list[tuple[str, Any]] | None = None
        self._kept_errors: list[Exception] | None = None
        self._faults: CallbackFaults | None = None
        self._clock, self._trace, self._isolation, self._listening = clock, trace, faults, listening
        self._seconds = self._since_s = self.elapsed_s = 0.0
        self._frame, self._should_stop, self._reason = 0, False, ""
        self.event: str | None = None
        self.payload: Any = None
        self.owner, self.name, self.parts = owner, name or definition.name, parts

    @property
    def definition(self) -> StateMachineDefinition:
        """The states and transitions it lives by."""
        return self._definition

    @property
    def state(self) -> str:
        """Path of the innermost active state; "" while none is, as in the action between two outermost states."""
        active = self._at or self._leaf
        return "" if active is None else active.path

    @property
    def previous_state(self) -> str:
        """Path of the state that was active before this one; "" for none."""
        return "" if self._previous is None else self._previous.path

    @property
    def time_in_state_s(self) -> float:
        """Game time since the innermost active state began (s); until ``enter``, of the one that is left."""
        return 0.0 if self._leaf is None else self._now_s() - self._since_s

    @property
    def is_busy(self) -> bool:
        """True inside its callbacks: events wait, and it cannot be saved."""
        return self._table is BUSY

    @property
    def needs_update(self) -> bool:
        """False if ``update`` has nothing to do in this state: no callback, and no transition by itself."""
        return self._leaf is None or not self._leaf.is_still

    @property
    def rests_s(self) -> float:
        """For how long ``update`` has nothing to do (s): 0, or until a time is over, or inf for until an event."""
        return 0.0 if self._leaf is None else rest_in(self._leaf, self._since_s, self._since_around, self._now_s())

    def is_in(self, path: str) -> bool:
        """Return True if the state at this path is active, or one inside it.

        Raises:
            UnknownNameError: if there is no such state.
        """
        wanted, active = self._definition.node(path), self._at or self._leaf
        return active is not None and wanted in active.up()

    def send(self, event: str, payload: Any = None) -> bool | None:
        """Tell the machine that something happened.

        Args:
            event: one that some transition waits for.
            payload: what callbacks find as ``machine.payload``.

        Returns:
            Whether a transition was taken; None if the event waits, because one is running.

        Raises:
            UnknownNameError: if no transition waits for such an event.
        """
        try:
            routes = self._table[event]
        except (KeyError, TypeError):
            return self._send_otherwise(event, payload)
        if not routes:
            return False
        self._table = BUSY
        self.event, self.payload = event, payload
        try:
            has_changed = self._take_first(routes)
            if self._queue is not None:
                self._settle_queue()
        finally:
            self._come_to_rest()
        return has_changed

    def update(self, elapsed_s: float) -> None:
        """Live on for ``elapsed_s`` of game time.

        Args:
            elapsed_s: since the last update (s), 0 or more.

        Raises:
            ValueError: if the time is negative or not finite.
            RuntimeError: if called from inside a callback of this machine.
        """
        if type(elapsed_s) is not float or not 0.0 <= elapsed_s < inf:
            elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        if self._table is BUSY:
            raise RuntimeError(f"{self.name!r} was updated from inside one of its own callbacks; send an event instead")
        self._seconds += elapsed_s
        self._frame += 1
        leaf = self._leaf
        if leaf is None:
            self.start()
            leaf = self._leaf
        if leaf is None or leaf.is_still:
            return
        self.elapsed_s = elapsed_s
        self._table = BUSY
        try:
            self._run(leaf.updates)
            if self._queue is not None:
                self._settle_queue()
            if self._leaf is not None and self._leaf.automatic:
                self._take_first(self._leaf.automatic)
                if self._queue is not None:
                    self._settle_queue()
        finally:
            self._come_to_rest()

    def advance(self, turn: Turn) -> None:
        """Update as a scheduler's work: ``scheduler.add(machine)``."""
        if not isinstance(turn, Turn):
            raise TypeError(f"advance takes a Turn, got {shown(turn)}; use machine.update(elapsed_s) by hand")
        self.update(turn.elapsed_s)

    def start(self) -> None:
        """Enter the initial state; nothing if a state is active."""
        if self._leaf is None and self._table is not BUSY:
            self._table = BUSY
            try:
                self._move(self._definition.beginning, None, "start")
                if self._queue is not None:
                    self._settle_queue()
            finally:
                self._come_to_rest()

    def stop(self) -> None:
        """Leave all states and forget what was; what comes next begins anew.

        From inside a callback: as soon as events are settled.
        """
        self._should_stop = True
        if self._table is not BUSY:
            self._table = BUSY
            self._come_to_rest()

    def release_quarantined(self) -> None:
        """Let callbacks be called again that were left out because they kept failing."""
        if self._faults is not None:
            self._faults.release()

    def to_text(self) -> str:
        """Return which states are active, since when and why; one state per line."""
        return live_view(self._definition, self.name, self._at or self._leaf, self.time_in_state_s, self._reason)

    def _send_otherwise(self, event: str, payload: Any) -> bool | None:
        """Send what the table does not know: while busy, before the beginning, or by mistake."""
        self._definition.check_event(event)
        if self._table is BUSY:
            if self._queue is None:
                self._queue = []
            self._queue.append((event, payload))
            return None
        self.start()
        return self.send(event, payload) if self._leaf is not None else False

    def _take_first(self, routes: tuple[Route, ...]) -> bool:
        for route in routes:
            if route.after_s is not None and not self._has_lasted(route.source, route.after_s):
                continue
            if route.guard is not None and not self._allows(route):
                continue
            way = route.way
            if route.find is not None:
                assert self._leaf is not None
                way = route.find(self._leaf, self._previous, self._left or {})
                if way is None:
                    continue  # there is no previous state to go back to
            if way is None:
                self._run(route.actions)
            else:
                self._move(way, route, route.reason)
            return True
        return False

    def _move(self, way: TransitionPath, route: Route | None, reason: str) -> None:
        leaf, clock, listening = self._leaf, self._clock, self._listening
        now_s = self._seconds if clock is None else clock.now.seconds
        only_tells = way.only_tells and (route is None or route.only_tells)
        is_told = listening is None or not only_tells or listening(self.parts, now_s)
        if is_told:
            self._run(way.exits)
            if route is not None:
                self._at = way.domain
                self._run(route.actions)
            now_s = self._seconds if clock is None else clock.now.seconds
        if leaf is not None:
            for index in way.remembered:
                self._left = {**(self._left or {}), index: leaf.index}
            if leaf is not way.leaf:
                self._previous = leaf
        self._leaf, self._reason, self._since_s, self._at = way.leaf, reason, now_s, None
        for index in way.timed:
            self._since_around = {**(self._since_around or {}), index: self._since_s}
        if self._trace is not None and self._trace.state_entered:
            self._tell_trace(self._trace, way)
        if is_told:
            self._run(way.enters)
        self._at = None

    def _settle_queue(self) -> None:
        """Work off the events that callbacks sent, in their order."""
        assert self._queue is not None
        settled = 0
        while self._queue:
            if settled == MOST_EVENTS_AT_ONCE:
                circle = ", ".join(repr(event) for event, _ in self._queue[:3])
                self._queue.clear()
                self._report(OWN_EVENTS, RuntimeError(
                    f"callbacks in {self.state!r} sent more than {MOST_EVENTS_AT_ONCE} events at once,"
                    f" the last {circle}; they go round in a circle, the rest is dropped"))
                break
            settled += 1
            self.event, self.payload = self._queue.pop(0)
            if self._leaf is not None:
                self._take_first(self._leaf.table[self.event])
        self._queue = self.event = self.payload = None

    def _come_to_rest(self) -> None:
        self.event = self.payload = self._at = None
        if self._should_stop:
            self._leave_all()
        leaf = self._leaf
        self._table = NOWHERE if leaf is None else leaf.table
        if self._kept_errors is not None:
            first, self._kept_errors = self._kept_errors[0], None
            raise first

    def _leave_all(self) -> None:
        if self._leaf is not None:
            self._run(tuple(step for node in self._leaf.up() for step in node.exit))
        self._should_stop = False  # an exit that asks for a stop has it
        self._leaf = self._at = self._previous = self._left = self._since_around = self._queue = None

    def _run(self, steps: tuple[Step, ...]) -> None:
        for action, name, active in steps:
            if active is not None:
                self._at = active
            if self._faults is not None and self._faults.is_left_out(name):
                continue
            try:
                action(self)
            except Exception as error:  # the machine stays whole, the frame goes on
                self._report(name, error)
            else:
                if self._faults is not None:
                    self._faults.note_success(name)

    def _allows(self, route: Route) -> bool:
        assert route.guard is not None
        if self._faults is not None and self._faults.is_left_out(route.guard_name):
            return False
        try:
            answer = bool(route.guard(self))
        except Exception as error:  # who cannot say so does not allow it
            self._report(route.guard_name, error)
            return False
        if self._faults is not None:
            self._faults.note_success(route.guard_name)
        return answer

    def _has_lasted(self, source: StateNode, after_s: float) -> bool:
        since_s = (self._since_around or {}).get(source.index, self._since_s)
        return self._now_s() - since_s >= after_s

    def _now_s(self) -> float:
        return self._seconds if self._clock is None else self._clock.now.seconds

    def _now(self) -> TimeIndex:
        return TimeIndex(self._frame, self._seconds) if self._clock is None else self._clock.now

    def _tell_trace(self, trace: Trace, way: TransitionPath) -> None:
        for node in way.entered:
            for hook in trace.state_entered:
                try:
                    hook(self.name, node.path, self._reason, self._now())
                except Exception as error:  # raised when the machine is whole again
                    self._keep(error)

    def _report(self, name: str, error: Exception) -> None:
        try:
            self._callback_faults().report(name, self._now().frame, error)
        except Exception as raised:  # asked to come through: when the machine is whole again
            self._keep(raised)

    def _callback_faults(self) -> CallbackFaults:
        if self._faults is None:
            self._faults = CallbackFaults(self.name, self._isolation or FaultIsolation())
        return self._faults

    def _keep(self, error: Exception) -> None:
        self._kept_errors = [*(self._kept_errors or ()), error]

    @property
    def clock(self) -> Clock | None:
        """What tells it the time, or None."""
        return self._clock

    def skip_time(self, seconds: float) -> None:
        """Let time that has passed count for nothing: its character was paused, and states began that much later.

        Args:
            seconds: game time (s), 0 or more; no state begins later than now.

        Raises:
            ValueError: if it is negative or no finite number.

        Cost: O(depth of the active state).
        """
        finite_number("seconds", seconds, minimum=0, remedy="give the time that has passed")
        machine = self
        now_s = machine._now_s()
        machine._since_s = min(machine._since_s + seconds, now_s)
        if machine._since_around:
            machine._since_around = {
                index: min(since_s + seconds, now_s) for index, since_s in machine._since_around.items()}

    def save_state(self) -> State:
        """Return the active state, since when, and where the machine was, as plain data.

        Raises:
            RuntimeError: if called from inside a callback of this machine.
        """
        return _saved(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the states that are here; return what loads it.

        States are found by their paths. No callback is called by loading, and
        what was active here is dropped without its ``exit``.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called from inside a callback of this machine.
        """
        return _prepared(self, state)


__all__ = ["MOST_EVENTS_AT_ONCE", "StateMachine", "live_view", "rest_in", "without_removed"]
