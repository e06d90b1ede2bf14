"""How nodes find their AIScheduler, name their work and report its failures."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    RefusedValue,
    get_object,
    is_in_editor,
    is_misuse,
    notify,
    report_error,
    report_exception,
    report_warning,
    singleton,
)
from addons.ai_core.nodes.debugging.edited_scene import is_a_part, nodes_of
from addons.ai_core.nodes.saving.scene_values import path_of
from ai_core.faults import Fault

SCHEDULERS = "ai_schedulers"
WAITING = "_waiting"
DEFERRED, ONE_SHOT = 1, 4
_to_report: dict[int, list[Callable[[], list[str]]]] = {}     # by instance id
_without: list[Any] = []        # nodes that have found no AIScheduler in this frame
_present: dict[str, dict[int, Any]] = {}      # by group and instance id, the members in the tree
WITHOUT_SCHEDULER = "found no AIScheduler and will not run; put an AIScheduler above it, or anywhere in the scene"

BETWEEN_LEVELS_S = 5.0
"""How long nodes may be without the AIScheduler or SenseManager that they had (s), as behind a loading screen that is
shown between two levels; a shorter time warns of nothing, a longer one hides a node that is missing."""


class LostNodes:
    """Nodes whose AIScheduler, or SenseManager, has left: they look for another, and one warning names those without.

    Args:
        is_without: returns whether a node of the tree still has none.
        warning: returns what such a node lacks and the remedy.
        retry: called with each in the next frame.
    """

    def __init__(
        self, is_without: Callable[[Any], bool], warning: Callable[[Any], str],
        retry: Callable[[Any], object] = lambda node: None,
    ) -> None:
        self._is_without, self._warning, self._retry = is_without, warning, retry
        self._new: list[int] = []           # instance ids, as nodes may be freed, and hold resources
        self._awaited: dict[int, int] = {}      # number of the timer that runs, by instance id
        self._timers = 0

    def add(self, node: Any) -> None:
        """Note a node in the tree that has lost what it needs."""
        self._new.append(node.instance_id)
        if len(self._new) == 1:
            node.get_tree().connect("process_frame", self._begin_to_wait, ONE_SHOT)

    def found(self, node: Any) -> None:
        """Note that a node has what it needs: if it loses it again, the time begins again."""
        self._awaited.pop(node.instance_id, None)

    def _begin_to_wait(self) -> None:
        new = dict.fromkeys(self._new)
        self._new.clear()
        for node in self._left(new):
            self._retry(node)
        left = [node for node in self._left(new) if node.instance_id not in self._awaited]
        if left:
            self._timers += 1
            number = self._timers
            self._awaited.update((node.instance_id, number) for node in left)
            timer = left[0].get_tree().create_timer(BETWEEN_LEVELS_S, False)       # does not count while paused
            timer.connect("timeout", lambda: self._warn(number))

    def _warn(self, number: int) -> None:
        ids = [one for one, of_timer in self._awaited.items() if of_timer == number]
        for one in ids:
            del self._awaited[one]
        left = self._left(ids)
        if left:
            report_warning(self._warning(left[0]) + _and_others(left), left[0])

    def _left(self, ids: Iterable[int]) -> list[Any]:
        found = [one for one in map(get_object, ids) if one is not None]
        return [one for one in found if one.is_inside_tree() and self._is_without(one)]


def enter_group(node: Any, group: str) -> None:
    """Add a node to a group in which ``nearest`` looks; called when it enters the tree."""
    node.add_to_group(group)
    _present.setdefault(group, {})[node.instance_id] = node


def exit_group(node: Any, group: str) -> None:
    """Take note that a member of such a group leaves the tree."""
    _present.get(group, {}).pop(node.instance_id, None)       # a reloaded extension knows no members


def nearest(node: Node, class_name: str, group: str, fits: Callable[[Any], bool] = lambda member: True) -> Any:
    """Return the nearest ancestor of a class, else the member of its group that is nearest in the tree.

    The nearest member shares the closest ancestor with the node, so that two worlds side by side stay
    apart; of several, the first in tree order. None if no member fits, or the node is outside the tree.
    """
    if not node.is_inside_tree():
        return None
    if is_in_editor():
        members = nodes_of(node, class_name)
    else:
        present = _present.get(group, {})
        if len(present) == 1:            # the engine's order does not matter
            member = next(iter(present.values()))
            return member if fits(member) else None
        members = node.get_tree().get_nodes_in_group(group)
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
    """Return, in the editor, the warning that ``scheduler_of`` reports when the scene runs."""
    if not is_in_editor() or not node.is_inside_tree() or is_a_part(node):
        return []
    return [] if nearest(node, "AIScheduler", SCHEDULERS) else [WITHOUT_SCHEDULER]


def wait_for(node: Node, group: str) -> None:
    """Call ``node.on_entered()`` again when the next member of a group enters the tree."""
    node.add_to_group(group + WAITING)


def stop_waiting(node: Node, group: str) -> None:
    """End ``wait_for``, if the node waits."""
    if node.is_in_group(group + WAITING):
        node.remove_from_group(group + WAITING)


def call_waiting(member: Node, group: str) -> None:
    """Call ``on_entered`` of the nodes that wait for a member of a group."""
    for node in member.get_tree().get_nodes_in_group(group + WAITING):
        node.remove_from_group(group + WAITING)
        notify(node, "on_entered")


def scheduler_of(node: Any) -> Any:
    """Return the AIScheduler that a node runs under, or None.

    If no AIScheduler enters the tree in this frame, that is reported, once for all such nodes. If the scheduler is
    freed without the node, the node leaves it and finds another, or waits for one; a warning says so if that takes
    ``BETWEEN_LEVELS_S``.
    """
    found = nearest(node, "AIScheduler", SCHEDULERS)
    if found is not None:
        found.runs.add(node)
        node.runs_under = found.instance_id
        _lost.found(node)
        return found
    ran_under = getattr(node, "runs_under", -1)
    if ran_under != 0:
        node.runs_under = 0
        if ran_under > 0:
            _lost.add(node)
        else:
            _without.append(node)
            if len(_without) == 1:
                node.get_tree().connect("process_frame", _report_without, ONE_SHOT)
    wait_for(node, SCHEDULERS)
    return None


def _report_without() -> None:
    """Report once, for all, the nodes that have found no AIScheduler by the start of this frame."""
    left = [one for one in _without if one.is_valid() and one.is_inside_tree() and not one.runs_under]
    _without.clear()
    if left:
        report_error(WITHOUT_SCHEDULER + _and_others(left), left[0])


_lost = LostNodes(
    lambda node: not node.runs_under,
    lambda node: f"has had no AIScheduler for {BETWEEN_LEVELS_S:g} s and does not run; add an AIScheduler to the scene")


def _and_others(nodes: list[Any]) -> str:
    return f" (nodes without one: {len(nodes)})" if len(nodes) > 1 else ""


def report_next_frame(node: Any, mistakes: Callable[[], list[str]]) -> None:
    """Report the errors of a node that remain at the start of the next frame; a script may correct them until then.

    Args:
        node: in the tree; nothing is reported if it has left the tree by then.
        mistakes: called then, returns the messages; equal messages are reported once.
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
    """Call ``done`` as soon as rays meet the walls that enter the tree together with ``node``.

    Tiles and CSG nodes make their shapes in deferred calls. Rays meet these shapes after the step of physics that ends
    a physics frame with such calls, or when the tree updates transforms, which follows calls within a frame. What
    enters at the end of a frame, as a scene of ``change_scene_to_packed`` does, has its calls after that: it waits for
    the next step. ``done`` is not called if the node is outside the tree by then.

    Args:
        node: entering the tree: call this in its on_enter_tree, or before it is added.
    """
    engine = singleton("Engine")

    def settle() -> None:
        if node.is_valid() and node.is_inside_tree():
            done()

    def after_calls() -> None:
        if not node.is_valid() or not node.is_inside_tree() or engine.is_in_physics_frame():
            settle()
            return
        tree, frame, first_step = node.get_tree(), engine.get_process_frames(), engine.get_physics_frames() + 1

        def on_time() -> None:
            if engine.get_process_frames() == frame:        # timers follow the calls within a frame
                settle()
            else:
                on_step()

        def on_step() -> None:
            if engine.get_physics_frames() > first_step:
                settle()
            else:
                tree.connect("physics_frame", on_step, ONE_SHOT)

        tree.create_timer(0.0).connect("timeout", on_time)

    node.connect("tree_entered", after_calls, DEFERRED | ONE_SHOT)


