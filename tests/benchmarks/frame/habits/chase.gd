extends "guard_habit.gd"
## Run after whoever is sensed, once sure of it.


func _can_activate() -> bool:
	return guard.alertness == 2 and guard.target != null


func _tick(elapsed_s: float) -> int:
	if guard.target == null:
		return STATUS_FAILED
	guard.walk_to(guard.suspicion, 3.5, elapsed_s)
	return STATUS_RUNNING
