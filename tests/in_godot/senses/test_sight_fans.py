"""What sensors see is drawn as fans that end at walls, with the color of their awareness."""
from __future__ import annotations

import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct
from addons.ai_core.nodes.debugging.game_picture import GamePicture
from addons.ai_core.nodes.senses.sight_fans import COLORS, NEAR_MEANING

TOLERANCE_M = 0.2


def wall(node, is_flat, place, size):
    body = node("StaticBody2D" if is_flat else "StaticBody3D", position=place)
    shape = construct("CollisionShape2D" if is_flat else "CollisionShape3D")
    shape.shape = construct("RectangleShape2D" if is_flat else "BoxShape3D")
    shape.shape.size = size
    body.add_child(shape)
    return body


@pytest.fixture
def fans(monkeypatch):
    """The filled shapes of the last drawing."""
    found, draw = [], GamePicture.draw

    def note(self, shapes):
        found[:] = [one for one in shapes if one.is_filled]
        draw(self, shapes)
    monkeypatch.setattr(GamePicture, "draw", note)
    return found


def legend_of(picture):
    return list(picture.get_tree().get_first_node_in_group("_ai_core_legend").texts())


def test_a_fan_ends_at_a_wall(node, physics_frames, fans):
    scheduler = node("AIScheduler")
    node("SenseManager", scheduler, show_in_game=True)
    node("Sensor3D", scheduler, position=Vector3(0, 1.6, 0), sight_range=10.0, near_range=0.0,
         horizontal_angle=math.radians(40))
    wall(node, False, Vector3(0, 1, -5), Vector3(20, 4, 1))
    physics_frames(4)
    (fan,) = fans
    assert abs(fan.points[:, 2].min() + 4.5) < TOLERANCE_M
    assert fan.color == COLORS[0]


def test_a_fan_lies_on_the_floor(node, physics_frames, fans):
    scheduler = node("AIScheduler")
    node("SenseManager", scheduler, show_in_game=True)
    node("Sensor3D", scheduler, position=Vector3(0, 1.6, 0), near_range=0.0)
    wall(node, False, Vector3(0, -0.5, 0), Vector3(60, 1, 60))
    physics_frames(4)
    (fan,) = fans
    assert abs(fan.points[:, 1] - 0.06).max() < TOLERANCE_M


def test_in_2d_a_fan_is_in_pixels(node, physics_frames, fans):
    scheduler = node("AIScheduler")
    node("SenseManager", scheduler, dimensions=1, show_in_game=True)
    node("Sensor2D", scheduler, sight_range=320.0, near_range=0.0, position=Vector2(100, 50),
         horizontal_angle=math.radians(40))
    wall(node, True, Vector2(260, 50), Vector2(20, 400))
    physics_frames(4)
    (fan,) = fans
    assert abs(fan.points[:, 0].max() - 250) < 6
    assert np.allclose(fan.points[0, :2], (100, 50))


def test_a_fan_turns_red_with_awareness_and_the_legend_says_so(node, physics_frames, fans):
    scheduler = node("AIScheduler")
    manager = node("SenseManager", scheduler, show_in_game=True)
    node("Sensor3D", scheduler, awareness_gain=20.0)
    thief = node("SenseSource3D", scheduler, position=Vector3(0, 0, -3))
    physics_frames(30)
    assert fans[0].color == COLORS[2]
    thief.emit("hearing")
    physics_frames(2)
    assert {"sight, alert", NEAR_MEANING, "reach of sound"} <= set(legend_of(manager))


def test_the_legend_goes_with_the_last_picture(node, physics_frames):
    scheduler = node("AIScheduler")
    manager = node("SenseManager", scheduler, show_in_game=True)
    node("Sensor3D", scheduler)
    physics_frames(3)
    assert legend_of(manager)
    manager.show_in_game = False
    physics_frames(3)
    assert manager.get_tree().get_first_node_in_group("_ai_core_legend") is None


def test_many_sensors_share_the_rays(node, physics_frames, fans):
    scheduler = node("AIScheduler")
    node("SenseManager", scheduler, show_in_game=True)
    for number in range(60):
        node("Sensor3D", scheduler, position=Vector3(number * 30.0, 0, 0))
    physics_frames(4)
    assert len(fans) == 120
    assert sum(len(one.points) // 3 for one in fans) <= 1300
