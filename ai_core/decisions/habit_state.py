"""The state of a habit tree: which habits are active since when, and what they remember.

Loading begins and ends nothing: no callback is called. A habit that was active
goes on with its next tick, one that was pending waits.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from ai_core.clock import Clock, TimeIndex
from ai_core.decisions.habit_context import HabitContext
from ai_core.decisions.habit_faults import HabitFaults
from ai_core.decisions.habit_plan import Place
from ai_core.errors import UnknownNameError
from ai_core.faults import FaultIsolation
from ai_core.saving.chance import prepare_random, save_random
from ai_core.saving.fields import LATEST_S, Fields, State
from ai_core.saving.values import SavedValues

if TYPE_CHECKING:
    from ai_core.decisions.habit_tree import HabitTree

__all__ = ["PLAIN_VALUES", "SaveableHabits", "active_runs"]

VERSION = 1

PLAIN_VALUES = SavedValues()
"""For blackboards and memories that hold plain data; one for all trees."""

Places = dict[str, Place]


class SaveableHabits:
    """What makes a ``HabitTree`` saveable."""

    __slots__ = ("_clock", "values")

    _clock: Clock | None
    values: SavedValues

    @property
    def clock(self) -> Clock | None:
        """What tells ``tick`` the time, or None."""
        return self._clock

    def save_state(self) -> State:
        """Return what is active, held and remembered, the blackboard too, as plain data.

        Raises:
            StateError: if the blackboard or a memory holds what is neither plain
                nor named.
            TypeError: if random habits choose with a generator that cannot be saved.
            RuntimeError: if called from inside a habit of this tree.
        """
        return _saved(cast("HabitTree", self))

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the habits that are here; return what loads it.

        Habits are found by their paths. No callback is called by loading, and
        what was active here is dropped without its ``exit``.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called from inside a habit of this tree.
        """
        return _prepared(cast("HabitTree", self), state)


def active_runs(run: HabitContext | None) -> list[HabitContext]:
    """Return a run and all below it, parents first, those beside in the order begun."""
    if run is None:
        return []
    below = [*([run.child] if run.child is not None else []), *(run.beside or ())]
    return [run, *(one for child in below for one in active_runs(child))]


def _saved(tree: HabitTree) -> State:
    _check_at_rest(tree)
    places, values = tree.plan.places, tree.values
    draws = tree.plan.random_path is not None
    return {
        "version": VERSION,
        "ticked_at": list(tree._now),
        "elapsed_s": tree._elapsed_s,
        "active": [
            {
                "path": run.path,
                "reason": run.reason,
                "elapsed_s": run.elapsed_s,
                "time_in_habit_s": run.time_in_habit_s,
                "has_ticked": run.has_ticked,
                "is_faulty": run.is_faulty,
                "memory": values.plain(run._memory, f"memory ({run.path})"),
            }
            for run in active_runs(tree.root_run)
        ],
        "holds": [[places[index].path, None if held == math.inf else held]
                  for index, held in sorted(tree.holds.items())],
        "endings": {places[index].path: why for index, why in sorted(tree.endings.items())},
        "blackboard": values.plain(tree._blackboard, "blackboard"),
        "random": save_random(tree._random) if draws else None,
        "failing": _saved_failing(tree),
    }


def _saved_failing(tree: HabitTree) -> list[State]:
    if tree._faults is None:
        return []
    return [
        {"path": tree.plan.places[index].path, "of_asking": of_asking,
         "failures": failures, "is_quarantined": is_quarantined}
        for index, of_asking, failures, is_quarantined in tree._faults.counts()
    ]


def _prepared(tree: HabitTree, state: object) -> Callable[[], None]:
    _check_at_rest(tree)
    fields = Fields.versioned(state, version=VERSION)
    places = {place.path: place for place in tree.plan.places}
    now = TimeIndex(*fields.moment("ticked_at"))
    elapsed_s = fields.number("elapsed_s", maximum=LATEST_S)
    root = _read_active(tree, fields, places)
    holds = _read_holds(fields, places, {run.place for run in active_runs(root)})
    ends = fields.group("endings")
    endings = {_place(ends, path, path, places).index: ends.text(path) for path in ends.names()}
    board = _read_dict(tree, fields, "blackboard")
    put_random = _read_random(tree, fields)
    failing = _read_failing(fields, places)
    fields.end()

    def change() -> None:
        for run in active_runs(tree.root_run):
            run.status = run.parent = None  # whoever kept it sees that it is over
        tree._now, tree._elapsed_s, tree.root_run = now, elapsed_s, root
        tree.holds, tree.endings = holds, endings
        if board is not None or tree._blackboard:
            tree.blackboard.clear()  # kept as it is: others may share it
            tree.blackboard.update(board or {})
        put_random()
        _put_failing(tree, failing)

    return change


