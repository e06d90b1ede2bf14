extends "destination_habit.gd"
## Visit the places of the guard's route one after the other, for ever.

var _stop := 0


func destination() -> Vector3:
	return (guard.patrol_route.get_child(_stop) as Node3D).global_position


func _on_done() -> void:
	_stop = (_stop + 1) % guard.patrol_route.get_child_count()


func _save_state() -> Variant:
	return _stop


func _load_state(state: Variant) -> void:
	_stop = state
