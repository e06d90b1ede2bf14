@tool
extends AcceptDialog
## The page that opens when the plugin is enabled, and from Project > Tools: add a guard, open an example.

const EXAMPLES := {
	"A guard that patrols, hears, chases and searches (3D)": "res://addons/ai_core/examples/guard_level_3d.tscn",
	"A squad that goes through a door in formation": "res://addons/ai_core/examples/squad_3d.tscn",
	"A thousand villagers within a budget": "res://addons/ai_core/examples/villagers_3d.tscn",
	"The guard alone, to copy (3D)": "res://addons/ai_core/examples/guard_3d.tscn",
	"The guard alone, to copy (2D)": "res://addons/ai_core/examples/guard_2d.tscn",
}
const README := "res://addons/ai_core/README.md"

## Undo history of the editor.
var undo: EditorUndoRedoManager = null

var _result := Label.new()


func _init() -> void:
	title = "ai_core"
	ok_button_text = "Close"
	var page := VBoxContainer.new()
	page.custom_minimum_size = Vector2(460, 0)
	var text := Label.new()
	text.text = "Characters that see, hear, remember and decide, within a time budget per frame."
	text.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	page.add_child(text)
	page.add_child(_button("Add a guard to this scene", _add_guard))
	page.add_child(HSeparator.new())
	for name: String in EXAMPLES:
		page.add_child(_button(name, _open.bind(EXAMPLES[name])))
	page.add_child(HSeparator.new())
	page.add_child(_button("Read me: first steps, updating, removing", _read))
	_result.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	page.add_child(_result)
	add_child(page)


## Add a guard to a scene, with the scheduler and the senses that it needs unless they are there; return it.
## In a 2D scene it is the 2D guard; a scene without a root gets none.
func add_guard(root: Node) -> Node:
	if root == null:
		_result.text = "Open or create a scene first."
		return null
	var is_flat := root is Node2D or root is Control
	var path := "res://addons/ai_core/examples/guard_%s.tscn" % ("2d" if is_flat else "3d")
	var guard := (load(path) as PackedScene).instantiate(PackedScene.GEN_EDIT_STATE_INSTANCE)
	undo.create_action("Add a Guard", UndoRedo.MERGE_DISABLE, root)
	if not _has(root, "AIScheduler"):
		_put(root, ClassDB.instantiate("AIScheduler"), "AI", root)
	if not _has(root, "SenseManager"):
		var senses: Node = ClassDB.instantiate("SenseManager")
		if is_flat:
			senses.set("dimensions", 1)
		_put(root, senses, "Senses", root)
	_put(root, guard, "Guard", root)
	undo.commit_action()
	EditorInterface.edit_node(guard)
	_result.text = ("Added %s. Put a SenseSource%s below what it shall notice. For a patrol, right-click %s, enable"
		+ " Editable Children, and set the route of its Patrol.") % [guard.name, "2D" if is_flat else "3D", guard.name]
	return guard


func _put(parent: Node, node: Node, wanted: String, root: Node) -> void:
	node.name = wanted
	undo.add_do_method(parent, "add_child", node, true)
	undo.add_do_property(node, "owner", root)
	undo.add_do_reference(node)
	undo.add_undo_method(parent, "remove_child", node)


func _has(root: Node, kind: String) -> bool:
	return root.is_class(kind) or not root.find_children("*", kind, true, false).is_empty()


func _button(text: String, pressed: Callable) -> Button:
	var button := Button.new()
	button.text = text
	button.alignment = HORIZONTAL_ALIGNMENT_LEFT
	button.pressed.connect(pressed)
	return button


func _add_guard() -> void:
	add_guard(EditorInterface.get_edited_scene_root())


func _open(path: String) -> void:
	EditorInterface.open_scene_from_path(path)
	_result.text = "Opened %s. Press F6 to run it." % path.get_file()


func _read() -> void:
	OS.shell_open(ProjectSettings.globalize_path(README))
