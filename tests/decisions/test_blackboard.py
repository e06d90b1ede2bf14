"""Blackboards: scopes, types, and who is told of a change."""
from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_runner_loops import write_changed
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.errors import CycleError, UnknownNameError


@pytest.fixture
def world():
    return Blackboard({"alarm": False, "day": 1}, name="world", types={"alarm": bool})


@pytest.fixture
def squad(world):
    return Blackboard(name="squad", parent=world)


@pytest.fixture
def bob(squad):
    return Blackboard({"health": 1.0}, name="bob", parent=squad, types={"health": float, "target": str | None})


def test_unknown_key_is_looked_up_in_enclosing_scopes(bob, squad):
    squad["target"] = "door"
    assert (bob["health"], bob["target"], bob["alarm"]) == (1.0, "door", False)
    assert bob.get("target") == "door"
    assert bob.get("nothing", 7) == 7
    assert bob.has("alarm")
    assert "alarm" not in bob
    assert dict(bob) == {"health": 1.0}
    with pytest.raises(KeyError, match="nothing"):
        bob["nothing"]


def test_writing_stays_here_unless_a_scope_is_named(bob, world):
    bob["day"] = 2
    bob.scope("world")["alarm"] = True
    assert (world["day"], world["alarm"], bob["alarm"]) == (1, True, True)
    with pytest.raises(UnknownNameError, match="unknown scope 'wolrd'; did you mean 'world'"):
        bob.scope("wolrd")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("health", "full", "^blackboard 'bob': 'health' must be float, got 'full'"),
        ("health", True, "'bob': 'health' must be float, got True"),
        ("target", 3, "'bob': 'target' must be str or NoneType, got 3")])
def test_a_value_of_a_wrong_type_is_refused_and_nothing_changes(bob, key, value, message):
    with pytest.raises(TypeError, match=message):
        bob[key] = value
    with pytest.raises(TypeError, match=message):
        bob.update({"other": 1, key: value})
    assert bob == {"health": 1.0}


def test_a_whole_number_becomes_a_float_where_one_is_wanted(bob):
    bob["health"] = 3
    assert type(bob["health"]) is float
    bob["target"] = None
    assert bob["target"] is None


def test_a_whole_float_becomes_an_int_where_one_is_wanted():
    board = Blackboard(types={"ammo": int, "both": int | float})
    board.update(ammo=5.0, both=5.0)
    assert [type(one) for one in board.values()] == [int, float]
    with pytest.raises(TypeError, match=r"'ammo' must be int, got 5\.5"):
        board["ammo"] = 5.5


def test_types_must_be_types():
    with pytest.raises(TypeError, match=r"types\['a'\] must be a type or a union such as float \| None, got 'int'"):
        Blackboard(types={"a": "int"})
    with pytest.raises(TypeError, match="'b': 'a' must be int, got 'x'"):
        Blackboard({"a": "x"}, types={"a": int}, name="b")


def test_watchers_hear_real_changes_here_and_in_enclosing_scopes(bob, world):
    heard = []
    watch = bob.watch("alarm", lambda key, value: heard.append((key, value)))
    world["alarm"] = True
    world["alarm"] = True
    bob["alarm"] = False
    del bob["alarm"]
    world["day"] = 5
    assert heard == [("alarm", True), ("alarm", False), ("alarm", True)]
    watch.cancel()
    watch.cancel()
    world["alarm"] = False
    assert len(heard) == 3


def test_every_way_of_writing_tells(bob):
    heard = []
    bob.watch("x", lambda key, value: heard.append(value))
    bob["x"] = 1
    bob.update(x=2)
    bob |= {"x": 3}
    bob.pop("x")
    bob.setdefault("x", 4)
    bob.popitem()
    bob["x"] = 5
    bob.clear()
    bob.touch("x")
    assert heard == [1, 2, 3, None, 4, None, 5, None, None]


def test_reassigned_array_or_list_counts_as_changed(bob):
    heard = []
    bob.watch("path", lambda key, value: heard.append(len(value)))
    bob["path"] = np.zeros(2)
    bob["path"] = np.zeros(2)
    path = bob["path"] = [1]
    path.append(2)
    bob["path"] = path
    assert heard == [2, 2, 1, 2]


