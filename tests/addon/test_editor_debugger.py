"""The debugger's tab "AI": silent while hidden; shown, it tells what a running game's AI does, stops and steps it."""
from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared
from tools.screenshot import OF_THE_DISPLAY
from tools.virtual_display import virtual_display

LEVEL = """\
    [gd_scene format=3]

    [ext_resource type="Script" path="res://level.gd" id="1"]

    [node name="Level" type="Node3D"]
    script = ExtResource("1")

    [node name="AI" type="AIScheduler" parent="."]

    [node name="Senses" type="SenseManager" parent="AI"]

    [node name="Guard" type="Node3D" parent="."]

    [node name="Eyes" type="Sensor3D" parent="Guard"]

    [node name="Habits" type="HabitTree" parent="Guard"]
    values = { "alarm": false }

    [node name="Flee" type="HabitWait" parent="Guard/Habits"]
    condition = "alarm"
    duration = 1000.0

    [node name="Doze" type="HabitWait" parent="Guard/Habits"]
    duration = 1000.0

    [node name="Camera" type="Camera3D" parent="."]
    position = Vector3(2, 6, 6)
    rotation_degrees = Vector3(-45, 0, 0)

    [node name="Door" type="Node3D" parent="."]
    position = Vector3(4, 0, 0)

    [node name="Machine" type="StateMachine" parent="Door"]

    [node name="Closed" type="AIState" parent="Door/Machine"]

    [node name="Push" type="StateTransition" parent="Door/Machine/Closed"]
    event = "push"
    to = NodePath("../../Open")
    guard_expression = "not locked"

    [node name="Open" type="AIState" parent="Door/Machine"]
    """
SCRIPT = """\
    extends Node3D
    ## Writes how many internal children the scheduler has: a timer while somebody watches.

    func _physics_process(_delta: float) -> void:
        var file := FileAccess.open("res://watched.txt", FileAccess.WRITE)
        if FileAccess.file_exists("res://alarm.txt"): $Guard/Habits.set_value("alarm", true)
        $Door/Machine.set_value("locked", not FileAccess.file_exists("res://key.txt"))
        if FileAccess.file_exists("res://key.txt"): $Door/Machine.send_event("push")
        if FileAccess.file_exists("res://click.txt"):
            DirAccess.remove_absolute("res://click.txt")
            for is_pressed: bool in [true, false]: _click_beside_the_door(is_pressed)
        file.store_string("%d %d" % [$AI.get_child_count(true) - $AI.get_child_count(), $AI.get_stats().frame])

    func _click_beside_the_door(is_pressed: bool) -> void:
        var click := InputEventMouseButton.new()
        click.button_index = MOUSE_BUTTON_LEFT
        click.position = $Camera.unproject_position($Door.global_position) + Vector2(40, -30)
        click.pressed = is_pressed
        Input.parse_input_event(click)
    """
RUNNING = """
[editor]

run/main_run_args="--headless"
"""
OPENING = """
    var ours: EditorPlugin = null
    for one in get_tree().root.find_children("*", "EditorPlugin", true, false):
        if one.get_script() != null and one.get_script().resource_path == "res://addons/ai_core/editor/plugin.gd":
            ours = one
    var debugger: EditorDebuggerPlugin = ours.get("_debugger")
    var panel: Control = debugger.panel_of(0)
    var until := func(holds: Callable) -> void:
        for attempt in 300:
            if holds.call(): return
            await get_tree().create_timer(0.1).timeout
    var watched := func(number: int) -> int:
        for attempt in 1000:          # the game writes it in every frame: it is empty for a moment
            var text := FileAccess.get_file_as_string("res://watched.txt")
            if text: return int(text.get_slice(" ", number))
        return -1
    for left in ["alarm", "watched", "key", "click"]:
        if FileAccess.file_exists("res://%s.txt" % left): DirAccess.remove_absolute("res://%s.txt" % left)
    EditorInterface.play_main_scene()
    var session: EditorDebuggerSession = debugger.get_session(0)
    await until.call(func() -> bool: return session.is_active() and FileAccess.file_exists("res://watched.txt"))
    await until.call(func() -> bool: return watched.call(1) > 60)
"""

