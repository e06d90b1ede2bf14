"""The page that opens first in the editor: a guard with all that it needs, in 3D and 2D, with undo."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

pytestmark = pytest.mark.slow

CHECK = """
	var page: AcceptDialog = EditorInterface.get_base_control().find_children("*", "AcceptDialog", true, false).filter(
		func(one: AcceptDialog) -> bool: return one.has_method("add_guard"))[0]
	for dimension in ["3d", "2d"]:
		var level: Node = await opened("res://level_%s.tscn" % dimension)
		var guard: Node = page.add_guard(level)
		await frames(3)
		var names := ", ".join(level.get_children().map(func(one: Node) -> String: return String(one.name)))
		say("%s: %s, %s, dimensions %d, owned %s" % [
			dimension, guard.get_class(), names, level.get_node("Senses").get("dimensions"), guard.owner == level])
		page.add_guard(level)
		await frames(3)
		say("again: %d" % level.get_child_count())
		var history := get_undo_redo().get_history_undo_redo(get_undo_redo().get_object_history_id(level))
		history.undo()
		history.undo()
		say("undone: %d" % level.get_child_count())
	var manager: Node = await opened("res://managed.tscn")
	page.add_guard(manager)
	await frames(3)
	var below := manager.get_children().map(func(one: Node) -> String: return String(one.name))
	say("below a scheduler: " + ", ".join(below))
	for path: String in page.EXAMPLES.values():
		var example: Node = await opened(path)
		say("opened " + example.scene_file_path.get_file())
"""


def test_a_guard_is_added_with_scheduler_and_senses(prepared: Prepared, tmp_path: Path):
    make_project(tmp_path, prepared, {
        f"level_{name}.tscn": f'[gd_scene format=3]\n\n[node name="Level" type="{kind}"]\n'
        for name, kind in (("3d", "Node3D"), ("2d", "Node2D"))} | {
        "managed.tscn": '[gd_scene format=3]\n\n[node name="Level" type="AIScheduler"]\n'})
    printed = run_in_editor(tmp_path, prepared, CHECK)
    assert "3d: CharacterBody3D, AI, Senses, Guard, dimensions 0, owned true" in printed
    assert "2d: CharacterBody2D, AI, Senses, Guard, dimensions 1, owned true" in printed
    assert printed.count("again: 4") == printed.count("undone: 0") == 2
    assert "below a scheduler: Senses, Guard" in printed
    assert [line for line in printed if line.startswith("opened ")] == [
        f"opened {name}.tscn" for name in ("guard_level_3d", "squad_3d", "villagers_3d", "guard_3d", "guard_2d")]
