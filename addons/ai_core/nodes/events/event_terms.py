"""Terms of events and listeners: Dictionaries of GDScript, converted to arguments of the library."""
from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import GDCallable, GDObject, RefusedValue, Vector2, Vector3
from addons.ai_core.nodes.scheduling.scheduler_lookup import check_callable
from ai_core.events.narrowcast import Group, GroupMembership, Narrowcast


class Reach(IntEnum):
    """Groups that receive an event, seen from the group of the manager that sends it."""

    OWN = 0
    DOWN = 1
    UP = 2
    ALL = 3


class EventNames:
    """Unique names of groups and members, taken from the paths of nodes, which may be renamed."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._namings: dict[Group | GroupMembership, tuple[Callable[[], str], str]] = {}

    def free(self, wanted: str) -> str:
        """Return a unique name based on ``wanted`` and reserve it."""
        number, name = 1, wanted
        while name in self._taken:
            number += 1
            name = f"{wanted} ({number})"
        self._taken.add(name)
        return name

    def keep(self, one: Group | GroupMembership, naming: Callable[[], str]) -> None:
        """Name a group or member by ``naming``, which ``refresh`` calls again."""
        self._namings[one] = naming, naming()

    def drop(self, one: Group | GroupMembership) -> None:
        """Remove a group or member, and release its name."""
        del self._namings[one]
        self._taken.discard(one.name)

    def refresh(self, narrowcast: Narrowcast) -> None:
        """Rename all groups and members after the present paths of their nodes. Cost: O(groups + members)."""
        for kind in (Group, GroupMembership):                 # names of members contain names of groups
            known = {one: (naming, was, naming()) for one, (naming, was) in self._namings.items() if type(one) is kind}
            changed = {one: now for one, (_, was, now) in known.items() if now != was}
            if changed:
                self._taken.difference_update(one.name for one in changed)
                self._namings.update((one, (known[one][0], now)) for one, now in changed.items())
                narrowcast.rename({one: self.free(now) for one, now in changed.items()})


NOWHERE = (1e30, 1e30, 1e30)
"""Position of a freed node (m): out of range of every listener."""
SENDING = ("deadline", "position", "priority", "receipt", "sender", "sticky")
LISTENING = ("near", "once", "priority", "range", "where")


def sending_terms(terms: dict[str, Any], sender: Any) -> dict[str, Any]:
    """Return the arguments of ``Group.send`` for the ``terms`` of AIEventManager.send()."""
    if not terms:
        return {"sender": sender}
    _check_names(terms, SENDING)
    found: dict[str, Any] = {"sender": terms.get("sender", sender)}
    for name, library_name in (("deadline", "deadline_s"), ("priority", "priority")):
        if name in terms:
            found[library_name] = terms[name]
    if "position" in terms:
        found["position"] = place_of(terms["position"], "position")
    found["is_sticky"] = bool(terms.get("sticky", False))
    found["wants_receipt"] = bool(terms.get("receipt", False))
    return found


def listening_terms(terms: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``GroupMembership.listen`` for the ``terms`` of AIEventManager.listen()."""
    _check_names(terms, LISTENING)
    found: dict[str, Any] = {}
    if "priority" in terms:
        found["priority"] = terms["priority"]
    if terms.get("once", False):
        found["once"] = True
    if "where" in terms:
        found["where"] = _predicate(terms["where"])
    if ("near" in terms) != ("range" in terms):
        given, missing = ("near", "range") if "near" in terms else ("range", "near")
        raise RefusedValue(
            f"near and range must be given together, got {given} alone; add {missing}, a node or position and its"
            f" distance")
    if "near" in terms:
        found["near"] = _near(terms["near"]), terms["range"]
    return found


def place_of(place: Any, name: str) -> tuple[float, ...]:
    """Return the coordinates of a Vector3, Vector2, Node3D or Node2D (m; in 2D pixels)."""
    if isinstance(place, GDObject) and place.is_valid() and (place.is_class("Node3D") or place.is_class("Node2D")):
        place = place.global_position
    if not isinstance(place, (Vector2, Vector3)):
        raise RefusedValue(f"{name} must be a Vector3, a Vector2, a Node3D or a Node2D, got {place!r}")
    return tuple(place)


def _near(place: Any) -> Any:
    if not isinstance(place, GDObject):
        return place_of(place, "near")
    place_of(place, "near")
    return lambda: tuple(place.global_position) if place.is_valid() else NOWHERE


def _predicate(where: Any) -> Callable[[Any], bool]:
    if not callable(where):
        raise RefusedValue(f"where must be a Callable that takes a code and arguments, got {where!r}")
    check_callable(where, "where")

    def is_wanted(event: Any) -> bool:
        if isinstance(where, GDCallable) and not where.is_live():
            return False
        return bool(where(event.code, list(event.arguments)))

    return is_wanted


def _check_names(terms: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in terms:
        if name not in known:
            raise RefusedValue(f"unknown term {name!r}; use one of {', '.join(known)}")