# An editor and a game at once, on a busy machine; a hang is what it guards against.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("debugger")
    script = textwrap.dedent(SCRIPT).replace("    ", "\t")
    make_project(project, prepared, {"level.tscn": LEVEL, "level.gd": script}, main_scene="level.tscn")
    settings = project / "project.godot"
    settings.write_text(settings.read_text() + RUNNING)
    return project


def test_a_hidden_tab_costs_a_running_game_nothing(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    say([panel.is_visible_in_tree(), debugger.reports_received])
    say([watched.call(0), watched.call(1) > 60])
    EditorInterface.stop_playing_scene()
    """)
    assert said == ["[false, 0]", "[0, true]"]


def test_shown_it_tells_what_a_character_does_and_steps_the_game(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    debugger.call("_float", 0)
    await until.call(func() -> bool: return debugger.reports_received > 3 and panel.shown_frames() > 10)
    say([panel.is_visible_in_tree(), "Senses senses" in panel.shown_text(), debugger._float_buttons[0].text])
    panel.choose_section("habits")
    panel.choose_character("/root/Level/Guard")
    await until.call(func() -> bool: return "Doze | waiting | can activate" in panel.shown_text())
    say("Doze | waiting | can activate" in panel.shown_text())
    panel.pause_wished.emit(true)
    await get_tree().create_timer(2.0).timeout
    var stood: int = watched.call(1)
    await get_tree().create_timer(1.0).timeout
    say(watched.call(1) - stood)
    panel.frame_wished.emit()
    await until.call(func() -> bool: return watched.call(1) > stood)
    await get_tree().create_timer(1.0).timeout
    say(watched.call(1) - stood)
    panel.pause_wished.emit(false)
    debugger.call("_dock", 0)
    await until.call(func() -> bool: return watched.call(0) == 0 and watched.call(1) > stood + 5)
    var count: int = debugger.reports_received
    await get_tree().create_timer(1.0).timeout
    say([panel.is_visible_in_tree(), debugger.reports_received - count, debugger._float_buttons[0].text])
    EditorInterface.stop_playing_scene()
    """)
    assert said == ['[true, true, "Dock"]', "true", "0", "1", '[false, 0, "Make floating"]']


def test_a_live_chart_says_why_and_a_breakpoint_pauses(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    debugger.call("_float", 0)
    panel.choose_section("habits")
    panel.choose_character("/root/Level/Guard")
    var chart: Control = panel.get("_chart")
    await until.call(func() -> bool: return not chart.is_empty() and chart._history.size() > 5)
    var text: String = chart.shown_text()
    say([chart.visible, "alarm = false" in chart.shown_values(), "Flee | pending | condition `alarm` is false" in text])
    chart._habits.set_selected(chart._habits.get_root().get_child(0), 0)
    say(chart._time.text)
    chart._toggle_breakpoint("Habits/Flee")
    await get_tree().create_timer(1.0).timeout      # the message is there before the file that the game reads
    FileAccess.open("res://alarm.txt", FileAccess.WRITE).store_string("now")
    await until.call(func() -> bool: return chart._break_words != "")
    say(chart._break_words)
    await get_tree().create_timer(1.0).timeout
    var stood: int = watched.call(1)
    await get_tree().create_timer(1.0).timeout
    say(watched.call(1) - stood)
    await until.call(func() -> bool: return "alarm = true" in chart.shown_values())
    say(["alarm = true" in chart.shown_values(), "Flee | waiting | interrupted Doze" in chart.shown_text()])
    chart._slider.value = -1.5
    say(["alarm = false" in chart.shown_values(), "s ago" in chart.shown_text()])
    debugger.call("_dock", 0)
    EditorInterface.stop_playing_scene()
    """)
    assert said == [
        "[true, true, true]", "live   Flee: condition `alarm` is false: alarm is false",
        "Habits/Flee begins: began, interrupted Doze", "0", "[true, true]", "[true, true]"]


def test_a_state_machine_is_live_with_taken_transitions(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    debugger.call("_float", 0)
    panel.choose_section("habits")
    panel.choose_character("/root/Level/Door")
    var chart: Control = panel.get("_chart")
    await until.call(func() -> bool: return not chart.is_empty() and chart._history.size() > 5)
    say(chart._states.visible and not chart._habits.visible)
    say(chart.shown_moves())
    say(["Closed | active" in chart.shown_text(), "locked = true" in chart.shown_values()])
    chart._toggle_breakpoint("Open")
    await get_tree().create_timer(1.0).timeout
    FileAccess.open("res://key.txt", FileAccess.WRITE).store_string("now")
    await until.call(func() -> bool: return chart._break_words != "")
    say(chart._break_words)
    await until.call(func() -> bool: return "Open | active" in chart.shown_text())
    say(["Open | active" in chart.shown_text(), chart.shown_moves()[0].begins_with("Closed > Open: taken 0."),
        chart._states._taken])
    chart._slider.value = -1.5
    say(["Closed | active" in chart.shown_text(), chart.shown_moves().size()])
    debugger.call("_dock", 0)
    EditorInterface.stop_playing_scene()
    """)
    assert said == [
        "true", '["Closed > Open: waits for push, `not locked` is false: locked is true"]', "[true, true]",
        "Open begins: began, push", '[true, true, "Closed > Open"]', "[true, 1]"]


