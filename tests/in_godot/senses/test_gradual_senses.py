"""SenseManager.gradual_senses: slow sounds that are followed as they travel from room to room."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3


@pytest.fixture
def rooms(node, scheduler):
    """Two rooms, a door between them, and who calls in one and listens in the other; by their gradual senses."""

    class Rooms:
        def __init__(self, *gradual):
            node("SenseManager", scheduler, mode=1, sound_speed=10.0, gradual_senses=list(gradual))
            for name, x in (("A", 0), ("B", 10)):
                node("SenseRegion3D", scheduler, name=name, position=Vector3(x, 0, 0), size=Vector3(10, 3, 10))
            self.door = node(
                "SensePortal3D", scheduler, position=Vector3(5, 0, 0), from_region="../A", to_region="../B",
                hearing_kept_per_meter_closed=0.0)
            self.ear = node("Sensor3D", scheduler, position=Vector3(8, 0, 0), hearing_threshold=0.1)
            self.caller = node("SenseSource3D", scheduler, position=Vector3(-4, 0, 0), sight_strength=0.0)

    return Rooms


@pytest.mark.parametrize(("gradual", "shut_after", "hears"), [
    ([], 6, True), (["hearing"], 6, False),
    (["hearing"], 57, True),      # it is nine metres to the door, and 54 frames
])
def test_a_slow_sound_meets_the_door_as_it_is_on_arrival(
    rooms, physics_frames, signals, gradual, shut_after, hears,
):
    level = rooms(*gradual)
    heard = signals(level.ear, "sensed")
    physics_frames(2)
    level.caller.emit("hearing", 50.0)
    physics_frames(shut_after)
    assert heard == []
    level.door.close()
    physics_frames(120)
    assert bool(heard) == hears


def test_a_followed_sense_that_there_is_not_is_named(rooms, expect_errors, physics_frames):
    expect_errors("gradual_senses: unknown emitted modality 'hering'; did you mean 'hearing'?", times=1)
    expect_errors("gradual_senses: unknown emitted modality 'sight'", times=1)
    rooms("hering", "sight")
    physics_frames(1)