def _check_at_rest(tree: HabitTree) -> None:
    if tree._is_busy:
        raise RuntimeError(
            f"{tree.name!r} is in the middle of a tick; save and load between two frames"
        )


def _place(fields: Fields, field: str, path: str, places: Places) -> Place:
    if path not in places:
        fields.refuse(field, f"is not here: {UnknownNameError('habit', path, places)}")
    return places[path]


def _read_active(tree: HabitTree, fields: Fields, places: Places) -> HabitContext | None:
    """Return the run of the root, with all below it."""
    runs: dict[str, HabitContext] = {}
    for one in fields.groups("active"):
        path = one.text("path")
        place = _place(one, "path", path, places)
        above = path.rpartition("/")[0]
        parent = runs.get(above)
        if path in runs:
            one.refuse("path", f"comes twice: {path!r}")
        if above and parent is None:
            one.refuse("path", f"must come after {above!r}, which it is part of")
        run = runs[path] = HabitContext(tree, place, parent, one.text("reason"))
        run.elapsed_s = one.number("elapsed_s", maximum=LATEST_S)
        run.time_in_habit_s = one.number("time_in_habit_s", maximum=LATEST_S)
        run.has_ticked, run.is_faulty = one.flag("has_ticked"), one.flag("is_faulty")
        run._memory = _read_dict(tree, one, "memory")
        one.end()
        if parent is None:
            continue
        if place.is_beside:
            parent.beside = [*(parent.beside or ()), run]
        elif parent.child is None:
            parent.child = run
        else:
            one.refuse("path", f"cannot be active beside {parent.child.path!r}, got {path!r}")
    return runs.get(tree.plan.root.path)


def _read_holds(fields: Fields, places: Places, active: set[Place]) -> dict[int, float]:
    holds: dict[int, float] = {}
    for index, pair in enumerate(fields.items("holds")):
        if not isinstance(pair, list) or len(pair) != 2:
            fields.refuse(f"holds[{index}]", "must be [path, priority]")
        one = Fields({"path": pair[0], "priority": pair[1]}, fields.place_of(f"holds[{index}]"))
        place = _place(one, "path", one.text("path"), places)
        if place not in active or place.index in holds:
            one.refuse("path", f"must be an active habit, each once, got {place.path!r}")
        holds[place.index] = one.number_or("priority", math.inf)
    return holds


def _read_dict(tree: HabitTree, fields: Fields, name: str) -> dict[str, Any] | None:
    value = tree.values.value(fields.anything(name), fields.place_of(name))
    if value is not None and not isinstance(value, dict):
        fields.refuse(name, "must be a dict")
    return value


def _read_random(tree: HabitTree, fields: Fields) -> Callable[[], object]:
    saved = fields.anything("random")
    if saved is None:
        return int
    if tree._random is None:
        fields.refuse("random", "is of random habits, and here is no generator; hand one in")
    return prepare_random(tree._random, saved, fields.place_of("random"))


def _read_failing(fields: Fields, places: Places) -> dict[tuple[int, bool], tuple[int, bool]]:
    failing: dict[tuple[int, bool], tuple[int, bool]] = {}
    for one in fields.groups("failing"):
        key = _place(one, "path", one.text("path"), places).index, one.flag("of_asking")
        if key in failing:
            one.refuse("path", "comes twice")
        failing[key] = one.whole("failures"), one.flag("is_quarantined")
        one.end()
    return failing


def _put_failing(tree: HabitTree, failing: dict[tuple[int, bool], tuple[int, bool]]) -> None:
    if tree._faults is not None:
        tree._faults.release()
    if failing:
        if tree._faults is None:
            tree._faults = HabitFaults(tree.name, tree._isolation or FaultIsolation())
        for (index, of_asking), (failures, is_quarantined) in failing.items():
            tree._faults.put(index, failures, of_asking=of_asking, is_quarantined=is_quarantined)
