@tool
extends EditorInspectorPlugin
## Adds buttons and reports above the properties of nodes in the inspector.

const Baking := preload("sense_graph_baking.gd")
const BakingControl := preload("baking_control.gd")
const OUTLOOK := &"get_phase_outlook"

var baking: Baking


func _can_handle(object: Object) -> bool:
	return object.has_method(Baking.BEGIN) or object.has_method(OUTLOOK)


func _parse_begin(object: Object) -> void:
	if object.has_method(Baking.BEGIN):
		var control := BakingControl.new()
		control.baking = baking
		control.baker = object
		add_custom_control(control)
	if object.has_method(OUTLOOK):
		_add_outlook(object)


func _add_outlook(scheduler: Object) -> void:
	var button := Button.new()
	var text := Label.new()
	button.text = "Phase quality"
	button.tooltip_text = "How evenly the nodes of this scene will be spread over frames."
	text.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	text.visible = false
	button.pressed.connect(func() -> void:
		text.text = scheduler.call(OUTLOOK)
		text.visible = true)
	add_custom_control(button)
	add_custom_control(text)
