"""Squad radio: who said what about whom, and how long ago?"""
from __future__ import annotations

import json
import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_log import EventLog
from ai_core.events.narrowcast import Narrowcast
from ai_core.events.squad_radio import SquadRadio
from ai_core.saving.fields import StateError


class Squads:
    def __init__(self, capacity=64):
        self.clock = ManualClock(0.25)
        self.cast = Narrowcast(self.clock)
        self.cast.add_group("red")
        self.cast.add_group("blue")
        self.radios = {
            name: SquadRadio(self.cast.add_member(name, self.cast.group(group)), capacity=capacity)
            for name, group in [("ann", "red"), ("bob", "red"), ("cid", "red"), ("eve", "blue")]}

    def __getattr__(self, name):
        return self.radios[name]

    def live(self, frames=1):
        for _ in range(frames):
            self.clock.advance()
            self.cast.advance(Budget.unlimited())


@pytest.fixture
def squads():
    return Squads()


def test_only_the_group_receives_messages_with_sender_and_age(squads):
    squads.ann.announce_intent("flank", subject="door", position=(1, 2))
    squads.live(4)
    message = squads.bob.latest("intent", "ann", "door")
    assert message == ("intent", "ann", "door", "flank", (1.0, 2.0, 0.0), 0.0)
    assert message.age_s(squads.clock.now.seconds) == 1.0
    assert squads.cid.messages() == [message]
    assert squads.ann.messages() == []
    assert squads.eve.messages() == []


def test_the_latest_word_about_a_subject_replaces_the_one_before(squads):
    for place in (1, 2):
        squads.ann.report_sighting("intruder", position=(place, 0))
        squads.live()
    squads.bob.report_sighting("intruder", position=(3, 0))
    squads.ann.report_sighting("cat", content="black")
    squads.live()
    assert [(one.sender, one.subject, one.position) for one in squads.cid.messages()] == [
        ("ann", "cat", None), ("bob", "intruder", (3, 0, 0)), ("ann", "intruder", (2, 0, 0))]
    assert [one.sender for one in squads.cid.messages(subject="intruder")] == ["bob", "ann"]
    assert squads.cid.messages(kind="intent") == []
    assert squads.cid.latest("sighting", "ann", "cat").content == "black"


def test_an_older_message_that_comes_later_changes_nothing(squads):
    squads.ann.announce_intent("wait", delay_s=1)
    squads.live()
    squads.ann.announce_intent("attack")
    squads.live(9)
    assert squads.bob.latest("intent", "ann").content == "attack"


def test_old_messages_can_be_left_out_and_forgotten(squads):
    squads.ann.report_sighting("intruder")
    squads.live(4)
    squads.bob.report_sighting("intruder")
    squads.live()
    assert [one.sender for one in squads.cid.messages(max_age_s=1)] == ["bob"]
    squads.cid.forget(sender="bob")
    assert [one.sender for one in squads.cid.messages()] == ["ann"]
    squads.cid.forget(subject="intruder")
    assert squads.cid.messages() == []


def test_memory_is_bounded_and_the_oldest_make_room():
    squads = Squads(capacity=3)
    for number in range(10):
        squads.ann.report_sighting(f"thief {number}")
        squads.live()
    assert [one.subject for one in squads.bob.messages()] == ["thief 9", "thief 8", "thief 7"]


def test_radio_moves_with_its_member_and_keeps_messages(squads):
    squads.ann.announce_intent("hold")
    squads.live()
    squads.cast.member("bob").move_to(squads.cast.group("blue"))
    squads.ann.announce_intent("retreat")
    squads.eve.announce_intent("ambush")
    squads.live()
    assert [(one.sender, one.content) for one in squads.bob.messages()] == [("eve", "ambush"), ("ann", "hold")]


def test_received_messages_are_saved(squads):
    squads.ann.announce_intent({"plan": (1, 2)}, position=(1, 2, 3))
    squads.cid.report_sighting("cat")
    squads.live()
    other = Squads()
    other.bob.prepare_state(json.loads(json.dumps(squads.bob.save_state())))()
    assert other.bob.messages() == squads.bob.messages()
    assert len(other.bob.messages()) == 2


def test_message_from_as_far_as_events_may_be_is_saved(squads):
    squads.ann.report_sighting("bear", position=(1e50, 0, 0))
    squads.live()
    squads.bob.prepare_state(json.loads(json.dumps(squads.bob.save_state())))()
    assert squads.bob.latest("sighting", "ann", "bear").position == (1e50, 0.0, 0.0)


def test_a_state_that_cannot_be_is_refused():
    squads = Squads(capacity=1)
    squads.ann.announce_intent("hold")
    squads.live()
    good = squads.bob.save_state()
    row = good["received"][0]
    for changed, message in [
        ({"received": [row, row]}, "must hold one message of a sender about a subject"),
        ({"received": [row, {**row, "subject": "b"}]}, "'received' must hold at most 1 messages, got 2"),
        ({"received": [{**row, "kind": "song"}]}, "must be 'intent' or 'sighting', got 'song'"),
        ({"received": [{**row, "position": [1]}]}, "'received\\[0\\].position' must be a list of 3"),
        ({"received": [{**row, "sent_at_s": None}]}, "'received\\[0\\].sent_at_s' must be a finite number")]:
        with pytest.raises(StateError, match=message):
            squads.bob.prepare_state({**good, **changed})


def test_misuse_is_refused(squads):
    with pytest.raises(ValueError, match="kind must be 'intent' or 'sighting', got 'song'"):
        squads.ann.messages(kind="song")
    with pytest.raises(ValueError, match="kind must be"):
        squads.ann.latest("song", "bob")
    with pytest.raises(ValueError, match="max_age_s must be at least 0"):
        squads.ann.messages(max_age_s=-1)
    with pytest.raises(TypeError, match="subject must be a string, got 3"):
        squads.ann.report_sighting(3)
    with pytest.raises(ValueError, match="position must be a finite number"):
        squads.ann.report_sighting("cat", position=(0, math.nan))
    with pytest.raises(ValueError, match="capacity must be at least 1"):
        SquadRadio(squads.cast.member("ann"), capacity=0)


def test_log_names_the_radio_that_received(squads):
    squads.cast.log = EventLog()
    squads.ann.report_sighting("intruder")
    squads.live()
    told = [one.name for one in squads.cast.log.entries() if one.kind == "delivered"]
    assert told == ["radio of ann", "radio of bob", "radio of cid"]
