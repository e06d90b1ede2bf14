"""How nodes find what they run under."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    RefusedValue,
    is_in_editor,
    notify,
    report_error,
    report_exception,
)
from addons.ai_core.nodes.debugging.edited_scene import is_a_part, nodes_of
from addons.ai_core.nodes.saving.scene_values import path_of
from ai_core.faults import Fault

SCHEDULERS = "ai_schedulers"
WAITING = "_waiting"
DEFERRED, ONE_SHOT = 1, 4
_to_report: dict[int, list[Callable[[], list[str]]]] = {}     # by instance id
WITHOUT_SCHEDULER = "found no AIScheduler and will not run; put an AIScheduler above it, or anywhere in the scene"


def nearest(node: Node, class_name: str, group: str, fits: Callable[[Any], bool] = lambda member: True) -> Any:
    """Return the nearest ancestor of a class, else the member of its group that is nearest in the tree.

    Nearest is who shares the closest ancestor, so that two worlds side by side stay apart; among
    those the first in tree order. None if there is none that fits, or the node is outside the tree.
    """
    if not node.is_inside_tree():
        return None
    members = nodes_of(node, class_name) if is_in_editor() else node.get_tree().get_nodes_in_group(group)
    members = [one for one in members if fits(one)]
    if len(members) <= 1:
        return members[0] if members else None
    ancestor = node.get_parent()
    while ancestor is not None:
        if ancestor.is_class(class_name) and fits(ancestor):
            return ancestor
        for member in members:
            if ancestor.is_ancestor_of(member):
                return member
        ancestor = ancestor.get_parent()
    return members[0]


def scheduler_warnings(node: Node) -> list[str]:
    """Return, in the editor, what ``scheduler_of`` will report when the scene runs."""
    if not is_in_editor() or not node.is_inside_tree() or is_a_part(node):
        return []
    return [] if nearest(node, "AIScheduler", SCHEDULERS) else [WITHOUT_SCHEDULER]


def wait_for(node: Node, group: str) -> None:
    """Let ``node.on_entered()`` be called again when the next member of a group enters the tree."""
    node.add_to_group(group + WAITING)


def call_waiting(member: Node, group: str) -> None:
    """Tell those who wait for a member of a group that one has come."""
    for node in member.get_tree().get_nodes_in_group(group + WAITING):
        node.remove_from_group(group + WAITING)
        notify(node, "on_entered")


def scheduler_of(node: Any) -> Any:
    """Return the AIScheduler a node runs under, or None; if none comes in this frame, report once how to get one.

    Should that one be freed, and the node not with it, the node leaves it and looks for another.
    """
    found = nearest(node, "AIScheduler", SCHEDULERS)
    if found is not None:
        found.runs.add(node)
        node.runs_under = found.instance_id
        return found
    if getattr(node, "runs_under", -1) != 0:
        node.runs_under = 0
        report_next_frame(node, lambda: [] if node.runs_under else [WITHOUT_SCHEDULER])
    wait_for(node, SCHEDULERS)
    return None


def report_next_frame(node: Any, mistakes: Callable[[], list[str]]) -> None:
    """Report what is still wrong with a node as the next frame begins: a script may set what it needs after it.

    Args:
        node: in the tree; nothing is reported of one that has left it by then.
        mistakes: returns what is wrong, asked then; the same message is reported once.
    """
    asked = _to_report.setdefault(node.instance_id, [])
    asked.append(mistakes)
    if len(asked) > 1:
        return

    def report() -> None:
        asked = _to_report.pop(node.instance_id, [])
        if node.is_valid() and node.is_inside_tree():
            for mistake in dict.fromkeys(one for ask in asked for one in ask()):
                report_error(mistake, node)

    node.get_tree().connect("process_frame", report, ONE_SHOT)


def when_settled(node: Any, done: Callable[[], object]) -> None:
    """Call ``done`` when the engine has made what entered the tree with a node, at the end of the same step.

    Tiles and CSG give the physics space their shapes in deferred calls: until these have run, rays pass
    through such walls. At the start of a game the first physics frame comes before them.

    Args:
        node: entering the tree: called in its on_enter_tree, or before it is added.
    """
    node.connect("tree_entered", done, DEFERRED | ONE_SHOT)


def look_for_another(scheduler: Any) -> None:
    """Let those who run under a scheduler that is being freed, and stay, look for another in the next frame.

    They leave the tree and come back, as far as they can tell. Not at once, as much of a scene goes together.
    """
    orphans = [one for one in scheduler.runs if one.is_valid() and one.runs_under == scheduler.instance_id
               and one.is_inside_tree() and not scheduler.is_ancestor_of(one)]
    if not orphans:
        return

    def look() -> None:
        for one in orphans:
            if not one.is_valid() or not one.is_inside_tree() or one.runs_under != gone:
                continue
            try:
                notify(one, "on_exit_tree")
                notify(one, "on_entered")
            except Exception as error:  # whatever it is, the others look too
                report_exception(error, "looking for another AIScheduler", one)

    gone = scheduler.instance_id
    orphans[0].get_tree().connect("process_frame", look, ONE_SHOT)


def named_after(scheduler: Any, node: Any, ending: str = "") -> Callable[[], str]:
    """Return what tells the name of a node's work: its path by now, or when it was last there, and an ending."""
    last = f"{node.get_name()}{ending}"

    def name() -> str:
        nonlocal last
        if node.is_valid() and node.is_inside_tree() and scheduler.is_valid():
            last = f"{path_of(scheduler, node)}{ending}"
        return last

    return name


def leave_scheduler(node: Node, scheduler: Any, task: Any) -> None:
    """Take a node and its task out of the AIScheduler that it joined, which may be freed by now; None for no task."""
    if task is not None and scheduler.is_valid():
        scheduler.unschedule(task)
        scheduler.leave(node)


def report_fault(fault: Fault, whose: str, node: Any, release: str) -> None:
    """Report what work raised, and whose it was; with its traceback, unless a wrong setting says all.

    Args:
        fault: what was raised; if it was once too often, that is said, too.
        whose: the work.
        node: of which it is an error.
        release: what to call to let the work run again.
    """
    left_out = (
        f"it failed {fault.failures_in_a_row} times in a row and is quarantined: mend it, then call {release}"
        if fault.is_quarantined else "")
    if isinstance(fault.error, RefusedValue):
        report_error(f"{whose}: {fault.error}" + (f"; {left_out}" if left_out else ""), node)
        return
    if left_out:
        fault.error.add_note(left_out)
    report_exception(fault.error, whose, node)


def check_callable(function: Any, purpose: str) -> None:
    """Raise RefusedValue if there is nothing to call."""
    if isinstance(function, GDCallable) and not function.is_valid():
        raise RefusedValue(f"{purpose} needs a Callable that can be called, got {function!r}; does the method exist?")


def callable_name(scheduler: Any, behavior: Any) -> str:
    """Return what reports and saves call a callable: "Guards/Bob.think"."""
    return callable_naming(scheduler, behavior)()


def callable_naming(scheduler: Any, behavior: Any, ending: str = "") -> Callable[[], str]:
    """Return what tells the name of a callable, as ``named_after`` does."""
    if not isinstance(behavior, GDCallable):
        return lambda: getattr(behavior, "__qualname__", "behavior") + ending
    owner = behavior.get("get_object")
    method_name = str(behavior.get("get_method") or "lambda")
    if owner is None or not owner.is_class("Node"):
        return lambda: method_name + ending
    return named_after(scheduler, owner, f".{method_name}{ending}")
