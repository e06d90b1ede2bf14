@tool
extends EditorInspectorPlugin
## Hides properties that do not apply, by what others are set to; each node written in Python says which.

const HIDDEN := &"_get_hidden_properties"

var _hidden: PackedStringArray


func _can_handle(object: Object) -> bool:
	return object.has_method(HIDDEN)


func _parse_begin(object: Object) -> void:
	_hidden = object.call(HIDDEN)


func _parse_property(
		_object: Object, _type: Variant.Type, name: String, _hint: PropertyHint, _hint_text: String,
		_usage: int, _wide: bool) -> bool:
	return name in _hidden
