"""The live view of a habit tree as text: active and pending habits, and the reasons."""
from __future__ import annotations

from math import inf

from ai_core.decisions.habits.habit_runner_loops import HabitContext, HabitPlace, HabitRunner
from ai_core.decisions.habits.habit_status import Launch

__all__ = ["live_view"]


def live_view(tree: HabitRunner, root: HabitPlace) -> str:
    """Return one line per habit: a mark, its name, active or pending, and why.

    Cost: O(places).
    """
    lines, run = [tree.name], tree.root_run
    _describe(lines, tree, root, run, "" if run else _waiting(tree, root, "waits for the next tick"))
    return "\n".join(lines)


def _describe(lines: list[str], tree: HabitRunner, place: HabitPlace, run: HabitContext | None, why: str) -> None:
    indent = "  " * place.path.count("/")
    if run is None:
        ending = tree.endings[place.index]
        before = "" if ending is None else f" (before: {ending})"
        lines.append(f"{indent}  {place.name}: pending, {why}{before}")
    elif run.begins_next:
        lines.append(f"{indent}* {place.name}: begins in the next tick, {run.reason}")
    else:
        held = ", holds" if place.strongest(tree.holds) is not None else ""
        score = f", score {tree.scores[place.index]:.2f}" if place.index in tree.scores else ""
        lines.append(
            f"{indent}* {place.name}: active for {run.time_in_habit_s:.2f} s{held}{score}{_asleep(tree, run)},"
            f" {run.reason}")
    for child in place.children:
        child_run, child_why = _child(tree, child, place, run)
        _describe(lines, tree, child, child_run, child_why)


def _asleep(tree: HabitRunner, run: HabitContext) -> str:
    rest_s = run.wake_s - tree.seconds
    if rest_s <= 0:
        return ""
    names = f" for {' or '.join(run.waits_for)}" if run.waits_for else ""
    return f", waits{names}{f' {rest_s:.2f} s' if rest_s < inf else ''}"


def _child(tree: HabitRunner, child: HabitPlace, parent: HabitPlace,
    run: HabitContext | None) -> tuple[HabitContext | None, str]:
    """Return the run of a child, or None and why it is pending."""
    if run is None:
        return None, f"{parent.name} is not active"
    if child.is_beside:
        for one in run.beside or ():
            if one.place is child:
                return one, ""
        return None, _waiting(tree, child, "cannot activate")
    active = run.child
    if active is None:
        return None, _waiting(tree, child, "cannot activate")
    if active.place is child:
        return active, ""
    if parent.launch is Launch.RANDOM:
        return None, f"{active.place.name} was chosen"
    if parent.is_utility:
        score = f"score {tree.scores[child.index]:.2f}" if child.index in tree.scores else "not scored yet"
        return None, _waiting(tree, child, score)
    if parent.launch is not Launch.PRIORITIZED:
        is_done = child.number < active.place.number
        return None, "done" if is_done else f"its turn comes after {active.place.name}"
    if child.number > active.place.number:
        return None, f"{active.place.name} is more urgent"
    held = active.place.strongest(tree.holds)
    if held is not None and child.urgency <= held:
        return None, f"held back by {active.place.name}"
    return None, _waiting(tree, child, "cannot activate")


def _waiting(tree: HabitRunner, place: HabitPlace, otherwise: str) -> str:
    """Return what a pending habit waits for."""
    rest_s = (tree._cooldowns or {}).get(place.index, 0.0) - tree.seconds
    if rest_s > 0:
        return f"cools down for {rest_s:.2f} s"
    habit = place.habit
    if habit.begins_on or habit.wakes_on:
        return f"waits for {' or '.join((*habit.begins_on, *habit.wakes_on))}"
    if habit.asks_every_s and tree.root_run is not None:
        return f"{otherwise}, asked every {habit.asks_every_s:g} s"
    return otherwise
