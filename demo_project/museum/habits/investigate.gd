extends "destination_habit.gd"
## Go and look at the place of a noise, a glimpse or a loss; a newer one changes the way.


func _tick(_elapsed_s: float) -> int:
	return STATUS_RUNNING if guard.suspicion() != null else STATUS_SUCCEEDED


func destination() -> Vector3:
	var place: Variant = guard.suspicion()
	return guard.global_position if place == null else place


func _on_done() -> void:
	get_habit_tree().set_value("last_known_position", null)