def test_the_bottom_panel_shows_the_running_game(project, prepared):
    said = run_in_editor(project, prepared, """
    var level: Node = await opened("res://level.tscn")
    EditorInterface.edit_node(level.get_node("Guard/Habits"))
    await frames(5)
    """ + OPENING + """
    var bottom: Control = ours.get("_panel")
    ours.make_bottom_panel_item_visible(bottom)
    say([bottom._live.visible, bottom.character_of_root()])
    bottom._live.button_pressed = true
    var chart: Control = panel.get("_chart")
    await until.call(func() -> bool: return chart._history.size() > 2 and "Doze | waiting" in chart.shown_text())
    say([bottom.is_ancestor_of(panel), bottom._split.visible, panel.character, "Doze | waiting" in chart.shown_text()])
    EditorInterface.get_selection().clear()
    EditorInterface.get_selection().add_node(level.get_node("Door/Machine"))
    await until.call(func() -> bool: return "Closed | active" in chart.shown_text())
    say([panel.character, "Closed | active" in chart.shown_text()])
    ours.get("_remote").selected.emit("/root/Level/Guard/Habits/Doze")
    await until.call(func() -> bool: return "Doze | waiting" in chart.shown_text())
    say(panel.character)
    EditorInterface.stop_playing_scene()
    await until.call(func() -> bool: return not bottom.is_live())
    say([bottom.is_ancestor_of(panel), bottom._split.visible, bottom._live.visible, bottom.shown_text() != ""])
    """)
    assert said == [
        '[true, "res://level.tscn::Guard"]', '[true, false, "/root/Level/Guard", true]',
        '["/root/Level/Door", true]', "/root/Level/Guard", "[false, true, false, true]"]


def test_a_click_in_a_drawn_3d_game_chooses_the_character(project, prepared, monkeypatch):
    settings = project / "project.godot"
    headless = settings.read_text()
    drawn = '"--rendering-driver opengl3 --audio-driver Dummy --position 0,0 --resolution 640x360"'
    settings.write_text(headless.replace('"--headless"', drawn))
    body = OPENING + """
    debugger.call("_float", 0)
    panel.choose_section("habits")
    panel.choose_character("/root/Level/Guard")
    await until.call(func() -> bool: return debugger.reports_received > 3)
    panel.get("_pick").button_pressed = true
    await get_tree().create_timer(1.0).timeout
    FileAccess.open("res://click.txt", FileAccess.WRITE).store_string("now")
    await until.call(func() -> bool: return panel.character != "/root/Level/Guard")
    say([panel.character, panel.get("_pick").button_pressed])
    debugger.call("_dock", 0)
    EditorInterface.stop_playing_scene()
    """
    with virtual_display(640, 360) as display:
        monkeypatch.setenv("DISPLAY", display)
        said = run_in_editor(project, prepared, body, harmless=OF_THE_DISPLAY)
    settings.write_text(headless)
    assert said == ['["/root/Level/Door", false]']


