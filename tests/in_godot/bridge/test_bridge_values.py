"""Values cross the wall: every engine type there and back."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import (
    AABB,
    RID,
    Basis,
    Color,
    NodePath,
    PackedStringArray,
    PackedVector4Array,
    Plane,
    Projection,
    Quaternion,
    Rect2,
    Rect2i,
    StringName,
    Transform2D,
    Transform3D,
    Vector2,
    Vector2i,
    Vector3,
    Vector3i,
    Vector4,
    Vector4i,
    construct,
)
from tests.in_godot.bridge import bridge_nodes  # noqa: F401 - registers the classes

EVERY_TYPE = """
    extends RefCounted
    static func values() -> Array:
        return [null, true, 42, 1.5, "héllo€😀", &"name", Vector2(1, 2), Vector2i(1, 2),
            Rect2(1, 2, 3, 4), Rect2i(1, 2, 3, 4), Vector3(1, 2, 3), Vector3i(1, 2, 3),
            Transform2D(1.0, Vector2(3, 4)), Vector4(1, 2, 3, 4), Vector4i(1, 2, 3, 4),
            Plane(0, 1, 0, 2), Quaternion(0, 0, 0, 1), AABB(Vector3(1, 2, 3), Vector3(4, 5, 6)),
            Basis(Vector3(1, 2, 3), Vector3(4, 5, 6), Vector3(7, 8, 9)),
            Transform3D(Basis(), Vector3(4, 5, 6)), Projection(), Color(0.5, 0.25, 1, 1),
            NodePath("a/b:c"), RID(), {"a": [1, 2, {"b": 3}]}, [1, "x", Vector3.ONE],
            PackedByteArray([1, 2, 3]), PackedInt32Array([1, 2]), PackedInt64Array([1, 2]),
            PackedFloat32Array([1.5, 2.5]), PackedFloat64Array([1.5, 2.5]),
            PackedStringArray(["a", "b€"]), PackedVector2Array([Vector2(1, 2)]),
            PackedVector3Array([Vector3(1, 2, 3), Vector3(4, 5, 6)]), PackedColorArray([Color.RED]),
            PackedVector4Array([Vector4(1, 2, 3, 4)]), RefCounted.new(), PackedVector3Array(),
            PackedStringArray(), [], {}, "", values]
    static func not_equal(probe) -> Array:
        var wrong := []
        for value in values():
            var back = probe.echo(value)
            if typeof(back) != typeof(value) or (back != value and typeof(value) != TYPE_CALLABLE):
                wrong.append([type_string(typeof(value)), value, type_string(typeof(back)), back])
        return wrong
"""


IDS = """
    extends RefCounted
    static func wrong_ids(probe: BridgeProbe) -> Array:
        var node := Node.new()
        var gone := Node.new()
        var counted := RefCounted.new()
        var objects := [node, null, 5, counted, gone, "text", node]
        var wanted := [node.get_instance_id(), 0, 0, counted.get_instance_id(), gone.get_instance_id(), 0,
            node.get_instance_id()]
        gone.free()
        var typed: Array[Node] = [node]
        var found := [probe.ids(objects), probe.call("ids", objects, 2), probe.ids(typed), probe.ids([])]
        node.free()
        return [] if found == [wanted, wanted + wanted, [wanted[0]], []] else [found, wanted]
