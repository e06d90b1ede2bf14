"""Habits that walk: after a target, along a route, around a place, away, and around each other."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import NodePath, Rect2i, Vector2, Vector2i, Vector3, construct, singleton


def habit(name, *children, kind="Habit", **settings):
    one = construct(kind)
    one.set("name", name)
    for key, value in settings.items():
        one.set(key, value)
    for child in children:
        one.add_child(child)
    return one


@pytest.fixture
def walker(node, scheduler):
    """``walker(*habits, **values)``: a Node3D with a HabitTree; returns both."""
    def made(*habits, kind="Node3D", place=None, sensor=None, **values):
        actor = node(kind, scheduler, name="Walker", **({} if place is None else {"position": place}))
        tree = construct("HabitTree")
        tree.set("name", "Brain")
        tree.set("values", values)
        if sensor is not None:
            node("Sensor3D", actor, name="Eye", **sensor)
            tree.set("sensor", NodePath("../Eye"))
        for one in habits:
            tree.add_child(one)
        actor.add_child(tree)
        return actor, tree

    return made


def active(tree):
    return [path.removeprefix("Brain/") for path in tree.get_active_paths()]


@pytest.fixture
def thief(node, scheduler):
    node("SenseManager", scheduler)
    one = node("Node3D", scheduler, name="Thief", position=Vector3(0, 0, -8))
    node("SenseSource3D", one)
    return one


EYE = {"lose_after": 0.3, "max_age": 5.0, "near_range": 0.0}


def test_a_chase_without_settings_follows_the_sensed_target_once(walker, thief, physics_frames, signals):
    chase = habit("Chase", kind="HabitMoveTo", speed=4.0)
    guard, tree = walker(chase, habit("Idle"), sensor=EYE)
    entered = signals(chase, "entered")
    physics_frames(4)
    for _ in range(60):
        thief.position += Vector3(0, 0, -3 / 60)
        physics_frames(1)
    assert (active(tree), len(entered)) == (["Chase"], 1)
    assert guard.position.z < -3.5
    thief.position = Vector3(0, 0, 90)
    physics_frames(30)
    assert (active(tree), len(entered)) == (["Idle"], 1)


def test_following_has_two_distances_and_no_end(walker, node, scheduler, physics_frames, signals):
    leader = node("Node3D", scheduler, name="Leader", position=Vector3(5, 0, 0))
    follow = habit("Follow", kind="HabitMoveTo", speed=5.0, target_node=NodePath("../../../Leader"),
                   keeps_following=True, arrival_distance=1.0, follow_distance=3.0)
    dog, tree = walker(follow)
    ended = signals(follow, "exited")
    physics_frames(60)
    stood = dog.position.x
    assert stood == pytest.approx(4.0, abs=0.1)
    leader.position = Vector3(6.5, 0, 0)
    physics_frames(10)
    assert dog.position.x == stood
    leader.position = Vector3(8, 0, 0)
    physics_frames(60)
    assert dog.position.x == pytest.approx(7.0, abs=0.1)
    physics_frames(400)
    assert (active(tree), ended) == (["Follow"], [])


@pytest.mark.parametrize("is_partial", [True, False])
def test_a_follower_without_a_way_stands_and_looks_again(walker, node, scheduler, physics_frames, signals, is_partial):
    """A wall across the grid, in view across: the chase neither ends nor begins again until a door opens."""
    grid, service = construct("AStarGrid2D"), node("PathService", scheduler, name="Paths", partial_paths=is_partial)
    grid.region, grid.cell_size = Rect2i(0, 0, 12, 3), Vector2(10, 10)
    grid.update()
    service.set_grid_from(grid)
    service.set_walls([Vector2i(6, row) for row in range(3)], False)
    thief = node("Node2D", scheduler, name="Thief", position=Vector2(110, 10))
    chase = habit("Chase", kind="HabitMoveTo", speed=60.0, target_node=NodePath("../../../Thief"), keeps_following=True,
                  arrival_distance=4.0, follow_distance=12.0, paths=service.get_path())
    dog, tree = walker(chase, kind="Node2D", place=Vector2(10, 10))
    ended = signals(chase, "exited")
    physics_frames(300)
    stood = dog.position
    assert stood.distance_to(Vector2(50 if is_partial else 10, 10)) <= 4.0
    assert (active(tree), ended) == (["Chase"], [])
    thief.position = Vector2(110, 20)
    physics_frames(90)
    assert (dog.position != stood) == is_partial
    service.set_walls([Vector2i(6, 0)], True)
    physics_frames(300)
    assert dog.position.distance_to(thief.position) <= 4.0
    assert ended == []


@pytest.mark.parametrize("kind", ["Node3D", "CharacterBody3D"])
def test_the_velocity_is_emitted_when_it_changes(walker, physics_frames, signals, kind):
    go = habit("Go", kind="HabitMoveTo", target_point=Vector3(2, 0, 0), speed=2.0, cooldown=1e6)
    actor, _ = walker(go, kind=kind, place=Vector3(0, 0, 0))
    if kind == "CharacterBody3D":
        actor.motion_mode = 1
    seen = signals(go, "velocity_changed")
    physics_frames(90)
    assert [tuple(round(value, 3) for value in one) for one, in seen] == [(2, 0, 0), (0, 0, 0)]


def test_a_walker_turns_to_where_it_goes(walker, physics_frames):
    guard, _ = walker(habit("Go", kind="HabitMoveTo", target_point=Vector3(9, 0, 0), turn_speed=math.pi))
    physics_frames(15)
    assert 0.5 < abs(guard.rotation.y) < 1.0
    physics_frames(30)
    assert guard.rotation.y == pytest.approx(-math.pi / 2, abs=0.02)


def test_a_walker_in_2d_keeps_its_rotation_by_default(walker, physics_frames):
    unit, _ = walker(habit("Go", kind="HabitMoveTo", target_point=Vector2(0, 90)), kind="Node2D")
    physics_frames(15)
    assert (unit.rotation, unit.position.y > 9) == (0, True)


def route(node, scheduler, places, kind="Node3D"):
    parent = node(kind, scheduler, name="Route")
    for place in places:
        node(kind, parent, position=place)
    return NodePath("../../../Route")


CORNERS = [Vector3(2, 0, 0), Vector3(2, 0, 2), Vector3(0, 0, 2)]


@pytest.mark.parametrize(("order", "visited"), [(0, [0, 1, 2, 0, 1]), (1, [0, 1, 2, 1, 0]), (3, [0, 1, 2])])
def test_a_patrol_visits_its_places_in_order(walker, node, scheduler, physics_frames, order, visited):
    patrol = habit("Patrol", kind="HabitPatrol", route=route(node, scheduler, CORNERS), order=order, wait_time=0.1,
                   speed=20.0, turn_speed=0.0, arrival_distance=0.1, cooldown=100.0)
    guard, _ = walker(patrol)
    seen = []
    for _ in range(90):
        physics_frames(1)
        near = [number for number, one in enumerate(CORNERS) if (one - guard.position).length() < 0.15]
        if near and seen[-1:] != near:
            seen += near
    assert seen[:5] == visited


def test_a_patrol_visits_a_list_of_markers(walker, node, scheduler, physics_frames):
    paths = []
    for number, place in enumerate(CORNERS):
        node("Marker3D", scheduler, name=f"Post{number}", position=place)
        paths.insert(0, NodePath(f"../../../Post{number}"))
    patrol = habit("Patrol", kind="HabitPatrol", markers=paths, order=3, wait_time=0.0, speed=20.0, cooldown=9.0)
    guard, _ = walker(patrol)
    physics_frames(10)
    assert patrol.is_active()
    physics_frames(30)
    assert guard.position.x == pytest.approx(2, abs=0.5)
    assert not patrol.is_active()
    patrol.set("markers", [paths[0], NodePath("../Nowhere")])
    assert patrol._get_configuration_warnings() == [
        "markers[1] '../Nowhere' is not in the scene; choose another, or remove it"]


def test_a_patrol_continues_where_it_was_interrupted(walker, node, scheduler, physics_frames):
    patrol = habit("Patrol", kind="HabitPatrol", route=route(node, scheduler, CORNERS), wait_time=0.0, speed=10.0)
    guard, tree = walker(habit("Alarm", condition="alarm", condition_scope=3), patrol, alarm=False)
    physics_frames(18)
    place = guard.position
    tree.set_value("alarm", True)
    physics_frames(5)
    saved = scheduler.save_state()
    tree.set_value("alarm", False)
    physics_frames(3)
    assert guard.position.z > place.z, "on its way to the second place"
    scheduler.load_state(saved)
    guard.position = Vector3(2, 0, 0)
    tree.set_value("alarm", False)
    physics_frames(5)
    assert guard.position.z > 0


def test_a_patrol_along_a_path_of_the_scene(walker, node, scheduler, physics_frames):
    path = node("Path3D", scheduler, name="Route", position=Vector3(1, 0, 0), curve=construct("Curve3D"))
    for place in CORNERS:
        path.curve.add_point(place)
    guard, _ = walker(habit("Patrol", kind="HabitPatrol", route=NodePath("../../../Route"), speed=10.0, wait_time=9.0))
    physics_frames(40)
    assert guard.position.x == pytest.approx(3, abs=0.5)


def test_a_route_without_places_is_an_error(walker, node, scheduler, physics_frames, expect_errors):
    expect_errors("has no places; add points")
    walker(habit("Patrol", kind="HabitPatrol", route=route(node, scheduler, [])))
    physics_frames(4)


def test_a_patrol_without_a_route_returns_to_its_post(walker, physics_frames):
    go = habit("Go", kind="HabitMoveTo", target_point=Vector3(4, 0, 0), condition="alarm", condition_scope=3, speed=9.0)
    guard, tree = walker(go, habit("Post", kind="HabitPatrol", speed=9.0), place=Vector3(1, 0, 1), alarm=False)
    guard.rotation = Vector3(0, 0.5, 0)
    physics_frames(5)
    tree.set_value("alarm", True)
    physics_frames(30)
    assert guard.position.x > 3
    tree.set_value("alarm", False)
    physics_frames(120)
    assert (guard.position - Vector3(1, 0, 1)).length() < 0.6
    assert guard.rotation.y == pytest.approx(0.5, abs=0.01)


def test_a_search_looks_about_near_the_last_place_and_ends(walker, thief, physics_frames, signals):
    search = habit("Search", kind="HabitSearch", speed=6.0, places=3, radius=3.0, look_time=0.2)
    guard, tree = walker(habit("Chase", kind="HabitMoveTo", condition="is_in_view", condition_scope=3, speed=1.0),
                         search, habit("Idle"), sensor={**EYE, "max_age": 60.0})
    ends = signals(search, "exited")
    physics_frames(5)
    assert active(tree) == ["Chase"]
    thief.position = Vector3(0, 0, 90)
    farthest, angles = 0.0, set()
    for _ in range(600):
        physics_frames(1)
        if active(tree) == ["Search"]:
            angles.add(round(guard.rotation.y, 1))
            farthest = max(farthest, math.hypot(guard.position.x, guard.position.z + 8))
    assert (active(tree), ends) == (["Idle"], [(1,)])
    assert len(angles) > 10
    assert tree.get_value("last_known_position") is None


@pytest.mark.parametrize(("gap", "outcome"), [(0.0, 2), (9.0, 1)])
def test_a_search_fails_if_the_actor_came_to_no_place(
        walker, node, scheduler, physics_frames, signals, gap, outcome):
    for size, place in ((Vector3(60, 1, 60), Vector3(0, -0.5, 0)), (Vector3(1, 4, 20), Vector3(4, 2, gap + 10)),
                        (Vector3(1, 4, 20), Vector3(4, 2, -10))):
        shape = node("CollisionShape3D", node("StaticBody3D", scheduler, position=place))
        shape.shape = construct("BoxShape3D")
        shape.shape.size = size
    search = habit("Search", kind="HabitSearch", target_key="place", speed=6.0, places=2, radius=3.0, look_time=0.2,
                   stuck_after=0.5)
    guard, tree = walker(search, habit("Idle"), kind="CharacterBody3D", place=Vector3(0, 1.05, 1))
    node("CollisionShape3D", guard).shape = construct("CapsuleShape3D")
    tree.set_value("place", Vector3(9, 0, 1))
    entered, ends = signals(search, "entered"), signals(search, "exited")
    for _ in range(900):
        physics_frames(1)
        if ends:
            break
    physics_frames(60)
    assert (len(entered), ends, active(tree), tree.get_value("place")) == (1, [(outcome,)], ["Idle"], None)


def test_a_noise_moves_a_search_to_its_place(walker, thief, node, scheduler, physics_frames):
    noise = node("SenseSource3D", scheduler, position=Vector3(20, 0, 20))
    thief.position = Vector3(0, 0, 90)
    guard, tree = walker(habit("Search", kind="HabitSearch", speed=6.0), habit("Idle"),
                         sensor={**EYE, "hearing_threshold": 0.01})
    physics_frames(3)
    assert active(tree) == ["Idle"]
    noise.emit("hearing", 9.0)
    physics_frames(40)
    assert (active(tree), guard.position.x > 1, guard.position.z > 1) == (["Search"], True, True)


def test_fleeing_ends_at_the_safe_distance(walker, node, scheduler, physics_frames, signals):
    node("Node3D", scheduler, name="Bear", position=Vector3(0, 0, -3))
    flee = habit("Flee", kind="HabitFlee", target_node=NodePath("../../../Bear"), safe_distance=12.0, speed=8.0)
    rabbit, tree = walker(flee, habit("Graze"))
    ends = signals(flee, "exited")
    physics_frames(2)
    assert active(tree) == ["Flee"]
    physics_frames(120)
    assert (active(tree), ends) == (["Graze"], [(1,)])
    assert rabbit.position.z >= 9 - 0.2


@pytest.mark.parametrize(("keeps_away", "most"), [(False, 12), (True, 1)])
def test_fleeing_does_not_alternate_with_a_search(walker, thief, physics_frames, signals, keeps_away, most):
    thief.position = Vector3(0, 0, -5)
    flee = habit(
        "Flee", kind="HabitFlee", condition="health < 0.3", safe_distance=10.0, keeps_away=keeps_away)
    guard, tree = walker(
        flee, habit("Search", kind="HabitSearch"), sensor={**EYE, "sight_range": 30.0, "max_age": 60.0}, health=0.2)
    entered, distances = signals(flee, "entered"), []
    for _ in range(18 * 60):
        physics_frames(1)
        distances.append(guard.position.distance_to(thief.position))
    assert 1 <= len(entered) <= most
    assert max(distances) >= 10 - 0.1
    assert min(distances[180:]) >= (10 if keeps_away else 10 * 2 / 3) - 0.2
    assert active(tree) == ["Flee"] or not keeps_away


def test_a_kept_distance_is_taken_again_below_the_begin_distance(walker, node, scheduler, physics_frames, signals):
    bear = node("Node3D", scheduler, name="Bear", position=Vector3(0, 0, -3))
    flee = habit("Flee", kind="HabitFlee", target_node=NodePath("../../../Bear"), safe_distance=6.0, begin_distance=4.0,
                 speed=8.0, keeps_away=True)
    rabbit, tree = walker(flee, habit("Graze"))
    ends = signals(flee, "exited")
    physics_frames(60)
    stood = rabbit.position.z
    assert stood == pytest.approx(3, abs=0.3)
    bear.position = Vector3(0, 0, stood - 4.5)
    physics_frames(30)
    assert rabbit.position.z == stood
    bear.position = Vector3(0, 0, stood - 3.5)
    physics_frames(60)
    assert rabbit.position.z - bear.position.z == pytest.approx(6, abs=0.3)
    assert (active(tree), ends) == (["Flee"], [])


def test_a_flight_that_begins_beyond_its_end_is_warned_of():
    flee = habit("Flee", kind="HabitFlee", safe_distance=6.0, begin_distance=6.0)
    said = "begin_distance must not be above safe_distance, got 7 and 6; the habit begins below safe_distance"
    assert said not in flee._get_configuration_warnings()
    flee.begin_distance = 7.0
    assert said in flee._get_configuration_warnings()
    flee.free()


def test_attack_strikes_the_sensed_target_once_per_interval(walker, thief, physics_frames, signals, gdscript):
    thief.position = Vector3(3, 0, -6)
    attack = habit("Attack", kind="HabitAttack", attack_method="strike", interval=0.5, attack_range=2.0)
    guard, tree = walker(attack, habit("Chase", kind="HabitMoveTo", speed=4.0), sensor=EYE)
    guard.set_script(gdscript("""
        extends Node3D
        var struck = []
        func strike(target): struck.append(target)
    """))
    attacks, entered = signals(attack, "attacked"), signals(tree, "habit_entered")
    physics_frames(20)
    assert active(tree) == ["Chase"]
    physics_frames(120)
    assert [path for path, _ in entered] == ["Brain/Chase", "Brain/Attack"]
    assert attacks == [(thief,)] * len(attacks)
    assert list(guard.get("struck")) == [thief] * len(attacks)
    assert len(attacks) == pytest.approx(2, abs=1)
    thief.position = Vector3(0, 0, -14)
    before = len(attacks)
    physics_frames(10)
    assert (active(tree), len(attacks)) == (["Chase"], before)


@pytest.mark.parametrize(("speed", "least"), [(1.0, 4), (2.0, 4), (3.0, 2)])
def test_attacks_on_a_target_that_walks_away_do_not_flap(walker, thief, physics_frames, signals, speed, least):
    thief.position = Vector3(0, 0, -4)
    attack = habit("Attack", kind="HabitAttack", attack_range=2.0)
    guard, tree = walker(attack, habit("Chase", kind="HabitMoveTo", speed=4.0), sensor=EYE)
    attacks, entered = signals(attack, "attacked"), signals(tree, "habit_entered")
    for _ in range(300):
        thief.position = thief.position - Vector3(0, 0, speed / 60)
        physics_frames(1)
    assert len(attacks) >= least
    assert len(entered) <= 5 * len(attacks)
    before = len(attacks)
    thief.position = guard.position - Vector3(0, 0, 2.3)
    physics_frames(80)
    assert len(attacks) > before, "a target that stops beyond the range is followed after the interval"


def test_an_attack_ends_with_the_target_that_it_killed(walker, thief, physics_frames, signals, gdscript):
    thief.position = Vector3(0, 0, -1)
    attack = habit("Attack", kind="HabitAttack", attack_method="kill", interval=0.1, attack_range=2.0)
    guard, tree = walker(attack, habit("Idle"), sensor=EYE)
    guard.set_script(gdscript("extends Node3D\nfunc kill(target: Node3D): target.queue_free()"))
    attacks, entered = signals(attack, "attacked"), signals(tree, "habit_entered")
    physics_frames(10)
    assert (len(attacks), tree.get_value("target_position")) == (1, Vector3(0, 0, -1)), "it is not lost yet"
    assert [path for path, _ in entered][-2:] == ["Brain/Attack", "Brain/Idle"]
    assert len(entered) <= 3


def test_attack_that_the_actor_refuses_fails(walker, node, scheduler, physics_frames, signals, gdscript):
    node("Node3D", scheduler, name="Bear", position=Vector3(0, 0, -1))
    attack = habit("Attack", kind="HabitAttack", target_node=NodePath("../../../Bear"), attack_method="strike")
    attack.set("cooldown", 100.0)
    guard, tree = walker(attack, habit("Idle"))
    guard.set_script(gdscript("extends Node3D\nfunc strike(_target): return false"))
    ends = signals(attack, "exited")
    physics_frames(5)
    assert (active(tree), ends) == (["Idle"], [(2,)])


@pytest.mark.parametrize("kinds", [(one, other) for one in ("Node3D", "CharacterBody3D") for other in ("Node3D",
                                                                                          "CharacterBody3D")])
def test_another_actor_walks_in_place_of_the_first(walker, node, scheduler, physics_frames, signals, kinds):
    first, tree = walker(habit("Go", kind="HabitMoveTo", target_point=Vector3(50, 0, 0)), kind=kinds[0])
    second = node(kinds[1], scheduler, name="Second", position=Vector3(0, 0, 5))
    entered = signals(tree, "habit_entered")
    physics_frames(10)
    assert first.position.x > 0
    for path, moves, stands in (("../../Second", second, first), ("..", first, second)):
        tree.set("actor", NodePath(path))
        before = moves.position.x, stands.position.x
        physics_frames(20)
        assert moves.position.x > before[0] + 0.5
        assert stands.position.x == before[1]
    assert len(entered) == 3


def test_habits_end_with_the_actor_they_began_with(walker, node, scheduler, physics_frames):
    go = habit("Go", kind="HabitMoveTo", target_point=Vector3(50, 0, 0))
    first, tree = walker(go, kind="CharacterBody3D")
    second = node("Node3D", scheduler, name="Second", position=Vector3(0, 0, 5))
    seen = []

    def ride(_velocity):
        seen.append(tree.actor_node().name)
        tree.set("actor", NodePath("../../Second"))
        seen.append(tree.actor_node().name)

    go.connect("velocity_changed", ride, 4)     # once
    physics_frames(20)
    stands = first.position.x
    assert seen == [first.name] * 2
    assert tuple(first.velocity) == (0, 0, 0)
    physics_frames(20)
    assert (tree.actor_node(), first.position.x) == (second, stands)
    assert second.position.x > 0.5
    tree.set("actor", NodePath(".."))
    assert tree.actor_node() == first


def test_a_stuck_walker_gives_up_by_default(node, scheduler, walker, physics_frames, signals, gdscript):
    go = habit("Go", kind="HabitMoveTo", target_point=Vector3(9, 0, 0), cooldown=100.0)
    guard, _ = walker(go)
    guard.set_script(gdscript("extends Node3D\nfunc _physics_process(_delta): position = Vector3.ZERO"))
    guard.set_physics_process(True)
    ends = signals(go, "exited")
    physics_frames(250)
    assert ends == [(2,)]


def test_a_fast_walker_that_is_thrown_to_and_fro_gives_up(node, scheduler, walker, physics_frames, signals, gdscript):
    go = habit("Go", kind="HabitMoveTo", target_point=Vector3(90, 0, 0), speed=60.0, stuck_after=1.0, cooldown=100.0)
    guard, _ = walker(go)
    guard.set_script(gdscript("""
        extends Node3D
        func _physics_process(_delta): if position.x > 0.9: position = Vector3.ZERO
    """))
    guard.set_physics_process(True)
    ends = signals(go, "exited")
    physics_frames(150)
    assert ends == [(2,)]


@pytest.fixture
def flat_ground(node, scheduler, physics_frames):
    """A square of 1200 px to walk on, and its AIScheduler."""
    mesh = construct("NavigationPolygon")
    mesh.set_vertices([Vector2(x, y) for x, y in ((-600, -600), (600, -600), (600, 600), (-600, 600))])
    mesh.add_polygon([0, 1, 2, 3])
    region = node("NavigationRegion2D", scheduler, navigation_polygon=mesh)
    server, map_rid = singleton("NavigationServer2D"), region.get_navigation_map()
    for _ in range(100_000):
        physics_frames(1)
        if server.map_get_iteration_id(map_rid) and int(server.map_get_closest_point_owner(map_rid, Vector2())):
            return scheduler
    raise AssertionError("the navigation map was not built")


@pytest.fixture
def ground(world, node, physics_frames):
    """A world of its own, with 20 by 20 m to walk on, and its AIScheduler."""
    mesh = construct("NavigationMesh")
    mesh.set_vertices([Vector3(x, 0, z) for x, z in ((-10, -10), (10, -10), (10, 10), (-10, 10))])
    mesh.add_polygon([0, 1, 2, 3])
    region = node("NavigationRegion3D", world, navigation_mesh=mesh)
    server, map_rid = singleton("NavigationServer3D"), region.get_navigation_map()
    for _ in range(100_000):
        physics_frames(1)
        if server.map_get_iteration_id(map_rid) and int(server.map_get_closest_point_owner(map_rid, Vector3())):
            return node("AIScheduler", world, budget=0.0, update=1)
    raise AssertionError("the navigation map was not built")


@pytest.mark.parametrize("paths", ["agent", "service"])
def test_one_who_keeps_away_stays_in_its_corner(flat_ground, node, physics_frames, signals, paths):
    node("Node2D", flat_ground, name="Bear", position=Vector2(-350, -350))
    body = node("CharacterBody2D", flat_ground, position=Vector2(-500, -450), motion_mode=1)
    flee = habit("Flee", kind="HabitFlee", target_node=NodePath("../../../Bear"), keeps_away=True, speed=300.0)
    if paths == "agent":
        node("NavigationAgent2D", body)
    else:
        node("PathService", flat_ground, name="Paths", source=1)
        flee.paths = NodePath("../../../Paths")
    tree = construct("HabitTree")
    tree.add_child(flee)
    tree.add_child(habit("Approach", kind="HabitMoveTo", target_node=NodePath("../../../Bear")))
    entered = signals(tree, "habit_entered")
    body.add_child(tree)
    physics_frames(240)
    corner = body.position
    assert math.dist(corner, (-600, -600)) < 20
    physics_frames(120)
    assert (len(entered), body.position) == (1, corner)


def test_two_bodies_in_2d_use_the_avoidance_of_their_agents(flat_ground, node, physics_frames, signals):
    arrived, safe = [], []
    for side in (-1, 1):
        body = node("CharacterBody2D", flat_ground, position=Vector2(120 * side, 2 * side), motion_mode=1)
        shape = construct("CircleShape2D")
        shape.set("radius", 12.0)
        node("CollisionShape2D", body, shape=shape)
        agent = node("NavigationAgent2D", body, avoidance_enabled=True, radius=15.0, max_speed=120.0)
        tree, go = construct("HabitTree"), habit(
            "Go", kind="HabitMoveTo", target_point=Vector2(-120 * side, 0), cooldown=1e6)
        tree.add_child(go)
        body.add_child(tree)
        arrived.append(signals(go, "exited"))
        safe.append(signals(agent, "velocity_computed"))
    for _ in range(400):
        physics_frames(1)
        if all(arrived):
            break
    assert arrived == [[(1,)], [(1,)]]
    assert min(map(len, safe)) > 50


def test_two_bodies_avoid_each_other_head_on(ground, node, physics_frames, signals):
    arrived = []
    for name, side in (("Left", -1), ("Right", 1)):
        body = node("CharacterBody3D", ground, name=name, position=Vector3(4 * side, 0, 0.05 * side), motion_mode=1)
        shape = construct("SphereShape3D")
        shape.set("radius", 0.4)
        node("CollisionShape3D", body, shape=shape)
        node("NavigationAgent3D", body, avoidance_enabled=True, radius=0.5, neighbor_distance=5.0, max_speed=4.0)
        tree, go = construct("HabitTree"), habit(
            "Go", kind="HabitMoveTo", target_point=Vector3(-4 * side, 0, 0), cooldown=1e6, stuck_after=0.0)
        tree.add_child(go)
        body.add_child(tree)
        arrived.append(signals(go, "exited"))
    for _ in range(400):
        physics_frames(1)
        if all(arrived):
            break
    assert arrived == [[(1,)], [(1,)]]
