extends "guard_habit.gd"
## Run after whoever is seen, and by ear while they are loud enough.

@export_range(0.5, 8.0, 0.1, "suffix:m/s") var speed := 3.8
@export_range(0.2, 2.0, 0.1, "suffix:m") var reach := 0.8


func _can_activate() -> bool:
	return guard.alertness == Guard.ALERT and guard.sees_target()


func _tick(_elapsed_s: float) -> int:
	if guard.target == null:
		return STATUS_FAILED
	if guard.is_near(guard.target.global_position, reach) and guard.sees_target():
		guard.caught.emit(guard.target)
		return STATUS_SUCCEEDED
	guard.walk_to(guard.suspicion, speed)
	return STATUS_RUNNING


func _exit() -> void:
	guard.stand()
