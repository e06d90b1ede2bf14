"""The bottom panel "AI" in the real editor: trees and state machines are drawn, and edited with undo."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

GUARD = """\
    [gd_scene format=3]

    [node name="Guard" type="Node3D"]

    [node name="Habits" type="HabitTree" parent="."]
    launch = 3

    [node name="Chase" type="HabitMoveTo" parent="Habits"]
    condition = "sees"
    target_node = NodePath("../Patrol/Stop")

    [node name="Patrol" type="Habit" parent="Habits"]
    launch = 1
    cooldown = 2.5

    [node name="Stop" type="HabitWait" parent="Habits/Patrol"]
    duration = 3.0

    [node name="Look" type="Habit" parent="Habits/Patrol"]
    begins_on = PackedStringArray("heard")
    """
DOOR = """\
    [gd_scene format=3]

    [node name="Door" type="Node3D"]

    [node name="Machine" type="StateMachine" parent="."]

    [node name="Closed" type="AIState" parent="Machine"]

    [node name="Opening" type="StateTransition" parent="Machine/Closed"]
    event = "push"
    to = NodePath("../../Open")

    [node name="Open" type="AIState" parent="Machine"]

    [node name="Ajar" type="AIState" parent="Machine/Open"]

    [node name="Back" type="StateTransition" parent="Machine/Open"]
    after = 2.0
    to = NodePath("../../Closed")
    """
EMPTY = """\
    [gd_scene format=3]

    [node name="Crate" type="Node3D"]
    """
SCRIPT = 'extends "res://base.gd"\n'
BASE = "extends Habit\n\nfunc _can_activate() -> bool: return true\n"
PYTHON = "from ai_core.decisions import Habit\n\n\nclass Sleep(Habit):\n    pass\n"
OPENING = """
    var ours: EditorPlugin = null
    for one in get_tree().root.find_children("*", "EditorPlugin", true, false):
        if one.get_script() != null and one.get_script().resource_path == "res://addons/ai_core/editor/plugin.gd":
            ours = one
    var panel: Control = ours.get("_panel")
    var text := func() -> String:
        panel.refresh()                  # the test undoes without the editor, which would report it
        return panel.shown_text()
    var pick := func(node: Node) -> void:
        panel.select([node] as Array[Node])
        await frames(2)
    var children := func(node: Node) -> Array: return node.get_children().map(func(one): return String(one.name))
"""
CHART = """\
Habits |  | until one succeeds | 
  Chase | if sees |  | HabitMoveTo  target_node ../Patrol/Stop
  Patrol | cooldown 2.5 s | in sequence | 
    Stop |  |  | HabitWait  duration 3
    Look | on heard |  | """  # noqa: W291

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("panel")
    make_project(project, prepared, {
        "guard.tscn": GUARD, "door.tscn": DOOR, "crate.tscn": EMPTY, "base.gd": BASE, "night_watch.gd": SCRIPT,
        "sleeping.py": PYTHON})
    return project


def test_a_selected_tree_opens_the_panel_with_its_chart(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var guard: Node = await opened("res://guard.tscn")
    EditorInterface.get_selection().add_node(guard.get_node("Habits"))
    EditorInterface.edit_node(guard.get_node("Habits"))
    await frames(5)
    say(panel.is_visible_in_tree())
    for line in text.call().split("\\n"): say(line)
    await pick.call(guard.get_node("Habits/Patrol/Look"))
    say(EditorInterface.get_inspector().get_edited_object().name)
    await opened("res://crate.tscn")
    say([panel.shown_root(), panel._empty.visible])
    """)
    assert said[0] == "true"
    assert "\n".join(said[1:-2]) == CHART
    assert said[-2:] == ["Look", "[<null>, true]"]


