"""What scripts ask of senses that makes no sense: one line each, of the node, and nothing is changed."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3
from tests.in_godot.senses.test_sense_graph import LEFT, level  # noqa: F401


@pytest.fixture
def ask(node, scheduler, gdscript, physics_frames):
    """Runs a line of GDScript with a manager, a sensor and a source."""
    manager, eye = node("SenseManager", scheduler, name="manager"), node("Sensor3D", name="eye")
    thing = node("SenseSource3D", name="thing", position=Vector3(0, 0, -5))
    physics_frames(1)

    def run(line):
        asking = node("Node")
        asking.set_script(gdscript(
            f"extends Node\nfunc ask(manager, eye, thing):\n\t{line}\n"))
        asking.call("ask", manager, eye, thing)

    return run


@pytest.mark.parametrize(("line", "message"), [
    ("thing.emit('sight', 1.0)", "modality_name must be an emitted modality, got 'sight', which is continuous"),
    ("thing.emit('hering', 1.0)", "unknown modality 'hering'; did you mean 'hearing'?"),
    ("thing.emit('hearing', NAN)", "strength must be a finite number, got nan"),
    ("thing.act('jump')", "unknown action 'jump'"),
    ("manager.set_importance(eye, 2.0)", "importances must be from 0 to 1, got [2.0]"),
    ("manager.set_importance(thing, 1.0)", "needs a sensor, and a source or null, of this manager"),
    ("manager.change_modality('sight', 10.0, 2.0)", "kept_per_m must be at most 1, got 2.0"),
    ("manager.change_modality('sigt', 10.0)", "unknown modality 'sigt'; did you mean 'sight'?"),
    ("manager.add_noise('sight', 1.0)", "modality_name must be an emitted modality, got the continuous 'sight'"),
    ("manager.add_noise('hearing', -1.0)", "level must be at least 0, got -1.0"),
    ("manager.set_wind(Vector3(NAN, 0, 0))", "velocity must be finite"),
    ("manager.set_portal_open('door', false)", "has no portals in mode Regional; set mode to Graph"),
    ("eye.can_sense(thing, 'hearing')", "modality_name must be a continuous modality, got 'hearing'"),
    ("eye.can_sense(manager)", "can_sense() needs a SenseSource3D, or the character of one, got 'manager'"),
    ("eye.why(manager)", "why() needs a SenseSource3D, or the character of one, got 'manager' (SenseManager)"),
    ("eye.why(null)", "why() needs a SenseSource3D, or the character of one, got null; a target that has left"),
    ("eye.recall(null)", "recall() needs a SenseSource3D, or the character of one, got null; a target that has left"),
    ("eye.recall(manager)", "recall() needs a SenseSource3D, or the character of one, got 'manager'"),
    ("eye.forget(manager)", "forget() needs a SenseSource3D, or the character of one, got 'manager'"),
    ("eye.set_sensitivity('hearing', 0.5, -3.0)", "for_s must be above 0, got -3.0"),
])
def test_each_is_told_in_one_line_of_its_node(ask, expect_errors, line, message):
    # What is no misuse to the bridge says "Class.method raised" before it, and has a traceback.
    expect_errors(f"/{line.partition('.')[0]}': {message}", times=1)
    ask(line)


@pytest.mark.parametrize(("class_name", "does"), [
    ("Sensor3D", "it senses nothing"), ("SenseSource3D", "it cannot be sensed")])
def test_a_node_at_an_invalid_position_does_not_join(
    node, scheduler, physics_frames, expect_errors, class_name, does,
):
    manager = node("SenseManager", scheduler)
    expect_errors(f"holds a NaN or infinity, so {does}; give it a finite position", times=1)
    lost = node(class_name, scheduler, position=Vector3(float("nan"), 0, 0))
    physics_frames(2)
    assert (manager.get_stats()["sensors"], manager.get_stats()["sources"]) == (0, 0)
    scheduler.remove_child(lost)
    lost.position = Vector3()
    scheduler.add_child(lost)
    assert manager.get_stats()["sensors"] + manager.get_stats()["sources"] == 1

def test_a_region_that_cannot_be_one_is_left_out_alone(level, physics_frames, expect_errors):  # noqa: F811
    level.room("Hall", 0)
    expect_errors("Wrong': kept_per_m['hearing'] must be at most 1, got 1e+30", times=1)
    level.room("Wrong", 40, other_kept_per_meter={"hearing": 1e30})
    guard, thief = level.eye(2, LEFT), level.thing(-2)
    physics_frames(10)
    assert guard.can_sense(thief)


def test_a_portal_that_cannot_be_one_is_left_out_alone(level, physics_frames, expect_errors):  # noqa: F811
    level.room("Hall", 0)
    level.room("Control", 10)
    expect_errors("Wrong': leads nowhere: kept_per_m must be at most 1, got 1e+30", times=1)
    level.portal("Wrong", 5, "Hall", "Control", other_senses={"smell": 1e30})
    level.portal("Glass", 5, "Hall", "Control", one_way=True, passes_sight=True)
    guard, thief = level.eye(8, LEFT), level.thing(1)
    physics_frames(10)
    assert guard.can_sense(thief)
