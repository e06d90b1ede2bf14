"""Edits of definitions: adding, removing and replacing habits, and the active habits that continue.

A definition is immutable, so an edit makes a new definition that shares all unchanged
habits. The new definition can be shared by many characters.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ai_core.decisions.habits.habit_context import HabitContext
from ai_core.decisions.habits.habit_plan import CompiledHabit, HabitPlan
from ai_core.decisions.habits.habits import Habit
from ai_core.errors import UnknownNameError, shown

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_tree import HabitTree

__all__ = ["added", "carry_over", "removed", "replaced"]


def added(root: Habit, path: str, habit: Habit, before: str | None = None) -> Habit:
    """Return the definition with a habit added below the one at ``path``.

    Args:
        root: the definition.
        path: path of the parent: "guard/fight".
        habit: the habit to add.
        before: name of the sibling that follows it; None to add it as the last.

    Raises:
        UnknownNameError: if the path or the sibling does not exist.
        ValueError: if two siblings would have the same name.
    """

    def edit(parent: Habit) -> Habit:
        children = list(parent.children)
        names = [child.name for child in children]
        if before is not None and before not in names:
            raise UnknownNameError(f"habit below {path!r}", before, names)
        children.insert(len(children) if before is None else names.index(before), habit)
        return parent.with_children(children, path=path)

    return _edited(root, path, edit)


def removed(root: Habit, path: str) -> Habit:
    """Return the definition without the habit at ``path`` and all habits below it.

    Raises:
        UnknownNameError: if the path does not exist.
        ValueError: if it is the root, or its parent requires it.
    """
    _edited(root, path, lambda habit: habit)  # it is there
    above, _, name = path.rpartition("/")
    if not above:
        raise ValueError(f"{path!r} is the root and cannot be removed; call stop to end the tree")
    return _edited(root, above, lambda parent: parent.with_children(
        (one for one in parent.children if one.name != name), path=above))


def replaced(root: Habit, path: str, habit: Habit) -> Habit:
    """Return the definition with the habit at ``path`` replaced.

    Raises:
        UnknownNameError: if the path does not exist.
        TypeError: if ``habit`` is not a Habit.
        ValueError: if two siblings would have the same name.
    """
    if not isinstance(habit, Habit):
        raise TypeError(f"habit must be a Habit, got {shown(habit)}")
    return _edited(root, path, lambda _: habit)


def _edited(root: Habit, path: str, edit: Callable[[Habit], Habit]) -> Habit:
    if not isinstance(path, str):
        raise TypeError(f"path must be a string like 'root/fight', got {shown(path)}")
    first, *names = path.split("/")
    if first != root.name:
        raise UnknownNameError("habit", path, [root.name])
    return _edited_below(root, root.name, names, edit)


def _edited_below(habit: Habit, path: str, names: list[str], edit: Callable[[Habit], Habit]) -> Habit:
    if not names:
        return edit(habit)
    name, *rest = names
    known = {child.name: child for child in habit.children}
    if name not in known:
        raise UnknownNameError("habit", f"{path}/{name}", [f"{path}/{one}" for one in known])
    new = _edited_below(known[name], f"{path}/{name}", rest, edit)
    if new is known[name]:
        return habit
    return habit.with_children((new if child.name == name else child for child in habit.children), path=path)


def carry_over(tree: HabitTree, plan: HabitPlan, parts: Sequence[Any] | None) -> None:
    """Let a tree live by another plan: end what is not in it, find the place of what is."""
    old = tree.plan
    if tree.root_run is not None:
        _end_what_goes(tree, tree.root_run, plan)
    if tree.root_run is not None:
        _find_places(tree.root_run, plan)

    def moved(index: int) -> int:
        place = plan.by_path.get(old.places[index].path)
        return -1 if place is None else place.index

    def carried(values: dict[int, object] | None) -> dict[int, object]:
        return {moved(index): value for index, value in (values or {}).items() if moved(index) >= 0}

    if parts is None and tree.parts is not None:
        of_paths = {place.path: part for place, part in zip(old.places, tree.parts, strict=True)}
        parts = [of_paths.get(place.path) for place in plan.places]
    tree.plan, tree.parts = plan, parts
    for name in ("holds", "endings", "_cooldowns", "_asks_at_s", "_kept", "_answered"):
        setattr(tree, name, carried(getattr(tree, name)))


def _end_what_goes(tree: HabitTree, run: HabitContext, plan: HabitPlan) -> None:
    """End a run, or those below it, that the plan does not have at the same path."""
    place = _same(run, plan)
    if place is None:
        ending = "replaced" if run.path in plan.by_path else "removed"
        tree._end(run, None, ending)
        return
    for one in (*([run.child] if run.child is not None else ()), *(run.beside or ())):
        _end_what_goes(tree, one, plan)


def _find_places(run: HabitContext, plan: HabitPlan) -> None:
    if run.batch is not None:
        run.batch.leave(run)
    place = plan.by_path[run.path]
    if run.child is None and run.number:  # so many children of a sequence are done
        done = [one.path for one in run.place.blocking[: run.number]]
        run.number = sum(one.path in done for one in place.blocking)
    run.place = place
    for one in (*([run.child] if run.child is not None else ()), *(run.beside or ())):
        _find_places(one, plan)
    if run.child is not None:
        run.number = run.child.place.number


def _same(run: HabitContext, plan: HabitPlan) -> CompiledHabit | None:
    place = plan.by_path.get(run.path)
    if place is None or not place.habit.is_kind_of(run.place.habit):
        return None
    return place
