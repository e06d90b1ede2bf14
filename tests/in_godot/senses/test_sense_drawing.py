"""What is drawn of senses is what they reach."""
from __future__ import annotations

import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector3
from addons.ai_core.nodes.senses.sense_drawing import (
    IN_3D,
    SensePicture,
    along_axis,
    ball,
    box,
    cone,
    in_plane,
    stepped,
)
from addons.ai_core.nodes.senses.sensor import Sensor3D
from ai_core.senses.sight.sight_cones import SightCone
from tests.senses.sight.plain_cones import cones_of


def seen(points, sight):
    """Whether a sensor at the origin, looking along -z, has points in its cone."""
    return np.array(cones_of(points, [sight])) == 0


@pytest.mark.parametrize(("horizontal", "vertical"), [(110, 80), (30, 10), (200, 170)])
def test_the_outline_of_a_cone_is_where_sight_ends(horizontal, vertical):
    angles = math.radians(horizontal), math.radians(vertical)
    points = cone(10.0, *angles, IN_3D, is_flat=False)
    length = np.linalg.norm(points, axis=1)
    rim = points[np.isclose(length, 10.0, atol=1e-3)]
    wider, narrower = (SightCone(10.0 + more, *(one + more for one in angles)) for more in (0.02, -0.02))
    assert seen(points, wider).all()
    assert len(rim) > 20
    assert not seen(rim, narrower).any()


def test_a_ball_is_three_circles_and_one_in_the_plane():
    assert np.allclose(np.linalg.norm(ball(3.0, IN_3D, is_flat=False), axis=1), 3.0, atol=1e-5)
    assert np.ptp(ball(3.0, IN_3D, is_flat=True)[:, 1]) == 0


def test_a_box_has_twelve_edges_along_the_axes():
    edges = box((-1, -2, -3), (1, 2, 3)).reshape(-1, 2, 3)
    assert len(edges) == 12
    assert sorted(np.linalg.norm(edges[:, 0] - edges[:, 1], axis=1)) == [2.0] * 4 + [4.0] * 4 + [6.0] * 4


def test_a_ray_is_met_on_an_axis_and_in_a_plane():
    assert along_axis((1, 0, 0), (4, 9, 2), (0, -1, 0)) == pytest.approx(4)
    assert along_axis((0, 0, -1), (0, 0, 5), (0, 0, -1)) == pytest.approx(-5)      # looks along it
    assert in_plane((1, 0, 0), (0, 0, 1), (4, 9, 2), (0, -3, 0)) == pytest.approx((4, 2))
    assert in_plane((1, 0, 0), (0, 0, 1), (4, 9, 2), (1, 0, 0)) is None


def test_a_dragged_value_stays_in_range_and_on_steps():
    assert stepped(Sensor3D.sight_range, 7.26) == 7.3
    assert stepped(Sensor3D.sight_range, -4.0) == 0.1
    assert stepped(Sensor3D.sight_range, 700.0) == 700.0
    assert stepped(Sensor3D.near_range, 99.0) == 99.0
    assert stepped(Sensor3D.sight_range, 7.26, is_flat=True) == 7.0


def width(picture):
    return np.ravel(tuple(picture.get_aabb()))[3]


def test_a_running_game_shows_what_each_senses_on_request(node, physics_frames):
    scheduler = node("AIScheduler")
    manager = node("SenseManager", scheduler)
    sensor = node("Sensor3D", scheduler, position=Vector3(5, 0, 0), sight_range=7.0)
    source = node("SenseSource3D", scheduler)
    physics_frames(2)
    children = manager.get_child_count(True)
    manager.show_in_game = True
    source.emit("hearing")
    physics_frames(2)
    assert manager.get_child_count(True) == children + 1
    picture = manager.get_children(True)[-1]
    assert picture.get_class() == "MeshInstance3D"
    assert width(picture) > 10
    sensor.position = Vector3(500, 0, 0)
    physics_frames(2)
    assert width(picture) > 450
    manager.show_in_game = False
    physics_frames(2)
    assert not picture.is_valid()


def test_in_two_dimensions_lines_are_drawn_on_a_canvas(node, physics_frames):
    scheduler = node("AIScheduler")
    manager = node("SenseManager", scheduler, dimensions=1, show_in_game=True)
    node("Sensor2D", scheduler)
    node("SenseSource2D", scheduler)
    physics_frames(2)
    assert manager.get_children(True)[-1].get_class() == "Node2D"


@pytest.mark.parametrize("kind", ["3D", "2D"])
def test_circles_show_what_was_emitted_and_who_may_sense_it(node, monkeypatch, kind):
    drawn = []
    monkeypatch.setattr(SensePicture, "draw", lambda picture, shapes: drawn.append({
        one.meaning: float(np.linalg.norm(one.points, axis=1).max()) for one in shapes if "reach" in one.meaning}))
    scheduler = node("AIScheduler", update=2)
    manager = node("SenseManager", scheduler, dimensions=int(kind == "2D"), show_in_game=True,
                   hearing_kept_per_meter=0.5, smell_kept_per_meter=0.5)
    unit = manager.pixels_per_meter if kind == "2D" else 1.0
    for threshold, mask in ((1.0, 1), (0.25, 1), (0.001, 2)):
        node(f"Sensor{kind}", scheduler, hearing_threshold=threshold, detection_mask=mask)
    source = node(f"SenseSource{kind}", scheduler, actions={"run": 4.0})

    def circles(frames):
        for _ in range(frames):
            scheduler.step(1 / 60)
        return drawn[-1]

    assert circles(3) == {}
    source.act("run")
    assert circles(3) == {"reach of sound": pytest.approx(4 * unit)}
    source.emit("hearing")                            # of strength 2
    source.emit("smell", 0.2)
    assert circles(3) == {"reach of sound": pytest.approx(3 * unit), "reach of smell": pytest.approx(unit)}
    assert circles(80) == {}
