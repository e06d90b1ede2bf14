@tool
extends Node
## Updates configuration warnings after the scene has changed, because they depend on other nodes.
## A few nodes per frame; the scene dock is notified only of changes, because its update takes most of the time.

const WARNINGS := &"_get_warnings"
const SLICE_US := 3000

var _waiting: Array[Node] = []
var _known := {}


func _ready() -> void:
	set_process(false)


func ask(scene: Node) -> void:
	_waiting.clear()
	if scene != null:
		_waiting.assign([scene] + scene.find_children("*", "", true, false))
		_waiting.reverse()
	set_process(true)


func _process(_delta: float) -> void:
	var end_us := Time.get_ticks_usec() + SLICE_US
	while not _waiting.is_empty() and Time.get_ticks_usec() < end_us:
		var node: Variant = _waiting.pop_back()
		if is_instance_valid(node) and node.is_inside_tree() and node.has_method(WARNINGS):
			_look_at(node)
	set_process(not _waiting.is_empty())


func _look_at(node: Node) -> void:
	var warnings := "\n".join(node.call(WARNINGS))
	var id := node.get_instance_id()
	if _known.get(id, "") != warnings:
		_known[id] = warnings
		node.update_configuration_warnings()


func forget() -> void:
	_waiting.clear()
	_known.clear()
