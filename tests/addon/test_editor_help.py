"""Hover texts in the real editor: its own help shows a description of every class of ours and of every member."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

# Asks the editor's help for each class, as F1 does, and says which members it does not tell of.
ASK = """\
    var editor := EditorInterface.get_script_editor()
    var names := Array(ClassDB.get_class_list()).filter(func(name: String) -> bool:
        return ClassDB.class_get_api_type(name) in [ClassDB.API_EXTENSION, ClassDB.API_EDITOR_EXTENSION])
    for name: String in names:
        editor.goto_help("class_name:" + name)
        await frames(3)
        var text := ""
        for label: RichTextLabel in editor.find_children("*", "RichTextLabel", true, false):
            if label.is_visible_in_tree() and name in label.get_parsed_text(): text = label.get_parsed_text()
        if text.is_empty(): say(name + ": no help")
        var nothing := text.find("There is currently no description")
        if nothing >= 0: say(name + " does not describe " + text.substr(maxi(nothing - 80, 0), 80).replace("\\n", " "))
        for member in ClassDB.class_get_property_list(name, true):
            if not member.usage & (PROPERTY_USAGE_GROUP | PROPERTY_USAGE_CATEGORY) and not member.name in text:
                say(name + "." + member.name)
        for member in ClassDB.class_get_signal_list(name, true):
            if not member.name in text: say(name + "." + member.name)
    say(names.size() > 35)
    """
# The module of a project, before and after somebody worked on it.
TORCH = '''from addons.ai_core.bridge.gd import Node, export, gdclass

@gdclass
class Torch(Node):
    """Burns."""
    burning_s = export(float, {seconds}, doc="How long.")
'''

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_the_editors_help_describes_every_class_and_member(prepared: Prepared, tmp_path: Path):
    make_project(tmp_path, prepared, {})
    assert run_in_editor(tmp_path, prepared, ASK) == ["true"]


def test_a_reload_reads_edited_python_and_keeps_settings(prepared, tmp_path):
    (tmp_path / "torch_node.py").write_text(TORCH.format(seconds="60.0"))
    make_project(tmp_path, prepared, {
        "main.tscn": '[gd_scene format=3]\n\n[node name="Main" type="Node"]\n\n'
        '[node name="Senses" type="Sensor3D" parent="."]\nsight_range = 33.0\n',
    })
    with (tmp_path / "project.godot").open("a") as settings:
        settings.write('\n[ai_core]\n\npython_modules=PackedStringArray("torch_node")\n')
    edited = TORCH.format(seconds="90.0").replace("\n", "\\n").replace('"', '\\"')
    said = run_in_editor(tmp_path, prepared, f"""
        var scene := await opened("res://main.tscn")
        say(ClassDB.class_get_property_default_value("Torch", "burning_s"))
        var file := FileAccess.open("res://torch_node.py", FileAccess.WRITE)
        file.store_string("{edited}")
        file.close()
        say(GDExtensionManager.reload_extension("res://addons/ai_core/ai_core.gdextension"))
        await frames(5)
        var torch: Node = ClassDB.instantiate("Torch")
        say(torch.burning_s)
        torch.free()
        say(scene.get_node("Senses").sight_range)
        """)
    assert said == ["60.0", "0", "90.0", "33.0"]
