"""Built-in habits: waiting, values, signals, methods, animations, turning and going, without code."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import NodePath, StringName, Vector2, Vector3, construct


@pytest.fixture
def brain(node, scheduler, gdscript):
    """A HabitTree, a sequence that is not in the tree yet; ``enter(kind)`` puts it below a character."""
    script = """
        extends {kind}
        signal called(what)
        var log := []
        func note(what, many): log.append([what, many])
        func refuse(): return false
    """
    made = construct("HabitTree")
    made.set("name", "Brain")
    made.set("launch", 1)

    def enter(kind="Node3D", **settings):
        actor = node(kind, scheduler, **settings)
        actor.set_script(gdscript(script.format(kind=kind)))
        actor.add_child(made)
        return actor

    made.enter = enter
    yield made
    if made.is_valid() and not made.is_inside_tree():
        made.free()


def add(parent, kind, name, **settings):
    one = construct(kind)
    one.set("name", name)
    for key, value in settings.items():
        one.set(key, value)
    parent.add_child(one)
    return one


def last(brain):
    """Add a habit at the end that never ends, so that a sequence is run once."""
    add(brain, "Habit", "last")


def test_values_are_written_and_compared(brain, physics_frames, signals):
    add(brain, "HabitSetValue", "set", key="health", value="3")
    add(brain, "HabitSetValue", "less", key="health", value="health - 1")
    checked = add(brain, "HabitCheckValue", "check", key="health", comparison="<", value="2.5")
    wrong = add(brain, "HabitCheckValue", "wrong", key="health", comparison=">", value="2.5", outcome=1)
    add(brain, "HabitSetValue", "tell", key="alarm", value="\"red\"", scope="world")
    last(brain)
    ends = signals(checked, "exited"), signals(wrong, "exited")
    brain.enter()
    physics_frames(1)
    assert (brain.get_value("health"), brain.get_value("alarm")) == (2, "red")
    assert [len(one) for one in ends] == [1, 1]
    assert list(brain.get_active_paths()) == ["Brain/last"]


def test_waiting_takes_its_time_and_wakes_when_told(brain, physics_frames, signals):
    wait = add(brain, "HabitWait", "wait", duration=0.2)
    dinner = add(brain, "HabitWait", "dinner", duration=0.0, until_notified="dinner")
    late = add(brain, "HabitWait", "late", duration=0.1, until_notified="never", outcome=2)
    last(brain)
    ends = [signals(one, "exited") for one in (wait, dinner, late)]
    brain.enter()
    physics_frames(11)
    assert [len(one) for one in ends] == [0, 0, 0]
    physics_frames(4)
    assert list(brain.get_active_paths()) == ["Brain/dinner"]
    assert brain.is_asleep()
    brain.notify("dinner")
    physics_frames(1)
    assert list(brain.get_active_paths()) == ["Brain/late"]
    physics_frames(8)
    assert list(brain.get_active_paths()) == ["Brain/last"]


def test_a_random_wait_is_between_its_times(brain, physics_frames):
    wait = add(brain, "HabitWait", "wait", duration=0.1, max_duration=0.3)
    last(brain)
    brain.enter()
    physics_frames(5)
    assert wait.is_active()
    physics_frames(16)
    assert not wait.is_active()


def test_signals_are_emitted_and_methods_called(brain, physics_frames, signals):
    add(brain, "HabitEmitSignal", "emit", signal_name=StringName("called"), arguments=["dinner"])
    add(brain, "HabitCallMethod", "note", method_name=StringName("note"), arguments=["sheep", 3])
    refused = add(brain, "HabitCallMethod", "refuse", method_name=StringName("refuse"), outcome=2)
    last(brain)
    ends = signals(refused, "exited")
    actor = brain.enter()
    called = signals(actor, "called")
    physics_frames(1)
    assert called == [("dinner",)]
    assert actor.get("log") == [["sheep", 3]]
    assert len(ends) == 1


def test_a_straight_way_is_gone_at_its_speed(brain, node, physics_frames):
    goal = node("Node3D", name="Goal", position=Vector3(1, 0, 0))
    add(brain, "HabitMoveTo", "go", target_key="goal", speed=2.0, arrival_distance=0.05)
    last(brain)
    brain.set_value("goal", goal)
    actor = brain.enter()
    physics_frames(16)
    assert actor.get("position").x == pytest.approx(0.5, abs=0.04)
    physics_frames(16)
    assert actor.get("position").x == pytest.approx(0.97, abs=0.04)
    assert list(brain.get_active_paths()) == ["Brain/last"]


def test_a_body_slides_and_stands_still_afterwards(brain, physics_frames):
    add(brain, "HabitMoveTo", "go", target_point=Vector3(30, 40, 0), speed=100.0, arrival_distance=3.0)
    last(brain)
    actor = brain.enter("CharacterBody2D")
    physics_frames(10)
    assert actor.get("velocity") == Vector2(60, 80)
    physics_frames(25)
    assert math.dist(tuple(actor.get("position")), (30, 40)) <= 3.0
    assert actor.get("velocity") == Vector2(0, 0)


def test_a_way_around_is_found_by_the_navigation_agent(brain, node, physics_frames, signals):
    region = node("NavigationRegion3D")
    mesh = construct("NavigationMesh")
    corners = [(0, 0), (6, 0), (6, 2), (2, 2), (2, 6), (0, 6)]
    mesh.set("vertices", [Vector3(x, 0, z) for x, z in corners])
    mesh.call("add_polygon", [0, 1, 2, 3])
    mesh.call("add_polygon", [0, 3, 4, 5])
    region.set("navigation_mesh", mesh)
    go = add(brain, "HabitMoveTo", "go", target_point=Vector3(1, 0, 5), speed=6.0, arrival_distance=0.6)
    last(brain)
    ends = signals(go, "exited")
    actor = brain.enter(position=Vector3(5, 0, 1))
    actor.add_child(construct("NavigationAgent3D"))
    path = []
    for _ in range(30_000):              # the map is built beside the frames, in its own time
        physics_frames(3)
        path.append(actor.get("position"))
        if ends:
            break
    assert ends == [(1,)]
    assert math.dist(tuple(path[-1]), (1, 0, 5)) <= 0.61
    assert min(one.x + one.z for one in path) < 5.2       # round the corner: straight it is 6


def test_looking_turns_at_its_speed_in_both_dimensions(brain, physics_frames):
    add(brain, "HabitLookAt", "look", target_point=Vector3(0, 1, 0), turn_speed=math.pi, tolerance=0.01)
    last(brain)
    actor = brain.enter("Node2D")
    physics_frames(16)
    assert actor.get("rotation") == pytest.approx(math.pi / 4, abs=0.08)
    physics_frames(20)
    assert actor.get("rotation") == pytest.approx(math.pi / 2, abs=0.02)
    assert list(brain.get_active_paths()) == ["Brain/last"]


def test_a_node_is_faced_in_3d(brain, node, physics_frames):
    node("Node3D", name="Sight", position=Vector3(-5, 0, 0))
    add(brain, "HabitLookAt", "look", target_node=NodePath("/root/Sight"), turn_speed=100.0)
    last(brain)
    actor = brain.enter()
    physics_frames(3)
    assert actor.get("rotation").y == pytest.approx(math.pi / 2, abs=0.02)


def test_an_animation_is_played_to_its_end(brain, physics_frames, frames):
    player, library, wave = construct("AnimationPlayer"), construct("AnimationLibrary"), construct("Animation")
    wave.set("length", 0.2)
    library.call("add_animation", StringName("wave"), wave)
    player.call("add_animation_library", StringName(""), library)
    play = add(brain, "HabitPlayAnimation", "wave", animation=StringName("wave"))
    last(brain)
    actor = brain.enter()
    actor.add_child(player)
    physics_frames(6)
    assert (play.is_active(), player.is_playing()) == (True, True)
    physics_frames(12)
    assert list(brain.get_active_paths()) == ["Brain/last"]


@pytest.mark.parametrize(("kind", "settings", "message"), [
    ("HabitCheckValue", {}, "key is empty"),
    ("HabitCheckValue", {"key": "health", "value": "3 +"}, "cannot parse '3 +'"),
    ("HabitEmitSignal", {}, "signal_name is empty"),
    ("HabitCallMethod", {}, "method_name is empty"),
    ("HabitPlayAnimation", {}, "animation is empty"),
    ("HabitMoveTo", {"target_node": NodePath("../nowhere")}, "target_node '../nowhere' is not in the scene"),
])
def test_what_cannot_work_is_warned_of(kind, settings, message, brain):
    assert message in " ".join(add(brain, kind, "one", **settings)._get_configuration_warnings())


@pytest.mark.parametrize(("kind", "settings", "message"), [
    ("Habit", {"python_class": "nowhere:Swing"}, "python_class 'nowhere:Swing': there is no module 'nowhere'"),
    ("Habit", {"python_class": "json:"}, "python_class 'json:' is not a Habit class"),
    ("HabitCallMethod", {"method_name": StringName("cry")}, "has no method 'cry'"),
    ("HabitPlayAnimation", {"animation": StringName("run")}, "found no AnimationPlayer below the actor"),
])
def test_what_the_actor_lacks_is_warned_of(kind, settings, message, brain):
    wrong = add(brain, kind, "one", **settings)
    right = add(brain, "HabitCallMethod", "two", method_name=StringName("note"))
    brain.set("enabled", False)
    brain.enter()
    assert [one for one in wrong._get_configuration_warnings() if message in one]
    assert right._get_configuration_warnings() == []


def test_an_animation_that_is_not_there_is_warned_of(brain):
    play = add(brain, "HabitPlayAnimation", "play", animation=StringName("run"))
    brain.set("enabled", False)
    brain.enter().add_child(construct("AnimationPlayer"))
    assert "has no animation 'run'; it has no animations" in " ".join(play._get_configuration_warnings())


@pytest.mark.parametrize("name", ["", "cry"])
def test_a_method_that_is_not_there_is_named(brain, physics_frames, expect_errors, name):
    add(brain, "HabitCallMethod", "call", method_name=StringName(name))
    last(brain)
    expect_errors(f"' has no method '{name}'; set method_name to one that it has", times=3)
    brain.enter()
    physics_frames(6)


def test_a_signal_that_is_not_there_is_named(brain, physics_frames, expect_errors):
    add(brain, "HabitEmitSignal", "emit", signal_name=StringName("cried"))
    last(brain)
    expect_errors("has no signal 'cried'", times=3)
    brain.enter()
    physics_frames(6)
