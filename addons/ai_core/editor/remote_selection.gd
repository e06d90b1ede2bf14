@tool
extends EditorInspectorPlugin
## Says which node is selected in the remote scene tree: the editor offers it in the inspector, with its path.

signal selected(path: String)

const PATH := "Node/path"


func _can_handle(object: Object) -> bool:
	return object.get_class().begins_with("EditorDebuggerRemoteObject") and object.get(PATH) != null


func _parse_begin(object: Object) -> void:
	selected.emit(str(object.get(PATH)))