def move_orphans(scheduler: Any) -> None:
    """Move the nodes that outlive a scheduler to another scheduler in the next frame.

    They get on_exit_tree, on_enter_tree and on_entered, as if they had left the tree and entered it again. This waits
    for the next frame because the nodes may be freed together with the scheduler.
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
                for name in ("on_exit_tree", "on_enter_tree", "on_entered"):
                    notify(one, name)
            except Exception as error:  # the other nodes still move
                report_exception(error, "looking for another AIScheduler", one)

    gone = scheduler.instance_id
    orphans[0].get_tree().connect("process_frame", look, ONE_SHOT)


def named_after(scheduler: Any, node: Any, ending: str = "") -> Callable[[], str]:
    """Return a function that returns the name of a node's work: its present or last path, and an ending."""
    last = f"{node.get_name()}{ending}"

    def name() -> str:
        nonlocal last
        if node.is_valid() and node.is_inside_tree() and scheduler.is_valid():
            last = f"{path_of(scheduler, node)}{ending}"
        return last

    return name


def leave_scheduler(node: Node, scheduler: Any, task: Any) -> None:
    """Remove a node and its task from its AIScheduler, which may be freed; does nothing if ``task`` is None."""
    if task is not None and scheduler.is_valid():
        scheduler.unschedule(task)
        scheduler.leave(node)


