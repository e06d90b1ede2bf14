extends "guard_habit.gd"
## Look around where somebody was lost.


func _can_activate() -> bool:
	return guard.has_lost


func _tick(elapsed_s: float) -> int:
	if not guard.walk_to(guard.suspicion, 3.0, elapsed_s) and get_time_in_habit() < 2.0:
		return STATUS_RUNNING
	guard.has_lost = false
	guard.forget_suspicion()
	return STATUS_SUCCEEDED
