extends Node3D
## Turns to a new direction when it thinks, and walks on; how often it thinks depends on the camera.

var _direction := Vector3.FORWARD


## Called by the AIBehavior below it, with the true time since the last call.
func think(_elapsed: float) -> void:
	_direction = Vector3.FORWARD.rotated(Vector3.UP, randf() * TAU)
	$Look.scale.y = 1.3 if $Look.scale.y == 1.0 else 1.0


func _process(delta: float) -> void:
	position += _direction * delta
