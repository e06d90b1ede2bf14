extends "guard_habit.gd"
## Go and look where something was seen or heard.


func _can_activate() -> bool:
	return guard.suspicion != Guard.NOWHERE


func _tick(elapsed_s: float) -> int:
	if not guard.walk_to(guard.suspicion, 2.2, elapsed_s) and get_time_in_habit() < 3.0:
		return STATUS_RUNNING
	guard.forget_suspicion()
	return STATUS_SUCCEEDED
