"""check() of an AIEventManager: it is looked only while somebody wants to know."""
from __future__ import annotations

import pytest


@pytest.fixture
def side(node, scheduler):
    """A side with a squad below it."""

    class Side:
        top = node("AIEventManager", scheduler, name="Side", codes=["fire", "flood"])
        squad = node("AIEventManager", top, name="Squad")

    return Side


@pytest.fixture
def looker(gdscript, scheduler):
    """A node with a method look, which notes what it was asked."""
    made = gdscript("extends Node\nvar asked := []\nfunc look(codes: Array) -> void: asked.append(codes)\n"
                    "func it() -> Callable: return look").new()
    made.set("name", "Looker")
    scheduler.add_child(made)
    return made


def look_of(looker):
    return looker.call("it")


def nothing(_code, _arguments):
    pass


def test_checks_run_only_for_conditions_with_listeners(side, looker, physics_frames):
    side.top.check(["fire", "flood"], look_of(looker))
    physics_frames(3)
    assert looker.get("asked") == []
    side.top.listen("flood", nothing)
    physics_frames(2)
    assert looker.get("asked") == [["flood"]] * 2
    side.top.unlisten("flood", nothing)
    physics_frames(2)
    assert len(looker.get("asked")) == 2


def test_listeners_below_count_for_checks_and_above_do_not(side, looker, physics_frames):
    side.squad.check("fire", look_of(looker))
    side.top.listen("fire", nothing)
    physics_frames(2)
    assert looker.get("asked") == []
    side.top.check("fire", look_of(looker))
    side.top.unlisten("fire", nothing)
    side.squad.listen("fire", nothing)
    physics_frames(1)
    assert looker.get("asked") == [["fire"]] * 2


def test_a_check_runs_once_per_period_until_it_is_removed(side, looker, physics_frames):
    side.top.listen("fire", nothing)
    side.top.check("fire", look_of(looker))
    side.top.check("fire", look_of(looker), 5)
    physics_frames(10)
    assert len(looker.get("asked")) == 2
    side.top.uncheck(look_of(looker))
    side.top.uncheck(look_of(looker))
    physics_frames(10)
    assert len(looker.get("asked")) == 2


def test_freed_check_ends_and_is_reported_once(side, looker, scheduler, physics_frames, expect_errors):
    side.top.listen("fire", nothing)
    side.top.check("fire", look_of(looker))
    looker.free()
    expect_errors("was freed; call uncheck() before freeing it", times=1)
    physics_frames(3)
    assert [row["name"] for row in scheduler.get_stats()["behaviors"] if "looks for" in row["name"]] == []


def test_a_freed_or_detached_manager_runs_no_checks(side, looker, node, scheduler, physics_frames):
    top = node("AIEventManager", scheduler, name="Other")
    top.listen("fire", nothing)
    top.check("fire", look_of(looker))
    scheduler.remove_child(top)
    physics_frames(2)
    assert looker.get("asked") == []
    scheduler.add_child(top)
    physics_frames(1)
    assert looker.get("asked") == [["fire"]]
    top.free()
    physics_frames(2)
    assert looker.get("asked") == [["fire"]]


@pytest.mark.parametrize(("codes", "period", "phase"), [
    ("smoke", 1, -1), ("*", 1, -1), ([], 1, -1), ("fire", 0, -1), ("fire", 1, -2), (7.5, 1, -1)])
def test_checks_of_nonsense_are_refused(side, looker, codes, period, phase):
    with pytest.raises(Exception, match=r"smoke|\*|at least|got"):
        side.top.check(codes, look_of(looker), period, phase)