def test_the_library_finds_built_in_scripts_and_python(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var guard: Node = await opened("res://guard.tscn")
    EditorInterface.edit_node(guard.get_node("Habits"))
    await frames(5)
    var library: Control = panel._library
    library.search("mv to")
    say(library.listed())
    library.search("")
    say(["Night Watch" in library.listed(), "Sleep" in library.listed(), "Attack" in library.listed()])
    await pick.call(guard.get_node("Habits/Patrol"))
    var watch: Node = panel.add_entry(library.entry_named("Night Watch"))
    var sleep: Node = panel.add_entry(library.entry_named("Sleep"), guard.get_node("Habits"), 0)
    say([watch.get_script().resource_path, sleep.get("python_class"), watch.owner == guard])
    say([children.call(guard.get_node("Habits")), children.call(guard.get_node("Habits/Patrol"))])
    library.set_favorite("HabitWait", true)
    say(library._list.get_root().get_first_child().get_first_child().get_text(0))
    library.set_favorite("HabitWait", false)
    await undo()
    await undo()
    say([children.call(guard.get_node("Habits")), children.call(guard.get_node("Habits/Patrol"))])
    """)
    assert said == [
        '["Move To"]', "[true, true, true]", '["res://night_watch.gd", "sleeping:Sleep", true]',
        '[["Sleep", "Chase", "Patrol"], ["Stop", "Look", "NightWatch"]]', "Wait",
        '[["Chase", "Patrol"], ["Stop", "Look"]]']


def test_every_edit_is_undone_and_paths_follow(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var guard: Node = await opened("res://guard.tscn")
    var habits := guard.get_node("Habits")
    EditorInterface.edit_node(habits)
    await frames(5)
    var before: String = text.call()
    var chase := habits.get_node("Chase")
    var stop := habits.get_node("Patrol/Stop")
    await pick.call(stop)
    panel.move_selected(habits, 0)
    say([children.call(habits), chase.get("target_node"), stop.owner == guard])
    panel.shift_selected(1)
    say(children.call(habits))
    panel.select([stop, chase] as Array[Node])
    var wrapper: Node = panel.wrap_selected(2)
    say([children.call(habits), children.call(wrapper), wrapper.get("launch"), chase.get("target_node")])
    await pick.call(stop)
    panel._edits.rename(stop, "Halt")
    say(chase.get("target_node"))
    panel.duplicate_selected()
    say(children.call(wrapper))
    await pick.call(wrapper)
    panel.remove_selected()
    say(children.call(habits))
    for i in 6: await undo()
    say(text.call() == before)
    var history := get_undo_redo().get_history_undo_redo(get_undo_redo().get_object_history_id(guard))
    for i in 6: history.redo()
    await frames(3)
    say(children.call(habits))
    for i in 6: await undo()
    say(text.call() == before)
    panel.shift_selected(1)
    var packed := PackedScene.new()
    packed.pack(guard)
    ResourceSaver.save(packed, "res://saved.tscn")
    var again: Node = await opened("res://saved.tscn")
    EditorInterface.edit_node(again.get_node("Habits"))
    await frames(5)
    say([text.call() == before, children.call(again.get_node("Habits"))])
    """)
    assert said == [
        '[["Stop", "Chase", "Patrol"], ^"../Stop", true]', '["Chase", "Stop", "Patrol"]',
        '[["Random", "Patrol"], ["Chase", "Stop"], 2, ^"../Stop"]', '../Halt', '["Chase", "Halt", "Halt2"]',
        '["Patrol"]', "true", '["Patrol"]', "true", '[true, ["Chase", "Patrol"]]']


