"""What a Strategist remembers of Squad nodes, members, enemies and its map once they are freed."""
from __future__ import annotations

import json

import pytest

from addons.ai_core.bridge.gd import NodePath, Vector2, Vector3
from ai_core.saving.fields import StateError
from tests.in_godot.squads.squad_world import armed, character
from tests.in_godot.squads.test_strategist_squads import enlist, maps, squad_of, strategist  # noqa: F401

pytestmark = pytest.mark.in_its_own_world


def test_numbers_of_freed_squads_are_not_reused(
        node, strategist, enlist, physics_frames):  # noqa: F811
    numbers = []
    for name in ("First", "Second", "Third"):
        squad = squad_of(node, strategist, name)
        body, _ = enlist(squad, 1)[0]
        physics_frames(12)
        numbers += strategist.get_squads()
        body.free()
        squad.queue_free()
        physics_frames(12)
    assert numbers == [1000, 1001, 1002]
    assert strategist.saved()["squads"]["numbers"] == []
    strategist.get_squads()
    assert not strategist._squads._numbers


def test_ids_of_squads_and_sightings_cannot_be_reported(
        node, strategist, expect_errors, physics_frames):  # noqa: F811
    physics_frames(2)
    expect_errors("squad_id must be below 1000, got 1000")
    strategist.call("report_squad", 1000, "army", Vector3(10, 0, 10), {})
    expect_errors("enemy_id must be below 1000000, got 1000000")
    strategist.call("report_enemy", 1_000_000, Vector3(10, 0, 10))
    assert strategist.get_stats()["squads"] == strategist.get_stats()["enemies"] == 0


def test_who_falls_between_a_thought_and_a_save_still_counts(
        node, world, scheduler, strategist, enlist, physics_frames):  # noqa: F811
    army = squad_of(node, strategist, "Army")
    soldiers = enlist(army, 4)
    foe = character(node, world, Vector3(30, 0, 10), squad_path=node("Squad", world).get_path(),
                    product="bow", **armed(ground=3.0))[0]
    physics_frames(2)
    army.see([foe])
    thoughts = strategist.get_stats()["thoughts"]
    while strategist.get_stats()["thoughts"] == thoughts:
        physics_frames(1)
    soldiers[0][0].queue_free()
    foe.queue_free()
    physics_frames(1)
    assert scheduler.load_state(scheduler.save_state())
    physics_frames(12)
    assert (strategist._reports.losses, strategist._reports.kills) == (60.0, 60.0)


@pytest.mark.parametrize("name", ["numbers", "met"])
def test_a_save_with_a_number_twice_is_refused(node, world, strategist, enlist, physics_frames, name):  # noqa: F811
    squads = [squad_of(node, strategist, one) for one in ("Army", "Rear")]
    for squad in squads:
        enlist(squad, 1)
    physics_frames(2)
    squads[0].see([node("Node3D", world, name=f"Foe{one}", position=Vector3(30, 0, 10 + one)) for one in range(2)])
    physics_frames(12)
    state = json.loads(json.dumps(strategist.saved()))
    first, second = state["squads"][name]
    if name == "numbers":
        second[1] = first[1]
    else:
        second[1]["number"] = first[1]["number"]
    with pytest.raises(StateError, match=f"{name}.* must not have a number twice"):
        strategist.prepared(state)


def test_a_map_that_is_freed_is_told_once_and_another_taken(
        node, scheduler, maps, strategist, enlist, expect_errors, physics_frames):  # noqa: F811
    enlist(squad_of(node, strategist, "Army"), 2)
    physics_frames(12)
    expect_errors("its DecisionMap was freed, so it decides nothing")
    maps.queue_free()
    physics_frames(60)
    thoughts = strategist.get_stats()["thoughts"]
    node("DecisionMap", scheduler, corner=Vector2(0, 0), size=Vector2(100, 100), cell_size=5.0)
    physics_frames(30)
    assert strategist.get_stats()["thoughts"] > thoughts


def test_a_listener_may_free_the_map(node, maps, strategist, enlist, expect_errors, physics_frames):  # noqa: F811
    enlist(squad_of(node, strategist, "Army"), 2)
    enlist(squad_of(node, strategist, "Scouts", 1), 1)
    told = []

    def free(*mission):
        told.append(mission)
        if maps.is_valid():
            maps.free()

    strategist.mission_given.connect(free)
    expect_errors("its DecisionMap was freed, so it decides nothing")
    physics_frames(30)
    assert len(told) == 1


@pytest.mark.parametrize(("path", "words"), [
    ("", "add one below the AIScheduler, or set decision_map"),
    ("..", "decision_map '..' is of class Node3D, not DecisionMap; choose a node of class DecisionMap"),
    ("../Gone", "decision_map '../Gone' is not in the scene; choose a node of class DecisionMap, or leave it empty"),
])
def test_what_is_no_map_is_told(node, scheduler, physics_frames, expect_errors, path, words):
    expect_errors(f"found no DecisionMap and decides nothing; {words}", times=1)
    made = node("Strategist", node("Node3D", scheduler), decision_map=NodePath(path))
    assert any(words in one for one in made._get_configuration_warnings())
    physics_frames(2)


def test_a_map_that_is_named_and_freed_says_how_to_go_on(
        maps, strategist, expect_errors, physics_frames):  # noqa: F811
    path = strategist.get_path_to(maps)
    strategist.decision_map = path
    physics_frames(12)
    expect_errors(f"was freed, so it decides nothing; decision_map '{path}' is not in the scene", times=1)
    maps.free()
    physics_frames(12)


def test_no_map_set_in_the_running_game_is_told(
        node, scheduler, maps, strategist, expect_errors, physics_frames):  # noqa: F811
    expect_errors("decision_map '..' is of class Node3D, not DecisionMap; choose a node of class DecisionMap", times=1)
    strategist.decision_map = NodePath("..")
    physics_frames(2)
    assert strategist._map == maps, "the one before is kept"


def test_missions_look_for_squads_once(node, strategist, enlist, physics_frames):  # noqa: F811
    for name in ("First", "Second", "Third"):
        enlist(squad_of(node, strategist, name), 1)
    physics_frames(12)
    nodes, asked = strategist._squads.nodes, []
    strategist._squads.nodes = lambda: asked.append(1) or nodes()
    strategist._emit(strategist.core.posture, strategist._plan)
    assert len(asked) == 1


@pytest.mark.parametrize("who", ["squad", "base"])
def test_a_squad_that_returns_to_the_tree_resumes_its_mission(
        node, strategist, enlist, physics_frames, expect_errors, who):  # noqa: F811
    army = squad_of(node, strategist, "Army")
    enlist(army, 4)
    physics_frames(12)
    gone = army if who == "squad" else strategist.get_parent()
    above = gone.get_parent()
    above.remove_child(gone)
    if who == "base":
        assert strategist.get_mission(1000) == {}
        assert set(strategist.get_expectations().values()) == {None}
        expect_errors("does not run; it needs an AIScheduler, a DecisionMap")
        strategist.call("get_narrow_places")
    above.add_child(gone)
    physics_frames(30)
    assert strategist.get_mission(1000)["kind"] == "regroup"
    assert army.get_order()["kind"] == "move"
