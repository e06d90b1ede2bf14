extends "guard_habit.gd"
## Goes to where the target was lost.


func _tick(elapsed_s: float) -> int:
	if not walk_to_value("last_known_position", 3.0, elapsed_s) and get_time_in_habit() < 2.0:
		return STATUS_RUNNING
	forget()
	return STATUS_SUCCEEDED
