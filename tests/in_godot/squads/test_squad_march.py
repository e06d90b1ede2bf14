"""Squads of a scene on the march: through a door, around corners, in 3D and 2D."""
from __future__ import annotations

import time

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct
from tests.in_godot.squads.squad_world import character, places, recruits, until

pytestmark = pytest.mark.in_its_own_world

DOOR_M = 2.4


@pytest.fixture
def squad(node, scheduler):
    return node("Squad", scheduler, name="Alpha", keep_clear=1, think_period=6)


def test_a_squad_marches_and_tells_when_it_is_there(node, world, squad, signals, physics_frames):
    recruits(node, world, squad, 5)
    done = signals(squad, "order_done")
    number = squad.move_to(Vector3(12, 0, 0))
    until(squad.is_idle, physics_frames)
    assert done == [(number,)]
    assert squad.get_order_state() == "done"
    commander = squad.get_commander().get_character()
    assert tuple(commander.get_global_position()) == pytest.approx((12, 0, 0), abs=0.4)
    forward = -commander.get_global_transform().basis.z
    assert tuple(forward) == pytest.approx((1, 0, 0), abs=0.1)
    xs = sorted(places(squad)[:, 0].round(0).tolist())
    assert xs == [8, 8, 10, 10, 12]


def test_an_interrupted_thought_goes_on_in_the_next_frame(node, world, scheduler, physics_frames):
    scheduler.budget = 1
    squad = node("Squad", scheduler, keep_clear=1, think_period=60)
    recruits(node, world, squad, 20)
    squad.move_to(Vector3(30, 0, 0))
    until(lambda: squad.core.is_thinking, physics_frames)
    frames = 0
    while squad.core.is_thinking:
        physics_frames(1)
        frames += 1
    assert 3 < frames < 300       # a step in each thought only would take 600
    assert squad.get_order_state() == "marching"


@pytest.fixture
def rooms(node, world):
    """Two rooms of 20 by 20 m with a door between them: floor and walls to stand on and bump into, and their map."""
    half = DOOR_M / 2
    region, mesh = node("NavigationRegion3D", world), construct("NavigationMesh")
    rim, xs, zs = 0.4, (-20.0, -0.5 - 0.4, 0.5 + 0.4, 20.0), (-10.0, -half + 0.4, half - 0.4, 10.0)
    mesh.agent_radius = rim
    mesh.set_vertices([Vector3(x, 0, z) for z in zs for x in xs])
    for row in range(3):
        for column in range(3):
            if column != 1 or row == 1:
                first = 4 * row + column
                mesh.add_polygon([first, first + 1, first + 5, first + 4])
    region.navigation_mesh = mesh
    for size, place in (
        (Vector3(60, 1, 60), Vector3(0, -0.5, 0)),
        (Vector3(1, 3, 10 - half), Vector3(0, 1.5, half + (10 - half) / 2)),
        (Vector3(1, 3, 10 - half), Vector3(0, 1.5, -half - (10 - half) / 2)),
    ):
        body = node("StaticBody3D", world, position=place)
        shape = node("CollisionShape3D", body)
        shape.shape = construct("BoxShape3D")
        shape.shape.size = size
    return region


@pytest.fixture
def service(node, scheduler):
    return node("PathService", scheduler)


def navigating(squad, service):
    squad.paths = squad.get_path_to(service)
    return squad