"""


def test_an_array_of_objects_may_come_as_their_ids(node, gdscript):
    assert gdscript(IDS).wrong_ids(node("BridgeProbe")) == []


def test_every_gdscript_value_round_trips_with_its_type(node, gdscript):
    assert gdscript(EVERY_TYPE).not_equal(node("BridgeProbe")) == []


def test_every_value_type_of_the_engine_was_tried(gdscript, node):
    names = {type(value).__name__ for value in gdscript(EVERY_TYPE).values()}
    assert {"Vector4i", "Projection", "RID", "StringName", "NodePath", "PackedVector4Array"} <= names
    assert len(names) >= 30


@pytest.mark.parametrize(
    "value",
    [None, True, -3, 2.5, "x", StringName("n"), NodePath("a/b"), Vector2(1, 2), Vector3(1, 2, 3), [1, [2]],
     {"a": {"b": 1}}, Vector2i(1, -2), Rect2(1, 2, 3, 4), Rect2i(1, 2, 3, 4), Vector3i(1, 2, 3), Transform2D(),
     Vector4(1, 2, 3, 4), Vector4i(1, 2, 3, 4), Plane(0, 1, 0, 2), Quaternion(), AABB(1, 2, 3, 4, 5, 6), Basis(),
     Transform3D(), Projection(), Color(1, 0.5, 0), RID(0), PackedStringArray(["a", "ä"])],
    ids=lambda value: type(value).__name__,
)
def test_a_python_value_comes_back_equal_and_of_its_type(node, value):
    back = node("BridgeProbe").call("echo", value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    "array",
    [np.arange(3, dtype=np.uint8), np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int64),
     np.arange(3, dtype=np.float32), np.arange(3, dtype=np.float64), np.ones((2, 2), np.float32),
     np.ones((2, 3), np.float32), np.ones((2, 4), np.float32), np.ones((2, 4), np.float32).view(PackedVector4Array),
     np.empty((0, 3), np.float32)],
    ids=lambda array: f"{array.dtype}{array.shape}{type(array).__name__}",
)
def test_an_array_comes_back_equal_and_of_its_type(node, array):
    back = node("BridgeProbe").call("echo", array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert type(back) is type(array)
    assert np.array_equal(back, array)


def test_a_packed_array_of_points_is_an_array_in_python(node):
    doubled = node("BridgeProbe").call("doubled", np.array([[1, 2, 3]], np.float32))
    assert doubled.tolist() == [[2, 4, 6]]


@pytest.mark.parametrize("value", [{1, 2}, 1j, np.ones((2, 2, 2), np.float32), np.ones(3, np.float16)])
def test_a_value_without_engine_form_is_refused_by_name(node, value):
    with pytest.raises(TypeError, match=r"set|complex|float32 array of shape \(2, 2, 2\)|float16"):
        node("BridgeProbe").call("echo", value)


def test_a_basis_gives_its_axes():
    basis = Basis(1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert basis.x == Vector3(1, 4, 7)
    assert basis.z == Vector3(3, 6, 9)


@pytest.mark.parametrize(("found", "expected"), [
    (lambda: Vector3(0, 3, 4).normalized(), Vector3(0, 0.6, 0.8)),
    (lambda: Vector3().normalized(), Vector3()),
    (lambda: Vector3(1, 2, 3).dot(Vector3(1, 1, 1)), 6.0),
    (lambda: Vector3(1, 0, 0).lerp(Vector3(3, 0, 0), 0.5), Vector3(2, 0, 0)),
    (lambda: Vector3(2, 4, 6) / 2, Vector3(1, 2, 3)),
    (lambda: 2 * Vector3(1, 2, 3), Vector3(2, 4, 6)),
    (lambda: Vector2(0, 5).normalized() / 2, Vector2(0, 0.5)),
    (lambda: Vector2(1, 2).dot(Vector2(3, 4)), 11.0),
    (lambda: Vector2(1, 2).distance_to(Vector2(4, 6)), 5.0),
    (lambda: Vector2(1, 2).lerp(Vector2(3, 4), 0.5), Vector2(2, 3)),
    (lambda: 2 * Vector2(1, 2), Vector2(2, 4)),
    (lambda: (Rect2(1, 2, 3, 4).position, Rect2(1, 2, 3, 4).size), (Vector2(1, 2), Vector2(3, 4))),
    (lambda: (Rect2i(1, 2, 3, 4).position, Rect2i(1, 2, 3, 4).size), (Vector2i(1, 2), Vector2i(3, 4))),
    (lambda: (AABB(1, 2, 3, 4, 5, 6).position, AABB(1, 2, 3, 4, 5, 6).size), (Vector3(1, 2, 3), Vector3(4, 5, 6))),
])
def test_vectors_and_rectangles_have_their_operators_and_parts(found, expected):
    assert found() == expected


@pytest.mark.parametrize("made", [Vector2(1, 2), Vector3(1, 2, 3), Vector2i(1, 2), Color(1, 0, 0)])
def test_a_number_of_a_vector_that_is_not_there_is_an_error(made):
    assert (made[-1], made[0]) == ((*made,)[-1], (*made,)[0])
    for place in (len(made), -len(made) - 1, 10**6, -(10**6), 2**70):
        with pytest.raises(IndexError):
            made[place]


IN_A_DICTIONARY = """
    extends RefCounted
    static func read_back(tree: HabitTree) -> Array:
        var gone := Node.new()
        var signaller := Node.new()
        var named := signaller.renamed
        tree.values = {"a": Signal(), "gone": gone, "in": [gone, {"it": gone}], "of": named, "call": Callable()}
        var all := tree.values
        signaller.free()
        gone.free()
        return [all.of == named, tree.values]
    static func packed(emits: HabitEmitSignal) -> Array:
        var wrong := []
        for value in [
            PackedVector4Array([Vector4(1, 2, 3, 4)]), PackedColorArray([Color.RED]), PackedVector3Array([Vector3.UP]),
            PackedVector2Array([Vector2.UP]), PackedStringArray(["a"]), PackedByteArray([1]), PackedInt32Array([2]),
            PackedInt64Array([3]), PackedFloat32Array([0.5]), PackedFloat64Array([1.5]), PackedVector4Array()]:
            var untyped: Variant = emits
            untyped.arguments = value
            var back: Array = emits.arguments
            if back != Array(value) or (back and typeof(back[0]) != typeof(value[0])): wrong.append([value, back])
        return wrong
"""


def test_what_stands_for_nothing_any_more_is_read_back_as_null(node, gdscript):
    tree = node("HabitTree", actor=NodePath("."))
    same, back = gdscript(IN_A_DICTIONARY).read_back(tree)
    assert same
    assert (back["gone"], back["in"]) == (None, [None, {"it": None}])
    assert [back[name].object for name in ("a", "of")] == [None, None]


def test_an_array_takes_a_packed_array_item_by_item(node, gdscript):
    assert gdscript(IN_A_DICTIONARY).packed(node("HabitEmitSignal")) == []


@pytest.mark.parametrize(
    ("packed", "array"),
    [("PackedByteArray([1, 255])", [1, 255]), ("PackedFloat32Array([0.5])", [0.5]),
     ("PackedStringArray(['a'])", ["a"]), ("PackedVector2Array([Vector2(1, 2)])", [Vector2(1, 2)]),
     ("PackedVector3Array([Vector3(1, 2, 3)])", [Vector3(1, 2, 3)]),
     ("PackedVector4Array([Vector4(1, 2, 3, 4)])", [Vector4(1, 2, 3, 4)]),
     ("PackedColorArray([Color(0, 0.5, 1)])", [Color(0, 0.5, 1)])],
)
def test_a_packed_array_becomes_an_array_of_what_it_holds(gdscript, packed, array):
    region = construct("SenseRegion3D")
    script = gdscript(f"""
        extends RefCounted
        static func run(region: Node) -> Array:
            region.boxes = {packed}
            return region.boxes
    """)
    assert script.run(region) == array
    assert [type(one) for one in region.boxes] == [type(one) for one in array]
    region.free()
