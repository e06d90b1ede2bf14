@tool
extends VBoxContainer
## The button in the inspector of a SenseGraphBaker, and how far it has come.

const Baking := preload("sense_graph_baking.gd")

var baking: Baking
var baker: Node

var _button := Button.new()
var _bar := ProgressBar.new()
var _text := Label.new()


func _ready() -> void:
	_button.text = "Bake sense graph"
	_button.tooltip_text = "Make regions and portals of the navigation mesh and rays. What was made by hand stays."
	_button.pressed.connect(_pressed)
	_bar.max_value = 1.0
	_text.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	for one: Control in [_button, _bar, _text]:
		add_child(one)
	baking.told.connect(_told)
	_bar.visible = baking.baker == baker
	_text.visible = false


func _pressed() -> void:
	if baking.baker == baker:
		baking.cancel()
	else:
		baking.begin(baker)


func _told(of: Node, share: float, text: String) -> void:
	if of != baker:
		return
	_bar.visible = share >= 0.0 and share < 1.0
	_bar.value = share
	_button.text = "Cancel baking" if _bar.visible else "Bake sense graph"
	_text.visible = not text.is_empty()
	_text.text = text
