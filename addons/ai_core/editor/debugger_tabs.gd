@tool
extends EditorDebuggerPlugin
## The tab "AI" of the debugger, one for each running game: shows the reports of the game while it is visible.

const DebugPanel := preload("../debugging/debug_panel.gd")
const LiveView := preload("chart/live_view.gd")
const CAPTURE := "ai_core"

## Messages of the last game, for tests.
var reports_received := 0

var _panels := {}
var _windows := {}


func _setup_session(session_id: int) -> void:
	var session := get_session(session_id)
	var panel := DebugPanel.new()
	panel.wished.connect(_wish.bind(session))
	panel.pause_wished.connect(_pause.bind(session))
	panel.frame_wished.connect(_next_frame.bind(session))
	panel.add_child(_float_button(session_id))
	_panels[session_id] = panel
	var chart := LiveView.new()
	chart.breakpoint_wished.connect(_set_breakpoint.bind(session))
	panel.use_chart(chart)
	session.started.connect(panel.clear)
	session.add_session_tab(panel)


func _has_capture(capture: String) -> bool:
	return capture == CAPTURE


func _capture(message: String, data: Array, session_id: int) -> bool:
	if message == CAPTURE + ":break":
		_panels[session_id].show_break(data[0])
		return true
	if message != CAPTURE + ":report":
		return false
	reports_received += 1
	_panels[session_id].show_report(data[0])
	return true


## The panel of a session.
func panel_of(session_id: int) -> Control:
	return _panels[session_id]


## Put the panels back into their tabs, when the plugin is disabled.
func close() -> void:
	for session_id: int in _windows.keys():
		_dock(session_id)


func _wish(wish: Dictionary, session: EditorDebuggerSession) -> void:
	if not session.is_active():
		return
	if wish.is_empty():
		session.send_message(CAPTURE + ":unwatch", [])
	else:
		session.send_message(CAPTURE + ":watch", [wish.scheduler, wish.section, wish.character, wish.wanted])


func _pause(is_paused: bool, session: EditorDebuggerSession) -> void:
	if session.is_active():
		session.send_message(CAPTURE + ":pause", [is_paused])


func _next_frame(session: EditorDebuggerSession) -> void:
	if session.is_active():
		session.send_message(CAPTURE + ":next_frame", [])


func _set_breakpoint(tree: String, path: String, moment: String, session: EditorDebuggerSession) -> void:
	if session.is_active():
		session.send_message(CAPTURE + ":breakpoint", [tree, path, moment])


func _float_button(session_id: int) -> Button:
	var button := Button.new()
	button.text = "Make floating"
	button.size_flags_horizontal = Control.SIZE_SHRINK_END
	button.pressed.connect(func() -> void: _dock(session_id) if session_id in _windows else _float(session_id))
	return button


func _float(session_id: int) -> void:
	var panel: Control = _panels[session_id]
	var tabs := panel.get_parent()
	var window := Window.new()
	window.title = "AI, session %d" % session_id
	window.size = Vector2i(1000, 700)
	window.initial_position = Window.WINDOW_INITIAL_POSITION_CENTER_MAIN_WINDOW_SCREEN
	window.close_requested.connect(_dock.bind(session_id))
	_windows[session_id] = [window, tabs]
	tabs.remove_child(panel)
	window.add_child(panel)
	panel.set_anchors_and_offsets_preset(Control.PRESET_FULL_RECT)
	panel.show()
	EditorInterface.get_base_control().add_child(window)


func _dock(session_id: int) -> void:
	var window: Window = _windows[session_id][0]
	var panel: Control = _panels[session_id]
	window.remove_child(panel)
	_windows[session_id][1].add_child(panel)
	_windows.erase(session_id)
	window.queue_free()
