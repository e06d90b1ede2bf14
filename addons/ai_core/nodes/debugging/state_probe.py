"""StateProbe: follows one StateMachine for the live chart of the debugger."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from addons.ai_core.nodes.debugging.chart_words import chart_words
from addons.ai_core.nodes.debugging.probe import BEGINS, ENDS, OnBreak, Probe

PLACE = "_chart_place"
"""Metadata of an AIState: where the chart draws it in its outer state."""

MOST_TAKEN = 40
"""Taken transitions that are kept until the next report (count); older ones are dropped."""


class StateProbe(Probe):
    """Follows a StateMachine: its states, the transitions taken with their times, and why others are not taken.

    It connects to the signals of the machine and of its transitions. Of a running machine it hears the first ones half
    a second later.
    """

    def __init__(self, node: Any, on_break: OnBreak) -> None:
        super().__init__(node, on_break)
        self._definition: Any = None     # whose rows were sent
        self._nodes: Any = None          # to whose signals it is connected
        self._connected: list[tuple[Any, str, Callable[..., object]]] = []
        self._taken: deque[list[Any]] = deque(maxlen=MOST_TAKEN)
        self._connect()

    def close(self) -> None:
        for node, signal, callback in self._connected:
            if node.is_valid():
                getattr(node, signal).disconnect(callback)
        self._connected, self._nodes = [], None

    def send_all(self) -> None:
        super().send_all()
        self._definition = None

    def report(self) -> dict[str, Any]:
        """Return the report, as ``Probe.report``; cost: 2 to 4 µs for each state and transition."""
        self._connect()
        machine = self.node
        core, nodes = machine.core, machine.nodes
        rows, arrows = [], []
        if core.definition is not self._definition:
            self._definition, self._changed = core.definition, {}
            rows = [self._row(path, state) for path, state in nodes.states.items()]
            arrows = [self._arrow(number) for number in range(len(nodes.transitions))]
        taken, self._taken = list(self._taken), deque(maxlen=MOST_TAKEN)
        state = core.state
        active = {state[:at] for at in (*_slashes(state), len(state)) if state}
        now_s = core.clock.now.seconds
        return {
            "kind": "StateMachine", "node": str(machine.get_path()), "rows": rows, "arrows": arrows,
            "states": [self._state(path, state, path in active, now_s) for path in nodes.states],
            "values": self._changed_values(("character", key, one) for key, one in machine.blackboard.items()),
            "waiting": [self._waiting(number, state) for number, source in enumerate(nodes.sources)
                        if state and (source is None or source in active)],
            "taken": taken}

    def condition_at(self, path: str) -> tuple[bool | None, str]:
        nodes = self.node.nodes
        answers = [
            (one.guards_allow(), f"guard of {one.get_name()}")
            for one, source in zip(nodes.transitions, nodes.sources, strict=True) if source == path and one.is_guarded]
        known = [answer for answer in answers if answer[0] is not None]
        allowed = [words for answer, words in known if answer]
        if not known:
            return None, ""
        return bool(allowed), f"{', '.join(allowed)} is true" if allowed else "no guard is true any more"

    def _connect(self) -> None:
        """Listen to the present nodes of the machine."""
        nodes = self.node.nodes
        if nodes is None or nodes is self._nodes:
            return
        self.close()
        self._nodes = nodes
        wanted = [(self.node, "state_entered", self._entered), (self.node, "state_exited", self._exited)]
        wanted += [(one, "taken", partial(self._note_taken, number)) for number, one in enumerate(nodes.transitions)]
        for node, signal, callback in wanted:
            getattr(node, signal).connect(callback)
            self._connected.append((node, signal, callback))

    def _entered(self, path: str) -> None:
        core = self.node.core
        self._note(path, BEGINS, f"began, {core.reason}", core.clock.now.seconds)

    def _exited(self, path: str) -> None:
        core = self.node.core
        if core is not None:
            self._note(path, ENDS, "ended", core.clock.now.seconds)

    def _note_taken(self, number: int, _event: str, _payload: Any) -> None:
        self._taken.append([self.node.core.clock.now.seconds, *self._arrow(number)[:3]])

    def _row(self, path: str, state: Any) -> dict[str, Any]:
        node = self.node.core.definition.node(path)
        return {
            "path": path, "parent": path.rpartition("/")[0], "name": node.name, "icon": chart_words(state)["icon"],
            "place": state.get_meta(PLACE) if state.has_meta(PLACE) else None,
            "is_initial": node.parent.initial is node,
            "has_condition": any(
                one.is_guarded for one, source in zip(self._nodes.transitions, self._nodes.sources, strict=True)
                if source == path)}

    def _arrow(self, number: int) -> list[Any]:
        """Return [source or "", target or "", words, target mode] of a transition."""
        node, source = self._nodes.transitions[number], self._nodes.sources[number]
        to = node.get_node_or_null(node.to) if node.target == node.Target.STATE and node.to else None
        return [source or "", "" if to is None else to.path, chart_words(node)["begins"], int(node.target)]

    def _state(self, path: str, leaf: str, is_active: bool, now_s: float) -> list[Any]:
        core = self.node.core
        began_s = self._changed.get(path, (now_s, ""))[0] if is_active else now_s
        time_s = core.time_in_state_s if path == leaf else now_s - began_s if began_s < now_s else -1.0
        return [
            "active" if is_active else "pending", core.reason if path == leaf else "", time_s if is_active else -1.0,
            0.0, self._last_change(path, now_s)]

    def _waiting(self, number: int, leaf: str) -> list[str]:
        source, core = self._nodes.sources[number], self.node.core
        waited_s = core.waited_s(source or leaf)
        return [*self._arrow(number)[:3], self._nodes.transitions[number].why_not_taken(waited_s)]


def _slashes(path: str) -> list[int]:
    return [at for at, letter in enumerate(path) if letter == "/"]
