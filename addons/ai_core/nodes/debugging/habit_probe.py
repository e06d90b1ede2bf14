"""HabitProbe: follows one HabitTree for the live chart of the debugger; breakpoints pause the game."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.nodes.characters.guard_expression import brief_value
from addons.ai_core.nodes.debugging.chart_words import chart_words
from addons.ai_core.nodes.habits.habit_sharing import emit_entered, emit_exited
from ai_core.decisions.habits.habit_runner_loops import HabitContext

BEGINS, ENDS = "begins", "ends"
"""When a breakpoint pauses the game."""

OnBreak = Callable[[str], object]


class HabitProbe:
    """Follows one HabitTree: when its habits begin and end, what they cost, and its blackboard.

    A tree without a probe has no extra work.

    Args:
        tree: the HabitTree.
        on_break: called with a text when a breakpoint is reached, inside the tick.
    """

    def __init__(self, tree: Any, on_break: OnBreak) -> None:
        self.tree, self.breakpoints = tree, dict[str, str]()
        self._on_break = on_break
        self._changed: dict[int, tuple[float, str]] = {}     # by place: time of the last change (s), and its words
        self._plan: Any = None           # whose rows were sent
        self._sent: dict[tuple[str, str], str] = {}
        self._frame = 0
        tree.follow(self)

    def close(self) -> None:
        """End all extra work of the tree."""
        if self.tree.is_valid():
            self.tree.follow(None)

    def entered(self, run: HabitContext) -> None:
        """Note a habit that begins."""
        self._note(run, f"began, {run.reason}", BEGINS)
        emit_entered(run)

    def exited(self, run: HabitContext) -> None:
        """Note a habit that ends."""
        self._note(run, "interrupted" if run.status is None else run.status.value, ENDS)
        emit_exited(run)

    def send_all(self) -> None:
        """Report the rows and all values again."""
        self._plan, self._sent = None, {}

    def report(self) -> dict[str, Any]:
        """Return the state of each habit and the changed values; the rows if the habits have changed.

        Returns:
            "node": path of the tree. "rows": of each habit path, depth, name, kind, icon, begins and launch; [] if
            they are as before. "states": of each habit [state, why, time (s) or -1, cost (µs a frame), last change].
            "values": [scope, key, value] of the changed values of the blackboard.

        Cost: 2 to 4 µs for each habit.
        """
        tree = self.tree
        core = tree.core if tree.is_valid() else None
        if core is None:
            return {}
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
            index, run = row.place.index, row.run
            at_s, words = self._changed.get(index, (0.0, ""))
            states.append([
                row.state(core), row.why, -1.0 if run is None else run.time_in_habit_s,
                spent_ns.get(index, 0) / frames / 1000, f"{now_s - at_s:.1f} s ago: {words}" if words else ""])
        return {"node": str(tree.get_path()), "rows": rows, "states": states, "values": self._values(core)}

    def _row(self, core: Any, place: Any) -> dict[str, Any]:
        node = core.parts[place.index]
        words = {"kind": "", "icon": "", "begins": "", "launch": ""} if node is None else chart_words(node)
        return {"path": place.path, "depth": place.path.count("/"), "name": place.name,
                **{key: words[key] for key in ("kind", "icon", "begins", "launch")}}

    def _values(self, core: Any) -> list[list[str]]:
        found, scope = {}, core.blackboard
        while scope is not None:
            found.update({(scope.name, key): brief_value(value) for key, value in dict.items(scope)})
            scope = scope.parent
        changed = [[*name, text] for name, text in found.items() if self._sent.get(name) != text]
        changed += [[*name, "(removed)"] for name in self._sent if name not in found]
        self._sent = found
        return changed

    def _note(self, run: HabitContext, words: str, moment: str) -> None:
        self._changed[run.place.index] = (run.tree.seconds, words)
        if self.breakpoints.get(run.path) in (moment, f"{BEGINS} or {ENDS}"):
            self._on_break(f"{run.path} {moment}: {words}")


class HabitProbes:
    """The probes of a game: of the tree that is looked at, and of trees with breakpoints.

    Args:
        on_break: called with a text when a breakpoint is reached.
    """

    def __init__(self, on_break: OnBreak) -> None:
        self._on_break = on_break
        self._probes: dict[str, HabitProbe] = {}     # by path of the tree
        self._shown = ""

    @property
    def has_tree(self) -> bool:
        """Whether a tree is looked at."""
        return bool(self._shown)

    def close(self) -> None:
        """End all probes."""
        for probe in self._probes.values():
            probe.close()
        self._probes, self._shown = {}, ""

    def look_at(self, trees: list[Any]) -> None:
        """Report the first of these trees from now on; none for no tree."""
        self._shown = str(trees[0].get_path()) if trees else ""
        if trees:
            self._probe(trees[0]).send_all()
        self._drop_unused()

    def set_breakpoint(self, tree: Any, path: str, moment: str) -> None:
        """Pause when the habit at a path "begins", "ends" or "begins or ends"; "" removes the breakpoint."""
        breakpoints = self._probe(tree).breakpoints
        if moment:
            breakpoints[path] = moment
        else:
            breakpoints.pop(path, None)
        self._drop_unused()

    def report(self) -> dict[str, Any]:
        """Return the report of the tree that is looked at, with its breakpoints; empty without one."""
        probe = self._probes.get(self._shown)
        found = {} if probe is None else probe.report()
        return {**found, "breakpoints": dict(probe.breakpoints)} if probe is not None and found else {}

    def _probe(self, tree: Any) -> HabitProbe:
        path = str(tree.get_path())
        probe = self._probes.get(path)
        if probe is None or not probe.tree.is_valid() or probe.tree != tree:
            probe = self._probes[path] = HabitProbe(tree, self._on_break)
        return probe

    def _drop_unused(self) -> None:
        for path in [path for path, one in self._probes.items() if path != self._shown and not one.breakpoints]:
            self._probes.pop(path).close()
