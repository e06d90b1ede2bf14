"""Lengths and speeds of nodes: metres in 3D, pixels in 2D, each with defaults and hints that fit."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.declarations import exports_of
from addons.ai_core.bridge.gd import Vector2, construct
from addons.ai_core.bridge.in_editor import reverts_to, shown_as
from addons.ai_core.bridge.registration import declared_classes

DEFAULTS = [
    # class, what makes it 2D, property, default in 3D, default in 2D
    ("SenseManager", {"dimensions": 1}, "sight_range", 60.0, 1920.0),
    ("SenseManager", {"dimensions": 1}, "sound_speed", 340.0, 10880.0),
    ("CoverMap", {"dimensions": 1}, "spacing", 1.0, 32.0),
    ("DecisionMap", {"dimensions": 1}, "cell_size", 2.0, 64.0),
    ("Squad", {"dimensions": 1}, "tolerance", 0.3, 9.6),
    ("PathService", {"source": 1}, "reach_tolerance", 0.5, 16.0),
    ("SquadMember", {}, "speed", 3.0, 100.0),
    ("SquadMember", {}, "radius", 0.4, 12.8),
    ("HabitMoveTo", {}, "speed", 3.0, 100.0),
    ("ImportanceManager", {}, "far_distance", 80.0, 2560.0),
    ("ImportanceViewer", {}, "far_distance", 0.0, 0.0),
    ("BehavioralLOD", {}, "size", 1.0, 32.0),
    ("GroupLOD", {}, "radius", 10.0, 320.0),
    ("MapWriter", {}, "radius", 0.0, 0.0),
    ("PollingStation", {}, "reach_tolerance", 0.5, 16.0),
    ("SenseGraphBaker", {}, "sight_range", 60.0, 1920.0),
]


@pytest.mark.parametrize(("class_name", "flat", "name", "in_3d", "in_2d"), DEFAULTS)
def test_the_default_is_that_of_the_dimension(node, scheduler, class_name, flat, name, in_3d, in_2d):
    solid = node(class_name, node("Node3D", scheduler))
    plane = node(class_name, node("Node2D", scheduler), **flat)
    assert solid.get(name) == pytest.approx(in_3d)
    assert plane.get(name) == pytest.approx(in_2d)


@pytest.mark.parametrize(("base", "name", "in_3d", "in_2d"), [
    ("Sensor", "sight_range", 20.0, 640.0), ("Sensor", "near_range", 2.0, 64.0),
    ("SensePortal", "smell_distance", 1.0, 32.0), ("SensePortal", "smell_area", 2.0, 2048.0),
])
def test_a_class_of_2d_has_its_own_default(base, name, in_3d, in_2d):
    for dimensions, default in ((3, in_3d), (2, in_2d)):
        made = construct(f"{base}{dimensions}D")
        assert made.get(name) == default
        made.free()


def test_the_inspector_shows_pixels_in_2d_and_metres_in_3d(node):
    manager = construct("SenseManager")
    assert shown_as(manager, "sight_range") == "1,1000,0.5,or_greater,suffix:m"
    manager.dimensions = 1
    assert shown_as(manager, "sight_range") == "32,32000,1,or_greater,suffix:px"
    assert shown_as(manager, "smell_speed") == "0.4,32000,0.1,or_greater,suffix:px/s"
    assert shown_as(manager, "sky_light") is False, "hidden: sees_backgrounds is off"
    manager.free()
    [sight] = [one for one in node("Sensor2D").get_property_list() if one["name"] == "sight_range"]
    assert sight["hint_string"].endswith("suffix:px")


def test_the_revert_arrow_leads_to_the_default_of_the_dimension(node):
    manager = node("SenseManager", dimensions=1)
    assert reverts_to(manager, "sight_range") == 1920.0
    assert reverts_to(manager, "mode") is None, "the engine knows it"


def test_a_value_set_before_the_dimensions_is_taken_as_it_is(node):
    manager = construct("SenseManager")
    manager.sight_range = 5000.0
    manager.dimensions = 1
    assert manager.sight_range == 5000.0
    manager.free()


def test_each_class_with_lengths_says_whether_it_is_in_2d():
    lengths = {
        cls.__name__ for cls in declared_classes if cls.__module__.startswith("addons.ai_core")
        for one in exports_of(cls).values() if one.has_flat_default}
    unsaid = {cls.__name__ for cls in declared_classes if cls.__name__ in lengths and not hasattr(cls, "is_flat")}
    assert lengths
    assert not unsaid


def shown_numbers():
    """Each number that the inspector shows in another unit than metres: its hint, and its default there."""
    for cls in declared_classes:
        if cls.__module__.startswith("addons.ai_core.nodes"):
            for name, one in exports_of(cls).items():
                if one.range is None or len(one.range) != 3 or not (one.power or one.as_degrees):
                    continue
                default = one.default_2d if one.power else math.degrees(one.default)
                low, high, step, *_ = one.number_hint(is_flat=True).split(",")
                yield f"{cls.__name__}.{name}", float(low), float(high), float(step), default


def snapped(value, low, step):
    return low + round((value - low) / step) * step       # as the engine's sliders


def test_steps_in_pixels_and_degrees_are_round_numbers():
    found = list(shown_numbers())
    assert len(found) > 40
    for where, low, high, step, default in found:
        assert step in (1, 0.1, 0.01, 0.001, 1e-4, 1e-5), where
        for value in (50, 90, 150, 500):
            if low <= value <= high:
                assert snapped(value, low, step) == pytest.approx(value, abs=1e-7), where
        for value in default if isinstance(default, Vector2) else (default,):
            assert value < low or snapped(value, low, step) == pytest.approx(value, abs=1e-5), where


def test_layers_are_those_of_the_dimension(node, scheduler):
    plane = node("Node2D", scheduler)
    for name, property, flat, hints in (
        ("SenseManager", "sight_mask", {"dimensions": 1}, (11, 8)),
        ("SenseManager", "wall_mask", {"dimensions": 1}, (11, 8)),
        ("CoverMap", "cover_mask", {"dimensions": 1}, (11, 8)),
        ("PathService", "navigation_layers", {"source": 1}, (12, 9)),
    ):
        declared = exports_of(type(node(name))).get(property)
        assert declared.hint[0] == hints[0], name
        assert shown_as(node(name, plane, **flat), property) == (hints[1],), name
        assert shown_as(node(name, scheduler), property) is True, name
    for name, property in (("Sensor2D", "detection_mask"), ("SenseSource3D", "affiliation")):
        [one] = [one for one in node(name).get_property_list() if one["name"] == property]
        assert (one["hint"], one["hint_string"][:15]) == (6, "Side 1:1,Side 2"), "not the names of physics layers"


def test_keys_are_chosen_by_name(node):
    for name, property in (("AIDebugOverlay", "toggle_key"), ("SignalEvent", "debug_key")):
        [one] = [one for one in node(name).get_property_list() if one["name"] == property]
        keys = dict(part.rsplit(":", 1) for part in one["hint_string"].split(","))
        assert one["hint"] == 2
        assert (keys["None"], keys["F10"], keys["A"]) == ("0", "4194341", "65")
