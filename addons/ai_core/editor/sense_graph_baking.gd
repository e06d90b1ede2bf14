@tool
extends Node
## Bakes a slice per frame while the editor stays responsive; the SenseGraphBaker or CoverMap does the work.

signal progressed(baker: Node, share: float, text: String)

const BEGIN := &"begin_baking"
const SLICE_US := 8000.0
## Baked nodes are marked; nodes made by hand stay.
const BAKED := &"ai_core_baked"

var undo: EditorUndoRedoManager
var baker: Node


func _ready() -> void:
	set_process(false)


func begin(of: Node) -> void:
	cancel()
	var wrong: String = of.call(BEGIN)
	if wrong:
		progressed.emit(of, -1.0, wrong)
		return
	baker = of
	set_process(true)


func cancel() -> void:
	if is_instance_valid(baker):
		baker.call(&"cancel_baking")
		progressed.emit(baker, -1.0, "cancelled; the scene is unchanged")
	baker = null
	set_process(false)


func _process(_delta: float) -> void:
	if not is_instance_valid(baker) or not baker.is_inside_tree():
		baker = null
		set_process(false)
		return
	var share: float = baker.call(&"advance_baking", SLICE_US)
	if share < 1.0:
		progressed.emit(baker, share, baker.call(&"get_baking_stage"))
	if share < 0.0 or share >= 1.0:
		var done := baker
		baker = null
		set_process(false)
		if share >= 1.0:
			progressed.emit(done, 1.0, _finish(done))


## Apply the result as an action that can be undone: baking changes nodes in place, so copies of them are kept.
func _finish(of: Node) -> String:
	if &"baked" in of:
		return _finish_property(of)
	var before := _baked(of).map(func(one: Node) -> Node: return one.duplicate())
	var text: String = of.call(&"finish_baking", EditorInterface.get_edited_scene_root())
	var after := _baked(of)
	undo.create_action("Bake sense graph", UndoRedo.MERGE_DISABLE, of)
	undo.add_do_method(self, &"put", of, after)
	undo.add_undo_method(self, &"put", of, before)
	for one: Node in after:
		undo.add_do_reference(one)
	for one: Node in before:
		undo.add_undo_reference(one)
	undo.commit_action(false)
	return text


## Nodes that keep the whole result in a property need no copies.
func _finish_property(of: Node) -> String:
	var before: Variant = of.get(&"baked")
	var text: String = of.call(&"finish_baking", EditorInterface.get_edited_scene_root())
	undo.create_action("Bake cover", UndoRedo.MERGE_DISABLE, of)
	undo.add_do_property(of, &"baked", of.get(&"baked"))
	undo.add_undo_property(of, &"baked", before)
	undo.commit_action(false)
	return text


func put(of: Node, nodes: Array) -> void:
	for one: Node in _baked(of):
		of.remove_child(one)
	for one: Node in nodes:
		of.add_child(one)
		for below: Node in [one] + one.find_children("*", "", true, false):
			below.owner = EditorInterface.get_edited_scene_root()


func _baked(of: Node) -> Array:
	return of.get_children().filter(func(one: Node) -> bool: return one.has_meta(BAKED))
