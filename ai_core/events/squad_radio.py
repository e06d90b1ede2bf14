"""Squad radio: intents and sightings shared within a group, with sender and age."""
from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple

from ai_core.errors import check_type, finite_number, shown, whole_number
from ai_core.events.event import POSITION_STATE, Event, Position
from ai_core.events.narrowcast import GroupMembership
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LARGEST
from ai_core.saving.kinds import GameValue, ListOf, OneOf, Record, Seconds, Text

__all__ = ["INTENT", "RADIO_CODES", "SIGHTING", "RadioMessage", "SquadRadio"]

INTENT = "radio_intent"
"""Event code of the announcement of an intended action."""

SIGHTING = "radio_sighting"
"""Event code of the report of a sighting."""

RADIO_CODES = (INTENT, SIGHTING)
"""Event codes of radios, which need no declaration."""

KINDS = {"intent": INTENT, "sighting": SIGHTING}

KIND_OF = {code: kind for kind, code in KINDS.items()}


class RadioMessage(NamedTuple):
    """The latest message of a sender about a subject."""

    kind: str
    """"intent" or "sighting"."""
    sender: str
    subject: str
    content: Any
    """Plain data, such as "flank"."""
    position: Position | None
    """Position of the subject or of the intended action (m); None if unknown."""
    sent_at_s: float
    """Game time at which it was sent (s)."""

    def age_s(self, now_s: float) -> float:
        """Return the age of the message at a game time (s)."""
        return now_s - self.sent_at_s


class SquadRadio(Saveable):
    """The radio of a member: sends messages to its group, and stores received messages.

    The latest intent and the latest sighting are kept for each sender and subject.
    The radio moves with its member from group to group, and keeps its messages.

    Args:
        member: owner of the radio; it does not receive its own messages.
        capacity: messages kept, 1 or more; a new message replaces the oldest.

    Raises:
        TypeError: if an argument has a wrong type.
        ValueError: if ``capacity`` is out of range.
    """

    STATE = DeclaredState(received=ListOf(
        Record(
            RadioMessage, kind=OneOf(KINDS), sender=Text(), subject=Text(),
            content=GameValue("_member.narrowcast.events.values"), position=POSITION_STATE, sent_at_s=Seconds()),
        at="_messages"))

    def __init__(self, member: GroupMembership, *, capacity: int = 64) -> None:
        check_type("member", member, GroupMembership, "use one made by Narrowcast.add_member")
        self._member = member
        self._capacity = whole_number("capacity", capacity, minimum=1, remedy="use 1 to keep the latest only")
        self._received: dict[tuple[str, str, str], RadioMessage] = {}
        self._subscription = member.listen(
            (INTENT, SIGHTING), self.receive, name=f"radio of {member.name}", saved_as="radio")

    def announce_intent(
        self, intent: object, *, subject: str = "", position: Iterable[float] | None = None,
        reach: str = "own", **terms: Any,
    ) -> Event:
        """Announce an intended action of the member to its group.

        Args:
            intent: plain data, such as "flank".
            subject: target of the action; "" is a valid subject.
            position: position of the action (m).
            reach: as for ``Group.send``.
            terms: further arguments of ``EventManager.send``.

        Cost: as ``Group.send``.
        """
        return self._send(INTENT, subject, intent, position, reach, terms)

    def report_sighting(
        self, subject: str, *, content: object = None, position: Iterable[float] | None = None,
        reach: str = "own", **terms: Any,
    ) -> Event:
        """Report a sighting of the member, and its position (m), to its group. Cost: as ``Group.send``."""
        return self._send(SIGHTING, subject, content, position, reach, terms)

    def latest(self, kind: str, sender: str, subject: str = "") -> RadioMessage | None:
        """Return the latest message of a sender about a subject, or None. Cost: O(1)."""
        return self._received.get((_kind(kind), sender, subject))

    def messages(
        self, *, kind: str | None = None, subject: str | None = None, max_age_s: float | None = None
    ) -> list[RadioMessage]:
        """Return the received messages that meet every given condition, newest first.

        Cost: O(capacity · log capacity).
        """
        if kind is not None:
            _kind(kind)
        oldest_s = -LARGEST
        if max_age_s is not None:
            now_s = self._member.narrowcast.events.clock.now.seconds
            oldest_s = now_s - finite_number("max_age_s", max_age_s, minimum=0, remedy="leave it out for any age")
        found = [
            one for one in reversed(self._received.values())
            if (kind is None or one.kind == kind)
            and (subject is None or one.subject == subject)
            and one.sent_at_s >= oldest_s]
        return sorted(found, key=lambda one: -one.sent_at_s)  # at equal times, the last received is first

    def forget(self, *, sender: str | None = None, subject: str | None = None) -> None:
        """Drop the messages of a sender, or about a subject; all messages if neither is given."""
        for key, one in list(self._received.items()):
            if sender in (None, one.sender) and subject in (None, one.subject):
                del self._received[key]

    def receive(self, event: Event) -> None:
        """Store a message; a message older than the stored one is dropped."""
        sender = event.sender
        if sender == self._member.name or not isinstance(sender, str):
            return
        subject, content = event.arguments
        kind = KIND_OF[event.code]
        message = RadioMessage(kind, sender, subject, content, event.position, event.sent_at_s.seconds)
        key = (kind, sender, subject)
        before = self._received.get(key)
        if before is not None and before.sent_at_s > message.sent_at_s:
            return
        self._received.pop(key, None)  # so that the latest comes last
        self._received[key] = message
        if len(self._received) > self._capacity:
            del self._received[min(self._received, key=lambda one: self._received[one].sent_at_s)]

    @property
    def _messages(self) -> list[RadioMessage]:
        return list(self._received.values())

    @_messages.setter
    def _messages(self, messages: list[RadioMessage]) -> None:
        self._received = {one[:3]: one for one in messages}

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len({one[:3] for one in values.received}) != len(values.received):
            refuse("received", "must hold one message of a sender about a subject")
        if len(values.received) > self._capacity:
            refuse("received", f"must hold at most {self._capacity} messages, got {len(values.received)}")

    def _send(
        self, code: str, subject: str, content: object, position: Iterable[float] | None, reach: str,
        terms: dict[str, Any],
    ) -> Event:
        check_type("subject", subject, str)
        return self._member.send(code, subject, content, reach=reach, position=position, **terms)


def _kind(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"kind must be 'intent' or 'sighting', got {shown(kind)}")
    return kind
