"""Properties are set to, and methods called with, values of all kinds: what does not fit is refused in one line.

Nothing of that ends the game, and no error shows the inside of the library.
"""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project
from tools.engine_output import complaints
from tools.preparation import Prepared

SCENE = """\
    [gd_scene load_steps=2 format=3]

    [ext_resource type="Script" path="res://any_value.gd" id="1"]

    [node name="Any" type="Node"]
    script = ExtResource("1")
    """
SCRIPT = """extends Node

const ROUNDS := 4

var random := RandomNumberGenerator.new()
var gone: Node
var call_of_gone: Callable
var calls := 0

func _ready() -> void:
	gone = Node.new()
	call_of_gone = gone.get_name
	gone.free()
	random.seed = 5
	for kind in ClassDB.get_class_list():
		if ClassDB.class_get_api_type(kind) != ClassDB.API_EXTENSION or not ClassDB.can_instantiate(kind): continue
		await try_all(kind, false)
		if ClassDB.is_parent_class(kind, "Node"): await try_all(kind, true)
	print(">", calls)
	get_tree().quit()

func nothing(_first: Variant = null, _second: Variant = null, _third: Variant = null) -> void: pass

func values() -> Array:
	return [
		null, true, -1, 0, 7, 1 << 40, 0.5, NAN, INF, -1e30, "", "x", "12:00", &"name", NodePath("."), Vector2(1, 2),
		Vector3.ONE, Vector3(1, 2, NAN), Vector3(1e30, 0, 0), Transform3D(), [], [1, null], ["a"], [[[]]], {}, {"a": 1},
		{1: {}}, {"version": 1, "parts": {}}, PackedStringArray(["a"]), PackedVector2Array(), PackedInt32Array([1]),
		PackedVector3Array([Vector3.ZERO]), PackedFloat32Array([NAN]), PackedByteArray([1]), self, gone,
		RefCounted.new(), Callable(), nothing, call_of_gone, Signal(), RID(), Color(), Rect2(), Basis(), Quaternion(),
		AABB()]

func any(wanted: int) -> Variant:
	var found := values()
	if random.randf() < 0.7:
		var fitting := found.filter(func(one: Variant) -> bool: return typeof(one) == wanted)
		if fitting: found = fitting
	return found[random.randi() % found.size()]

func try_all(kind: String, is_inside: bool) -> void:
	var it: Object = ClassDB.instantiate(kind)
	var level := Node3D.new()
	if is_inside:
		var scheduler := AIScheduler.new()
		level.add_child(scheduler)
		add_child(level)
		scheduler.add_child(it)
	for round in ROUNDS:
		for property in ClassDB.class_get_property_list(kind, true):
			if property["usage"] & PROPERTY_USAGE_STORAGE and is_instance_valid(it):
				it.set(property["name"], any(property["type"]))
				calls += 1
		for method in ClassDB.class_get_method_list(kind, true):
			if method["name"].begins_with("_") or not is_instance_valid(it): continue
			var given := []
			var count: int = method["args"].size() - random.randi() % (method["default_args"].size() + 1)
			for argument in method["args"].slice(0, count): given.append(any(argument["type"]))
			it.callv(method["name"], given)
			calls += 1
	await get_tree().physics_frame
	await get_tree().process_frame
	level.free()
	if is_instance_valid(it) and it is Node: it.free()
"""

CANNOT_BE_CALLED = "raised GodotCallError"
"""A Callable of the game's that takes something else: that says where it stands."""

pytestmark = pytest.mark.slow


def test_values_of_all_kinds_are_taken_or_refused_in_one_line(prepared: Prepared, tmp_path: Path):
    (tmp_path / "any_value.gd").write_text(SCRIPT)
    make_project(tmp_path, prepared, {"any.tscn": SCENE}, main_scene="any.tscn")
    run = prepared.engine.run(["--headless", "--path", tmp_path, "--fixed-fps", "60"], 300.0)
    assert run.succeeded, run.explain()
    assert int(next(line for line in run.output.splitlines() if line.startswith(">"))[1:]) > 10_000
    assert "leaked" not in run.output
    told = [line for line in complaints(run.output) if " raised " in line and CANNOT_BE_CALLED not in line]
    assert not told, "\n".join(told)
