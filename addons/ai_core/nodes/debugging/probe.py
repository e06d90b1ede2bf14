"""Probes: what the debugger follows of the HabitTree or StateMachine that is looked at; breakpoints pause the game."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from addons.ai_core.nodes.characters.guard_expression import brief_value

BEGINS, ENDS, CONDITION = "begins", "ends", "condition changes"
"""When a breakpoint pauses the game."""

EITHER = f"{BEGINS} or {ENDS}"
"""Of a breakpoint on the first two."""

OnBreak = Callable[[str], object]


class Probe(ABC):
    """Follows a node that decides. A node without a probe has no extra work.

    Args:
        node: the HabitTree or StateMachine.
        on_break: called with a text when a breakpoint is reached, inside the tick.

    Attributes:
        breakpoints: when the game pauses, by the path of a habit or state.
    """

    def __init__(self, node: Any, on_break: OnBreak) -> None:
        self.node, self.breakpoints = node, dict[str, str]()
        self._on_break = on_break
        self._changed: dict[str, tuple[float, str]] = {}     # by path: time of the last change (s), and its words
        self._sent: dict[tuple[str, str], str] = {}
        self._answers: dict[str, bool | None] = {}           # of conditions with a breakpoint, by path

    @abstractmethod
    def close(self) -> None:
        """End all extra work of the node."""

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """Return the state of each habit or state, and the changed values; the rows if they have changed.

        Returns:
            "kind": class of the node. "node": its path. "rows": of each habit or state path, name, icon, and more; []
            if they are as before. "states": of each row [state, why, time (s) or -1, cost (µs a frame), last change].
            "values": [scope, key, value] of the changed values of the blackboard. "arrows": of a StateMachine, with
            the rows, [source, target, words, target mode] of each transition. "waiting": [source, target, words, why
            it is not taken] of the transitions that lead out of active states. "taken": [time (s), source, target,
            words] of those that were taken since the last report.
        """

    def send_all(self) -> None:
        """Report the rows and all values again."""
        self._sent = {}

    @abstractmethod
    def condition_at(self, path: str) -> tuple[bool | None, str]:
        """Return whether the condition of a habit, or a guard out of a state, is true, and its words; None: unknown."""

    @property
    def watches_conditions(self) -> bool:
        """Whether a breakpoint waits for a condition."""
        return CONDITION in self.breakpoints.values()

    def check_conditions(self) -> None:
        """Pause the game if the condition of a breakpoint has changed since the last check."""
        for path, moment in self.breakpoints.items():
            if moment == CONDITION:
                answer, words = self.condition_at(path)
                if answer is not None and self._answers.get(path) not in (answer, None):
                    self._on_break(f"{path}: {words}")
                self._answers[path] = answer
        for path in self._answers.keys() - self.breakpoints.keys():
            del self._answers[path]

    def _note(self, path: str, moment: str, words: str, now_s: float) -> None:
        self._changed[path] = (now_s, words)
        if self.breakpoints.get(path) in (moment, EITHER):
            self._on_break(f"{path} {moment}: {words}")

    def _last_change(self, path: str, now_s: float) -> str:
        at_s, words = self._changed.get(path, (0.0, ""))
        return f"{now_s - at_s:.1f} s ago: {words}" if words else ""

    def _changed_values(self, values: Iterable[tuple[str, str, Any]]) -> list[list[str]]:
        found = {(scope, key): brief_value(value) for scope, key, value in values}
        changed = [[*name, text] for name, text in found.items() if self._sent.get(name) != text]
        changed += [[*name, "(removed)"] for name in self._sent if name not in found]
        self._sent = found
        return changed


class CharacterProbes:
    """The probes of a game: of the node that is looked at, and of nodes with breakpoints.

    Args:
        kinds: makes the probe of a node, by its class.
        on_break: called with a text when a breakpoint is reached.
    """

    def __init__(self, kinds: dict[str, Callable[[Any, OnBreak], Probe]], on_break: OnBreak) -> None:
        self._kinds, self._on_break = kinds, on_break
        self._probes: dict[str, Probe] = {}     # by path of the node
        self._shown, self._charts = "", list[str]()

    @property
    def is_looking(self) -> bool:
        """Whether a node is looked at."""
        return bool(self._shown)

    @property
    def watches_conditions(self) -> bool:
        """Whether ``check_conditions`` has to be called in each frame."""
        return any(one.watches_conditions for one in self._probes.values())

    def close(self) -> None:
        """End all probes."""
        for probe in self._probes.values():
            probe.close()
        self._probes, self._shown, self._charts = {}, "", []

    def look_at(self, nodes: list[Any], wanted: str) -> None:
        """Report one of these nodes from now on.

        Args:
            nodes: those of a character; none ends it.
            wanted: path of the one to report; the first if it is none of these.
        """
        found = {str(one.get_path()): one for one in nodes}
        self._charts = list(found)
        self._shown = wanted if wanted in found else next(iter(found), "")
        if self._shown:
            self._probe(found[self._shown]).send_all()
        self._drop_unused()

    def set_breakpoint(self, node: Any, path: str, moment: str) -> None:
        """Pause at a moment of the habit or state at a path; "" removes the breakpoint."""
        if not any(map(node.is_class, self._kinds)):
            return
        breakpoints = self._probe(node).breakpoints
        if moment:
            breakpoints[path] = moment
        else:
            breakpoints.pop(path, None)
        self._drop_unused()

    def check_conditions(self) -> None:
        """Pause the game if the condition of a breakpoint has changed."""
        for probe in list(self._probes.values()):
            if probe.watches_conditions and probe.node.is_valid() and probe.node.core is not None:
                probe.check_conditions()

    def report(self) -> dict[str, Any]:
        """Return the report of the node that is looked at, its breakpoints, and the nodes to choose from."""
        probe = self._probes.get(self._shown)
        if probe is None or not probe.node.is_valid() or probe.node.core is None:
            return {}
        return {**probe.report(), "breakpoints": dict(probe.breakpoints), "charts": self._charts}

    def _probe(self, node: Any) -> Probe:
        path = str(node.get_path())
        probe = self._probes.get(path)
        if probe is None or not probe.node.is_valid() or probe.node != node:
            make = next(make for kind, make in self._kinds.items() if node.is_class(kind))
            probe = self._probes[path] = make(node, self._on_break)
        return probe

    def _drop_unused(self) -> None:
        for path in [path for path, one in self._probes.items() if path != self._shown and not one.breakpoints]:
            self._probes.pop(path).close()
