extends "guard_habit.gd"
## Walk occlusion two places near home, for ever.

var _goes_left := false


func _tick(elapsed_s: float) -> int:
	if guard.walk_to(guard.home + Vector3(-1.5 if _goes_left else 1.5, 0, 0), 1.6, elapsed_s):
		_goes_left = not _goes_left
	return STATUS_RUNNING
