"""Once-listeners and saves: who was told listens no more, who was not told yet listens again."""
from __future__ import annotations

import json

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events import event as once_listeners
from ai_core.events.event_manager import EventManager
from ai_core.events.narrowcast import Narrowcast
from ai_core.events.time_of_day import TimeOfDay
from ai_core.saving.fields import StateError


class Square:
    """An event manager with once-listeners of one code; ``heard`` is who was told."""

    def __init__(self, names="ab"):
        self.heard, self.clock = [], ManualClock()
        self.kept = self.events = EventManager(self.clock)
        for name in names:
            self.listen(name)

    def listen(self, name, **terms):
        return self.events.listen("x", lambda event: self.heard.append(name), name=name, once=True, **terms)

    def tell(self):
        self.heard.clear()
        self.events.send_now("x")
        return "".join(self.heard)

    def save(self):
        return json.loads(json.dumps(self.kept.save_state()))

    def load(self, state):
        self.kept.prepare_state(state)()


class Barracks(Square):
    """The same as members of a group."""

    def __init__(self, names="ab"):
        self.heard = []
        self.kept = Narrowcast(ManualClock())
        self.events = self.kept.add_group("squad")
        self.member = self.kept.add_member("ann", self.events)
        for name in names:
            self.listen(name)

    def listen(self, name, **terms):
        return self.member.listen("x", lambda event: self.heard.append(name), name=name, once=True, **terms)


worlds = pytest.mark.parametrize("world", [Square, Barracks])


@worlds
def test_once_listener_called_before_the_save_stays_removed(world):
    first = world("ab")
    first.tell()
    first.listen("c")
    second = world("abc")
    second.load(first.save())
    assert second.tell() == "c"
    assert second.tell() == ""


@worlds
def test_once_listener_called_since_the_save_listens_again(world):
    game = world("ab")
    saved = game.save()
    for _ in range(3):
        assert game.tell() == "ab"
        assert game.tell() == ""
        game.load(saved)


@worlds
def test_replacement_of_a_restored_once_listener_stops(world):
    game = world("")

    def again(event):
        game.heard.append("again")
        listen()

    def listen():
        who = game.events if world is Square else game.member
        who.listen("x", again, once=True)

    listen()
    saved = game.save()
    for _ in range(3):
        assert [game.tell() for _ in range(4)] == ["again"] * 4
        game.load(saved)


@worlds
def test_one_that_is_only_here_is_left_alone(world):
    first, second = world("a"), world("ab")
    second.load(first.save())
    assert second.tell() == "ab"


@worlds
def test_stopped_once_listener_is_not_restored(world):
    game = world("a")
    handle = game.listen("b")
    saved = game.save()
    handle.stop()
    game.load(saved)
    assert game.tell() == "a"


@worlds
@pytest.mark.parametrize("is_told", [False, True])
def test_once_listener_that_was_registered_again_listens(world, is_told):
    game = world("ab")
    handle = game.listen("c")
    for _ in range(3):
        handle.stop()
        handle = game.listen("c")
    saved = game.save()
    if is_told:
        assert game.tell() == "abc"
        saved = game.save()
    for fresh in (world("abc"), game):
        fresh.load(saved)
        assert fresh.tell() == ("" if is_told else "abc")
        fresh.load(saved)
        assert fresh.tell() == ("" if is_told else "abc")


@worlds
def test_once_listener_registered_again_and_called_returns(world):
    game = world("a")
    handle = game.listen("b")
    saved = game.save()
    handle.stop()
    game.listen("b")
    for _ in range(3):
        assert game.tell() == "ab"
        game.load(saved)


@worlds
def test_as_many_equal_once_listeners_listen_as_in_the_save(world):
    game = world("aaa")
    handle = game.listen("a")
    assert game.tell() == "aaaa"
    game.listen("a")
    handle = game.listen("a")
    handle.stop()
    saved = game.save()
    fresh = world("aaa")
    fresh.load(saved)
    assert fresh.tell() == "a"
    fresh.listen("a")
    assert fresh.tell() == "a"


def test_pending_once_listener_of_half_sent_event_survives_load():
    game = Square("abc")
    game.events.send("x")
    game.events.advance(Budget.of_steps(1))
    assert game.heard == ["a"]
    saved = game.save()
    for _ in range(2):
        game.heard.clear()
        game.events.advance(Budget.unlimited())
        assert game.heard == ["b", "c"]
        game.load(saved)
    fresh = Square("abc")
    fresh.load(saved)
    fresh.events.advance(Budget.unlimited())
    assert fresh.heard == ["b", "c"]


def test_delivered_moment_of_day_is_not_repeated_after_loading():
    def world():
        clock, heard = ManualClock(seconds_per_frame=3600), []
        day = TimeOfDay(clock, day_length_s=86400, starts_at="08:00")
        day.listen("09:30", lambda event: heard.append("half past nine"))
        day.listen("11:30", lambda event: heard.append("half past eleven"))
        return clock, day, heard

    def live(clock, day, hours):
        for _ in range(hours):
            clock.advance()
            day.advance(Budget.unlimited())

    clock, day, _ = world()
    early = clock.save_state(), day.save_state()
    live(clock, day, 2)
    late = json.loads(json.dumps([clock.save_state(), day.save_state()]))
    second = world()
    for part, state in zip(second, late, strict=False):
        part.prepare_state(state)()
    live(second[0], second[1], 48)
    assert second[2] == ["half past eleven"]
    for part, state in zip(second, early, strict=False):  # back before both
        part.prepare_state(state)()
    second[2].clear()
    live(second[0], second[1], 48)
    assert second[2] == ["half past nine", "half past eleven"]


def test_the_latest_are_remembered_and_no_more(monkeypatch):
    monkeypatch.setattr(once_listeners, "REMEMBERED", 2)
    game = Square("abc")
    saved = game.save()
    game.tell()
    game.load(saved)
    assert game.tell() == "bc"


@pytest.mark.parametrize("change", [
    {"times": 1, "waiting": [1]}, {"times": -1}, {"codes": "x"}, {"codes": [3]}, {"name": None}, {"waiting": 3}])
def test_invalid_state_is_refused_and_nothing_changes(change):
    game = Square("ab")
    state = game.save()
    state["once"][0].update(change)
    with pytest.raises(StateError, match=r"once\[0\]"):
        game.load(state)
    assert game.tell() == "ab"


def test_names_that_are_never_used_again_are_forgotten(monkeypatch):
    monkeypatch.setattr(once_listeners, "KINDS", 20)
    monkeypatch.setattr(once_listeners, "REMEMBERED", 5)
    square, rows = Square(""), []
    waiting = square.listen("waits", where=lambda event: False)
    for number in range(100):
        square.listen(f"guard {number}")
        assert square.tell() == f"guard {number}"
        rows.append(len(square.save()["once"]))
    assert max(rows) <= 2 * 20
    assert waiting.is_active
    early = square.save()
    waiting.stop()
    square.listen("waits", where=lambda event: False)
    square.load(early)
    assert [one["name"] for one in square.save()["once"] if one["waiting"]] == ["waits"]


def test_many_waiting_once_listeners_are_restored(monkeypatch):
    monkeypatch.setattr(once_listeners, "KINDS", 20)
    names = [f"guard {number}" for number in range(100)]
    square = Square(names)
    saved = square.save()
    assert square.tell() == "".join(names)
    assert square.tell() == ""
    square.load(saved)
    assert square.tell() == "".join(names)
