@tool
extends EditorPlugin
## What the editor shows of ai_core's nodes beyond their settings; the nodes know how, this file asks them.

const ApplyingProperties := preload("applying_properties.gd")
const FreshWarnings := preload("fresh_warnings.gd")
const NodeControls := preload("node_controls.gd")
const SenseGizmos := preload("sense_gizmos.gd")
const SenseGraphBaking := preload("sense_graph_baking.gd")
const SenseOverlay2D := preload("sense_overlay_2d.gd")

var _inspector := ApplyingProperties.new()
var _controls := NodeControls.new()
var _warnings := FreshWarnings.new()
var _gizmos := SenseGizmos.new()
var _overlay := SenseOverlay2D.new()
var _shown: Array[Node] = []
var _is_stale := false


func _enter_tree() -> void:
	var baking := SenseGraphBaking.new()
	baking.undo = get_undo_redo()
	add_child(baking)
	add_child(_warnings)
	_controls.baking = baking
	_gizmos.undo = get_undo_redo()
	_overlay.undo = get_undo_redo()
	add_inspector_plugin(_inspector)
	add_inspector_plugin(_controls)
	add_node_3d_gizmo_plugin(_gizmos)
	for changed: Signal in _changes():
		changed.connect(_changed)
	scene_changed.connect(_scene_changed)
	EditorInterface.get_selection().selection_changed.connect(_selection_changed)


func _exit_tree() -> void:
	EditorInterface.get_selection().selection_changed.disconnect(_selection_changed)
	scene_changed.disconnect(_scene_changed)
	for changed: Signal in _changes():
		changed.disconnect(_changed)
	remove_node_3d_gizmo_plugin(_gizmos)
	remove_inspector_plugin(_controls)
	_controls.baking.cancel()
	_controls.baking.queue_free()
	remove_inspector_plugin(_inspector)


func _handles(object: Object) -> bool:
	return _overlay.is_drawn(object)


func _edit(object: Object) -> void:
	_overlay.show(object)
	update_overlays()


func _forward_canvas_draw_over_viewport(overlay: Control) -> void:
	_overlay.draw(overlay)


func _forward_canvas_gui_input(event: InputEvent) -> bool:
	var was_for_a_handle := _overlay.input(event)
	if was_for_a_handle:
		update_overlays()
	return was_for_a_handle


func _changes() -> Array[Signal]:
	return [get_undo_redo().version_changed, get_undo_redo().history_changed]


## Warnings speak of neighbors, and so do drawings; so any change of the scene may change them.
func _changed() -> void:
	if not _is_stale:
		_is_stale = true
		_ask_anew.call_deferred()


func _ask_anew() -> void:
	_is_stale = false
	update_overlays()
	var root := EditorInterface.get_edited_scene_root()
	_warnings.ask(root)
	if root != null:
		for node: Node3D in root.find_children("*", "Node3D", true, false):
			if _gizmos.is_drawn(node):
				node.update_gizmos()


func _scene_changed(_root: Node) -> void:
	_warnings.forget()
	_changed()


## Cones and handles are drawn of what is selected only.
func _selection_changed() -> void:
	var selected := EditorInterface.get_selection().get_selected_nodes()
	for node: Node in _shown + selected:
		if is_instance_valid(node) and node is Node3D and node.has_method(SenseGizmos.DRAWING):
			node.update_gizmos()
	_shown.assign(selected)
