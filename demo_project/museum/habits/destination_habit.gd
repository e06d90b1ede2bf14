extends "guard_habit.gd"
## A habit with a destination: below it GoThere and, once there, LookAround.


## Where to go; called in every tick, so it may move.
func destination() -> Vector3:
	return guard.global_position


## LookAround below ended; connected in the scene.
func _on_looked_around(status: int) -> void:
	if status == STATUS_SUCCEEDED:
		_on_done()


## The place was reached and looked at.
func _on_done() -> void:
	pass
