extends "guard_habit.gd"
## Run after whoever is seen, and by ear while they are loud enough; its condition is in the inspector.

@export_range(0.5, 8.0, 0.1, "suffix:m/s") var speed := 3.8
@export_range(0.2, 2.0, 0.1, "suffix:m") var reach := 0.8


func _tick(_elapsed_s: float) -> int:
	var tree := get_habit_tree()
	var target: Node3D = tree.get_value("target")
	if target == null:
		return STATUS_FAILED
	if guard.is_near(target.global_position, reach) and tree.get_value("is_in_view"):
		guard.caught.emit(target)
		return STATUS_SUCCEEDED
	guard.walk_to(tree.get_value("target_position"), speed)
	return STATUS_RUNNING


func _exit() -> void:
	guard.stand()
