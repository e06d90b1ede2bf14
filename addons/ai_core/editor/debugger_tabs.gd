@tool
extends EditorDebuggerPlugin
## The panel "AI" of each running game: shows the reports of the game while it is visible. It is a tab of the debugger;
## it can float in a window, or take the place of the chart in the bottom panel "AI".

## Emitted when a game begins, and when the last one has ended.
signal running_changed(is_running: bool)
## Emitted when a panel that was lent has left the container.
signal returned

const DebugPanel := preload("../debugging/debug_panel.gd")
const LiveView := preload("chart/live_view.gd")
const CAPTURE := "ai_core"
const FLOAT := "Make floating"
const DOCK := "Dock"

## Messages of the last game, for tests.
var reports_received := 0

var _panels := {}
## Sessions whose panel floats, with their windows.
var _windows := {}
var _float_buttons := {}
## Sessions whose panel is in the bottom panel.
var _lent := {}
## The tabs of the debugger that panels return to.
var _tabs := {}


func _setup_session(session_id: int) -> void:
	var session := get_session(session_id)
	var panel := DebugPanel.new()
	panel.wished.connect(_wish.bind(session))
	panel.pause_wished.connect(_pause.bind(session))
	panel.frame_wished.connect(_next_frame.bind(session))
	panel.pick_wished.connect(_pick.bind(session))
	panel.can_pick = true
	panel.add_button(_float_button(session_id))
	_panels[session_id] = panel
	var chart := LiveView.new()
	chart.breakpoint_wished.connect(_set_breakpoint.bind(session))
	panel.use_chart(chart)
	session.started.connect(func() -> void:
		panel.clear()
		running_changed.emit(true))
	session.stopped.connect(func() -> void:
		take_back(session_id)
		running_changed.emit(running_session() >= 0))
	session.add_session_tab(panel)


func _has_capture(capture: String) -> bool:
	return capture == CAPTURE


func _capture(message: String, data: Array, session_id: int) -> bool:
	if message == CAPTURE + ":break":
		_panels[session_id].show_break(data[0])
		return true
	if message == CAPTURE + ":picked":
		_panels[session_id].follow(data[0])
		return true
	if message != CAPTURE + ":report":
		return false
	reports_received += 1
	_panels[session_id].show_report(data[0])
	return true


## The panel of a session.
func panel_of(session_id: int) -> Control:
	return _panels[session_id]


## The first session with a running game, -1 for none.
func running_session() -> int:
	for session_id: int in _panels:
		if get_session(session_id).is_active():
			return session_id
	return -1


## Show a character of the running game; `path` as for the panel's `follow`.
func follow(path: String) -> void:
	var session_id := running_session()
	if session_id >= 0:
		_panels[session_id].follow(path)


## Move the panel of the running game into a container.
func lend(place: Container) -> void:
	var session_id := running_session()
	if session_id < 0 or session_id in _lent:
		return
	if session_id in _windows:
		_dock(session_id)
	_lent[session_id] = true
	_move(session_id, place)


## Move panels that were lent back into their tabs of the debugger: that of one session, or all.
func take_back(of_session := -1) -> void:
	for session_id: int in _lent.keys():
		if of_session >= 0 and session_id != of_session:
			continue
		_lent.erase(session_id)
		_move(session_id, _tabs[session_id])
		returned.emit()


## Put the panels back into their tabs, when the plugin is disabled.
func close() -> void:
	for session_id: int in _windows.keys():
		_dock(session_id)
	take_back()


func _wish(wish: Dictionary, session: EditorDebuggerSession) -> void:
	if not session.is_active():
		return
	if wish.is_empty():
		session.send_message(CAPTURE + ":unwatch", [])
	else:
		session.send_message(
			CAPTURE + ":watch", [wish.scheduler, wish.section, wish.character, wish.wanted, wish.chart])


func _pause(is_paused: bool, session: EditorDebuggerSession) -> void:
	if session.is_active():
		session.send_message(CAPTURE + ":pause", [is_paused])


func _next_frame(session: EditorDebuggerSession) -> void:
	if session.is_active():
		session.send_message(CAPTURE + ":next_frame", [])


func _pick(is_on: bool, session: EditorDebuggerSession) -> void:
	if session.is_active():
		session.send_message(CAPTURE + ":pick", [is_on])


func _set_breakpoint(tree: String, path: String, moment: String, session: EditorDebuggerSession) -> void:
	if session.is_active():
		session.send_message(CAPTURE + ":breakpoint", [tree, path, moment])


func _float_button(session_id: int) -> Button:
	var button := Button.new()
	button.text = FLOAT
	button.pressed.connect(func() -> void: _dock(session_id) if session_id in _windows else _float(session_id))
	_float_buttons[session_id] = button
	return button


func _float(session_id: int) -> void:
	take_back()
	var window := Window.new()
	window.title = "AI, session %d" % session_id
	window.size = Vector2i(1000, 700)
	window.initial_position = Window.WINDOW_INITIAL_POSITION_CENTER_MAIN_WINDOW_SCREEN
	window.close_requested.connect(_dock.bind(session_id))
	_windows[session_id] = window
	_float_buttons[session_id].text = DOCK
	_move(session_id, window)
	_panels[session_id].set_anchors_and_offsets_preset(Control.PRESET_FULL_RECT)
	EditorInterface.get_base_control().add_child(window)


func _dock(session_id: int) -> void:
	var window: Window = _windows[session_id]
	_windows.erase(session_id)
	_float_buttons[session_id].text = FLOAT
	_move(session_id, _tabs[session_id])
	window.queue_free()


func _move(session_id: int, place: Node) -> void:
	var panel: Control = _panels[session_id]
	if not session_id in _tabs:
		_tabs[session_id] = panel.get_parent()
	panel.get_parent().remove_child(panel)
	place.add_child(panel)
	if place != _tabs[session_id]:
		panel.show()
