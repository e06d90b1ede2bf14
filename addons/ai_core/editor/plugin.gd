@tool
extends EditorPlugin
## What the editor shows of ai_core's nodes beyond their settings; the nodes know how, this file asks them.

const ApplyingProperties := preload("applying_properties.gd")

var _inspector := ApplyingProperties.new()
var _is_stale := false


func _enter_tree() -> void:
	add_inspector_plugin(_inspector)
	for changed in [get_undo_redo().version_changed, get_undo_redo().history_changed] as Array[Signal]:
		changed.connect(_let_warnings_be_asked)
	scene_changed.connect(_scene_changed)


func _exit_tree() -> void:
	scene_changed.disconnect(_scene_changed)
	for changed in [get_undo_redo().version_changed, get_undo_redo().history_changed] as Array[Signal]:
		changed.disconnect(_let_warnings_be_asked)
	remove_inspector_plugin(_inspector)


## Warnings speak of neighbors, so any change of the scene may change them.
func _let_warnings_be_asked() -> void:
	if not _is_stale:
		_is_stale = true
		_ask_for_warnings.call_deferred()


func _ask_for_warnings() -> void:
	_is_stale = false
	var root := EditorInterface.get_edited_scene_root()
	if root != null:
		for node: Node in [root] + root.find_children("*", "", true, false):
			if node.has_method(ApplyingProperties.HIDDEN):
				node.update_configuration_warnings()


func _scene_changed(_root: Node) -> void:
	_let_warnings_be_asked()
