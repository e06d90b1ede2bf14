extends Node3D
## A guard of ours: its sensor writes to the blackboard of its habit tree, and its habits read that.

var sensor := Sensor3D.new()
var tree: HabitTree
var home := Vector3.ZERO


func ever_saw() -> bool:
	return tree.get_value("last_seen_position") != null


func ever_heard() -> bool:
	return tree.get_value("last_heard_position") != null


func walk_to(place: Vector3, speed: float, elapsed_s: float) -> bool:
	var offset := place - global_position
	offset.y = 0.0
	if offset.length() < 0.3:
		return true
	position += offset.limit_length(speed * elapsed_s)
	rotation.y = atan2(-offset.x, -offset.z)
	return false
