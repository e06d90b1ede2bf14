"""Words that the editor's panel "AI" shows of a habit, state or transition, from the settings of its node."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.declarations import exports_of
from addons.ai_core.bridge.gd import editor_method, is_overridden

LAUNCHES = ("first that can run", "in sequence", "one at random", "until one succeeds", "highest score")
"""Words for ``Habit.Launch``, by value."""

OUTCOMES = ("", "result inverted", "always succeeds", "always fails")
"""Words for ``Habit.Outcome``, by value."""

CONDITIONS = ("if {}, without interrupting", "while {}, without interrupting", "if {}", "while {}")
"""Words for ``Habit.ConditionScope``, by value."""

MOST_SETTINGS = 3
"""Settings of a built-in habit that are listed (count); the inspector shows the others."""

LONGEST = 28
"""Characters of a value that are shown."""


class ChartNode:
    """A node that the chart of the panel "AI" shows."""

    @editor_method
    def _get_chart_words(self) -> dict:
        """Return the words of the node for the chart; see ``chart_words``."""
        return chart_words(self)


def chart_words(node: Any) -> dict[str, str]:
    """Return the words for a node, by column of the chart.

    Returns:
        "kind": the class or script that the node runs. "icon": res:// path. "begins": when a habit begins, or a
        transition is taken. "launch": how child habits launch. "does": settings that differ from their defaults.
        "about": first line of the description of the class.
    """
    cls = type(node)
    words = {
        "kind": _kind(node), "icon": cls.__declared__["icon"], "begins": "", "launch": "", "does": "",
        "about": (cls.__doc__ or "").partition("\n")[0]}
    if node.is_class("Habit"):
        words |= {"begins": begins(node), "launch": _launch(node), "does": _does(node)}
    elif node.is_class("HabitTree"):
        words["launch"] = _launch(node)
    elif node.is_class("StateTransition"):
        words["begins"] = taken(node)
    return words


def begins(habit: Any) -> str:
    """Return when a habit begins and ends, in words."""
    parts = []
    if habit.begins_on:
        parts.append(f"on {' or '.join(map(str, habit.begins_on))}")
    if habit.condition:
        parts.append(CONDITIONS[habit.condition_scope].format(habit.condition))
    if habit.condition and habit.for_at_least:
        parts.append(f"true for {habit.for_at_least:g} s")
    if habit.can_activate_method:
        parts.append(f"if {habit.can_activate_method}()")
    elif is_overridden(habit, "_can_activate"):
        parts.append("if _can_activate() allows")
    above = habit.get_parent()
    launch = above.launch if above is not None and hasattr(above, "launch") else 0
    if launch == habit.Launch.UTILITY:
        parts.append(f"score {habit.score or 'of _score()'}")
    elif launch == habit.Launch.RANDOM and habit.weight != 1:
        parts.append(f"weight {habit.weight:g}")
    if habit.non_blocking:
        parts.append("in parallel")
    return ", ".join([*parts, *_limits(habit)])


def taken(transition: Any) -> str:
    """Return when a transition is taken, in words."""
    parts = [f"on {transition.event}"] if transition.event else []
    if not transition.event and transition.after:
        parts.append(f"after {transition.after:g} s")
    if transition.guard_expression:
        parts.append(f"if {transition.guard_expression}")
    elif transition.guard_method:
        parts.append(f"if {transition.guard_method}()")
    elif is_overridden(transition, "_is_allowed"):
        parts.append("if _is_allowed() allows")
    return ", ".join(parts)


def _limits(habit: Any) -> list[str]:
    found = [
        (habit.cooldown, f"cooldown {habit.cooldown:g} s"),
        (habit.timeout, f"at most {habit.timeout:g} s"),
        (habit.repeats != 1, f"{habit.repeats} times" if habit.repeats else "repeats without end"),
        (habit.retries, f"{habit.retries} retries" if habit.retries > 0 else "retries without end"),
        (habit.uninterruptible, "uninterruptible"),
        (habit.outcome, OUTCOMES[habit.outcome])]
    return [words for applies, words in found if applies]


def _launch(node: Any) -> str:
    has_children = any(child.is_class("Habit") for child in node.get_children())
    return LAUNCHES[node.launch] if has_children else ""


def _kind(node: Any) -> str:
    if getattr(node, "python_class", ""):
        return str(node.python_class).rpartition(":")[2]
    script = node.get_script()
    if script is not None:
        return str(script.get_global_name()) or str(script.resource_path).rpartition("/")[2] or "script"
    return type(node).__name__


def _does(habit: Any) -> str:
    """Return the settings of a built-in habit that differ from their defaults."""
    cls = type(habit)
    common = {name for base in cls.__mro__ if base.__name__ == "Habit" for name in exports_of(base)}
    found = []
    for name, one in exports_of(cls).items():
        value = getattr(habit, name)
        if name not in common and value != one.default:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            found.append(f"{name} {text if len(text) <= LONGEST else text[:LONGEST - 1] + '…'}")
    return ", ".join(found[:MOST_SETTINGS])
