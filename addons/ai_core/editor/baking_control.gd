@tool
extends VBoxContainer
## The button and the progress bar in the inspector of a SenseGraphBaker or CoverMap.

const Baking := preload("sense_graph_baking.gd")

var baking: Baking
var baker: Node

var _button := Button.new()
var _bar := ProgressBar.new()
var _text := Label.new()
var _label := ""


func _ready() -> void:
	var is_cover := &"baked" in baker
	_label = "Bake cover" if is_cover else "Bake sense graph"
	_button.text = _label
	_button.tooltip_text = (
		"Find the cover spots along walls by ray casts; they are saved with the scene." if is_cover
		else "Create regions and portals from the navigation mesh and ray casts. Those made by hand stay.")
	_button.pressed.connect(_pressed)
	_bar.max_value = 1.0
	_text.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	for one: Control in [_button, _bar, _text]:
		add_child(one)
	baking.progressed.connect(_on_progressed)
	_bar.visible = baking.baker == baker
	_text.visible = false


func _pressed() -> void:
	if baking.baker == baker:
		baking.cancel()
	else:
		baking.begin(baker)


func _on_progressed(of: Node, share: float, text: String) -> void:
	if of != baker:
		return
	_bar.visible = share >= 0.0 and share < 1.0
	_bar.value = share
	_button.text = "Cancel baking" if _bar.visible else _label
	_text.visible = not text.is_empty()
	_text.text = text