def test_a_character_that_changes_squads_hears_of_the_new_one(bob, world):
    other = Blackboard({"target": "tower"}, name="other", parent=world)
    root = Habit("root", can_activate=lambda c: c.blackboard.get("target"), wakes_on=("target",))
    tree = HabitTree(root, blackboard=bob)
    tree.tick(0.1)
    assert not tree.is_active
    bob.parent = other
    tree.tick(0.1)
    assert tree.is_active
    tree.stop()
    other["target"] = None
    tree.tick(0.1)
    assert not tree.is_active


def test_a_scope_cannot_stand_inside_itself(bob, world):
    with pytest.raises(CycleError, match="'world' must not be its own parent"):
        world.parent = bob
    with pytest.raises(TypeError, match=r"parent must be a Blackboard or None, got \{\}"):
        Blackboard(parent={})


def test_trees_that_are_gone_are_forgotten(world):
    definition = Habit("root", can_activate=lambda c: False, wakes_on=("alarm",))
    for _ in range(1000):
        HabitTree(definition, blackboard=world).tick(0.1)
    gc.collect()
    world["alarm"] = True
    assert world._trees["alarm"] == []


def test_a_copy_would_have_no_listeners_and_is_refused(bob):
    for make in (Blackboard.copy, copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"'bob' cannot be copied or pickled; use dict\(board\)"):
            make(bob)


KEYS = st.sampled_from("abc")


@given(st.lists(st.tuples(st.sampled_from(["set", "pop", "update", "clear", "default"]), KEYS, st.integers(0, 2))))
def test_a_blackboard_is_a_dict_whose_watchers_know_each_value(commands):
    board, plain, seen = Blackboard(), {}, {}
    for key in "abc":
        board.watch(key, seen.__setitem__)
    for what, key, value in commands:
        for one in (board, plain):
            if what == "set":
                one[key] = value
            elif what == "pop":
                one.pop(key, None)
            elif what == "update":
                one.update({key: value, "c": 1})
            elif what == "clear":
                one.clear()
            else:
                one.setdefault(key, value)
        assert board == plain
        assert {key: value for key, value in seen.items() if value is not None} == plain


def fail(key, value):
    raise OSError(f"{key} is broken")


def test_a_watch_that_raises_keeps_no_other_from_hearing(bob):
    heard = []
    bob.watch("x", lambda *change: heard.append(("first", *change)))
    bob.watch("x", fail)
    bob.watch("x", lambda key, value: {}["nothing"])
    bob.watch("x", lambda *change: heard.append(("last", *change)))
    bob.watch("y", lambda *change: heard.append(("y", *change)))
    for value in (1, 2):
        with pytest.raises(OSError, match="x is broken") as raised:
            bob["x"] = value
    assert raised.value.__notes__ == [
        "raised by a watch of 'x' of 'bob'; the value is written", "another watch raised KeyError('nothing')"]
    assert heard == [("first", "x", 1), ("last", "x", 1), ("first", "x", 2), ("last", "x", 2)]
    del heard[:]
    with pytest.raises(OSError, match="x is broken"):
        bob.update({"x": 3, "y": 4})
    with pytest.raises(OSError, match="x is broken"):
        bob.clear()
    assert heard == [
        (name, key, value) for key, value in (("x", 3), ("y", 4), ("x", None), ("y", None))
        for name in (("first", "last") if key == "x" else ("y",))]


def test_a_watch_that_raises_at_a_change_of_squad(bob, world):
    heard = []
    bob.watch("target", fail)
    bob.watch("target", lambda key, value: heard.append(value))
    other = Blackboard({"target": "tower"}, parent=world)
    with pytest.raises(OSError, match="target is broken"):
        bob.parent = other
    assert (bob.parent, heard) == (other, ["tower"])


