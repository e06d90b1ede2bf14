@tool
extends RefCounted
## Changes of the edited scene that can be undone: nodes are added, moved, wrapped, duplicated, renamed and deleted.
##
## A move or a new name also changes the NodePath properties of the scene that refer to the nodes.

## Undo history of the editor.
var undo: EditorUndoRedoManager


## Whether the edited scene itself holds a node; nodes of an instanced scene are edited in that scene.
static func is_editable(node: Node) -> bool:
	var scene := EditorInterface.get_edited_scene_root()
	return node != null and scene != null and (node == scene or node.owner == scene)


## Add a node, and all nodes below it, as the child of `parent` at a position among its children; -1 is the last.
func add(node: Node, parent: Node, index := -1) -> void:
	node.name = _free_name(parent, node.name, [])
	undo.create_action("Add %s" % node.name, UndoRedo.MERGE_DISABLE, parent)
	_do_add(node, parent, index)
	undo.commit_action()


## Move nodes below `parent`, before the child that is at `index` now; -1 is the end.
func move(nodes: Array[Node], parent: Node, index := -1) -> void:
	var moved := _outermost(nodes)
	if moved.is_empty() or moved.any(func(one: Node) -> bool: return one == parent or one.is_ancestor_of(parent)):
		return
	_move("Move %s" % _title(moved), moved, parent, index, null)


## Insert a new node at the place of the first of several siblings, and move them below it.
func wrap(nodes: Array[Node], wrapper: Node) -> void:
	var moved := _outermost(nodes)
	var parent := moved[0].get_parent()
	wrapper.name = _free_name(parent, wrapper.name, [])
	_move("Wrap %s" % _title(moved), moved, wrapper, -1, wrapper)


## Delete nodes with all nodes below them.
func remove(nodes: Array[Node]) -> void:
	var removed := _outermost(nodes)
	undo.create_action("Delete %s" % _title(removed), UndoRedo.MERGE_DISABLE, removed[0].get_parent())
	for node: Node in removed:
		undo.add_do_method(node.get_parent(), &"remove_child", node)
	for node: Node in removed:
		_undo_removal(node)
		undo.add_undo_reference(node)
	undo.commit_action()


## Put a copy of each node behind it; returns the copies.
func duplicate(nodes: Array[Node]) -> Array[Node]:
	var copies: Array[Node] = []
	var originals := _outermost(nodes)
	undo.create_action("Duplicate %s" % _title(originals), UndoRedo.MERGE_DISABLE, originals[0].get_parent())
	for node: Node in originals:
		var copy := node.duplicate(
			Node.DUPLICATE_SIGNALS | Node.DUPLICATE_GROUPS | Node.DUPLICATE_SCRIPTS | Node.DUPLICATE_USE_INSTANTIATION)
		copy.name = _free_name(node.get_parent(), node.name, [])
		_do_add(copy, node.get_parent(), node.get_index() + 1, true)    # the next copy counts this one
		undo.add_undo_method(node.get_parent(), &"remove_child", copy)
		copies.append(copy)
	undo.commit_action(false)
	return copies


func rename(node: Node, wanted: String) -> void:
	var name := wanted.validate_node_name().strip_edges()
	if name.is_empty() or name == node.name:
		return
	var before := node.name
	var references := _references([node])
	node.name = _free_name(node.get_parent(), name, [node])
	undo.create_action("Rename %s" % before, UndoRedo.MERGE_DISABLE, node)
	undo.add_do_property(node, &"name", node.name)
	undo.add_undo_property(node, &"name", before)
	_fix(references)
	undo.commit_action(false)


func set_value(object: Object, property: StringName, value: Variant) -> void:
	undo.create_action("Set %s" % property, UndoRedo.MERGE_ENDS, object)
	undo.add_do_property(object, property, value)
	undo.add_undo_property(object, property, object.get(property))
	undo.commit_action()


## Store the place of a node in a chart with the scene; places of one drag are one action.
func set_place(node: Node, place: Vector2, key: StringName) -> void:
	undo.create_action("Move %s in the chart" % node.name, UndoRedo.MERGE_ENDS, node)
	undo.add_do_method(node, &"set_meta", key, place)
	if node.has_meta(key):
		undo.add_undo_method(node, &"set_meta", key, node.get_meta(key))
	else:
		undo.add_undo_method(node, &"remove_meta", key)
	undo.commit_action()


## The change is made at once, so that new paths can be read from the scene, and then recorded as done.
func _move(title: String, moved: Array[Node], parent: Node, index: int, wrapper: Node) -> void:
	undo.create_action(title, UndoRedo.MERGE_DISABLE, moved[0].get_parent())
	var references := _references(moved)
	var owned := {}
	for node: Node in moved:
		owned[node] = _owned_below(node)
	var is_before := func(one: Node) -> bool: return one.get_parent() == parent and one.get_index() < index
	var at := index if index >= 0 else parent.get_child_count()
	at -= moved.filter(is_before if index >= 0 else func(one: Node) -> bool: return one.get_parent() == parent).size()
	if wrapper != null:
		undo.add_undo_method(moved[0].get_parent(), &"remove_child", wrapper)
	var backward := moved.duplicate()
	backward.sort_custom(func(one: Node, other: Node) -> bool: return one.get_index() < other.get_index())
	for node: Node in moved:
		undo.add_undo_method(parent, &"remove_child", node)
	for node: Node in backward:
		_undo_removal(node)
	if wrapper != null:
		_do_add(wrapper, moved[0].get_parent(), moved[0].get_index(), true)
	for node: Node in moved:
		if node.get_parent() != parent:
			_rename_for(parent, node, moved)
		undo.add_do_method(node.get_parent(), &"remove_child", node)
		node.get_parent().remove_child(node)
	for node: Node in moved:
		undo.add_do_method(parent, &"add_child", node)
		parent.add_child(node)
		undo.add_do_method(parent, &"move_child", node, at)
		parent.move_child(node, at)
		for one: Node in owned[node]:
			undo.add_do_method(one, &"set_owner", owned[node][one])
			one.owner = owned[node][one]
		at += 1
	_fix(references)
	undo.commit_action(false)


