extends "guard_habit.gd"
## Runs after the target while the guard is alert.


func _tick(elapsed_s: float) -> int:
	walk_to_value("target_position", 3.5, elapsed_s)
	return STATUS_RUNNING