def test_who_watches_goes_along_to_another_squad(world):
    red, blue = (Blackboard({"order": order}, name="squad", parent=world) for order in ("wait", "charge"))
    bob = Blackboard(name="bob", parent=red)
    heard = []
    watch = bob.watch("order", lambda key, value: heard.append(value))
    bob.parent = blue
    assert heard == ["charge"]
    red["order"] = "retreat"
    blue["order"] = "hold"
    assert heard == ["charge", "hold"]
    bob.parent = blue
    assert heard == ["charge", "hold"]
    watch.cancel()
    blue["order"] = red["order"] = "stop"
    assert heard == ["charge", "hold"]


def obeying(*names):
    """Return the definition of a character that stands until it is asked whether it obeys."""
    return Habit("root", [Habit("obey", can_activate=lambda run: False, wakes_on=names), Habit("stand")])


def test_waiter_is_notified_once_by_current_scopes_after_moves():
    world = Blackboard(name="world")
    red, blue = (Blackboard(name="squad", parent=world) for _ in range(2))
    bob = Blackboard(name="bob", parent=red)
    tree = HabitTree(obeying("order", "alarm"), blackboard=bob)
    other = HabitTree(obeying("order"), blackboard=Blackboard(parent=red))
    for _ in range(100):
        bob.parent = blue
        bob.parent = red
    bob.parent = blue
    for one in (tree, other):
        one.tick(0.1)
        one.tick(0.1)
    red["order"] = "wait"
    assert [one.wakes_at_s < 0 for one in (tree, other)] == [False, True]
    blue["order"] = "go"
    assert tree.wakes_at_s < 0
    assert [len(scope._trees[key]) for scope, key in ((world, "alarm"), (red, "order"), (blue, "order"))] == [1, 1, 1]


def test_watcher_of_outer_scopes_hears_however_they_connect(world):
    squad = Blackboard(name="squad")
    bob = Blackboard(name="bob", parent=squad)
    heard = []
    bob.watch("alarm", lambda key, value: heard.append(value))
    bob.watch("own", lambda key, value: heard.append(value))
    bob["own"] = 1
    world["alarm"] = True
    squad.parent = world                    # with whoever watches inside it
    world["alarm"] = False
    squad.parent = None                     # who stands alone learns nothing new
    world["alarm"] = True
    squad.parent = world
    assert heard == [1, True, False, True]


def test_types_may_be_declared_later_and_hold_from_then_on():
    board = Blackboard({"health": 1, "gold": 3}, types={"gold": int}, name="bob")
    board.declare({"health": float, "name": str | None})
    assert type(board["health"]) is float
    board["name"] = None
    for key, value in (("health", "full"), ("gold", 0.5), ("name", 3)):
        with pytest.raises(TypeError, match=f"'bob': '{key}' must be"):
            board[key] = value
    with pytest.raises(TypeError, match="'bob': 'gold' must be str, got 3"):
        board.declare({"health": int | float, "gold": str})
    board["gold"] = 4
    with pytest.raises(TypeError, match="'health' must be float"):
        board["health"] = "full"


def test_changed_values_are_written_to_several_blackboards():
    start = {"seen": 1, "known": 1, "other": 1}
    boards = [Blackboard(start), Blackboard(start, types={"other": int}), Blackboard(start)]
    calls = []
    for board in boards[1:]:
        board.watch("known", lambda key, value: calls.append((key, value)))
    write_changed([*boards, None], ("seen", "known"), [2, 3, 4, 5])
    assert [(board["seen"], board["known"], board["other"]) for board in boards] == [(2, 2, 1), (3, 3, 1), (4, 4, 1)]
    assert calls == [("known", 3), ("known", 4)]
    with pytest.raises(TypeError, match="'other' must be int"):
        write_changed(boards[1:2], ("seen", "other"), ["three"])
    assert boards[1]["seen"] == 3


def test_watches_that_write_each_other_end_at_once(bob):
    calls = []
    for _ in range(2):
        bob.watch("n", lambda key, value: (calls.append(value), bob.__setitem__("n", value + 1)))
    with pytest.raises(RecursionError):
        bob["n"] = 0
    assert len(calls) < 5000
