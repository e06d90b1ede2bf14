extends Node3D
## Rooms in a row, with an intruder that walks around in each; the base of all museums.

const ROOM_M := 16.0
const GUARDS_PER_ROOM := 10
const INTRUDER_LAP_S := 8.0
const STEP_EVERY_S := 0.5
const STEP_STRENGTH := 3.0
const EYES_M := 1.6

## To set before it enters the tree.
var guard_count := 10

var intruders: Array[Node3D] = []
var _seconds := 0.0
var _next_step_s := 0.0


func room_count() -> int:
	return ceili(guard_count / float(GUARDS_PER_ROOM))


func room_centre(room: int) -> Vector3:
	return Vector3(room * ROOM_M, 0.0, 0.0)


## Where guard i stands at first: on a ring in its room.
func post(i: int) -> Vector3:
	var angle := TAU * (i % GUARDS_PER_ROOM) / GUARDS_PER_ROOM
	return room_centre(i / GUARDS_PER_ROOM) + Vector3(cos(angle), 0.0, sin(angle)) * ROOM_M * 0.35


func build() -> void:
	for room in room_count():
		_add_wall(room_centre(room) + Vector3(ROOM_M / 2, 1.2, 0), Vector3(0.3, 2.4, ROOM_M))
		_add_wall(room_centre(room) + Vector3(0, 1.2, ROOM_M / 4), Vector3(3.0, 2.4, 0.3))
		_add_wall(room_centre(room) + Vector3(0, 1.2, -ROOM_M / 4), Vector3(3.0, 2.4, 0.3))
		var intruder := Node3D.new()
		add_child(intruder)
		intruders.append(intruder)
	move_intruders(0.0)


func move_intruders(delta_s: float) -> void:
	_seconds += delta_s
	for room in intruders.size():
		var angle := TAU * (_seconds / INTRUDER_LAP_S + room * 0.1)
		intruders[room].position = room_centre(room) + Vector3(cos(angle), 1.0 / 5.0, sin(angle)) * 5.0


## Returns whether the intruders make an audible step in this frame.
func is_step() -> bool:
	if _seconds < _next_step_s:
		return false
	_next_step_s = _seconds + STEP_EVERY_S
	return true


func _add_wall(centre: Vector3, size: Vector3) -> void:
	var body := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	(shape.shape as BoxShape3D).size = size
	body.add_child(shape)
	body.position = centre
	add_child(body)
