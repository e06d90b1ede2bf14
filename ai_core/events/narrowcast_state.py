"""The state of a narrowcast: how groups hang together, who is where, and the events."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ai_core.errors import UnknownNameError
from ai_core.events.event_registry import Listening
from ai_core.events.event_state import Finder
from ai_core.events.membership import REACHES, Member, MemberListening, Reached
from ai_core.saving.fields import Fields, State, StateError

if TYPE_CHECKING:
    from ai_core.events.narrowcast import Group, Narrowcast

__all__ = ["MemberBook", "prepared_narrowcast", "saved_narrowcast"]

VERSION = 1

MEMBER = "member"


class MemberBook:
    """Listeners by member and the number of the registration."""

    def __init__(self, narrowcast: Narrowcast) -> None:
        self._narrowcast = narrowcast

    def references(self) -> dict[Listening, list[Any]]:
        """Return what a save calls each listener, those of broadcasts under way included."""
        return {
            listening: [MEMBER, owner.member.name, owner.number]
            for listening, known in self._narrowcast.owners.items()
            if (owner := known()) is not None and owner.is_active
        }

    def finder(self, reference: list[Any], place: str, *, is_under_way: bool) -> Finder:
        """Find it when the membership is loaded."""
        fields = Fields(dict(zip(("kind", "member", "number"), reference, strict=False)), place)
        fields.one_of("kind", (MEMBER,))
        owner = _listening_of(_member(self._narrowcast, fields, "member"), fields)
        return owner.forwarder if is_under_way else lambda: owner.listening

    def audience(self, plain: object, place: str) -> Reached:
        """Return the audience; one whose group was removed reaches nobody."""
        fields = Fields(plain, place)
        name, reach = fields.anything("group"), fields.one_of("reach", REACHES)
        fields.end()
        if name is None:
            return Reached(self._narrowcast.removed_group(), reach)
        return Reached(_group(self._narrowcast, fields, "group"), reach)


class _SavedMember(NamedTuple):
    member: Member
    group: Group
    times_listened: int
    places: dict[int, int]
    """How many had listened before, by number of the registration."""


def saved_narrowcast(narrowcast: Narrowcast) -> State:
    """Return the state of a narrowcast between two frames."""
    tops = [group for group in narrowcast.groups if group.above is None]
    groups = [one for top in tops for one in top.with_all_below()]
    return {
        "version": VERSION,
        "groups": [
            {"name": one.name, "above": None if one.above is None else one.above.name} for one in groups
        ],
        "members": [
            {
                "name": member.name,
                "group": group.name,
                "times_listened": member.times_listened,
                "listenings": [
                    {"number": one.number, "place": one.place} for one in member.listenings
                ],
            }
            for group in groups for member in group.members
        ],
        "registrations": narrowcast.registrations,
        "events": narrowcast.events.save_state(),
    }


def prepared_narrowcast(narrowcast: Narrowcast, state: object) -> Callable[[], None]:
    """Check a state against the groups and members that are here; return what loads it."""
    fields = Fields.versioned(state, version=VERSION)
    hierarchy = _read_groups(narrowcast, fields)
    members = _read_members(narrowcast, fields)
    registrations = fields.whole("registrations")
    load_events = narrowcast.events.prepare_state(fields.anything("events"))
    fields.end()

    def change() -> None:
        for group, _ in hierarchy:
            group.detach()
        for group, above in hierarchy:
            group.attach(above)
        for saved in members:
            _put(saved)
        narrowcast.registrations = registrations
        load_events()

    return change


def _read_groups(narrowcast: Narrowcast, fields: Fields) -> list[tuple[Group, Group | None]]:
    found: dict[Group, Group | None] = {}
    for one in fields.groups("groups"):
        group = _group(narrowcast, one, "name")
        if group in found:
            one.refuse("name", f"comes twice: {group.name!r}")
        above = None if one.anything("above") is None else _group(narrowcast, one, "above")
        if above is not None and above not in found:
            one.refuse("above", "must be one that comes earlier, so that none is part of itself")
        found[group] = above
        one.end()
    return list(found.items())


def _read_members(narrowcast: Narrowcast, fields: Fields) -> list[_SavedMember]:
    found: dict[Member, _SavedMember] = {}
    for one in fields.groups("members"):
        member = _member(narrowcast, one, "name")
        if member in found:
            one.refuse("name", f"comes twice: {member.name!r}")
        group, times = _group(narrowcast, one, "group"), one.whole("times_listened")
        places: dict[int, int] = {}
        for row in one.groups("listenings"):
            number = _listening_of(member, row).number
            if number in places or number >= times:
                row.refuse("number", f"must be below times_listened and come once, got {number}")
            places[number] = row.whole("place")
            row.end()
        one.end()
        found[member] = _SavedMember(member, group, times, places)
    return list(found.values())


def _put(saved: _SavedMember) -> None:
    """Put a member where it was; what it had stopped listening to is stopped."""
    member = saved.member
    member.put_into(saved.group)
    backs = [one for one in member.used_up if one.number in saved.places]
    for one in member.listenings:
        back = next((old for old in backs if one.number >= saved.times_listened and one.is_like(old)), None)
        if back is not None:  # this one took its place since
            backs.remove(back)
        if back is not None or (one.number < saved.times_listened and one.number not in saved.places):
            one.use_up() if one.is_once else one.stop()
        else:
            one.move(saved.places.get(one.number, one.place))
    for back in [one for one in member.used_up if one.number in saved.places]:
        member.bring_back(back, saved.places[back.number])
    member.times_listened = max(member.times_listened, saved.times_listened)


def _group(narrowcast: Narrowcast, fields: Fields, name: str) -> Group:
    try:
        return narrowcast.group(fields.text(name))
    except UnknownNameError as error:
        raise StateError(f"{fields.place_of(name)!r}: {error}; add it before loading") from None


def _member(narrowcast: Narrowcast, fields: Fields, name: str) -> Member:
    try:
        return narrowcast.member(fields.text(name))
    except UnknownNameError as error:
        raise StateError(f"{fields.place_of(name)!r}: {error}; add it before loading") from None


def _listening_of(member: Member, fields: Fields) -> MemberListening:
    number = fields.whole("number")
    here = (*member.listenings, *member.used_up)
    found = next((one for one in here if one.number == number), None)
    if found is None:
        fields.refuse("number", f"is {number}, which {member.name!r} has not here; let it listen first")
    return found
