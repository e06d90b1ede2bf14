"""A class declared in Python is a class of the engine: properties, methods, virtuals, hooks."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge import gd
from addons.ai_core.bridge.gd import (
    Node,
    Variant,
    Vector3,
    construct,
    engine_class,
    export,
    gdclass,
    method,
    register,
    singleton,
)
from addons.ai_core.bridge.registration import declared_classes
from tests.in_godot.bridge.bridge_nodes import BridgeData, BridgeProbe


def property_info(name):
    listed = singleton("ClassDB").class_get_property_list("BridgeProbe", True)
    return next(one for one in listed if one["name"] == name)


def test_the_inspector_sees_type_range_unit_and_group():
    info = property_info("speed")
    assert info["type"] == 3
    assert info["hint_string"] == "0,10,0.5,suffix:m/s"
    assert property_info("Motion")["usage"] == 64


def test_an_enum_is_shown_by_its_names():
    assert property_info("mode")["hint_string"] == "Off:0,Cheap:1,Full:5"
    assert property_info("mode")["class_name"] == "BridgeProbe.Mode"
    assert singleton("ClassDB").class_get_integer_constant("BridgeProbe", "MODE_FULL") == 5
    assert list(singleton("ClassDB").class_get_enum_list("BridgeProbe", True)) == ["Mode"]


def test_enum_constants_are_written_like_the_engines():
    constants = singleton("ClassDB").class_get_enum_constants("AIBehavior", "FollowImportance", True)
    assert "FOLLOW_IMPORTANCE_PERIOD" in list(constants)


def test_a_user_class_is_not_taken_for_an_engine_class():
    with pytest.raises(ImportError, match=r"declared in Python: from addons.*sensor import"):
        from addons.ai_core.bridge.gd import Sensor3D  # noqa: F401
    assert not hasattr(gd, "Sensor3D")
    with pytest.raises(AttributeError, match=r"declared in Python: from addons.*sensor import"):
        _ = gd.Sensor3D


def test_the_engine_knows_the_default_of_a_property():
    assert singleton("ClassDB").class_get_property_default_value("BridgeProbe", "speed") == 2.5


def test_methods_have_names_types_and_defaults_in_the_engine():
    listed = singleton("ClassDB").class_get_method_list("BridgeProbe", True)
    add = next(one for one in listed if one["name"] == "add")
    assert [(one["name"], one["type"]) for one in add["args"]] == [("a", 2), ("b", 2), ("c", 4)]
    assert add["default_args"] == [5, "x"]
    assert add["return"]["type"] == 4


def test_gdscript_calls_with_all_few_and_named_by_type_arguments(node, gdscript):
    script = gdscript("""
        extends RefCounted
        static func run(untyped) -> Array:
            var typed: BridgeProbe = untyped
            return [typed.add(1, 2, "z"), typed.add(1), untyped.add(1, 2), typed.half(3), untyped.half(3)]
    """)
    assert script.run(node("BridgeProbe")) == ["3z", "6x", "3x", 1.5, 1.5]


def test_a_signal_has_typed_arguments_in_python_and_gdscript(node, signals):
    probe = node("BridgeProbe")
    heard = signals(probe, "hit")
    probe.emit_hit(2.5)
    assert heard == [(probe, 2.5)]
    info = singleton("ClassDB").class_get_signal("BridgeProbe", "hit")
    assert [(one["name"], one["type"]) for one in info["args"]] == [("who", 24), ("amount", 3)]


def test_a_callable_goes_both_ways(node, gdscript):
    probe = node("BridgeProbe")
    script = gdscript("""
        extends RefCounted
        static func sum() -> Callable: return func(a, b): return a + b
        static func use(function: Callable): return function.call(1, 2)
    """)
    assert probe.call_it(script.sum()) == 42
    assert script.use(lambda a, b: a * 10 + b) == 12


def test_virtuals_run_and_frames_are_counted(node, frames, physics_frames):
    probe = node("BridgeProbe")
    frames(3)
    assert probe.frames == 3
    before = probe.physics_frames
    physics_frames(2)
    assert probe.physics_frames - before == 2
    assert probe.calls == ["_enter_tree", "_ready", "on_ready"]
    assert list(probe._get_configuration_warnings()) == ["first", "second"]


def test_a_script_that_defines_ready_silences_only_its_own_name(node, gdscript, frames):
    script = gdscript("""
        extends BridgeProbe
        var was_ready := false
        func _ready() -> void: was_ready = true
    """)
    probe = script.new()
    node("Node").add_child(probe)
    assert probe.get("was_ready") is True
    assert probe.calls == ["_enter_tree", "on_ready"]


def test_a_hook_runs_the_scripts_body_if_there_is_one(node, gdscript):
    script = gdscript("""
        extends BridgeProbe
        func _filter(value: int) -> int: return value * 100
    """)
    probe = script.new()
    node("Node").add_child(probe)
    assert probe.filtered(3) == 300
    assert node("BridgeProbe").filtered(3) == 4


def test_a_derived_class_inherits_and_overrides(node, frames):
    child = node("BridgeProbeChild")
    assert child.is_class("BridgeProbe")
    assert child.is_class("Node3D")
    assert (child.speed, child.extra, child.add(1)) == (2.5, "more", "6x")
    assert child.call("half", 4.0) == 1.0
    frames(1)
    assert child.frames == 1


def test_the_same_object_is_the_same_in_python(node):
    probe = node("BridgeProbe")
    assert probe.call("same", probe) is True
    assert isinstance(probe, BridgeProbe)


def test_properties_survive_a_packed_scene(node):
    probe = BridgeProbe.new()
    probe.speed, probe.label = 4.0, "saved"
    packed = construct("PackedScene")
    assert packed.pack(probe) == 0
    probe.free()
    again = packed.instantiate()
    assert (again.speed, again.label, again.steps) == (4.0, "saved", 3)
    again.free()


def test_a_python_resource_lives_as_long_as_it_is_referenced(frames):
    data = BridgeData.new()
    data.amount = 12
    copy = data.duplicate()
    assert (copy.amount, copy.get_class()) == (12, "BridgeData")


def test_an_engine_property_is_read_and_written_by_name(node):
    place = node("Node3D")
    place.set("position", Vector3(1, 2, 3))
    assert place.position == Vector3(1, 2, 3)
    with pytest.raises(AttributeError, match="Node3D has no property 'nonsense'"):
        place.set("nonsense", 1)
    with pytest.raises(AttributeError, match="no property or method 'nonsense'"):
        _ = place.nonsense


def test_an_annotation_without_engine_type_fails_at_the_class():
    with pytest.raises(TypeError, match=r"Bad.think: 'when' is annotated <class 'complex'>"):
        @gdclass
        class Bad(Node):
            @method
            def think(self, when: complex) -> Variant: ...


def test_a_mutable_default_fails_at_the_class():
    with pytest.raises(TypeError, match="must be immutable"):
        export(list, [1])


def test_a_class_without_engine_base_is_refused():
    with pytest.raises(TypeError, match="needs a base such as Node"):
        @gdclass
        class Nothing:
            pass


def test_a_default_of_the_wrong_type_fails_at_the_class():
    with pytest.raises(TypeError, match="the default of an exported float must be one, got 'abc'"):
        export(float, "abc")
    with pytest.raises(TypeError, match="exported int must be one, got None"):
        export(int)


def test_a_name_the_engine_has_already_is_refused():
    @gdclass
    class Timer(Node):
        pass

    declared_classes.remove(Timer)
    with pytest.raises(TypeError, match="the engine has a class Timer already"):
        register(Timer)


def test_a_conditional_property_names_the_other_and_its_value():
    def declare(**exports):
        return gdclass(type("Depending", (Node,), {"__doc__": "Depends.", "__module__": __name__, **exports}))

    for rule, complaint in (
        (("absent", True), "names 'absent', which is not another exported property"),
        (("depth_m", 1.0), "names 'depth_m', which is not another exported property"),
        (("is_deep",), "needs a value of 'is_deep'"),
        (("is_deep", 1), "has 1, which 'is_deep' cannot be"),
    ):
        with pytest.raises(TypeError, match=complaint):
            declare(is_deep=export(bool, False), depth_m=export(float, 1.0, shown_when=rule))


def test_a_method_for_the_editor_is_not_there_in_a_game(node):
    names = [one["name"] for one in singleton("ClassDB").class_get_method_list("AIScheduler")]
    assert "step" in names
    assert "_get_warnings" not in names


def test_any_class_of_the_engine_can_be_extended(node, physics_frames):
    walking = node("WalkingProbe")
    assert walking.is_class("CharacterBody3D")
    physics_frames(30)
    assert walking.position.x == pytest.approx(1.0, abs=0.05)
    assert walking.is_on_floor() is False


def test_a_class_that_the_engine_does_not_have_is_no_base():
    with pytest.raises(ImportError, match="cannot import name 'CharacterBody4D'"):
        from addons.ai_core.bridge.gd import CharacterBody4D  # noqa: F401
    with pytest.raises(LookupError, match="no class 'OS' that is a Node or RefCounted"):
        engine_class("OS")
    for name in ("CollisionObject3D", "SenseSource3D"):      # abstract, and ours
        with pytest.raises(LookupError, match="declared in Python, or abstract"):
            engine_class(name)


def test_engine_signals_are_attributes_unless_a_node_hides_them(node, frames):
    probe, told = node("BridgeProbe"), []
    probe.child_entered_tree.connect(told.append)
    probe.visibility_changed.connect(lambda: told.append("visibility"))
    child = construct("Node")
    probe.add_child(child)
    probe.visible = False
    frames(1)
    assert told == [child, "visibility"]
    assert repr(probe.ready) == f"Signal({probe!r}, 'ready')"
    probe.ready = True
    assert probe.ready is True


def test_constants_of_the_engine_are_attributes_of_its_classes():
    assert (gd.CharacterBody3D.MOTION_MODE_GROUNDED, gd.CharacterBody3D.MOTION_MODE_FLOATING) == (0, 1)
    assert gd.CharacterBody3D.NOTIFICATION_READY == gd.Node.NOTIFICATION_READY == 13


DEBUGGING = {
    "toggle_key", "toggle_action", "logged_entries", "logged_polls", "quarantine_after",
    "monitor_behaviors", "show_in_game", "shown_layer", "shown_height", "random_seed", "debug_action", "debug_key",
}
GROUP = 64


def shown_groups(class_name):
    """Return (group, property) in the order of the inspector, as the engine lists them."""
    group, found = "", []
    for one in singleton("ClassDB").class_get_property_list(class_name, True):
        if one["usage"] & GROUP:
            group = one["name"]
            found.append((group, ""))
        elif not one["usage"] & 128:        # the category, which is the class
            found.append((group, one["name"]))
    return found


@pytest.mark.parametrize("class_name", [
    one.__name__ for one in declared_classes if one.__module__.startswith("addons.ai_core.nodes")])
def test_inspector_groups_appear_once_and_debug_is_last(class_name):
    shown = shown_groups(class_name)
    groups = [group for group, name in shown if not name]
    assert len(groups) == len(set(groups))
    last = [group for group in groups if group in ("Optimizations", "Debug")]
    assert groups[len(groups) - len(last):] == last == sorted(last, reverse=True)
    debugging = {name for group, name in shown if group == "Debug" and name}
    assert debugging == {name for _, name in shown if name in DEBUGGING}


def test_a_plain_base_adds_no_property_to_groups_of_the_class():
    shown = shown_groups("DecisionMap")
    assert [name for group, name in shown if not group][:3] == ["dimensions", "corner", "size"]
    assert [name for group, name in shown if group == "Debug"] == ["", "show_in_game", "shown_layer", "shown_height"]
