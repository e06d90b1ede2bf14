"""Narrowcasting: how far does an event go, and who goes with whom?"""
from __future__ import annotations

import weakref

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import CycleError, UnknownNameError
from ai_core.events.event import EVERY_CODE
from ai_core.events.event_log import EventLog
from ai_core.events.narrowcast import Narrowcast
from ai_core.faults import FaultIsolation


class Army:
    """A side with two battalions of two squads with two soldiers each."""

    def __init__(self, **settings):
        self.clock = ManualClock(0.25)
        self.cast = Narrowcast(self.clock, **settings)
        self.heard = []
        side = self.cast.add_group("side")
        for battalion in "AB":
            above = self.cast.add_group(battalion, under=side)
            for squad in "12":
                group = self.cast.add_group(battalion + squad, under=above)
                for soldier in "xy":
                    self.enlist(battalion + squad + soldier, group)
            self.enlist(battalion + "!", above)

    def enlist(self, name, group, codes="*", **settings):
        member = self.cast.add_member(name, group)
        member.listen(codes, lambda event: self.heard.append((name, event.code)), **settings)
        return member

    def told(self, frames=1, steps=999):
        for _ in range(frames):
            self.clock.advance()
            self.cast.advance(Budget.of_steps(steps))
        names, self.heard = [name for name, _ in self.heard], []
        return names


@pytest.fixture
def army():
    return Army()


@pytest.mark.parametrize(
    ("start", "reach", "told"),
    [
        ("A1", "own", "A1x A1y"),
        ("A", "own", "A!"),
        ("A", "down", "A! A1x A1y A2x A2y"),
        ("A1", "up", "A1x A1y A!"),
        ("B2", "all", "A! A1x A1y A2x A2y B! B1x B1y B2x B2y"),
        ("side", "own", ""),
        ("side", "down", "A! A1x A1y A2x A2y B! B1x B1y B2x B2y"),
        ("side", "up", "")])
def test_an_event_goes_as_far_as_it_is_sent(army, start, reach, told):
    army.cast.group(start).send("order", reach=reach)
    assert army.told() == told.split()
    army.cast.group(start).send_now("order", reach=reach)
    assert [name for name, _ in army.heard] == told.split()
    assert army.cast.counts.sent == 2


def test_priorities_count_across_groups(army):
    army.enlist("late", army.cast.group("A1"), priority=-1)
    army.enlist("B2z", army.cast.group("B2"), priority=3)
    army.enlist("A2z", army.cast.group("A2"), priority=3)
    army.cast.group("side").send("order", reach="down")
    assert army.told() == ["A2z", "B2z", "A!", "A1x", "A1y", "A2x", "A2y", "B!", "B1x", "B1y", "B2x", "B2y", "late"]


def test_a_member_says_things_to_its_group_under_its_name(army):
    event = army.cast.member("A1x").send("ready", reach="up")
    assert event.sender == "A1x"
    assert army.told() == ["A1x", "A1y", "A!"]


def test_survivors_of_a_squad_are_reassigned_in_one_call(army):
    army.cast.member("A1x").leave()
    army.cast.group("A1").transfer_listeners(army.cast.group("B1"))
    army.cast.group("A1").send("order")
    assert army.told() == []
    army.cast.group("B1").send("order")
    assert army.told() == ["B1x", "B1y", "A1y"]
    assert [one.name for one in army.cast.group("B1").members] == ["B1x", "B1y", "A1y"]
    army.cast.group("B").send("order", reach="down")
    assert army.told() == ["B!", "B1x", "B1y", "A1y", "B2x", "B2y"]


def test_a_whole_battalion_changes_sides_with_all_below_it(army):
    other = army.cast.add_group("other side")
    army.cast.group("A").move_under(other)
    army.cast.group("side").send("order", reach="down")
    assert army.told() == ["B!", "B1x", "B1y", "B2x", "B2y"]
    other.send("order", reach="down")
    assert army.told() == ["A!", "A1x", "A1y", "A2x", "A2y"]
    assert army.cast.group("A").above is other


def test_moved_member_gets_events_of_the_new_room_only():
    rooms = Army()
    kitchen, hall = rooms.cast.add_group("kitchen"), rooms.cast.add_group("hall")
    cook = rooms.enlist("cook", kitchen)
    kitchen.send("pot falls")
    hall.send("clock strikes")
    cook.move_to(hall)
    rooms.clock.advance()
    rooms.cast.advance(Budget.unlimited())
    assert rooms.heard == [("cook", "clock strikes")]  # also of what was queued before
    assert (cook.group, kitchen.members) == (hall, ())


def test_member_leaving_mid_broadcast_of_the_old_room_is_skipped(army):
    army.cast.group("A1").send("order")
    army.told(steps=1)
    army.cast.member("A1y").move_to(army.cast.group("B1"))
    assert army.told() == []
    assert army.cast.counts.delivered == 1


