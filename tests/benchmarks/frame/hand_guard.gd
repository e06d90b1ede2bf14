extends "guard_beliefs_by_hand.gd"
## Decides by an if chain in every third frame.

const THINKS_EVERY := 3

var home := Vector3.ZERO
var phase := 0
var _elapsed_s := 0.0
var _goes_left := false
var _searching_s := 0.0


func decide(delta_s: float) -> void:
	_elapsed_s += delta_s
	phase = (phase + 1) % THINKS_EVERY
	if phase != 0:
		return
	if alertness == 2 and target != null:
		walk_to(suspicion, 3.5)
	elif has_lost:
		_go_and_look(3.0, 2.0)
	elif suspicion != NOWHERE:
		_go_and_look(2.2, 3.0)
	elif walk_to(home + Vector3(-1.5 if _goes_left else 1.5, 0, 0), 1.6):
		_goes_left = not _goes_left
	_elapsed_s = 0.0


func walk_to(place: Vector3, speed: float) -> bool:
	var way := place - global_position
	way.y = 0.0
	if way.length() < 0.3:
		return true
	position += way.limit_length(speed * _elapsed_s)
	rotation.y = atan2(-way.x, -way.z)
	return false


func _go_and_look(speed: float, longest_s: float) -> void:
	_searching_s += _elapsed_s
	if walk_to(suspicion, speed) or _searching_s >= longest_s:
		has_lost = false
		suspicion = NOWHERE
		_searching_s = 0.0
