"""GroupLOD: many as one, and opened again, in a scene."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import construct
from tests.in_godot.level_of_detail.level_of_detail_world import GROUP, WatchedWorld

DOCUMENT = Path(__file__).parents[3] / "docs" / "godot" / "level_of_detail.md"


@pytest.fixture
def world(node, scheduler, physics_frames, gdscript):
    return WatchedWorld(node, scheduler, physics_frames, gdscript)


def test_a_group_is_one_while_far_and_its_members_while_near(world, signals):
    town = world.group(90.0)
    opened, closed = signals(town.group, "opened"), signals(town.group, "closed")
    world.step(6)
    assert set(town.told()) == {"simulate"}
    world.put(town.body, 10.0)
    world.step(4)
    told = town.told()
    assert [one for one in told if one != "simulate"][:3] == ["expand", "Ann", "Bert"]
    assert told.count("Ann") == told.count("Bert") >= 3
    assert told.index("simulate") < told.index("expand"), "members begin at this moment"
    assert town.group.is_open()
    assert list(town.group.get_member_names()) == ["Ann", "Bert"]
    world.put(town.body, 50.0)             # between close_at and open_at
    world.step(3)
    assert "compress" not in town.told()
    world.put(town.body, 90.0)
    world.step(3)
    assert town.told()[-2:] != ["Ann", "Bert"]
    assert not town.group.is_open()
    assert (opened, closed) == ([()], [()])


def test_a_closed_group_is_simulated_once_in_its_period(world):
    towns = [world.group(90.0, closed_period=20) for _ in range(2)]
    world.step(5)                          # until its importance is known
    assert all(town.told() for town in towns)
    world.step(100)
    assert [town.told() for town in towns] == [["simulate"] * 5] * 2
    world.put(towns[0].body, 10.0)
    world.step(20)
    assert towns[0].group.is_open()
    towns[0].told()
    world.step(10)
    assert towns[0].told() == ["Ann", "Bert"] * 10
    saved = world.scheduler.save_state()
    world.put(towns[0].body, 90.0)
    world.step(2)
    towns[0].told()
    world.step(40)
    assert towns[0].told() == ["simulate"] * 2
    world.put(towns[0].body, 10.0)
    world.scheduler.load_state(saved)
    towns[0].told()
    world.step(10)
    assert towns[0].told() == ["Ann", "Bert"] * 10


@pytest.mark.parametrize("who", ["the group", "the AIScheduler around it"])
def test_paused_time_of_a_group_is_no_elapsed_time(world, node, scheduler, who):
    around = scheduler if who == "the group" else node("AIScheduler", scheduler)
    town = world.group(10.0, parent=around)
    world.step(6)
    assert town.group.is_open()
    paused = town.group if who == "the group" else around
    paused.set("process_mode", 4)
    world.step(60)
    town.told()
    paused.set("process_mode", 0)
    world.step(2)
    rows = town.group.get("told")
    assert {row[0] for row in rows} == {"Ann", "Bert"}
    assert [row[1] for row in rows] == pytest.approx([1 / 60] * 4)


@pytest.mark.parametrize("what", ["freed", "removed"])
def test_a_group_that_has_left_hinders_no_pause(world, node, scheduler, what):
    around = node("AIScheduler", scheduler)
    elapsed = []
    around.add_behavior(elapsed.append, 1)
    town = world.group(10.0, parent=around)
    world.step(6)
    if what == "freed":
        town.group.free()
    else:
        around.remove_child(town.body)
    elapsed.clear()
    around.set("process_mode", 4)
    world.step(30)
    around.set("process_mode", 0)
    world.step(3)
    assert elapsed == pytest.approx([1 / 60] * len(elapsed))
    if what == "removed":
        town.body.free()


def test_a_group_around_the_player_opens_at_once(world):
    town = world.group(0.0, closed_period=600)
    world.step(4)
    assert town.group.is_open()


def test_districts_may_have_groups_of_the_same_name(node, scheduler, physics_frames):
    script = {"importance_source": 1, "importance": 1.0}
    town, blocks = node("GroupLOD", scheduler, name="Town", **script), []
    for name in ("North", "South"):
        district = node("Node3D", town, name=name)
        blocks.append(node("GroupLOD", district, name="Block", **script))
    physics_frames(20)                     # closed ones have a turn every 15 frames
    assert list(town.get_member_names()) == ["North/Block", "South/Block"]
    assert all(one.is_open() for one in (town, *blocks))
    blocks[0].name = "Quarter"
    blocks[0].free()
    physics_frames(3)
    assert list(town.get_member_names()) == ["South/Block"]


def test_a_script_sees_in_the_signal_that_the_group_is_open(world):
    town, seen = world.group(10.0), []
    town.group.connect("opened", lambda: seen.append(town.group.is_open()))
    town.group.connect("closed", lambda: seen.append(town.group.is_open()))
    world.step(3)
    world.put(town.body, 90.0)
    world.step(3)
    assert seen == [True, False]


def test_groups_inside_open_and_close_with_the_one_around(world):
    town = world.group(90.0)
    block = world.group(90.0, town.group)
    world.step(4)
    assert town.told()
    assert block.told() == [], "a closed town simulates its blocks as one"
    for one in (town, block):
        world.put(one.body, 10.0)
    world.step(5)
    assert town.group.is_open()
    assert block.group.is_open()
    assert "Ann" in block.told()
    world.put(block.body, 90.0)
    world.step(3)
    assert town.group.is_open()
    assert not block.group.is_open()
    world.put(block.body, 10.0)
    world.step(5)
    world.put(town.body, 90.0)
    world.step(3)
    assert not town.group.is_open()
    assert not block.group.is_open(), "inner groups are compressed first"
    assert block.told()[-1] == "compress"


def test_a_group_that_leaves_the_tree_leaves_the_one_around(world):
    town = world.group(10.0)
    block = world.group(10.0, town.group)
    world.step(3)
    assert list(town.group.get_member_names()) == [str(town.group.get_path_to(block.group)), "Ann", "Bert"]
    block.body.free()
    world.step(3)
    assert list(town.group.get_member_names()) == ["Ann", "Bert"]
    late = world.group(10.0, town.group)
    world.step(4)
    assert late.group.is_open()
    town.body.free()
    world.step(2)


@pytest.mark.parametrize("returns_to", [10.0, 90.0])
def test_an_open_group_that_leaves_returns_with_its_members(world, signals, returns_to):
    town = world.group(10.0)
    block = world.group(10.0, town.group)
    opened, closed = signals(town.group, "opened"), signals(town.group, "closed")
    world.step(4)
    names = list(town.group.get_member_names())
    parent = town.body.get_parent()
    parent.remove_child(town.body)
    world.step(5)
    for one in (town, block):
        one.told()
        world.put(one.body, returns_to)
    parent.add_child(town.body)
    assert town.group.is_open()
    assert list(town.group.get_member_names()) == names
    world.step(5)
    told, inner = town.told(), block.told()
    assert "expand" not in told + inner
    if returns_to == 10.0:
        assert told.count("Ann") >= 3
        assert inner.count("Ann") >= 3
        assert (opened, closed) == ([()], [])
    else:
        assert told.count("compress") == inner.count("compress") == 1
        assert (opened, closed) == ([()], [()])
    world.put(town.body, 10.0)
    world.step(20)
    assert ("expand" in town.told()) == (returns_to == 90.0)


def test_a_group_disabled_outside_the_tree_closes_in_it(world):
    town = world.group(10.0)
    world.step(4)
    parent = town.body.get_parent()
    parent.remove_child(town.body)
    town.group.enabled = False
    town.told()
    parent.add_child(town.body)
    world.step(2)
    assert town.told() == ["compress"]
    assert not town.group.is_open()


def test_characters_of_a_group_think_while_it_is_open(world, gdscript, node):
    town = world.group(90.0, script=gdscript("extends GroupLOD"))
    bob = gdscript("extends Node3D\nvar thoughts := 0\nfunc think(_s): thoughts += 1").new()
    town.group.add_child(bob)
    behavior = node("AIBehavior", bob, period=1)
    town.group.rebuild()
    world.step(5)
    assert bob.get("thoughts") == 0
    world.put(town.body, 10.0)
    world.step(5)
    assert bob.get("thoughts") >= 3
    assert behavior.enabled
    world.put(town.body, 90.0)
    world.step(3)
    assert not behavior.enabled


def test_the_edge_of_a_wide_group_is_what_is_near(world):
    town = world.group(90.0, radius=80.0)
    world.step(3)
    assert town.group.importance == pytest.approx(0.9)
    world.put(town.body, 60.0)
    world.step(2)
    assert town.group.importance == pytest.approx(1.0), "inside it"


def test_a_group_may_be_opened_by_a_script(scheduler, gdscript, physics_frames):
    group = gdscript(GROUP).new()
    group.set("importance_source", 1)
    scheduler.add_child(group)
    physics_frames(2)
    assert not group.is_open()
    group.set("importance", 1.0)
    physics_frames(2)
    assert group.is_open()
    group.set("enabled", False)
    assert not group.is_open()


DISTRICT = re.search(r"```gdscript\n(extends GroupLOD .*?)```", DOCUMENT.read_text(), re.DOTALL)


QUARTER = re.search(
    r'```gdscript\n(extends GroupLOD .*"Quarter".*?)```', DOCUMENT.read_text().split("calls neither")[1], re.DOTALL)


def test_members_that_are_nodes_are_there_before_a_load(world, gdscript):
    """The sample of the document."""
    citizen, scene = construct("Node"), construct("PackedScene")
    tree = construct("HabitTree")
    tree.set("name", "Brain")
    for one, above in ((tree, citizen), (construct("Habit"), tree)):
        above.add_child(one)
        one.set("owner", citizen)
    scene.pack(citizen)
    citizen.free()
    town = world.group(90.0, script=gdscript(QUARTER[1]), closed_period=1)
    town.group.set("citizen", scene)
    saves = []
    for x in (90.0, 10.0):
        world.put(town.body, x)
        world.step(12)
        saves.append(town.group.call("save_game", world.scheduler))
    world.put(town.body, 90.0)
    world.step(12)
    for number in (1, 0, 1):
        assert town.group.call("load_game", world.scheduler, saves[number])
        names = [str(one.get_name()) for one in town.group.get_children()]
        assert names == list(town.group.get_member_names()) == [[], ["Ann", "Bert"]][number]


def test_a_script_can_make_its_own_characters_by_district(world, gdscript):
    """The sample of the document."""
    town = world.group(90.0, script=gdscript(DISTRICT[1]), closed_period=1)
    town.group.add_to_group("ai_saved")
    town.group.set("trade", "mill")
    world.step(60)
    assert town.group.get("hour") == pytest.approx(6 + 1 / 60, abs=1e-3)
    world.put(town.body, 10.0)
    world.step(12)
    assert list(town.group.get_member_names()) == ["baker 0", "baker 1", "baker 2", "guard 0", "guard 1"]
    people = town.group.get("people")
    assert [people[name]["does"] for name in ("baker 0", "guard 1")] == ["mill", "patrols"]
    state = world.scheduler.save_state()
    world.put(town.body, 90.0)
    world.step(3)
    assert (town.group.get("counts"), len(town.group.get("people"))) == ({"baker": 3, "guard": 2}, 0)
    assert town.group.get("wealth") == pytest.approx(500 + 5 * 0.1 * 12 / 60, abs=0.05)
    assert world.scheduler.load_state(state)
    assert town.group.is_open()
    assert sorted(town.group.get("people")) == sorted(town.group.get_member_names())


def test_a_disabled_group_that_cannot_compress_keeps_members(world):
    town = world.group(10.0)
    world.step(3)
    assert town.group.is_open()

    def fail():
        raise ValueError("no room")

    town.group.core._compress = fail
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(town.group.core._faults, "_report", lambda fault: None)
        town.group.set("enabled", False)
    town.told()
    world.step(4)
    assert town.told() == []
    assert list(town.group.get_member_names()) == ["Ann", "Bert"]


@pytest.mark.parametrize("names", ["PackedStringArray(['Ann', 'Ann'])", "['']", "[1, 2]"])
def test_names_of_members_must_differ(world, gdscript, expect_errors, names):
    script = gdscript(f"extends GroupLOD\nfunc _expand(): return {names}")
    expect_errors("(expand)': _expand() must return unique, non-empty names", times=3)
    expect_errors("it failed 3 times in a row and is quarantined: fix it, then call release() of its GroupLOD")
    town = world.group(10.0, script=script)
    world.step(6)
    assert not town.group.is_open()


@pytest.mark.parametrize("what", ["7", "'Ann'", "null"])
def test_what_expand_returns_must_be_names(world, gdscript, expect_errors, what):
    script = gdscript(f"extends GroupLOD\nfunc _expand(): return {what}")
    expect_errors(f"(expand)': _expand() must return an array of names, got {what}", times=3)
    town = world.group(10.0, script=script)
    world.step(6)
    assert not town.group.is_open()


def test_a_member_may_disable_its_group(world, gdscript):
    script = gdscript("""
        extends GroupLOD
        var ticks := 0
        func _expand() -> PackedStringArray: return ["Ann", "Bert"]
        func _tick_member(_member: String, _elapsed_s: float) -> void:
            ticks += 1
            enabled = false
    """)
    town = world.group(10.0, script=script)
    world.step(6)
    assert not town.group.is_open()
    assert town.group.get("ticks") == 1


def test_closing_above_opening_is_one_clear_error(world, expect_errors, physics_frames):
    expect_errors("close_at must not be above open_at, got 0.6 and 0.5", times=1)
    world.group(10.0, open_at=0.5, close_at=0.6)
    physics_frames(2)


@pytest.mark.parametrize("call", ["rebuild", "enabled"])
@pytest.mark.parametrize("name", ["opened", "closed"])
def test_handlers_of_a_group_change_it(world, gdscript, node, name, call):
    town = world.group(90.0)
    bob = gdscript("extends Node3D\nvar thoughts := 0\nfunc think(_s): thoughts += 1").new()
    town.group.add_child(bob)
    node("AIBehavior", bob, period=1)
    town.group.rebuild()
    called = []

    def handle():
        called.append(name)
        if call == "rebuild":
            town.group.rebuild()
        else:
            town.group.enabled = False

    town.group.connect(name, handle)
    world.step(5)
    for x in (10.0, 90.0) if name == "closed" else (10.0,):
        world.put(town.body, x)
        world.step(6)
    is_open = (name, call) == ("opened", "rebuild")
    assert (called, town.group.is_open()) == ([name], is_open)
    before = bob.get("thoughts")
    world.step(5)
    assert bob.get("thoughts") == before + (5 if is_open else 0)
