"""Characters that walk by habits or in squads pass each other, without a NavigationAgent."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct
from addons.ai_core.nodes.habits.actor_habits import WalkingHabit
from tests.in_godot.walking.test_walking_on_floors import House


@pytest.fixture(params=["3D", "2D"])
def space(request):
    return request.param


@pytest.fixture
def walker(node, scheduler, space):
    """``walker(start, goal)``: a body that walks in the plane by a HabitMoveTo; returns the body and the habit."""
    def made(start, goal, kind="HabitMoveTo", **settings):
        flat = space == "2D"
        point = (lambda x, y: Vector2(30 * x, 30 * y)) if flat else (lambda x, y: Vector3(x, 0, y))
        body = node(f"CharacterBody{space}", scheduler, position=point(*start), motion_mode=1)
        shape = construct("CircleShape2D" if flat else "SphereShape3D")
        shape.set("radius", 12.0 if flat else 0.4)
        node(f"CollisionShape{space}", body, shape=shape)
        tree, go = construct("HabitTree"), construct(kind)
        aim = {"target_key": "here"} if kind == "HabitSearch" else {"target_point": point(*goal)}
        tree.set("values", {"here": point(*goal)})
        for name, value in {"cooldown": 1e6, **aim, **settings}.items():
            go.set(name, value)
        tree.add_child(go)
        body.add_child(tree)
        return body, go

    return made


def frames_until(ends, physics_frames, most=600):
    for number in range(most):
        if all(ends):
            return number
        physics_frames(1)
    return most


@pytest.mark.parametrize("other", [((4, 0), (-4, 0)), ((0, -4), (0, 4)), ((0, 0), (0, 0))],
                         ids=["head on", "crossing", "standing"])
def test_bodies_pass_each_other_without_an_agent(walker, physics_frames, signals, other):
    ends = [signals(walker(*places)[1], "exited") for places in (((-4, 0), (4, 0)), other)]
    assert frames_until(ends, physics_frames) < 200
    assert ends == [[(1,)], [(1,)]]


def test_bodies_block_each_other_with_avoidance_off(walker, physics_frames, signals):
    ends = [signals(walker((4 * side, 0), (-4 * side, 0), avoidance=False)[1], "exited") for side in (-1, 1)]
    frames_until(ends, physics_frames)
    assert ends == [[(2,)], [(2,)]]


def test_bodies_that_pass_each_other_need_few_decisions(walker, physics_frames, monkeypatch, signals):
    decided, go = [], WalkingHabit._go
    monkeypatch.setattr(WalkingHabit, "_go", lambda self, *args, **named: decided.append(1) or go(self, *args, **named))
    ends = [signals(walker(*places)[1], "exited") for places in (((-4, 0), (4, 0)), ((4, 0.5), (-4, 0.5)))]
    frames = frames_until(ends, physics_frames)
    assert ends == [[(1,)], [(1,)]]
    assert len(decided) < 2 * frames / 5


def test_a_loaded_game_avoids_as_the_saved_one(walker, scheduler, physics_frames):
    bodies = [walker((4 * side, 0.1 * side), (-4 * side, 0))[0] for side in (-1, 1)]
    physics_frames(40)
    saved = scheduler.save_state()
    places = [(one.position, one.velocity) for one in bodies]

    def walked():
        found = []
        for _ in range(60):
            physics_frames(1)
            found.append([tuple(one.position) for one in bodies])
        return found

    first = walked()
    scheduler.load_state(saved)
    for body, (place, velocity) in zip(bodies, places, strict=True):
        body.position, body.velocity = place, velocity
    assert walked() == first
    assert abs(first[-1][0][1 if len(first[0][0]) == 2 else 2]) > 0.1, "they evaded"


def test_a_freed_or_removed_body_is_not_avoided(walker, scheduler, physics_frames, signals):
    bodies = [walker(place, place)[0] for place in ((0, 0), (1, 0))]
    body, go = walker((-4, 0), (4, 0))
    ends = signals(go, "exited")
    physics_frames(10)
    bodies[0].free()
    scheduler.remove_child(bodies[1])
    assert frames_until([ends], physics_frames) < 160
    line = body.position.z if len(tuple(body.position)) == 3 else body.position.y / 30
    assert abs(line) < 0.3
    scheduler.add_child(bodies[1])


@pytest.mark.parametrize("by", ["agent", "ticket", "straight"])
def test_bodies_on_a_floor_pass_each_other(node, physics_frames, signals, by):
    house = House(node, "ramp")
    places = [Vector3(-6, 0, 0), Vector3(-1, 0, 0)]
    walkers = [house.walker(*places, by), house.walker(*reversed(places), by)]
    assert frames_until([signals(one.go, "exited") for one in walkers], physics_frames) < 110
    assert [round(one.actor.get_global_position().y, 1) for one in walkers] == [0, 0]


def least_gap(bodies):
    """Smallest distance between two bodies, in radii."""
    radius = 12.0 if len(tuple(bodies[0].position)) == 2 else 0.4
    return min((one.position - two.position).length() for i, one in enumerate(bodies) for two in bodies[:i]) / radius


@pytest.mark.parametrize("kind", ["HabitMoveTo", "HabitSearch"])
def test_bodies_with_one_goal_stop_beside_each_other(walker, physics_frames, signals, kind):
    more = {"places": 0, "look_time": 0.2} if kind == "HabitSearch" else {}
    made = [walker((-4 - 1.2 * number, 0.1 * number), (0, 0), kind, **more) for number in range(4)]
    for body, _ in made:
        body.collision_layer = 0
    ends, least, bodies = [signals(go, "exited") for _, go in made], 99.0, [body for body, _ in made]
    for _ in range(240):
        physics_frames(1)
        least = min(least, least_gap(bodies))
    assert ends == [[(1,)]] * 4
    assert least > 1.9


def test_a_place_that_nobody_stands_at_is_walked_to(walker, physics_frames, signals):
    walker((0, 1.2), (0, 1.2))
    body, go = walker((-4, 0), (0, 0), arrival_distance=0.1)
    ends = signals(go, "exited")
    assert frames_until([ends], physics_frames) < 200
    assert body.position.length() <= (3 if len(tuple(body.position)) == 2 else 0.1)


def test_followers_without_room_stand_and_face_the_target(walker, node, scheduler, physics_frames, signals, space):
    unit = 30 if space == "2D" else 1
    at = (lambda x, y: Vector2(30 * x, 30 * y)) if space == "2D" else (lambda x, y: Vector3(x, 0, y))
    target = node(f"Node{space}", scheduler, position=at(0, 0), name="Target")
    made = [walker((-4 - number // 4, number % 4 - 1.5), (0, 0), target_node=target.get_path(), keeps_following=True,
                   arrival_distance=unit * 1.0, follow_distance=unit * 1.5, turn_speed=6.0, speed=unit * 3.0)
            for number in range(12)]
    bodies, ends = [body for body, _ in made], [signals(go, "exited") for _, go in made]
    physics_frames(900)
    rests = [body.position for body in bodies]
    faces = [body.rotation for body in bodies]
    physics_frames(120)
    assert max((body.position - rest).length() for body, rest in zip(bodies, rests, strict=True)) < 0.05 * unit
    assert [body.rotation for body in bodies] == faces
    assert max(rest.length() for rest in rests) > 1.6 * unit, "there is no room for all within follow_distance"
    for body in sorted(bodies, key=lambda body: body.position.length())[:6]:
        bodies.remove(body)
        body.free()
    physics_frames(200)
    assert sorted(body.position.length() for body in bodies)[3] <= unit, "they take the room of those that left"
    target.position = at(8, 0)
    physics_frames(400)
    assert max((body.position - target.position).length() for body in bodies) < 3.5 * unit
    assert not any((2,) in one for one in ends)
