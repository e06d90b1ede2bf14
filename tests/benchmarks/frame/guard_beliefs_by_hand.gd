extends Node3D
## Sight, hearing, memory and awareness of a guard, each in the shortest code that works.

const NOWHERE := Vector3.INF
const EYES := Vector3(0.0, 1.6, 0.0)
const RANGE_M := 8.0
const NEAR_M := 1.0
const HALF_ANGLE := deg_to_rad(55.0)
const LOSE_AFTER_S := 1.0

var intruders: Array[Node3D] = []
var target: Node3D
var suspicion := NOWHERE
var has_lost := false
var is_in_view := false
var alertness := 0
var ever_saw := false
var ever_heard := false
var _last_seen := NOWHERE
var _unseen_s := 0.0
var _awareness := 0.0
var _query := PhysicsRayQueryParameters3D.new()


func hear(strength: float) -> void:
	for intruder in intruders:
		var distance := intruder.global_position.distance_to(global_position + EYES)
		if distance <= 60.0 and strength * pow(0.9, distance) >= 1.0:
			suspicion = intruder.global_position
			ever_heard = true


func look(space: PhysicsDirectSpaceState3D, delta_s: float) -> void:
	var seen: Node3D = null
	var eyes := global_position + EYES
	var ahead := -global_basis.z
	for intruder in intruders:
		var way := intruder.global_position - eyes
		var distance := way.length()
		if distance > RANGE_M or (distance > NEAR_M and way.angle_to(ahead) > HALF_ANGLE):
			continue
		_query.from = eyes
		_query.to = intruder.global_position
		if space.intersect_ray(_query).is_empty():
			seen = intruder
	_remember(seen, delta_s)


func _remember(seen: Node3D, delta_s: float) -> void:
	is_in_view = seen != null
	if is_in_view:
		target = seen
		suspicion = seen.global_position
		_last_seen = seen.global_position
		_unseen_s = 0.0
		ever_saw = true
		_awareness = minf(_awareness + delta_s, 1.0)
	else:
		_unseen_s += delta_s
		_awareness = maxf(_awareness - 0.2 * delta_s, 0.0)
		if target != null and _unseen_s > LOSE_AFTER_S:
			target = null
			suspicion = _last_seen
			has_lost = true
	alertness = 2 if _awareness >= 1.0 else 1 if _awareness > 0.3 else 0
