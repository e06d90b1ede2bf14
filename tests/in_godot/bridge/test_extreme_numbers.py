"""Numbers that no level has, set to each setting of each node: refused with an error at once, or played with."""
from __future__ import annotations

import math
from enum import IntEnum

import pytest

import addons.ai_core.nodes
from addons.ai_core.bridge.declarations import _HintOfMany, exports_of
from addons.ai_core.bridge.gd import GDObject, NodePath, Vector2, Vector3, construct
from addons.ai_core.bridge.registration import declared_classes
from tests.in_godot.saving.every_part import EveryPart

WALKERS = ("HabitAttack", "HabitFlee", "HabitLookAt", "HabitMoveTo", "HabitPatrol", "HabitSearch", "HabitWait")
FLOATS = (1e300, math.inf, math.nan, -1e300, 1e30)
LAYERS = ("friends", "resources", "threat", "conflict", "exploration")
INTEGERS = (2**62, -2**62, 2**31)
REFUSALS = (
    "; it stays", "the graph is already built", "is not used: ", "is ignored: kept['hearing'] must be",
    "unknown part in part_shares 'hearing'", "actions['hearing'] must be", "strengths['hearing'] must be",
    "thresholds['hearing'] must be", "must be in ascending order", "far_distance must be above near_distance",
    "must be above 0 after the day has begun", "kept_per_m['hearing'] must be", "cannot change", "leads nowhere",
    "must be at most 1e+06")
CLASSES = sorted(
    one.__name__ for one in declared_classes
    if one.__module__.startswith(addons.ai_core.nodes.__name__) and exports_of(one))
IN_NO_LEVEL = {"HabitPlayAnimation", "SenseMember", "SensorBase", "SenseSourceBase"}

pytestmark = pytest.mark.slow


@pytest.fixture
def level(gdscript, nodes_of_test, tmp_path):
    """A scene with every node, a walker for each habit that moves, and resources of each kind."""
    made = EveryPart(gdscript, tmp_path)
    for number, kind in enumerate(WALKERS):
        walker, tree, habit = construct("CharacterBody3D"), construct("HabitTree"), construct(kind)
        for one, parent, name in ((walker, made.top, kind), (tree, walker, "Tree"), (habit, tree, "Do")):
            one.set("name", name)
            parent.add_child(one)
        walker.set("position", Vector3(number, 0, 8))
        if kind == "HabitPatrol":
            habit.set("markers", [NodePath("../../../Fire"), NodePath("../../../Villager")])
        elif kind != "HabitWait":
            habit.set("target_node", NodePath("../../../Fire"))
        made.bodies.append(walker)
    for place, name, kind, called, names in (
        ("Villager/Sensor", "sight_cones", "SightCone", "resource_name", ("wide",)),
        ("AI/Senses", "modalities", "SenseModality", "modality_name", ("telepathy",)),
        ("AI/Map", "layers", "DecisionLayer", "layer_name", LAYERS),
    ):
        resources = [construct(kind) for _ in names]
        for one, its_name in zip(resources, names, strict=True):
            one.set(called, its_name)
        made.top.get_node(place).set(name, resources)
    nodes_of_test.keep(made.top, None)
    made.begin()
    made.live(3)
    return made


def found(node):
    """Yield a node, the nodes below it, and the resources that they hold."""
    yield node
    for name in exports_of(type(node)):
        value = getattr(node, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, GDObject) and one.is_class("Resource"):
                yield one
    for one in node.get_children():
        yield from found(one)


def numbers_for(exported, value):
    kind = exported.type
    if not isinstance(kind, type) or kind is bool:
        return ()
    if kind is float:
        return *FLOATS, exported.high, exported.low
    if issubclass(kind, (int, IntEnum)):
        return *INTEGERS, *((int(exported.high), int(exported.low)) if exported.range else ())
    if kind in (Vector2, Vector3):
        return [kind(*[one] * len(tuple(value))) for one in (math.inf, math.nan, 3e38, -3e38)]
    if isinstance(exported.hint, _HintOfMany) and kind is dict:
        return [dict.fromkeys(value or ["hearing"], one) for one in (*FLOATS, 1e99)]
    return ()


@pytest.mark.parametrize("kind", CLASSES)
def test_no_number_of_a_setting_fails_in_frames(level, root, signals, expect_errors, kind):
    for text in (*REFUSALS, "found no navigation map"):
        expect_errors(text, at_least=0)
    one = next((one for one in found(level.top) if type(one).__name__ == kind), None)
    if one is None:
        assert kind in IN_NO_LEVEL
        return
    failed = [signals(ai, "behavior_failed") for ai in (level.ai, level.flat_ai)]

    def takes(one, name, number):
        one.set(name, number)
        return getattr(one, name) == number

    def takes_outside(one, name, number):
        """Set it while the level is outside the tree: some settings cannot change in use."""
        root.remove_child(level.top)
        is_taken = takes(one, name, number)
        root.add_child(level.top)
        return is_taken

    for name, exported in exports_of(type(one)).items():
        for number in numbers_for(exported, getattr(one, name)):
            before = getattr(one, name)
            if not (takes(one, name, number) or takes_outside(one, name, number)):
                continue
            level.live(4)
            takes_outside(one, name, before)
            for place, body in enumerate(level.bodies):
                body.set("position", Vector3(place, 0, 8))
    assert failed == [[], []]