def report_fault(fault: Fault, work_name: str, node: Any, release: str) -> None:
    """Report an exception of a node's work: a refused value as a message only, others with a traceback.

    Args:
        fault: the exception; the report says if the work is now quarantined.
        work_name: name of the work.
        node: node of the work.
        release: method that releases the work from quarantine.
    """
    left_out = (
        f"it failed {fault.failures_in_a_row} times in a row and is quarantined: fix it, then call {release}"
        if fault.is_quarantined else "")
    if is_misuse(fault.error):
        report_error(f"{work_name}: {fault.error}" + (f"; {left_out}" if left_out else ""), node)
        return
    if left_out:
        fault.error.add_note(left_out)
    report_exception(fault.error, work_name, node)


def check_callable(function: Any, purpose: str) -> None:
    """Raise RefusedValue if a Callable cannot be called."""
    if isinstance(function, GDCallable) and not function.is_valid():
        raise RefusedValue(f"{purpose} needs a valid Callable, got {function!r}; check its object and method")
    if not callable(function):
        raise RefusedValue(f"{purpose} needs a Callable, got {function!r}")


def callable_name(scheduler: Any, behavior: Any) -> str:
    """Return the name of a callable in reports and saves: "Guards/Bob.think"."""
    return callable_naming(scheduler, behavior)()


def callable_naming(scheduler: Any, behavior: Any, ending: str = "") -> Callable[[], str]:
    """Return a function that returns the name of a callable; see ``named_after``."""
    if not isinstance(behavior, GDCallable):
        of = getattr(behavior, "__self__", None)
        if isinstance(of, Node):
            return named_after(scheduler, of, f".{behavior.__name__}{ending}")
        return lambda: getattr(behavior, "__qualname__", "behavior") + ending
    owner = behavior.get("get_object")
    method_name = str(behavior.get("get_method") or "lambda")
    if owner is None or not owner.is_class("Node"):
        return lambda: method_name + ending
    return named_after(scheduler, owner, f".{method_name}{ending}")
