extends "guard_habit.gd"
## Goes to where something was seen or heard.


func _tick(elapsed_s: float) -> int:
	if not walk_to_value("last_known_position", 2.2, elapsed_s) and get_time_in_habit() < 3.0:
		return STATUS_RUNNING
	forget()
	return STATUS_SUCCEEDED
