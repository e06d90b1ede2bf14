extends "guard_habit.gd"
## Walks between two places near home, without end.

var _goes_left := false


func _tick(elapsed_s: float) -> int:
	var home: Vector3 = guard.get_parent().position + guard.home
	if guard.walk_to(home + Vector3(-1.5 if _goes_left else 1.5, 0, 0), 1.6, elapsed_s):
		_goes_left = not _goes_left
	return STATUS_RUNNING