def test_member_moved_mid_broadcast_within_reach_gets_it_once(army):
    army.cast.group("side").send("order", reach="down", wants_receipt=True)
    told = army.told(steps=3)
    for name in ("A1x", "A2x", "B1y"):  # one told already, two not yet
        army.cast.member(name).move_to(army.cast.group("B2"))
    army.cast.member("B1y").move_to(army.cast.group("A1"))
    told += army.told()
    assert sorted(told) == sorted(one.name for one in army.cast.members)
    assert army.cast.counts.delivered == len(told) == 10


@pytest.mark.parametrize("codes", [["a", "b"], iter(["a", "b"])], ids=["a list that changes", "an iterator"])
def test_moving_keeps_the_codes_given_when_listening_began(army, codes):
    member, told = army.cast.add_member("spy", army.cast.group("A1")), []
    member.listen(codes, lambda event: told.append(event.code))
    if isinstance(codes, list):
        codes.append("c")
    member.move_to(army.cast.group("B1"))
    for code in "abc":
        army.cast.group("B1").send_now(code)
    assert told == ["a", "b"]


def test_moving_keeps_everything_that_was_listened_to(army):
    told = []
    member = army.cast.add_member("spy", army.cast.group("A1"))
    member.listen("a", lambda event: told.append("a"))
    stopped = member.listen("b", lambda event: told.append("b"))
    member.listen("c", lambda event: told.append("c"), once=True)
    member.listen("d", lambda event: told.append("d"), where=lambda event: event.arguments == (1,))
    member.listen("a", lambda event: told.append("early"), priority=1)
    stopped.stop()
    army.cast.group("A1").send_now("c")
    for name in ("B1", "B2"):
        member.move_to(army.cast.group(name))
    for code in "abcd":
        army.cast.group("B2").send_now(code, 2)
    army.cast.group("B2").send_now("d", 1)
    assert told == ["c", "early", "a", "d"]
    assert len(member.listenings) == 3
    assert not stopped.is_active


def test_sticky_event_of_a_room_reaches_newcomers_lacking_it(army):
    army.cast.group("A1").send_now("lamp", is_sticky=True)
    army.cast.group("A").send_now("curfew", reach="down", is_sticky=True)
    army.heard.clear()
    army.cast.member("B1x").move_to(army.cast.group("A1"))
    assert army.heard == [("B1x", "lamp"), ("B1x", "curfew")]
    army.cast.member("A2x").move_to(army.cast.group("A1"))
    assert army.heard[2:] == [("A2x", "lamp")]
    army.enlist("new", army.cast.group("A1"), codes="lamp")
    assert army.heard[3:] == [("new", "lamp")]
    army.cast.group("A1").clear_sticky("lamp")
    army.enlist("late", army.cast.group("A1"), codes="lamp")
    assert len(army.heard) == 4


def test_member_moved_by_a_sticky_event_gets_no_more_there(army):
    heard, rooms = [], [army.cast.group(name) for name in ("A1", "A2", "B1")]
    for number in range(2):
        rooms[1].send_now(f"state {number}", is_sticky=True)
    guest = army.cast.add_member("guest", rooms[0])

    def hear(event):
        heard.append(event.code)
        guest.move_to(rooms[2])

    guest.listen(EVERY_CODE, hear)
    guest.move_to(rooms[1])
    assert (heard, guest.group) == (["state 0"], rooms[2])


def test_failures_in_a_row_go_with_a_member():
    army = Army(faults=FaultIsolation(report=lambda fault: None))
    calls = []

    def fail(event):
        calls.append(event.code)
        raise RuntimeError("no")

    ill = army.cast.add_member("ill", army.cast.group("A1"))
    ill.listen("x", fail)
    for name in ("A1", "A2", "B1", "B2", "A1"):
        ill.move_to(army.cast.group(name))
        army.cast.group(name).send_now("x")
    assert calls == ["x"] * 3


def test_a_group_cannot_be_part_of_itself(army):
    for name in ("A", "A1"):
        with pytest.raises(CycleError, match=f"group 'A' cannot be moved under '{name}', which is part of it"):
            army.cast.group("A").move_under(army.cast.group(name))
    assert army.cast.group("A").above is army.cast.group("side")


def test_a_group_is_removed_when_it_is_empty(army):
    squad = army.cast.group("A1")
    with pytest.raises(ValueError, match="group 'A1' has 2 members and 0 groups below it; move them first"):
        squad.remove()
    with pytest.raises(ValueError, match="group 'A' has 1 members and 2 groups below it"):
        army.cast.group("A").remove()
    squad.send_now("alarm", is_sticky=True)
    squad.send("order", is_sticky=True)
    squad.transfer_listeners(army.cast.group("A2"))
    squad.remove()
    army.heard.clear()
    assert army.told() == []
    assert army.cast.counts.unheard == 1
    assert army.cast.save_state()["events"]["sticky"] == []       # nobody can ever receive them
    for use in (lambda: squad.send("order"), squad.remove, lambda: army.cast.member("A2x").move_to(squad)):
        with pytest.raises(ValueError, match="group 'A1' was removed; use a group that still exists"):
            use()
    with pytest.raises(UnknownNameError, match="unknown group 'A1'; did you mean"):
        army.cast.group("A1")