def test_rows_are_dropped_between_others(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var guard: Node = await opened("res://guard.tscn")
    var habits := guard.get_node("Habits")
    EditorInterface.edit_node(habits)
    await frames(5)
    var chart: Tree = panel._habits
    await pick.call(habits.get_node("Patrol"))
    var data := {"type": "ai_habits", "nodes": [habits.get_node("Patrol")]}
    var area := chart.get_item_area_rect(chart._rows[habits.get_node("Chase")], 0)
    var inner := chart.get_item_area_rect(chart._rows[habits.get_node("Patrol/Stop")], 0)
    chart.drop_mode_flags = Tree.DROP_MODE_INBETWEEN | Tree.DROP_MODE_ON_ITEM
    say([chart._can_drop_data(area.position + Vector2(5, 2), data), chart._can_drop_data(inner.get_center(), data)])
    chart._drop_data(area.position + Vector2(5, 2), data)
    await frames(2)
    say(children.call(habits))
    await undo()
    say(children.call(habits))
    """)
    assert said == ["[true, false]", '["Patrol", "Chase"]', '["Chase", "Patrol"]']


def test_copies_stand_behind_their_originals(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var guard: Node = await opened("res://guard.tscn")
    var habits := guard.get_node("Habits")
    EditorInterface.edit_node(habits)
    await frames(5)
    var before: String = text.call()
    panel.select([habits.get_node("Chase"), habits.get_node("Patrol")] as Array[Node])
    panel.duplicate_selected()
    say(children.call(habits))
    say(children.call(habits.get_node("Patrol2")))
    panel.duplicate_selected()
    say([children.call(habits), habits.get_node("Patrol3/Look").owner == guard])
    for i in 2: await undo()
    say(text.call() == before)
    """)
    assert said == [
        '["Chase", "Chase2", "Patrol", "Patrol2"]', '["Stop", "Look"]',
        '[["Chase", "Chase2", "Chase3", "Patrol", "Patrol2", "Patrol3"], true]', "true"]


def test_a_transition_is_not_wrapped_and_the_named_state_renamed(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var door: Node = await opened("res://door.tscn")
    var machine := door.get_node("Machine")
    EditorInterface.edit_node(machine)
    await frames(5)
    await pick.call(machine.get_node("Closed/Opening"))
    say([panel._buttons.wrap.disabled, panel._buttons.delete.disabled])
    panel._open_wraps()
    say(machine.get_node("Closed").get_children().map(func(one: Node) -> String: return one.get_class()))
    panel.select([machine.get_node("Open"), machine.get_node("Closed")] as Array[Node])
    panel._states.edit_name()
    var edited: String = panel._states._name_edit.text
    panel._states._end_name("Named")
    await frames(2)
    say([edited, children.call(machine)])
    """)
    assert said == ["[true, false]", '["StateTransition"]', '["Open", ["Closed", "Named"]]']


def test_states_are_connected_and_placed_by_dragging(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var door: Node = await opened("res://door.tscn")
    var machine := door.get_node("Machine")
    EditorInterface.edit_node(machine)
    await frames(5)
    for line in text.call().split("\\n"): say(line)
    var chart: Control = panel._states
    chart._zoom = 1.0
    var mouse := func(at: Vector2, is_pressed: bool, is_moving: bool) -> void:
        var event: InputEventMouse = InputEventMouseMotion.new() if is_moving else InputEventMouseButton.new()
        if not is_moving:
            event.button_index = MOUSE_BUTTON_LEFT
            event.pressed = is_pressed
        event.button_mask = MOUSE_BUTTON_MASK_LEFT
        event.position = at
        chart._gui_input(event)
    mouse.call(chart.handle_of("Open/Ajar"), true, false)
    mouse.call(chart.middle_of("Closed"), true, true)
    mouse.call(chart.middle_of("Closed"), false, false)
    await frames(2)
    var made: Node = machine.get_node("Open/Ajar").get_child(0)
    say([made.get_class(), made.get("to"), made.get("event"), made.owner == door])
    var from: Vector2 = chart.middle_of("Closed")
    mouse.call(from, true, false)
    mouse.call(from + Vector2(0, 60), true, true)
    mouse.call(from + Vector2(0, 60), true, true)
    mouse.call(from + Vector2(0, 60), false, false)
    say(machine.get_node("Closed").get_meta("_chart_place"))
    await pick.call(machine.get_node("Open"))
    panel.duplicate_selected()
    say(children.call(machine))
    for i in 3: await undo()
    say([children.call(machine), machine.get_node("Open/Ajar").get_child_count(),
        machine.get_node("Closed").has_meta("_chart_place")])
    """)
    assert said == [
        "Closed", "Open", "Open/Ajar", "Closed > Open: on push", "Open > Closed: after 2 s",
        '["StateTransition", ^"../../../Closed", "closed", true]', "(0.0, 60.0)", '["Closed", "Open", "Open2"]',
        '[["Closed", "Open"], 0, false]']


