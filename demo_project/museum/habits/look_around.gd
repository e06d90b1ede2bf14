extends "guard_habit.gd"
## Stand and look to one side and the other.

@export_range(0.1, 20.0, 0.1, "suffix:s") var duration_s := 2.0
@export_range(0.0, 180.0, 1.0, "radians_as_degrees") var sweep := deg_to_rad(80.0)

var _ahead := 0.0


func _enter() -> void:
	_ahead = guard.rotation.y


func _tick(_elapsed_s: float) -> int:
	var share := get_time_in_habit() / duration_s
	guard.look_to_yaw(_ahead + sweep * sin(share * TAU))
	return STATUS_SUCCEEDED if share >= 1.0 else STATUS_RUNNING


func _save_state() -> Variant:
	return _ahead


func _load_state(state: Variant) -> void:
	_ahead = state
