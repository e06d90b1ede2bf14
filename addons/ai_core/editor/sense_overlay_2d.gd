@tool
extends RefCounted
## Draws 2D sense nodes over the 2D editor: the selected one with handles, regions and portals always. The node supplies
## lines and positions.

const DRAWING := &"_get_drawing"
const ALWAYS_DRAWN: Array[String] = ["SenseRegion2D", "SensePortal2D"]
const HANDLE_PX := 5.0
const GRIP_PX := 10.0

var undo: EditorUndoRedoManager

var _node: CanvasItem
var _handle := -1
var _before: Array


func show(object: Object) -> void:
	_node = object as CanvasItem
	_handle = -1


func is_drawn(object: Object) -> bool:
	return object is CanvasItem and object.has_method(DRAWING)


func draw(overlay: Control) -> void:
	if not _is_there():
		return
	_draw_lines(overlay, _node)
	for place in _places():
		overlay.draw_circle(place, HANDLE_PX + 1.0, Color.BLACK)
		overlay.draw_circle(place, HANDLE_PX, Color.WHITE)


## Draw the regions and portals of a scene, but for the selected one.
func draw_always(overlay: Control, root: Node) -> void:
	for node in always_drawn(root):
		if node != _node:
			_draw_lines(overlay, node)


func always_drawn(root: Node) -> Array[CanvasItem]:
	var nodes: Array[CanvasItem] = []
	for type in ALWAYS_DRAWN:
		if root:
			nodes.append_array(root.find_children("*", type, true, false))
			if root.is_class(type):
				nodes.append(root)
	return nodes.filter(func(node: CanvasItem) -> bool: return node.is_visible_in_tree())


## Return whether the event was for a handle.
func input(event: InputEvent) -> bool:
	if not _is_there():
		return false
	if event is InputEventMouseButton and event.button_index == MOUSE_BUTTON_LEFT:
		return _grip(event.position) if event.pressed else _let_go()
	if event is InputEventMouseMotion and _handle >= 0:
		var point := _to_screen(_node).affine_inverse() * (event as InputEventMouseMotion).position
		_node.call(&"_drag_handle", _handle, Vector3(point.x, point.y, 1.0), Vector3(0.0, 0.0, -1.0))
		return true
	return false


func _grip(at: Vector2) -> bool:
	var places := _places()
	for index in places.size():
		if places[index].distance_to(at) <= GRIP_PX:
			_handle = index
			var targets: Array = _node.call(&"_get_handles")[index][2]
			_before = targets.map(func(one: Array) -> Array: return [one[0], one[1], one[0].get(one[1])])
			return true
	return false


func _let_go() -> bool:
	if _handle < 0:
		return false
	_handle = -1
	undo.create_action("Change %s" % _before[0][1], UndoRedo.MERGE_DISABLE, _node)
	for one: Array in _before:
		undo.add_do_property(one[0], one[1], one[0].get(one[1]))
		undo.add_undo_property(one[0], one[1], one[2])
	undo.commit_action()
	return true


func _is_there() -> bool:
	return is_instance_valid(_node) and _node.is_inside_tree() and _node.is_visible_in_tree()


func _draw_lines(overlay: Control, node: CanvasItem) -> void:
	var to_screen := _to_screen(node)
	var drawing: Dictionary = node.call(DRAWING)
	for color: Color in drawing:
		var lines := PackedVector2Array()
		for point: Vector3 in drawing[color]:
			lines.append(to_screen * Vector2(point.x, point.y))
		overlay.draw_multiline(lines, color, 1.5)


func _to_screen(node: CanvasItem) -> Transform2D:
	return node.get_viewport_transform() * node.get_global_transform()


func _places() -> PackedVector2Array:
	var places := PackedVector2Array()
	for handle: Array in _node.call(&"_get_handles"):
		places.append(_to_screen(_node) * Vector2(handle[1].x, handle[1].y))
	return places