def test_a_click_in_the_remote_tree_chooses_the_character(project, prepared):
    said = run_in_editor(project, prepared, """
    EditorInterface.get_editor_settings().set_setting("debugger/auto_switch_to_remote_scene_tree", true)
    await opened("res://level.tscn")
    """ + OPENING + """
    var bottom: Control = ours.get("_panel")
    ours.make_bottom_panel_item_visible(bottom)
    bottom._live.button_pressed = true
    var remote: Tree = EditorInterface.get_base_control().find_children("*", "EditorDebuggerTree", true, false)[0]
    var row_of := func(path: String) -> TreeItem:
        var item := remote.get_root()
        for name in path.split("/"):
            if item == null: return null
            item.collapsed = false
            var found := item.get_children().filter(func(one: TreeItem) -> bool: return one.get_text(0) == name)
            item = found[0] if found else null
        return item
    await until.call(func() -> bool: return row_of.call("Level/Door/Machine") != null)
    say([remote.is_visible_in_tree(), panel.character])
    remote.scroll_to_item(row_of.call("Level/Door/Machine"))
    await frames(3)
    var row: TreeItem = row_of.call("Level/Door/Machine")
    for is_pressed: bool in [true, false]:
        var click := InputEventMouseButton.new()
        click.button_index = MOUSE_BUTTON_LEFT
        var place := remote.get_item_area_rect(row, 0).get_center() - remote.get_scroll()
        click.position = remote.get_global_transform() * place
        click.global_position = click.position
        click.pressed = is_pressed
        get_tree().root.push_input(click, true)
    await until.call(func() -> bool: return panel.character == "/root/Level/Door")
    say(panel.character)
    EditorInterface.stop_playing_scene()
    await until.call(func() -> bool: return not session.is_active())
    EditorInterface.edit_node(EditorInterface.get_edited_scene_root())
    await frames(30)      # an editor that ends with a remote object in its inspector may crash
    """)
    assert said == ['[true, "res://level.tscn::Guard"]', "/root/Level/Door"]


def test_a_quickload_takes_its_future_out_of_the_history(project, prepared):
    said = run_in_editor(project, prepared, """
    await opened("res://level.tscn")
    var view: Control = load("res://addons/ai_core/editor/chart/live_view.gd").new()
    var report := func(now_s: float, values: Array, taken: Array) -> void:
        view.show_chart({
            "node": "/root/Guard/Habits", "kind": "HabitTree", "charts": ["/root/Guard/Habits"], "rows": [],
            "arrows": [], "breakpoints": {}, "states": [], "waiting": [], "taken": taken,
            "values": values.map(func(one: String) -> Array: return ["character", one, "yes"])}, now_s)
    for second in 30: report.call(float(second), ["alarm"] if second == 20 else ["calm"] if second == 5 else [],
        [[float(second), "a", "b", ""]])
    report.call(10.0, [], [])
    report.call(10.0, [], [])
    report.call(10.5, [], [])
    say([view._history.map(func(one: Dictionary) -> float: return one.seconds), view._history[-1].values.keys()])
    say([view._history[-1].values.calm, view._history[-1].values.alarm, view._taken[-1][0]])
    view.free()
    var senses: Control = load("res://addons/ai_core/debugging/senses_view.gd").new()
    for now_s: float in [8.0, 9.0, 20.0, 20.0, 9.5, 10.0]:
        senses.show_senses([{"sensor": "Eyes", "title": "", "sources": [
            {"path": "T", "awareness": 0.0, "strength": 1.0, "others": []}]}], now_s)
    say(senses._history.values()[0].map(func(row: Array) -> float: return row[0]))
    senses.free()
    """)
    assert said == [
        '[[10.0, 10.5], ["calm", "alarm"]]', '[["yes", -inf], ["yes", -inf], 10.0]', "[8.0, 9.0, 9.5, 10.0]"]


def test_the_end_of_another_game_leaves_the_lent_panel(project, prepared):
    said = run_in_editor(project, prepared, OPENING + """
    var place := HBoxContainer.new()
    EditorInterface.get_base_control().add_child(place)
    debugger.lend(place)
    debugger.take_back(1)
    say(panel.get_parent() == place)
    debugger.take_back(0)
    say(panel.get_parent() == place)
    place.free()
    EditorInterface.stop_playing_scene()
    """)
    assert said == ["true", "false"]
