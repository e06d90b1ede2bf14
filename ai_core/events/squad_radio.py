"""Squad radio: what comrades intend and what they have seen, each with sender and age.

A radio belongs to a member of a narrowcast and hears its group. Nobody looks
into anybody's head: whoever changes how one character decides breaks no other.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ai_core.errors import finite_number, shown, whole_number
from ai_core.events.event import Event, Position
from ai_core.events.narrowcast import GroupMembership
from ai_core.events.terms import coordinates
from ai_core.saving.fields import LARGEST, Fields, State

__all__ = ["INTENT", "SIGHTING", "RadioMessage", "SquadRadio"]

INTENT = "radio_intent"
"""Event code of what somebody is about to do."""

SIGHTING = "radio_sighting"
"""Event code of what somebody has seen."""

KINDS = {"intent": INTENT, "sighting": SIGHTING}

KIND_OF = {code: kind for kind, code in KINDS.items()}


class RadioMessage(NamedTuple):
    """The latest that one sender said about one subject."""

    kind: str
    """"intent" or "sighting"."""
    sender: str
    subject: str
    content: Any
    """Plain data, such as "flank"."""
    position: Position | None
    """Where it is, or is to be (m)."""
    sent_at_s: float
    """Game time when it was said (s)."""

    def age_s(self, now_s: float) -> float:
        """Return how old it is at a moment of game time (s)."""
        return now_s - self.sent_at_s


class SquadRadio:
    """One member's radio: says things to its group, and remembers what it hears.

    Of each sender and subject the latest intent and the latest sighting are
    kept. It goes with its member from group to group, and keeps what it heard.

    Args:
        member: whose radio it is; what it says itself it does not hear.
        capacity: messages kept, 1 or more; the oldest make room.

    Raises:
        TypeError, ValueError: if an argument is not what it must be.
    """

    def __init__(self, member: GroupMembership, *, capacity: int = 64) -> None:
        if not isinstance(member, GroupMembership):
            raise TypeError(f"member must be a Member of a Narrowcast, got {shown(member)}")
        self._member = member
        self._capacity = whole_number("capacity", capacity, minimum=1, remedy="use 1 for the last one")
        self._heard: dict[tuple[str, str, str], RadioMessage] = {}
        self._listening = member.listen((INTENT, SIGHTING), self.hear, name=f"radio of {member.name}")

    def announce_intent(
        self, intent: object, *, subject: str = "", position: Iterable[float] | None = None,
        reach: str = "own", **terms: Any,
    ) -> Event:
        """Tell the group what its member is about to do.

        Args:
            intent: plain data, such as "flank".
            subject: to whom or what; "" is a subject like others.
            position: where (m).
            reach: as ``Group.send`` takes it.
            terms: what else ``EventManager.send`` takes.

        Cost: as ``Group.send``.
        """
        return self._say(INTENT, subject, intent, position, reach, terms)

    def report_sighting(
        self, subject: str, *, content: object = None, position: Iterable[float] | None = None,
        reach: str = "own", **terms: Any,
    ) -> Event:
        """Tell the group what its member has seen, and where. Cost: as ``Group.send``."""
        return self._say(SIGHTING, subject, content, position, reach, terms)

    def latest(self, kind: str, sender: str, subject: str = "") -> RadioMessage | None:
        """Return the latest that a sender said about a subject. Cost: O(1)."""
        return self._heard.get((_kind(kind), sender, subject))

    def messages(
        self, *, kind: str | None = None, subject: str | None = None, max_age_s: float | None = None
    ) -> list[RadioMessage]:
        """Return what was heard and fits every condition given, newest first.

        Cost: O(capacity · log capacity).
        """
        if kind is not None:
            _kind(kind)
        oldest_s = -LARGEST
        if max_age_s is not None:
            now_s = self._member.narrowcast.events.clock.now.seconds
            oldest_s = now_s - finite_number("max_age_s", max_age_s, minimum=0, remedy="leave it out for any age")
        found = [
            one for one in reversed(self._heard.values())
            if (kind is None or one.kind == kind)
            and (subject is None or one.subject == subject)
            and one.sent_at_s >= oldest_s
        ]
        return sorted(found, key=lambda one: -one.sent_at_s)  # of one moment, the last heard first

    def forget(self, *, sender: str | None = None, subject: str | None = None) -> None:
        """Forget what a sender said, or what was said about a subject; everything if neither is given."""
        for key, one in list(self._heard.items()):
            if sender in (None, one.sender) and subject in (None, one.subject):
                del self._heard[key]

    def switch_off(self) -> None:
        """Hear nothing more; what was heard stays."""
        self._listening.stop()

    def hear(self, event: Event) -> None:
        """Remember a message; one that was overtaken by a later one is dropped."""
        sender = event.sender
        if sender == self._member.name or not isinstance(sender, str):
            return
        subject, content = event.arguments
        kind = KIND_OF[event.code]
        message = RadioMessage(kind, sender, subject, content, event.position, event.sent_at.seconds)
        key = (kind, sender, subject)
        before = self._heard.get(key)
        if before is not None and before.sent_at_s > message.sent_at_s:
            return
        self._heard.pop(key, None)  # so that the latest comes last
        self._heard[key] = message
        if len(self._heard) > self._capacity:
            del self._heard[min(self._heard, key=lambda one: self._heard[one].sent_at_s)]

    def save_state(self) -> State:
        """Return what was heard, as plain data."""
        values = self._member.narrowcast.events.values
        return {
            "version": 1,
            "heard": [
                {
                    **one._asdict(),
                    "content": values.plain(one.content, f"heard[{index}].content"),
                    "position": None if one.position is None else list(one.position),
                }
                for index, one in enumerate(self._heard.values())
            ],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what was saved; return what puts it back.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        heard: dict[tuple[str, str, str], RadioMessage] = {}
        for one in fields.groups("heard"):
            message = self._read(one)
            if message[:3] in heard:
                one.refuse("subject", "comes twice from this sender")
            heard[message[:3]] = message
        if len(heard) > self._capacity:
            fields.refuse("heard", f"must hold {self._capacity} messages at most, got {len(heard)}")
        fields.end()

        def change() -> None:
            self._heard = heard

        return change

    def _read(self, fields: Fields) -> RadioMessage:
        values = self._member.narrowcast.events.values
        position = fields.anything("position")
        message = RadioMessage(
            fields.one_of("kind", tuple(KINDS)), fields.text("sender"), fields.text("subject"),
            values.value(fields.anything("content"), fields.place_of("content")),
            None if position is None else coordinates("position", fields.numbers("position", count=3)),
            fields.seconds("sent_at_s"),
        )
        fields.end()
        return message

    def _say(
        self, code: str, subject: str, content: object, position: Iterable[float] | None, reach: str,
        terms: dict[str, Any],
    ) -> Event:
        if not isinstance(subject, str):
            raise TypeError(f"subject must be a text, got {shown(subject)}")
        return self._member.send(code, subject, content, reach=reach, position=position, **terms)


def _kind(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"kind must be 'intent' or 'sighting', got {shown(kind)}")
    return kind
