"""HabitProbe: follows one HabitTree for the live chart of the debugger."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from addons.ai_core.nodes.debugging.chart_words import chart_words
from addons.ai_core.nodes.debugging.probe import BEGINS, ENDS, OnBreak, Probe
from addons.ai_core.nodes.habits.habit_sharing import emit_entered, emit_exited
from ai_core.decisions.habits.habit_runner_loops import HabitContext


class HabitProbe(Probe):
    """Follows a HabitTree: when its habits begin and end, what they cost, and its blackboard."""

    def __init__(self, node: Any, on_break: OnBreak) -> None:
        super().__init__(node, on_break)
        self._plan: Any = None           # whose rows were sent
        self._frame = 0
        node.follow(self)

    def close(self) -> None:
        if self.node.is_valid():
            self.node.follow(None)

    def entered(self, run: HabitContext) -> None:
        """Note a habit that begins."""
        self._note(run.path, BEGINS, f"began, {run.reason}", run.tree.seconds)
        emit_entered(run)

    def exited(self, run: HabitContext) -> None:
        """Note a habit that ends."""
        self._note(run.path, ENDS, "interrupted" if run.status is None else run.status.value, run.tree.seconds)
        emit_exited(run)

    def send_all(self) -> None:
        super().send_all()
        self._plan = None

    def report(self) -> dict[str, Any]:
        """Return the report, as ``Probe.report``; cost: 2 to 4 µs for each habit."""
        tree = self.node
        core = tree.core
        rows = []
        if core.plan is not self._plan:
            self._plan, self._changed = core.plan, {}
            rows = [self._row(core, place) for place in core.plan.places]
        frame = tree.get_tree().get_frame()
        frames, self._frame = max(1, frame - self._frame), frame
        spent_ns, core.spent_ns = core.spent_ns, {}
        now_s = core.seconds
        states = []
        for row in core.rows(tree.why_refused):
            run = row.run
            states.append([
                row.state(core), row.why, -1.0 if run is None else run.time_in_habit_s,
                spent_ns.get(row.place.index, 0) / frames / 1000, self._last_change(row.place.path, now_s)])
        return {
            "kind": "HabitTree", "node": str(tree.get_path()), "rows": rows, "states": states,
            "values": self._changed_values(_values_of(core.blackboard)), "arrows": [], "waiting": [], "taken": []}

    def condition_at(self, path: str) -> tuple[bool | None, str]:
        place = self.node.core.plan.by_path.get(path)
        condition = None if place is None else place.habit.__dict__.get("condition")
        if condition is None:
            return None, ""
        tree = self.node
        is_true = condition.is_true(tree, tree.condition_answers.get(place.index))
        if is_true is False:
            return is_true, condition.words_of_false(tree)
        return is_true, f"condition `{condition.text}` is true"

    def _row(self, core: Any, place: Any) -> dict[str, Any]:
        node = core.parts[place.index]
        words = {"kind": "", "icon": "", "begins": "", "launch": ""} if node is None else chart_words(node)
        return {"path": place.path, "depth": place.path.count("/"), "name": place.name,
                "has_condition": "condition" in place.habit.__dict__,
                **{key: words[key] for key in ("kind", "icon", "begins", "launch")}}


def _values_of(board: Any) -> Iterator[tuple[str, str, Any]]:
    while board is not None:
        yield from ((board.name, key, value) for key, value in dict.items(board))
        board = board.parent