def test_removed_member_receives_and_sends_nothing(army):
    member = army.cast.member("A1x")
    member.leave()
    member.leave()
    army.cast.group("A1").send("order")
    assert army.told() == ["A1y"]
    other = army.cast.group("A2")
    for use in (lambda: member.move_to(other), lambda: member.listen("x", print), lambda: member.send("x")):
        with pytest.raises(ValueError, match="member 'A1x' has left; add it again"):
            use()
    army.enlist("A1x", army.cast.group("A1"))


@pytest.mark.parametrize("priority", ["high", 1.5, 1_000_001])
def test_invalid_priority_is_refused_before_anything_changes(army, priority):
    member = army.cast.member("A1x")
    with pytest.raises((TypeError, ValueError), match="priority must be"):
        member.listen("x", print, priority=priority)
    assert len(member.listenings) == 1


def test_names_and_groups_are_checked(army):
    with pytest.raises(ValueError, match="a group named 'A' already exists"):
        army.cast.add_group("A")
    with pytest.raises(ValueError, match="a member named 'A!' already exists"):
        army.cast.add_member("A!", army.cast.group("A"))
    with pytest.raises(TypeError, match="the name of a group must be a non-empty string, got ''"):
        army.cast.add_group("")
    with pytest.raises(TypeError, match="group must be a Group made by add_group, got 'A'"):
        army.cast.add_member("new", "A")
    with pytest.raises(ValueError, match="group 'A' belongs to another narrowcast"):
        army.cast.add_member("new", Army().cast.group("A"))
    with pytest.raises(ValueError, match="reach must be one of own, down, up, all, got 'far'"):
        army.cast.group("A").send("order", reach="far")
    with pytest.raises(UnknownNameError, match="unknown member 'A1z'; did you mean"):
        army.cast.member("A1z")


def test_declared_codes_hold_in_every_group():
    cast = Narrowcast(ManualClock(), codes=["order", "alarm"])
    group = cast.add_group("A")
    member = cast.add_member("bob", group)
    for use in (lambda: group.send("ordr"), lambda: group.send_now("ordr"), lambda: member.listen("ordr", print)):
        with pytest.raises(UnknownNameError, match="did you mean 'order'"):
            use()
    assert not cast.has_listeners("alarm")
    member.listen(0b10, print)
    assert cast.has_listeners("alarm")


def test_a_weak_listener_moves_and_is_dropped_with_its_object(army):
    class Soldier:
        def __init__(self):
            self.heard = []

        def hear(self, event):
            self.heard.append(event.code)

    soldier = Soldier()
    member = army.cast.add_member("weak", army.cast.group("A1"))
    member.listen("x", soldier.hear, weak=True)
    member.move_to(army.cast.group("A2"))
    army.cast.group("A2").send_now("x")
    assert soldier.heard == ["x"]
    del soldier
    army.cast.group("A2").send_now("x")
    assert army.cast.counts.freed == 1
    assert member.listenings == ()


def test_all_groups_share_one_log_and_one_queue(army):
    army.cast.log = EventLog()
    army.cast.group("A1").send("order")
    army.cast.group("B1").send("order", priority=1)
    assert army.cast.queue_length == 2
    assert army.told() == ["B1x", "B1y", "A1x", "A1y"]
    assert len(army.cast.log.entries(kinds="delivered")) == 4


def test_stopped_listener_is_released_at_once():
    narrowcast = Narrowcast(ManualClock())
    member = narrowcast.add_member("ann", narrowcast.add_group("squad"))

    def hear(_event):
        """Somebody's script."""

    known = weakref.ref(hear)
    member.listen("alarm", hear).stop()
    member.leave()
    del hear, member
    assert known() is None


def test_renamed_groups_and_members_keep_order_and_use_new_names(army):
    cast = army.cast
    groups, members = [one.name for one in cast.groups], [one.name for one in cast.members]
    cast.rename({cast.group("A1"): "guard", cast.member("A1x"): "ann", cast.member("A1y"): "A1x"})
    assert [one.name for one in cast.groups] == ["guard" if one == "A1" else one for one in groups]
    assert [one.name for one in cast.members] == ["ann", "A1x", *members[2:]]
    assert cast.member("ann").group is cast.group("guard")
    cast.group("guard").send("order")
    assert army.told() == ["A1x", "A1y"]                     # told by the names they enlisted with
    with pytest.raises(ValueError, match="would have the same name"):
        cast.rename({cast.member("ann"): "A1x"})
    for wrong in ("", 5):
        with pytest.raises(TypeError, match="the name of a member must be a non-empty string"):
            cast.rename({cast.group("guard"): "watch", cast.member("ann"): wrong})
    assert cast.group("guard").name == "guard"
    assert cast.member("ann").name == "ann"
    cast.member("ann").leave()
    with pytest.raises(UnknownNameError):
        cast.member("ann")
