@tool
extends RefCounted
## Draws the slots of the selected squad over the 2D and the 3D editor; the node supplies the lines.

const DRAWING := &"_get_slots_drawing"

var _squad: Node


func is_drawn(object: Object) -> bool:
	return object is Node and object.has_method(DRAWING)


func show(object: Object) -> void:
	_squad = object as Node if is_drawn(object) else null


func draw_flat(overlay: Control, to_screen: Transform2D) -> void:
	_draw(overlay, false, func(point: Vector3) -> Variant: return to_screen * Vector2(point.x, point.y))


func draw_solid(overlay: Control, camera: Camera3D) -> void:
	_draw(overlay, true, func(point: Vector3) -> Variant:
		return null if camera.is_position_behind(point) else camera.unproject_position(point))


func _draw(overlay: Control, is_solid: bool, to_screen: Callable) -> void:
	if not is_instance_valid(_squad) or not _squad.is_inside_tree():
		return
	if is_solid != (_squad.get(&"dimensions") == 0):
		return
	var drawing: Dictionary = _squad.call(DRAWING)
	for color: Color in drawing:
		var points: PackedVector3Array = drawing[color]
		for index in range(0, points.size(), 2):
			var from: Variant = to_screen.call(points[index])
			var to: Variant = to_screen.call(points[index + 1])
			if from != null and to != null:
				overlay.draw_line(from, to, color, 1.5)
