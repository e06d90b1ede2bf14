@tool
extends EditorPlugin
## Opens a scene in the editor, selects a node, saves what the editor shows as a PNG and quits.
## Arguments after "++": --scene=res://… --select=Path/To/Node --out=/absolute.png, and --live=SECONDS to run the scene for
## so long and show the selected HabitTree or StateMachine live in the panel "AI".

const SETTLING_S := 4.0
const LIVE_PX := 330.0
## Longest wait for the first report of the game.
const REPORT_S := 10.0
const OURS := "res://addons/ai_core/editor/plugin.gd"


func _enter_tree() -> void:
	_take.call_deferred()


func _take() -> void:
	var options := {}
	for argument: String in OS.get_cmdline_user_args():
		options[argument.get_slice("=", 0)] = argument.substr(argument.find("=") + 1)
	if not options.has("--out"):
		return                                             # the project is being imported
	await get_tree().create_timer(1.0).timeout
	EditorInterface.open_scene_from_path(options["--scene"])
	await _frames(10)
	var scene := EditorInterface.get_edited_scene_root()
	var node := scene.get_node_or_null(options["--select"]) if scene != null else null
	if node == null:
		printerr("no such node in the scene: ", options["--select"])
		get_tree().quit(1)
		return
	EditorInterface.get_selection().clear()
	EditorInterface.get_selection().add_node(node)
	EditorInterface.edit_node(node)
	_show(node)
	if options.has("--live") and not await _run_live(float(options["--live"])):
		printerr("the running game reports no habits or states of ", options["--select"])
		EditorInterface.stop_playing_scene()
		await get_tree().create_timer(1.0).timeout
		get_tree().quit(1)
		return
	await get_tree().create_timer(SETTLING_S).timeout
	RenderingServer.force_draw()                           # the editor draws only when something changes
	var failure := get_tree().root.get_texture().get_image().save_png(options["--out"])
	if EditorInterface.is_playing_scene():
		EditorInterface.stop_playing_scene()
		await get_tree().create_timer(1.0).timeout
	get_tree().quit(0 if failure == OK else 1)


## Runs the scene and shows it live; returns whether the chart shows anything.
func _run_live(seconds: float) -> bool:
	var ours: EditorPlugin = get_tree().root.find_children("*", "EditorPlugin", true, false).filter(
		func(one: Node) -> bool: return one.get_script() != null and one.get_script().resource_path == OURS)[0]
	var panel: Control = ours.get("_panel")
	panel.custom_minimum_size.y = LIVE_PX
	EditorInterface.play_current_scene()
	while ours.get("_debugger").running_session() < 0:
		await get_tree().process_frame
	await get_tree().create_timer(seconds).timeout
	ours.make_bottom_panel_item_visible(panel)
	panel.show_live(true)
	var chart: Control = ours.get("_debugger").panel_of(ours.get("_debugger").running_session()).get("_chart")
	for attempt in roundi(REPORT_S * 10.0):
		if not chart.is_empty(): return true
		await get_tree().create_timer(0.1).timeout
	return false


## The screen of the node's dimension, with the node in its middle, as the key F brings it there.
func _show(node: Node) -> void:
	var is_flat := node is CanvasItem
	EditorInterface.set_main_screen_editor("2D" if is_flat else "3D")
	await _frames(5)
	var view: Control = EditorInterface.get_editor_viewport_2d().get_parent() if is_flat \
		else EditorInterface.get_editor_viewport_3d(0).get_parent()
	for one: Control in view.get_parent().find_children("*", "Control", true, false):
		if one.focus_mode == Control.FOCUS_ALL and one.is_visible_in_tree():
			one.grab_focus()
			break
	for is_pressed: bool in [true, false]:
		var key := InputEventKey.new()
		key.keycode = KEY_F
		key.physical_keycode = KEY_F
		key.pressed = is_pressed
		Input.parse_input_event(key)
	await _frames(5)


func _frames(count: int) -> void:
	for i in count: await get_tree().process_frame
