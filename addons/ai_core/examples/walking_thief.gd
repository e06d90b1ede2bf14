extends Node3D
## Walks around the level and steps loudly in the gallery; the guard shall notice.

const CORNERS: Array[Vector3] = [Vector3(0, 0, 9), Vector3(9, 0, 3), Vector3(0, 0, -6), Vector3(-9, 0, 3)]
const SPEED := 3.0

var _next := 1
var _seconds_to_step := 0.0


func _physics_process(delta: float) -> void:
	position = position.move_toward(CORNERS[_next], SPEED * delta)
	if position.is_equal_approx(CORNERS[_next]):
		_next = (_next + 1) % CORNERS.size()
	_seconds_to_step -= delta
	if _seconds_to_step <= 0.0:
		_seconds_to_step = 1.0
		$Source.emit("hearing", 0.6)
