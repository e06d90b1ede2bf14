"""Reload Python in the editor: nodes of open scenes keep their class and settings, whatever was edited."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

MODULE = '''
from addons.ai_core.bridge.gd import Node3D, export, gdclass
from addons.ai_core.nodes import HabitTree, SightCone


@gdclass
class BraveTree(HabitTree):
    """A tree."""
    courage = export(float, 0.5, range=(0, 1, 0.01), doc="Courage.")
    cone = export(SightCone, None, doc="Cone.")


@gdclass(is_runtime=False)
class Lamp(Node3D):
    """A lamp."""
    is_lit = export(bool, True, doc="Lit.")
'''
SCENE = """\
    [gd_scene load_steps=2 format=3]

    [sub_resource type="SightCone" id="1"]

    [node name="Level" type="Node3D"]

    [node name="Tree" type="BraveTree" parent="."]
    courage = 0.9
    cone = SubResource("1")

    [node name="Lamp" type="Lamp" parent="."]
    is_lit = false
    """
SETTING = '\n[ai_core]\n\npython_modules=PackedStringArray("village")\n'
TEST = """
        var level: Node = await opened("res://level.tscn")
        var source := FileAccess.get_file_as_string("res://village.py")
        var edit := func(text: String) -> void:
            var file := FileAccess.open("res://village.py", FileAccess.WRITE)
            file.store_string(text)
            file.close()
            for menu: Node in EditorInterface.get_base_control().find_children("*", "PopupMenu", true, false):
                for item: int in menu.item_count:
                    if menu.get_item_text(item).contains("Reload Python"): menu.index_pressed.emit(item)
            await frames(5)
            var tree := level.get_node("Tree")
            say([tree.get_class(), tree.get("courage"), tree.get("cone") != null, tree.get("mood"),
                level.get_node("Lamp").get_class(), level.get_node("Lamp").get("is_lit")])
"""

HARMLESS = ('Parameter "t" is null', "leaked at exit", "resources still in use")
"""What the engine says of the picture of a saved scene without a screen, and of sub-resources after a reload."""

pytestmark = pytest.mark.slow


@pytest.fixture
def project(prepared: Prepared, tmp_path: Path) -> Path:
    make_project(tmp_path, prepared, {"village.py": MODULE})
    with (tmp_path / "project.godot").open("a") as settings:
        settings.write(SETTING)
    (tmp_path / "level.tscn").write_text("\n".join(line.strip() for line in SCENE.splitlines()))
    return tmp_path


def test_a_mistake_refuses_the_reload_until_it_is_corrected(project, prepared):
    said = run_in_editor(project, prepared, TEST + """
        await edit.call(source + "\\nsyntax error here\\n")
        await edit.call(source + "\\n1 / 0\\n")
        await edit.call(source + "\\nraise SystemExit(1)\\n")
        EditorInterface.save_scene()
        await frames(5)
        await edit.call(source.replace("courage = export(", "mood = export(int, 7); courage = export("))
    """, complains=["importing 'village'", "Python is not reloaded"] * 3, harmless=HARMLESS)
    kept = '["BraveTree", 0.9, true, {}, "Lamp", false]'
    assert said == [kept.format("<null>")] * 3 + [kept.format("7")]
    saved = (project / "level.tscn").read_text()
    assert all(part in saved for part in ('type="BraveTree"', "courage = 0.9", 'cone = SubResource("'))


def test_a_class_that_is_gone_or_another_refuses_the_reload(project, prepared):
    said = run_in_editor(project, prepared, TEST + """
        await edit.call(source.replace("class BraveTree", "class BoldTree"))
        await edit.call(source.replace("class Lamp(Node3D)", "class Lamp(HabitTree)"))
        await edit.call(source.replace("class Lamp(", "class Timer(Node3D): pass\\n\\n\\n@gdclass\\nclass Lamp("))
    """, complains=["class BraveTree is gone", "class Lamp extends Node and no longer Node3D",
                    "the engine has a class Timer already"])
    assert said == ['["BraveTree", 0.9, true, <null>, "Lamp", false]'] * 3
