@tool
extends EditorNode3DGizmoPlugin
## Draws cones, ranges, regions and portals in the 3D editor; each node supplies its lines and handles.

const DRAWING := &"_get_drawing"
const ICONS := "res://addons/ai_core/icons/%s.svg"
const ICON_SIZE := 0.02

var undo: EditorUndoRedoManager

var _made := {}


func _init() -> void:
	create_handle_material("handles")


func _get_gizmo_name() -> String:
	return "AI senses"


func _has_gizmo(node: Node3D) -> bool:
	return node.has_method(DRAWING)


## Cones and ranges are drawn for selected nodes, regions and portals always.
func is_drawn(node: Node3D) -> bool:
	return node.has_method(DRAWING) and (
		node.call(&"_is_always_drawn") or node in EditorInterface.get_selection().get_selected_nodes())


func _redraw(gizmo: EditorNode3DGizmo) -> void:
	gizmo.clear()
	var node := gizmo.get_node_3d()
	var icon := _icon_of(node)
	if icon != null:
		gizmo.add_unscaled_billboard(icon, ICON_SIZE)
	if not is_drawn(node):
		return
	var drawing: Dictionary = node.call(DRAWING)
	for color: Color in drawing:
		gizmo.add_lines(drawing[color], _lines_of(color, gizmo))
		if node.call(&"_is_always_drawn"):
			gizmo.add_collision_segments(drawing[color])
	if node in EditorInterface.get_selection().get_selected_nodes():
		var places := PackedVector3Array()
		for handle: Array in node.call(&"_get_handles"):
			places.append(handle[1])
		if not places.is_empty():
			gizmo.add_handles(places, get_material("handles", gizmo), [])


func _get_handle_name(gizmo: EditorNode3DGizmo, id: int, _secondary: bool) -> String:
	return gizmo.get_node_3d().call(&"_get_handles")[id][0]


## Properties that dragging a handle changes: [object, property, value] each.
func _get_handle_value(gizmo: EditorNode3DGizmo, id: int, _secondary: bool) -> Variant:
	var targets: Array = gizmo.get_node_3d().call(&"_get_handles")[id][2]
	return targets.map(func(one: Array) -> Array: return [one[0], one[1], one[0].get(one[1])])


func _set_handle(gizmo: EditorNode3DGizmo, id: int, _secondary: bool, camera: Camera3D, point: Vector2) -> void:
	var node := gizmo.get_node_3d()
	var inverse := node.global_transform.affine_inverse()
	var origin := inverse * camera.project_ray_origin(point)
	var ahead := inverse.basis * camera.project_ray_normal(point)
	node.call(&"_drag_handle", id, origin, ahead)
	node.update_gizmos()


func _commit_handle(
		gizmo: EditorNode3DGizmo, id: int, secondary: bool, restore: Variant, cancel: bool) -> void:
	if cancel:
		for one: Array in restore:
			one[0].set(one[1], one[2])
		return
	undo.create_action("Change %s" % _get_handle_name(gizmo, id, secondary), UndoRedo.MERGE_DISABLE, gizmo.get_node_3d())
	for one: Array in restore:
		undo.add_do_property(one[0], one[1], one[0].get(one[1]))
		undo.add_undo_property(one[0], one[1], one[2])
	undo.commit_action()


func _lines_of(color: Color, gizmo: EditorNode3DGizmo) -> Material:
	var name := color.to_html()
	if not _made.has(name):
		create_material(name, color)
		_made[name] = true
	return get_material(name, gizmo)


func _icon_of(node: Node) -> Material:
	var name := node.get_class()
	if not _made.has(name):
		var path := ICONS % name.to_snake_case()
		_made[name] = ResourceLoader.exists(path)
		if _made[name]:
			create_icon_material(name, load(path))
	return get_material(name) if _made[name] else null
