@tool
extends EditorPlugin
## Adds previews, buttons and panels for ai_core's nodes to the editor; the nodes supply their content.

const AIPanel := preload("chart/ai_panel.gd")
const HabitLibrary := preload("chart/habit_library.gd")
const DebuggerTabs := preload("debugger_tabs.gd")
const FirstPage := preload("first_page.gd")
const FreshWarnings := preload("fresh_warnings.gd")
const GameExport := preload("game_export.gd")
const NodeControls := preload("node_controls.gd")
const RemoteSelection := preload("remote_selection.gd")
const ScriptTemplates := preload("script_templates.gd")
const SenseGizmos := preload("sense_gizmos.gd")
const SenseGraphBaking := preload("sense_graph_baking.gd")
const SenseOverlay2D := preload("sense_overlay_2d.gd")
const SquadOverlay := preload("squad_overlay.gd")

const WELCOME := "Examples of ai_core..."
const RELOAD := "Reload Python of ai_core"
const NOT_RELOADED := "Python is not reloaded, and the old code stays in use. The reason is in the Output panel."
const EXTENSION := "res://addons/ai_core/ai_core.gdextension"

var _controls := NodeControls.new()
var _debugger := DebuggerTabs.new()
var _remote := RemoteSelection.new()
var _warnings := FreshWarnings.new()
var _export := GameExport.new()
var _gizmos := SenseGizmos.new()
var _overlay := SenseOverlay2D.new()
var _squads := SquadOverlay.new()
var _panel := AIPanel.new()
var _first_page := FirstPage.new()
var _shown: Array[Node] = []
var _is_stale := false


func _enable_plugin() -> void:
	ScriptTemplates.put()
	_first_page.popup_centered.call_deferred()


func _disable_plugin() -> void:
	ScriptTemplates.take_away()
	HabitLibrary.forget()


func _enter_tree() -> void:
	_first_page.undo = get_undo_redo()
	EditorInterface.get_base_control().add_child(_first_page)
	add_tool_menu_item(WELCOME, func() -> void: _first_page.popup_centered())
	add_tool_menu_item(RELOAD, _reload)
	var baking := SenseGraphBaking.new()
	baking.undo = get_undo_redo()
	add_child(baking)
	add_child(_warnings)
	_controls.baking = baking
	_gizmos.undo = get_undo_redo()
	_overlay.undo = get_undo_redo()
	set_force_draw_over_forwarding_enabled()
	_panel.undo = get_undo_redo()
	add_control_to_bottom_panel(_panel, "AI")
	EditorInterface.get_resource_filesystem().filesystem_changed.connect(_panel.files_changed)
	add_export_plugin(_export)
	add_debugger_plugin(_debugger)
	_debugger.running_changed.connect(_panel.set_running)
	_panel.live_wished.connect(_show_live)
	_panel.live_followed.connect(_debugger.follow)
	_debugger.returned.connect(_panel.leave_live)
	_remote.selected.connect(_debugger.follow)
	add_inspector_plugin(_remote)
	add_inspector_plugin(_controls)
	add_node_3d_gizmo_plugin(_gizmos)
	for changed: Signal in _changes():
		changed.connect(_changed)
	scene_changed.connect(_scene_changed)
	EditorInterface.get_selection().selection_changed.connect(_selection_changed)


func _exit_tree() -> void:
	_debugger.close()
	remove_debugger_plugin(_debugger)
	EditorInterface.get_selection().selection_changed.disconnect(_selection_changed)
	scene_changed.disconnect(_scene_changed)
	for changed: Signal in _changes():
		changed.disconnect(_changed)
	remove_node_3d_gizmo_plugin(_gizmos)
	remove_inspector_plugin(_controls)
	remove_inspector_plugin(_remote)
	EditorInterface.get_resource_filesystem().filesystem_changed.disconnect(_panel.files_changed)
	remove_control_from_bottom_panel(_panel)
	_panel.queue_free()
	_controls.baking.cancel()
	_controls.baking.queue_free()
	remove_export_plugin(_export)
	remove_tool_menu_item(RELOAD)
	remove_tool_menu_item(WELCOME)
	_first_page.queue_free()


## Reload Python, unless that would take the classes of nodes in open scenes away.
func _reload() -> void:
	if not ClassDB.class_exists("AIReload") or ClassDB.instantiate("AIReload").call("can_reload"):
		GDExtensionManager.reload_extension(EXTENSION)
	else:
		EditorInterface.get_editor_toaster().push_toast(NOT_RELOADED, EditorToaster.SEVERITY_ERROR)


## Show the panel of the running game in the bottom panel, or put it back into the debugger.
func _show_live(is_on: bool, place: Container) -> void:
	if is_on:
		_debugger.lend(place)
	else:
		_debugger.take_back()


func _handles(object: Object) -> bool:
	return _overlay.is_drawn(object) or _squads.is_drawn(object) or AIPanel.is_root(object)


func _edit(object: Object) -> void:
	_overlay.show(object if _overlay.is_drawn(object) else null)
	_squads.show(object)
	if AIPanel.is_root(object):
		make_bottom_panel_item_visible(_panel)
	update_overlays()


func _forward_canvas_draw_over_viewport(overlay: Control) -> void:
	_overlay.draw(overlay)
	_squads.draw_flat(overlay, EditorInterface.get_editor_viewport_2d().global_canvas_transform)


func _forward_canvas_force_draw_over_viewport(overlay: Control) -> void:
	_overlay.draw_always(overlay, EditorInterface.get_edited_scene_root())


func _forward_3d_draw_over_viewport(overlay: Control) -> void:
	_squads.draw_solid(overlay, EditorInterface.get_editor_viewport_3d(0).get_camera_3d())


func _forward_canvas_gui_input(event: InputEvent) -> bool:
	var was_for_a_handle := _overlay.input(event)
	if was_for_a_handle:
		update_overlays()
	return was_for_a_handle


func _changes() -> Array[Signal]:
	return [get_undo_redo().version_changed, get_undo_redo().history_changed]


## Warnings and drawings depend on other nodes, so any change of the scene may change them.
func _changed() -> void:
	if not _is_stale:
		_is_stale = true
		_ask_anew.call_deferred()


func _ask_anew() -> void:
	_is_stale = false
	update_overlays()
	_panel.refresh()
	var root := EditorInterface.get_edited_scene_root()
	_warnings.ask(root)
	if root != null:
		for node: Node in [root] + root.find_children("*", "Node3D", true, false):
			if node is Node3D and _gizmos.is_drawn(node):
				node.update_gizmos()


func _scene_changed(_root: Node) -> void:
	_warnings.forget()
	_changed()


## Cones and handles are drawn for selected nodes only.
func _selection_changed() -> void:
	var selected := EditorInterface.get_selection().get_selected_nodes()
	for node: Node in _shown + selected:
		if is_instance_valid(node) and node is Node3D and node.has_method(SenseGizmos.DRAWING):
			node.update_gizmos()
	_shown.assign(selected)
	_panel.follow(selected[0] if not selected.is_empty() else null)
