"""Squad radio at an AIEventManager: what comrades intend and have seen, with sender and age."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import Node, RefusedValue, Variant, Vector3, method
from addons.ai_core.nodes.events.event_terms import place_of, refusing
from ai_core.events.squad_radio import SquadRadio


class EventRadio:
    """What nodes say to those who are tuned in at the same manager; a part of that class."""

    events: Any
    group: Any

    @method
    def tune_in(self, who: Node) -> None:
        """Give a node a radio here: it hears, and remembers, what comrades say, wherever it is moved to."""
        self._radio(who, is_new=True)

    @method
    def say_intent(self, who: Node, intent: Variant, subject: str = "", position: Variant = None) -> None:
        """Tell the others here what a node is about to do."""
        place = None if position is None else place_of(position, "position")
        self._radio(who).say_intent(intent, subject=subject, position=place)

    @method
    def say_sighting(self, who: Node, subject: str, content: Variant = None, position: Variant = None) -> None:
        """Tell the others here what a node has seen, and where."""
        place = None if position is None else place_of(position, "position")
        self._radio(who).say_sighting(subject, content=content, position=place)

    @method
    def get_messages(self, who: Node, kind: str = "", subject: str = "", max_age_s: float = -1.0) -> list:
        """Return what a node heard, newest first, as Dictionaries.

        "kind" (intent or sighting), "sender", "subject", "content", "position", "age_s".
        The sender is a node, null if it was freed.
        """
        radio = self._radio(who)
        with refusing():
            found = radio.messages(
                kind=kind or None, subject=subject or None, max_age_s=None if max_age_s < 0 else max_age_s)
        now_s = self.events.scheduler.clock.now.seconds
        return [
            {"kind": one.kind, "sender": self.events.node_named(one.sender), "subject": one.subject,
             "content": one.content, "age_s": one.age_s(now_s),
             "position": None if one.position is None else Vector3(*one.position)}
            for one in found
        ]

    def _radio(self, who: Any, *, is_new: bool = False) -> SquadRadio:
        if who is None:
            raise RefusedValue("a radio belongs to a node, got null")
        radios = self.events.radios
        for one in self.events.of_node(who):
            if one in radios and (one.member.group is self.group):
                return radios[one]
        if not is_new:
            raise RefusedValue(f"{who.get_name()} is not tuned in here; call tune_in() first")
        member = self.events.member_of(self, who)
        radios[member] = SquadRadio(member.member)
        return radios[member]
