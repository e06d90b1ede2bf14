"""A project with the addon whose editor a test drives: a second plugin runs the test's GDScript there."""
from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from tools.addon_install import install
from tools.engine_output import complaints
from tools.preparation import ROOT, Prepared

PROJECT = """config_version=5

[application]

config/name="editor"
{main_scene}

[editor_plugins]

enabled=PackedStringArray("res://addons/ai_core/plugin.cfg", "res://addons/check/plugin.cfg")
"""
PLUGIN = '[plugin]\nname="check"\ndescription=""\nauthor=""\nversion="1"\nscript="plugin.gd"\n'
SCRIPT = """@tool
extends EditorPlugin

func _enter_tree() -> void:
	# Pages of help lay out their text in a thread, which now and then ends the editor: the table of texts that it lets
	# grow is read by the main thread at that moment.
	get_tree().node_added.connect(func(node: Node) -> void: if node is RichTextLabel: node.threaded = false)
	check.call_deferred()

func frames(count: int) -> void:
	for i in count: await get_tree().process_frame

var wanted := ""

## The scene in the editor, opened and ready.
func opened(path: String) -> Node:
	wanted = path
	EditorInterface.open_scene_from_path(path)
	await frames(5)
	return EditorInterface.get_edited_scene_root()

## Names of the properties that the inspector shows of a node.
func shown(node: Object) -> Array:
	EditorInterface.edit_node(node)
	await frames(3)
	var found := EditorInterface.get_inspector().find_children("*", "EditorProperty", true, false)
	return found.map(func(one: EditorProperty) -> String: return one.get_edited_property())

## What the scene dock warns of at a node; an empty text if nothing.
func warned(path: String) -> String:
	var item: TreeItem = null
	for attempt in 15:
		await get_tree().create_timer(1.0).timeout  # the dock updates twice a second
		var was_there := item != null
		var root := EditorInterface.get_edited_scene_root()
		if root == null or root.scene_file_path != wanted:
			EditorInterface.open_scene_from_path(wanted)  # the editor went back to a scene of the last time
			continue
		item = in_dock(path)
		if item != null and (was_there or attempt == 0): break  # a second after it came, it has its warnings
	for button in item.get_button_count(0):
		var text := item.get_button_tooltip_text(0, button)
		if "configuration warning" in text: return " | ".join(text.split("\n", false).slice(1)).replace("•  ", "")
	return ""

## The row of a node in the scene dock; null as long as there is none.
func in_dock(path: String) -> TreeItem:
	var editor: Control = EditorInterface.get_base_control().find_children("*", "SceneTreeEditor", true, false)[0]
	var item: TreeItem = (editor.find_children("*", "Tree", true, false)[0] as Tree).get_root()
	for name in path.split("/", false):
		if item == null: return null
		var rows := item.get_children().filter(func(one: TreeItem) -> bool: return one.get_text(0) == name)
		item = rows[0] if rows else null
	return item

## Set a property as the inspector does, so that it can be undone.
func change(node: Object, property: String, value: Variant) -> void:
	var undo := get_undo_redo()
	undo.create_action("change")
	undo.add_do_property(node, property, value)
	undo.add_undo_property(node, property, node.get(property))
	undo.commit_action()
	await frames(2)

func undo() -> void:
	var scene := EditorInterface.get_edited_scene_root()
	get_undo_redo().get_history_undo_redo(get_undo_redo().get_object_history_id(scene)).undo()
	await frames(2)

func check() -> void:
	await frames(3)
	await run()
	get_tree().quit()

"""
# Opening an editor on a busy machine; a hang is what it guards against.
LIMIT_S = 240.0


def make_project(project: Path, prepared: Prepared, scenes: dict[str, str], *, main_scene: str = "") -> None:
    """Write a project with the addon and some scenes, and import it.

    Args:
        project: an empty folder.
        prepared: the engine, and the bridge that was built.
        scenes: text of each .tscn by its name.
        main_scene: name of the one that a game begins with; none if empty.
    """
    (project / "addons/check").mkdir(parents=True)
    setting = f'run/main_scene="res://{main_scene}"' if main_scene else ""
    (project / "project.godot").write_text(PROJECT.format(main_scene=setting))
    (project / "addons/check/plugin.cfg").write_text(PLUGIN)
    (project / "addons/check/plugin.gd").write_text("@tool\nextends EditorPlugin\n")
    for name, text in scenes.items():
        (project / name).write_text(textwrap.dedent(text))
    install(ROOT, project, prepared.python_settings)
    finished = prepared.engine.run(["--headless", "--path", project, "--import"], LIMIT_S)
    assert finished.succeeded, finished.explain()
    assert complaints(finished.output) == []


def run_in_editor(
    project: Path, prepared: Prepared, body: str, complains: Sequence[str] = (), harmless: Sequence[str] = (),
) -> list[str]:
    """Run GDScript in the editor of a project; return the lines it printed that begin with ">".

    Args:
        project: made by ``make_project``.
        prepared: the engine.
        body: statements, which may ``await``; ``say(value)`` prints.
        complains: of each complaint that must come, in order, a part; no other may.
        harmless: parts of complaints that may come.
    """
    function = "func run() -> void:\n" + textwrap.indent(textwrap.dedent(body).strip().replace("    ", "\t"), "\t")
    say = "\n\nfunc say(value: Variant) -> void: print(\">\", value)\n"
    (project / "addons/check/plugin.gd").write_text(SCRIPT + function + say)
    # Scenes of the last time would be opened again, at some moment after the test has opened its own.
    (project / ".godot/editor/editor_layout.cfg").unlink(missing_ok=True)
    finished = prepared.engine.run(["--headless", "--editor", "--path", project], LIMIT_S)
    assert finished.succeeded, finished.explain()
    found = [line for line in complaints(finished.output) if not any(part in line for part in harmless)]
    assert len(found) == len(complains), finished.output
    assert [part for part, line in zip(complains, found, strict=True) if part not in line] == [], finished.output
    return [line[1:] for line in finished.output.splitlines() if line.startswith(">")]