def test_nine_bodies_in_a_wedge_go_through_a_door(node, world, scheduler, rooms, service, signals, physics_frames):
    squad = node("Squad", scheduler, name="Alpha", think_period=6)
    navigating(squad, service)
    for number in range(9):
        character(node, world, Vector3(-16 + number % 3, 1.0, number // 3 - 1.0), "CharacterBody3D",
                  squad_path=squad.get_path(), radius=0.3)
    failed = signals(squad, "order_failed")
    squad.move_to(Vector3(12, 0, 5))
    physics_frames(2)
    seen = []

    def is_done():
        seen.append(places(squad))
        return squad.is_idle()

    until(is_done, physics_frames)
    assert failed == []
    assert squad.get_stats()["paths_requested"] == 1
    assert squad.get_stragglers() == []
    ends, slots = places(squad), squad.get_slot_places()
    mine = slots[[member.get_slot() for member in squad.get_members()]]
    assert np.sqrt(((ends - mine)[:, [0, 2]] ** 2).sum(axis=1)).max() < 0.5
    track = np.array(seen)
    inside = np.abs(track[..., 0]) < 0.5
    assert inside.any(axis=0).all()                          # everybody went through
    assert np.abs(track[inside][:, 2]).max() < DOOR_M / 2    # the door, and nobody the wall
    assert track[..., 1].min() > 0.5                         # nor the floor


def test_a_march_begins_when_the_map_is_there(node, world, scheduler, rooms, physics_frames):
    mesh, rooms.navigation_mesh = rooms.navigation_mesh, construct("NavigationMesh")
    squad = node("Squad", scheduler, think_period=6)
    for number in range(5):
        character(node, world, Vector3(-12, 1, number - 2), "CharacterBody3D", squad_path=squad.get_path())
    physics_frames(3)
    squad.follow(np.array([(-12, 1, 0), (12, 1, 0)], np.float32))
    physics_frames(30)
    assert places(squad)[:, 0].max() < -11.9
    rooms.navigation_mesh = mesh
    # Frames without a march take microseconds, and maps are built in real time: else the squad waits too long.
    until(lambda: time.sleep(0.01) or places(squad)[:, 0].max() > -11.9, physics_frames)
    until(squad.is_idle, physics_frames)
    assert squad.get_order_state() == "done"
    assert squad.get_stragglers() == []
    assert places(squad)[:, 0].min() > 0


def test_form_up_goes_through_the_door_and_faces_there(node, world, scheduler, rooms, service, physics_frames):
    squad = navigating(node("Squad", scheduler, think_period=6), service)
    for number in range(5):
        character(node, world, Vector3(-10, 1, -6 + number), "CharacterBody3D", squad_path=squad.get_path(), radius=0.3)
    physics_frames(30)
    squad.form_up(Vector3(10, 1, 5), Vector3(0, 0, 1))
    until(squad.is_idle, physics_frames)
    assert squad.get_order()["state"] == "done"
    assert squad.get_stats()["paths_requested"] == 1
    assert squad.get_stragglers() == []
    here = places(squad)[:, [0, 2]]
    assert (here[:, 0] > 4).all()
    tip = here[here[:, 1].argmax()]
    assert tuple(tip) == pytest.approx((10, 5), abs=0.4)        # the commander, ahead of the others
    assert sorted(here[:, 1].round().tolist()) == [1, 1, 3, 3, 5]


def test_a_region_that_is_never_baked_stops_a_march_for_a_while(node, world, scheduler, rooms, physics_frames):
    rooms.navigation_mesh = construct("NavigationMesh")
    squad = node("Squad", scheduler, think_period=6)
    recruits(node, world, squad, 2)
    physics_frames(3)
    squad.move_to(Vector3(5, 0, 0))
    until(squad.is_idle, physics_frames, most=40_000)       # half a second of real time, in short frames
    assert squad.get_order_state() == "done"


def test_the_commander_is_freed_on_the_way_and_the_march_goes_on(node, world, squad, signals, physics_frames):
    recruits(node, world, squad, 5)
    changed, lost = signals(squad, "commander_changed"), signals(squad, "member_lost")
    squad.move_to(Vector3(20, 0, 0))
    physics_frames(120)
    commander = squad.get_commander()
    commander.get_character().queue_free()
    until(squad.is_idle, physics_frames)
    assert len(squad.get_members()) == 4
    assert len(lost) == 1
    assert changed[-1] == (squad.get_commander(),)
    assert squad.get_order_state() == "done"
    assert squad.get_stats()["paths_requested"] == 1
    assert places(squad)[:, 0].max() == pytest.approx(20, abs=0.4)


@pytest.mark.parametrize(("of", "goal"), [("CharacterBody3D", Vector3(8, 0, 0)), ("Node3D", Vector3(8, 0, 0))])
def test_a_disabled_member_is_left_alone_until_it_is_enabled(node, world, squad, signals, physics_frames, of, goal):
    squad.patience = 1.0
    members = [character(node, world, Vector3(0, 0, 2 * number), of, squad_path=squad.get_path(), gravity=0.0)
               for number in range(3)]
    done, stunned = signals(squad, "order_done"), members[2][0]
    stunned.process_mode = 4        # a disabled body leaves the physics space, where moving it is an error
    squad.move_to(goal)
    until(squad.is_idle, physics_frames)
    assert tuple(stunned.get_global_position()) == (0, 0, 4)
    assert (len(done), list(squad.get_stragglers())) == (1, [members[2][1]])
    stunned.process_mode = 0
    squad.move_to(-goal)
    until(squad.is_idle, physics_frames)
    assert (len(done), list(squad.get_stragglers())) == (2, [])
    assert stunned.get_global_position().x < -2


def test_the_last_member_that_leaves_leaves_no_commander(node, world, squad, signals, physics_frames):
    [(body, _)] = recruits(node, world, squad, 1)
    changed = signals(squad, "commander_changed")
    commanders = []
    squad.member_lost.connect(lambda lost: commanders.append((squad.get_commander(), squad.get_grade("met"))))
    body.queue_free()
    physics_frames(3)
    assert changed == [(None,)]
    assert squad.get_commander() is None
    assert commanders == [(None, 0.0)]


def test_distances_are_finite_before_the_first_march(node, world, squad, physics_frames):
    recruits(node, world, squad, 3)
    physics_frames(10)
    assert squad.get_stats()["farthest_from_slot"] == 0


@pytest.mark.parametrize("then", ["hold", "again"])
def test_columns_begin_and_end_in_turn(node, world, scheduler, rooms, service, signals, physics_frames, then):
    squad = navigating(node("Squad", scheduler, think_period=6), service)
    formation = construct("Formation")
    formation.pattern = 0                       # a line, which does not fit through the door
    squad.formation = formation
    for number in range(6):
        character(node, world, Vector3(-10, 0, number - 2.5), squad_path=squad.get_path())
    physics_frames(10)
    told = []
    squad.narrowed.connect(lambda: told.append("narrowed"))
    squad.widened.connect(lambda: told.append("widened"))
    squad.move_to(Vector3(12, 0, 0))
    until(squad.is_in_column, physics_frames)
    slots = squad.get_slot_places()
    assert np.ptp(slots[:, 2]) < 1 < 8 < np.ptp(slots[:, 0])
    if then == "hold":
        squad.hold()
        physics_frames(5)
        assert told == ["narrowed", "widened"]
    squad.move_to(Vector3(12, 0, 0))
    until(squad.is_idle, physics_frames)
    assert told == ["narrowed", "widened"] * (len(told) // 2)


def test_in_the_plane_bodies_march_in_pixels(node, scheduler, physics_frames):
    squad = node("Squad", scheduler, dimensions=1, keep_clear=1, think_period=6)
    stage = node("Node2D")
    for number in range(4):
        character(node, stage, Vector2(40 * number, 0), "CharacterBody2D", squad_path=squad.get_path(), radius=0.3)
    squad.move_to(Vector2(600, 0))
    until(squad.is_idle, physics_frames)
    ends = places(squad)
    assert ends[:, 0].max() == pytest.approx(600, abs=12)
    assert np.ptp(ends[:, 0]) == pytest.approx(4 * 32, abs=16)      # a wedge of four: two ranks of 2 m behind
    assert squad.get_commander().get_character().get_rotation() == pytest.approx(0, abs=0.2)


def test_a_squad_walks_around_a_corner_on_a_2d_map(node, world, scheduler, physics_frames):
    region, polygon = node("NavigationRegion2D", world), construct("NavigationPolygon")
    polygon.set_vertices([Vector2(*one) for one in (
        (0, 0), (200, 0), (200, 500), (700, 500), (700, 700), (0, 700))])
    polygon.add_polygon([0, 1, 2, 5])
    polygon.add_polygon([2, 3, 4, 5])
    region.navigation_polygon = polygon
    service = node("PathService", scheduler, source=1)
    squad = node("Squad", scheduler, dimensions=1, think_period=6, map_margin=0.0)
    squad.paths = squad.get_path_to(service)
    stage = node("Node2D", world)
    for number in range(3):
        character(node, stage, Vector2(60 + 40 * number, 60), "Node2D", squad_path=squad.get_path())
    squad.move_to(Vector2(600, 600))
    seen = []
    until(lambda: seen.append(places(squad)) or squad.is_idle(), physics_frames, most=8000)
    assert squad.get_order_state() == "done"
    track = np.array(seen)
    outside = np.minimum(track[..., 0] - 200, 500 - track[..., 1])     # of the corner, in pixels
    assert outside.max() < 0.4 * 32                                    # what a map is made smaller by


def test_members_may_be_moved_by_script_or_navigation_agent(node, world, squad, physics_frames):
    scripted, member = character(node, world, Vector3(3, 0, 3), squad_path=squad.get_path(), mover=4)
    agent_body, _ = character(node, world, Vector3(0, 0, 3), squad_path=squad.get_path(), mover=3)
    agent = node("NavigationAgent3D", agent_body)
    squad.move_to(Vector3(20, 0, 0))
    physics_frames(60)
    assert tuple(scripted.get_global_position()) == (3, 0, 3)
    assert member.get_velocity().length() > 0.1
    assert tuple(agent.get_target_position()) != (0, 0, 0)
    assert tuple(agent_body.get_global_position()) == (0, 0, 3)


def test_an_agent_that_stops_before_its_slot_is_warned_of(node, world, squad, physics_frames):
    body, member = character(node, world, Vector3(0, 0, 3), squad_path=squad.get_path(), mover=3)
    agent = node("NavigationAgent3D", body, name="Legs")
    physics_frames(2)
    assert "target_desired_distance of 'Legs' is 1: " in " ".join(member._get_configuration_warnings())
    agent.target_desired_distance = 0.2
    assert member._get_configuration_warnings() == []


def test_a_running_squad_is_drawn_if_it_is_wanted(node, world, squad, physics_frames):
    recruits(node, world, squad, 3)
    squad.show_in_game = True
    squad.move_to(Vector3(10, 0, 0))
    physics_frames(20)
    [picture] = [one for one in squad.get_children(True) if one.is_class("MeshInstance3D")]
    assert picture.mesh.get_surface_count() == 1
    squad.show_in_game = False
    physics_frames(2)
    assert [one for one in squad.get_children(True) if one.is_class("MeshInstance3D")] == []


def test_a_resting_squad_has_no_turns_and_starts_slowly(node, world, scheduler, squad, physics_frames):
    recruits(node, world, squad, 3)

    def turns():
        return next(row["runs"] for row in scheduler.get_stats()["behaviors"] if row["name"].endswith(" marches"))

    physics_frames(10)
    before = turns()
    physics_frames(300)
    assert turns() == before
    squad.move_to(Vector3(12, 0, 0))
    steps = [places(squad)]
    for _ in range(60):
        physics_frames(1)
        steps.append(places(squad))
    assert np.abs(np.diff(steps, axis=0)).max() <= 3.0 / 60 + 1e-4
    assert steps[-1][:, 0].max() > steps[0][:, 0].max() + 1
    until(squad.is_idle, physics_frames)
    physics_frames(3)
    before = turns()
    physics_frames(100)
    assert turns() == before
    recruits(node, world, squad, 1)
    squad.hold()
    squad.move_to(Vector3(0, 0, 0))
    until(squad.is_idle, physics_frames)
    assert squad.get_order_state() == "done"


def test_a_resting_squad_loaded_on_the_march_does_not_leap(node, world, squad, physics_frames):
    recruits(node, world, squad, 3)
    squad.move_to(Vector3(60, 0, 0))
    physics_frames(60)
    saved = squad.save_state()
    squad.hold()
    physics_frames(300)
    assert squad.load_state(saved)
    steps = [places(squad)]
    for _ in range(60):
        physics_frames(1)
        steps.append(places(squad))
    assert np.abs(np.diff(steps, axis=0)).max() <= 3.0 / 60 + 1e-4
    assert steps[-1][:, 0].min() > steps[0][:, 0].min() + 1


def test_script_member_has_no_velocity_after_the_order(node, world, scheduler, physics_frames):
    squad = node("Squad", scheduler, keep_clear=1, think_period=6)
    body, member = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path(), mover=4)
    squad.move_to(Vector3(4, 0, 0))

    def walk(frames):
        for _ in range(frames):
            body.position += member.get_velocity() * (1 / 60)
            physics_frames(1)

    walk(60)
    assert body.position.x > 1
    squad.process_mode = 4
    assert tuple(member.get_velocity()) == (0, 0, 0)
    squad.process_mode = 0
    walk(200)
    assert squad.get_order_state() == "done"
    assert tuple(member.get_velocity()) == (0, 0, 0)
    assert tuple(member.get_destination()) == pytest.approx((4, 0, 0), abs=0.01)
    squad.move_to(Vector3(0, 0, 0))
    walk(60)
    assert member.get_velocity().x < -1