## Give a node a name that is free below its parent and below another; the old name comes back with the old parent.
func _rename_for(parent: Node, node: Node, moved: Array[Node]) -> void:
	var wanted := _free_name(parent, node.name, moved)
	if wanted == node.name:
		return
	wanted = _free_name(node.get_parent(), wanted, [node])
	undo.add_do_property(node, &"name", wanted)
	undo.add_undo_property(node, &"name", node.name)
	node.name = wanted


## Record, and with `is_now` also make, the addition of a node to the scene.
func _do_add(node: Node, parent: Node, index: int, is_now := false) -> void:
	var scene := EditorInterface.get_edited_scene_root()
	var at := index if index >= 0 else parent.get_child_count()
	var owned: Array[Node] = [node]
	if node.scene_file_path.is_empty():
		owned.append_array(node.find_children("*", "", true, false))
	undo.add_do_method(parent, &"add_child", node)
	undo.add_do_method(parent, &"move_child", node, at)
	for one: Node in owned:
		undo.add_do_method(one, &"set_owner", scene)
	undo.add_do_reference(node)
	if is_now:
		parent.add_child(node)
		parent.move_child(node, at)
		for one: Node in owned:
			one.owner = scene
	else:
		undo.add_undo_method(parent, &"remove_child", node)


func _undo_removal(node: Node) -> void:
	undo.add_undo_method(node.get_parent(), &"add_child", node)
	undo.add_undo_method(node.get_parent(), &"move_child", node, node.get_index())
	var owned := _owned_below(node)
	for one: Node in owned:
		undo.add_undo_method(one, &"set_owner", owned[one])


## The owner of a node, and of each node below it.
func _owned_below(node: Node) -> Dictionary:
	var owned := {node: node.owner}
	for one: Node in node.find_children("*", "", true, false):
		if one.owner != null:
			owned[one] = one.owner
	return owned


## Nodes without those that are below others of them, in the order of the scene.
func _outermost(nodes: Array[Node]) -> Array[Node]:
	var found: Array[Node] = []
	for node: Node in nodes:
		var is_inside := nodes.any(func(other: Node) -> bool: return other.is_ancestor_of(node))
		if not is_inside and is_editable(node) and node != EditorInterface.get_edited_scene_root():
			found.append(node)
	found.sort_custom(func(one: Node, other: Node) -> bool: return other.is_greater_than(one))
	return found


## NodePath properties of the scene that lead to, or from, nodes that will have another path: [node, name, target].
func _references(changing: Array) -> Array[Array]:
	var found: Array[Array] = []
	var scene := EditorInterface.get_edited_scene_root()
	for node: Node in [scene] + scene.find_children("*", "", true, false):
		var moves := changing.any(func(one: Node) -> bool: return one == node or one.is_ancestor_of(node))
		for property: Dictionary in node.get_property_list():
			if property.type != TYPE_NODE_PATH or not property.usage & PROPERTY_USAGE_STORAGE:
				continue
			var path: NodePath = node.get(property.name)
			var target := node.get_node_or_null(path) if not path.is_empty() else null
			if target == null or path.is_absolute():
				continue
			if moves or changing.any(func(one: Node) -> bool: return one == target or one.is_ancestor_of(target)):
				found.append([node, property.name, target])
	return found


## Record and set the paths that references have after a change that is made.
func _fix(references: Array[Array]) -> void:
	for reference: Array in references:
		var node: Node = reference[0]
		var before: NodePath = node.get(reference[1])
		var now := NodePath(String(node.get_path_to(reference[2])) + _subnames(before))
		if now != before and _follows(node, reference[1], before):
			undo.add_do_property(node, reference[1], now)
			undo.add_undo_property(node, reference[1], before)
			node.set(reference[1], now)


## A path such as ".." that is the default stays: it means the parent, whichever node that is.
func _follows(node: Node, property: StringName, path: NodePath) -> bool:
	return path != ClassDB.class_get_property_default_value(node.get_class(), property)


func _subnames(path: NodePath) -> String:
	return "" if path.get_subname_count() == 0 else ":" + String(path.get_concatenated_subnames())


## The name itself, or with the first number that no child of `parent` has.
func _free_name(parent: Node, wanted: String, ignored: Array) -> String:
	var taken := {}
	for child: Node in parent.get_children() if parent != null else []:
		if not child in ignored:
			taken[String(child.name)] = true
	if not wanted in taken:
		return wanted
	var stem := wanted.rstrip("0123456789")
	var number := maxi(2, wanted.trim_prefix(stem).to_int() + 1)
	while "%s%d" % [stem, number] in taken:
		number += 1
	return "%s%d" % [stem, number]


func _title(nodes: Array[Node]) -> String:
	return String(nodes[0].name) if nodes.size() == 1 else "%d nodes" % nodes.size()
