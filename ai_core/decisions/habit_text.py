"""The live view of a habit tree: what is active, what is pending, and why."""
from __future__ import annotations

from ai_core.decisions.habit_context import HabitContext
from ai_core.decisions.habit_plan import Place
from ai_core.decisions.habits import Launch

__all__ = ["active_paths", "live_view"]

def active_paths(run: HabitContext | None) -> list[str]:
    """Return the path of each run that has none below it, in the order of the tree."""
    if run is None:
        return []
    below = [*([run.child] if run.child is not None else []), *(run.beside or ())]
    if not below:
        return [run.place.path]
    below.sort(key=lambda one: one.place.index)
    return [path for one in below for path in active_paths(one)]


def live_view(
    name: str,
    root: Place,
    run: HabitContext | None,
    endings: dict[int, str],
    holds: dict[int, float],
) -> str:
    """Return one line per habit: a mark, its name, active or pending, and why.

    Args:
        name: of the character.
        root: where the tree begins.
        run: of the root, None while it is pending.
        endings: by place, how its last run ended.
        holds: by place, the priority of the hold it has.

    Cost: O(places).
    """
    lines = [name]
    _describe(lines, root, run, "" if run else "waits for the next tick", endings, holds)
    return "\n".join(lines)


def _describe(
    lines: list[str],
    place: Place,
    run: HabitContext | None,
    why: str,
    endings: dict[int, str],
    holds: dict[int, float],
) -> None:
    indent = "  " * place.path.count("/")
    if run is None:
        before = f" (before: {endings[place.index]})" if place.index in endings else ""
        lines.append(f"{indent}  {place.name}: pending, {why}{before}")
    else:
        held = ", holds" if place.strongest(holds) is not None else ""
        lines.append(
            f"{indent}* {place.name}: active for {run.time_in_habit_s:.2f} s{held},"
            f" {run.reason}"
        )
    for child in place.children():
        child_run, child_why = _child(child, place, run, holds)
        _describe(lines, child, child_run, child_why, endings, holds)


def _child(
    child: Place, parent: Place, run: HabitContext | None, holds: dict[int, float]
) -> tuple[HabitContext | None, str]:
    """Return the run of a child, or None and why it is pending."""
    if run is None:
        return None, f"{parent.name} is not active"
    if child.is_beside:
        for one in run.beside or ():
            if one.place is child:
                return one, ""
        return None, "cannot activate"
    active = run.child
    if active is None:
        return None, "cannot activate"
    if active.place is child:
        return active, ""
    if parent.launch is Launch.SEQUENTIAL:
        is_done = child.number < active.place.number
        return None, "done" if is_done else f"its turn comes after {active.place.name}"
    if parent.launch is Launch.RANDOM:
        return None, f"{active.place.name} was chosen"
    if child.number > active.place.number:
        return None, f"{active.place.name} is more urgent"
    held = active.place.strongest(holds)
    if held is not None and child.urgency <= held:
        return None, f"held back by {active.place.name}"
    return None, "cannot activate"
