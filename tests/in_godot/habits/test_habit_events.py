"""Events of an AIEventManager and of a sensor begin habits, and their payload is read without a script."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, PackedStringArray, Vector3, construct


def habit(name, *children, kind="Habit", **settings):
    one = construct(kind)
    one.set("name", name)
    for key, value in settings.items():
        one.set(key, PackedStringArray(value) if isinstance(value, list) else value)
    for child in children:
        one.add_child(child)
    return one


@pytest.fixture
def manager(node, scheduler):
    return node("AIEventManager", scheduler, name="Events")


@pytest.fixture
def brain(node, manager):
    def made(*habits, below=manager, **settings):
        tree = construct("HabitTree")
        tree.set("name", "Brain")
        for key, value in settings.items():
            tree.set(key, value)
        for one in habits:
            tree.add_child(one)
        actor = node("Node3D", below, name="Guard")
        actor.add_child(tree)
        return tree

    return made


def investigate(**settings):
    go = habit("Go", kind="HabitMoveTo", target_key="event.position", speed=100.0)
    return habit("Investigate", go, launch=1, begins_on=["alarm"], **settings)


def active(tree):
    return [path.removeprefix("Brain/") for path in tree.get_active_paths()]


def test_an_event_begins_a_habit_and_gives_its_place(brain, manager, physics_frames):
    tree = brain(investigate(), habit("Patrol"))
    physics_frames(2)
    assert active(tree) == ["Patrol"]
    manager.send("alarm", [3], 0.0, {"position": Vector3(9, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Investigate/Go"]
    physics_frames(10)
    assert active(tree) == ["Patrol"]
    assert tree.actor_node().position.x == pytest.approx(9, abs=0.5)


def test_the_place_of_an_event_may_be_that_of_an_argument(brain, manager, node, scheduler, physics_frames):
    door = node("Node3D", scheduler, position=Vector3(0, 0, 50))
    tree = brain(investigate(), habit("Patrol"))
    physics_frames(2)
    manager.send("alarm", ["loud", door])
    physics_frames(3)
    go = tree.get_node("Investigate/Go")
    assert go.get_event()["position"] == Vector3(0, 0, 50)
    assert (go.get_event()["arguments"], go.get_event()["code"]) == (["loud", door], "alarm")


def test_a_condition_reads_the_event(brain, manager, physics_frames):
    tree = brain(investigate(condition="event.position.x > 5 and event.arguments[0] == 1"), habit("Patrol"))
    physics_frames(2)
    manager.send("alarm", [1], 0.0, {"position": Vector3(4, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Patrol"]
    manager.send("alarm", [1], 0.0, {"position": Vector3(80, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Investigate/Go"]


def test_a_newer_event_keeps_the_place_of_the_running_habit(brain, manager, physics_frames):
    tree = brain(investigate(), habit("Patrol"))
    physics_frames(2)
    manager.send("alarm", [], 0.0, {"position": Vector3(90, 0, 0)})
    physics_frames(2)
    manager.send("alarm", [], 0.0, {"position": Vector3(-90, 0, 0)})
    physics_frames(2)
    assert tree.get_node("Investigate/Go").get_event()["position"] == Vector3(90, 0, 0)


def test_listeners_of_a_beginning_read_the_event(brain, manager, physics_frames):
    tree, heard = brain(investigate(), habit("Patrol")), []
    physics_frames(2)
    above, go = tree.get_node("Investigate"), tree.get_node("Investigate/Go")
    tree.habit_entered.connect(lambda path, reason: heard.append((above.get_event(), go.get_event())))
    above.entered.connect(lambda reason: heard.append(above.get_event()["code"]))
    manager.send("alarm", [], 0.0, {"position": Vector3(90, 0, 0)})
    physics_frames(2)
    payload = go.get_event()
    assert payload["position"] == Vector3(90, 0, 0)
    assert heard == [(payload, None), "alarm", (payload, payload)]


def test_misspelt_events_are_reported_once_for_all_trees(brain, manager, physics_frames, expect_errors):
    manager.codes = PackedStringArray(["alarm", "door_opened"])
    expect_errors("AIEventManager; did you mean 'door_opened'?", times=1)
    expect_errors("AIEventManager; did you mean 'order_given'?", times=1)
    for _ in range(2):
        brain(habit("Go", begins_on=["dooropened", "alarm", "shot at"]), habit("Obey", begins_on=["order_givven"]))
    physics_frames(3)


def test_a_misspelt_event_is_a_warning_in_the_editor():
    go = habit("Go", begins_on=["hearrd"])
    assert "did you mean 'heard'?" in " ".join(go._get_configuration_warnings())
    go.free()
    transition = construct("StateTransition")
    state, machine = construct("AIState"), construct("StateMachine")
    state.add_child(transition)
    machine.add_child(state)
    transition.set("event", "target_gaind")
    transition.set("target", 1)
    assert "did you mean 'target_gained'?" in " ".join(transition._get_configuration_warnings())
    machine.free()


def test_a_habit_that_repeats_keeps_its_event(brain, manager, physics_frames):
    tree, heard = brain(investigate(repeats=3), habit("Patrol")), []
    physics_frames(2)
    tree.get_node("Investigate/Go").entered.connect(
        lambda reason: heard.append(tree.get_node("Investigate").get_event()["position"]))
    manager.send("alarm", [], 0.0, {"position": Vector3(9, 0, 0)})
    physics_frames(30)
    assert heard == [Vector3(9, 0, 0)] * 3
    assert active(tree) == ["Patrol"]


def test_the_place_of_an_event_is_saved(brain, manager, scheduler, physics_frames):
    tree = brain(investigate(), habit("Patrol"))
    physics_frames(2)
    manager.send("alarm", [], 0.0, {"position": Vector3(200, 0, 0)})
    physics_frames(2)
    saved = scheduler.save_state()
    tree.stop_habits()
    physics_frames(2)
    assert active(tree) == ["Patrol"]
    scheduler.load_state(saved)
    physics_frames(2)
    assert active(tree) == ["Investigate/Go"]
    assert tree.get_node("Investigate/Go").get_event()["position"] == Vector3(200, 0, 0)


def test_undeclared_names_are_messages_and_no_codes(brain, manager, physics_frames):
    manager.codes = PackedStringArray(["alarm"])
    tree = brain(investigate(), habit("Duck", begins_on=["shot at"]), habit("Patrol"))
    physics_frames(2)
    tree.notify("shot at")
    physics_frames(1)
    assert active(tree) == ["Duck"]
    manager.send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Investigate/Go"]


@pytest.mark.parametrize("is_there_first", [True, False])
def test_a_manager_beside_the_tree_is_heard(is_there_first, brain, node, scheduler, manager, physics_frames):
    manager.free()
    beside = node("AIEventManager", scheduler) if is_there_first else None
    tree = brain(investigate(), habit("Patrol"), below=scheduler)
    physics_frames(2)
    beside = beside or node("AIEventManager", scheduler)
    physics_frames(2)
    beside.send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Investigate/Go"]


def test_a_manager_in_place_of_another_is_heard(brain, node, scheduler, manager, physics_frames):
    tree = brain(investigate(), habit("Patrol"), below=scheduler)
    physics_frames(2)
    manager.free()
    physics_frames(2)
    node("AIEventManager", scheduler).send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Investigate/Go"]


def test_a_nearer_manager_takes_over(brain, node, scheduler, manager, physics_frames):
    room = node("Node", scheduler)
    tree = brain(investigate(), habit("Patrol"), below=room)
    physics_frames(2)
    node("AIEventManager", room)
    physics_frames(2)
    manager.send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Patrol"]


def test_the_manager_of_another_world_is_not_heard(brain, node, manager, physics_frames):
    tree = brain(investigate(), habit("Patrol"), below=node("AIScheduler", node("SubViewport")))
    physics_frames(2)
    manager.send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Patrol"]


def test_a_manager_that_enters_repeats_no_error(brain, node, scheduler, manager, physics_frames, expect_errors):
    tree = brain(investigate(), habit("Patrol"))
    physics_frames(2)
    expect_errors("cannot parse", times=1)
    tree.add_child(habit("Bad", condition="1 +"))
    physics_frames(2)
    assert tree.to_text() == "not running"
    node("AIEventManager", scheduler)
    physics_frames(2)


def test_a_named_manager_takes_the_place_of_the_one_above(brain, manager, node, scheduler, physics_frames):
    tree = brain(investigate(), habit("Patrol"), events=NodePath("../../../Radio"))
    radio = node("AIEventManager", scheduler, name="Radio")
    physics_frames(2)
    manager.send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Patrol"]
    tree.events = NodePath("../../../Radio")
    radio.send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Investigate/Go"]


def test_a_tree_that_leaves_or_changes_listens_no_more(brain, manager, physics_frames):
    tree = brain(investigate(), habit("Patrol"))
    physics_frames(2)
    assert manager.get_stats()["listening_here"] == 1
    tree.get_node("Investigate").free()
    physics_frames(2)
    manager.send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert active(tree) == ["Patrol"]
    tree.add_child(investigate())
    tree.move_child(tree.get_node("Investigate"), 0)
    physics_frames(2)
    actor = tree.get_parent()
    actor.remove_child(tree)
    manager.send("alarm")
    physics_frames(2)
    actor.add_child(tree)
    physics_frames(2)
    manager.send("alarm", [], 0.0, {"position": Vector3(99, 0, 0)})
    physics_frames(2)
    assert "Investigate/Go" in active(tree)


def test_a_wait_of_the_inspector_ends_with_an_event(brain, manager, physics_frames):
    tree = brain(habit("Day", habit("Wait", kind="HabitWait", duration=0.0, until_notified="dinner"),
                       habit("Eat"), launch=1))
    physics_frames(2)
    manager.send("dinner")
    physics_frames(2)
    assert active(tree) == ["Day/Eat"]


def test_a_sound_is_an_event_with_a_place(brain, node, scheduler, physics_frames):
    node("SenseManager", scheduler)
    tree = brain(habit("Investigate", habit("Go", kind="HabitMoveTo", target_key="event.position"),
                       launch=1, begins_on=["heard"], condition="event.strength > 0.5"), habit("Patrol"))
    node("Sensor3D", tree.get_parent(), name="Ear", hearing_threshold=0.1)
    tree.sensor = NodePath("../Ear")
    noise = node("SenseSource3D", scheduler, position=Vector3(0, 0, 20))
    physics_frames(2)
    noise.emit("hearing", 2.0)
    physics_frames(8)
    assert active(tree) == ["Patrol"], "too weak where it is heard"
    noise.emit("hearing", 30.0)
    physics_frames(8)
    assert active(tree) == ["Investigate/Go"]
    assert tree.get_node("Investigate").get_event()["position"] == Vector3(0, 0, 20)


def test_a_wrong_manager_is_an_error_with_the_remedy(brain, physics_frames, expect_errors):
    expect_errors("events '..' is of class Node3D, not AIEventManager; choose a node of class AIEventManager, or")
    brain(investigate(), habit("Patrol"), events=NodePath(".."))
    physics_frames(3)


@pytest.mark.parametrize("codes", [[], ["alarm"]], ids=["any code", "declared codes"])
def test_a_radio_report_is_an_event_with_a_place(brain, manager, node, physics_frames, codes):
    manager.set("codes", PackedStringArray(codes))
    tree = brain(habit("Help", habit("Go", kind="HabitMoveTo", target_key="event.position", speed=3.0),
                       begins_on=["radio_sighting"], condition="event.arguments[0] == \"thief\""))
    sender = node("Node3D", manager, name="Ann")
    for one in (sender, tree.actor_node()):
        manager.add_radio(one)
    physics_frames(2)
    manager.report_sighting(sender, "cat", None, Vector3(0, 0, 9))
    physics_frames(3)
    assert active(tree) == ["Brain"]
    manager.report_sighting(sender, "thief", None, Vector3(9, 0, 0))
    physics_frames(3)
    assert active(tree) == ["Help/Go"]
    assert tree.get_node("Help").get_event()["position"] == Vector3(9, 0, 0)
