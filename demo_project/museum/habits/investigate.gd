extends "destination_habit.gd"
## Go and look at the place of a noise or a glimpse; a newer one changes the way.


func _can_activate() -> bool:
	return guard.suspicion != Guard.NOWHERE


func _tick(_elapsed_s: float) -> int:
	return STATUS_RUNNING if _can_activate() else STATUS_SUCCEEDED


func destination() -> Vector3:
	return guard.suspicion


func _on_done() -> void:
	guard.suspicion = Guard.NOWHERE
