"""Exports of a node as one value: nodes with equal ones share what is made of them."""
from __future__ import annotations

from addons.ai_core.bridge.gd import construct
from addons.ai_core.nodes.habits.actor_habits import DEFAULT_SPEED
from addons.ai_core.nodes.saving.node_settings import exported_values


def made(kind, **values):
    node = construct(kind)
    for name, value in values.items():
        node.set(name, value)
    found = exported_values(node)
    node.free()
    return found


def test_exported_values_have_no_order_and_no_defaults():
    assert made("Sensor3D", sight_range=9.0, max_age=3.0) == made("Sensor3D", max_age=3.0, sight_range=9.0)
    assert made("Sensor3D", hearing_threshold=1.0, awareness_levels={}) == made("Sensor3D", awareness_levels={})
    assert made("Sensor3D", sight_range=9.0) != made("Sensor3D", hearing_threshold=9.0)
    assert made("Sensor3D", other_thresholds={"fear": 1.0}) != made("Sensor3D", other_thresholds={"fear": 2.0})
    assert hash(made("Habit", launch=2)) == hash(made("Habit", launch=2))


def test_a_value_that_is_only_the_default_of_3d_is_told():
    assert made("HabitMoveTo") != made("HabitMoveTo", speed=DEFAULT_SPEED)
