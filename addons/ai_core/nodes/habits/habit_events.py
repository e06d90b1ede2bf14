"""Events that habits begin on: those of an AIEventManager, and the payload that conditions and targets read."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import GDObject, Vector2, Vector3
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.events.event import Event

EVENT = "event"
"""Name of the payload in conditions and in target_key."""


class EventSubscription:
    """The event codes of an AIEventManager to which a HabitTree listens.

    Args:
        manager: the AIEventManager.
        notify: method of the tree that is called with each Event.
    """

    def __init__(self, manager: Any, notify: Callable[[Event], None]) -> None:
        self._manager, self._notify = manager, notify
        self._codes: set[str] = set()

    def is_at(self, manager: Any) -> bool:
        """Return whether the subscription is for a manager."""
        return bool(self._manager.is_valid() and self._manager == manager)

    def listen(self, names: set[str]) -> None:
        """Listen to those names that are event codes, and to no others."""
        wanted = {name for name in names if self._manager.takes(name)}
        for code in sorted(self._codes - wanted):
            self._manager.unlisten(code, self._notify)
        for code in sorted(wanted - self._codes):
            self._manager.listen(code, self._notify, {})
        self._codes = wanted

    def end(self) -> None:
        """End the subscription to all codes."""
        if self._manager.is_valid():
            for code in sorted(self._codes):
                self._manager.unlisten(code, self._notify)
        self._codes = set()


def payload_of(event: Event, *, is_flat: bool) -> dict[str, Any]:
    """Return an event as the payload of a message: code, arguments, sender and position.

    The position is that of the event; without one, that of its first argument that is a vector or has a position.
    """
    position = None
    if event.position is not None:
        position = Vector2(*event.position[:2]) if is_flat else Vector3(*event.position)
    else:
        position = next((place for one in event.arguments if (place := _place_of(one)) is not None), None)
    sender = event.sender if isinstance(event.sender, (str, GDObject)) else None
    return {"code": event.code, "arguments": list(event.arguments), "sender": sender, "position": position}


def event_of(run: HabitContext) -> Any:
    """Return the payload of the event on which a habit, or one above it, began or may begin; None without one."""
    if run.status is None:                 # pending: no run yet
        habit = run.place.habit
        return run.newest_payload((*habit.begins_on, *habit.wakes_on))
    above: HabitContext | None = run
    while above is not None and not above.place.begins_on:
        above = above.parent
    if above is None:
        return None
    member = ordered_member(above.payload)
    if member is not None:
        member.keep_current(above.payload)
    return above.payload


def ordered_member(payload: Any) -> Any:
    """Return the SquadMember of the payload of an order, None for any other payload or if it was freed."""
    if not isinstance(payload, dict) or "order" not in payload:
        return None
    member = payload.get("member")
    is_there = isinstance(member, GDObject) and member.is_valid() and member.is_class("SquadMember")
    return member if is_there else None


def value_of(run: HabitContext, key: str) -> Any:
    """Return the value of a target_key: of the blackboard, or "event" or a member of it such as "event.position"."""
    first, _, member = key.partition(".")
    if first != EVENT:
        return run.owner.get_value(key)
    event = event_of(run)
    if not member or event is None:
        return event
    return event.get(member) if isinstance(event, (dict, GDObject)) else None


class EventMind:
    """Values for the expression of a condition that reads ``event``.

    Args:
        run: the run, or the context in which a pending habit is checked.
    """

    def __init__(self, run: HabitContext) -> None:
        self._run = run

    def actor_node(self) -> Any:
        return self._run.owner.actor_node()

    def known(self, name: str) -> Any:
        """Return a value of the blackboard, or the event; ABSENT without one."""
        if name != EVENT:
            return self._run.owner.known(name)
        event = event_of(self._run)
        return ABSENT if event is None else event


def _place_of(one: Any) -> Any:
    if isinstance(one, (Vector2, Vector3)):
        return one
    has_place = isinstance(one, GDObject) and one.is_valid() and (one.is_class("Node3D") or one.is_class("Node2D"))
    return one.get_global_position() if has_place else None