LEFT = """
    ours = null
    panel = null
    var plugin := func() -> Node:
        var found := get_tree().root.find_children("*", "EditorPlugin", true, false).filter(func(one: Node) -> bool:
            return one.get_script() != null and one.get_script().resource_path.ends_with("editor/plugin.gd"))
        return found[0] if found else null
    var names := func(objects: Array) -> Array:
        return objects.map(func(one: Dictionary) -> String: return one.name)
    var menus := func() -> Array:
        var texts := []
        for menu in EditorInterface.get_base_control().find_children("*", "PopupMenu", true, false):
            for index in menu.item_count: texts.append(menu.get_item_text(index))
        return texts.filter(func(one: String) -> bool: return "ai_core" in one)
    var files := EditorInterface.get_resource_filesystem()
    var left := func() -> Dictionary:
        await frames(10)
        var nodes := get_tree().root.find_children("*", "", true, false).filter(func(one: Node) -> bool:
            return one.get_script() != null and "ai_core/editor" in one.get_script().resource_path)
        return {"nodes": nodes.size(), "menus": menus.call(),
            "settings": names.call(ProjectSettings.get_property_list()),
            "editor_settings": EditorInterface.get_editor_settings().get_property_list().size(),
            "listeners": files.filesystem_changed.get_connections().size(),
            "locales": TranslationServer.get_loaded_locales(), "singletons": Engine.get_singleton_list(),
            "files": DirAccess.get_files_at("res://"), "folders": DirAccess.get_directories_at("res://"),
            "all": Performance.get_monitor(Performance.OBJECT_NODE_COUNT)}
    var enable := func(is_on: bool) -> void:
        EditorInterface.set_plugin_enabled("res://addons/ai_core/plugin.cfg", is_on)
        await frames(10)
"""


def test_a_disabled_plugin_leaves_nothing(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var guard: Node = await opened("res://guard.tscn")
    EditorInterface.edit_node(guard.get_node("Habits"))
    await frames(5)
    panel._library.set_favorite("HabitWait", true)
    """ + LEFT + """
    await enable.call(false)
    var before: Dictionary = await left.call()
    say([before.nodes, before.menus, before.settings.filter(func(one): return "autoload/" in one or "ai_core" in one)])
    say(EditorInterface.get_editor_settings().get_project_metadata("ai_core", "favorite_habits", "none"))
    await enable.call(true)
    say([menus.call().size(), DirAccess.dir_exists_absolute("res://script_templates")])
    var parts := ["_controls", "_debugger", "_export", "_gizmos", "_overlay", "_squads", "_panel", "_first_page",
        "_remote"].map(
        func(one: String) -> WeakRef: return weakref(plugin.call().get(one)))
    say(parts.all(func(one: WeakRef) -> bool: return one.get_ref() != null))
    await enable.call(false)
    var after: Dictionary = await left.call()
    say(parts.map(func(one: WeakRef) -> bool: return one.get_ref() == null))
    for key in before:
        if before[key] != after[key]: say([key, before[key], after[key]])
    await enable.call(true)
    """)
    assert said == [
        "[0, [], []]", "none", "[2, true]", "true", "[true, true, true, true, true, true, true, true, true]"]
