extends CharacterBody3D
## The guard of inspector_guard.tscn as a developer writes it: an if chain in every physics frame.

const Beliefs := preload("res://tests/benchmarks/frame/guard_beliefs_by_hand.gd")
const TURN_SPEED := TAU
const REACH_M := 0.5
const AIM_AGAIN_M := 0.25
const WAIT_S := 1.0
const LOOK_S := 1.5
const PLACES := 3
const SEARCH_RADIUS_M := 4.0

var beliefs := Beliefs.new()
var health := 1.0
var radio := Beliefs.NOWHERE
var route: Array[Vector3] = []
var attacks := 0
var _agent := NavigationAgent3D.new()
var _safe := Vector3.ZERO
var _stop := 0
var _waited_s := 0.0
var _attack_in_s := 0.0
var _chase_left_s := 0.0
var _suspect_left_s := 0.0
var _place := 0
var _center := Beliefs.NOWHERE


func _ready() -> void:
	collision_layer = 0
	var shape := CollisionShape3D.new()
	var capsule := CapsuleShape3D.new()
	capsule.radius = 0.35
	capsule.height = 1.8
	shape.shape = capsule
	shape.position.y = 0.9
	add_child(shape)
	add_child(beliefs)
	_agent.avoidance_enabled = true
	_agent.target_desired_distance = REACH_M
	_agent.velocity_computed.connect(func(safe: Vector3) -> void: _safe = safe)
	add_child(_agent)


func decide(delta_s: float) -> void:
	var sees := beliefs.is_in_view
	var is_sure := sees and beliefs.alertness == 2
	_chase_left_s = 1.0 if is_sure else _chase_left_s - delta_s
	_suspect_left_s = 0.5 if sees else _suspect_left_s - delta_s
	_attack_in_s -= delta_s
	if health < 0.2 and beliefs.target != null:
		walk_to(global_position * 2.0 - beliefs.target.global_position, 4.0, delta_s)
	elif is_sure and _flat(beliefs.suspicion - global_position).length() < 1.2:
		_face(beliefs.suspicion, delta_s)
		if _attack_in_s <= 0.0:
			attacks += 1
			_attack_in_s = 1.0
	elif _chase_left_s > 0.0 and beliefs.target != null:
		walk_to(beliefs.suspicion, 3.5, delta_s)
	elif _suspect_left_s > 0.0 and beliefs.target != null:
		_face(beliefs.suspicion, delta_s)
	elif radio != Beliefs.NOWHERE:
		if walk_to(radio, 3.0, delta_s):
			radio = Beliefs.NOWHERE
	elif beliefs.suspicion != Beliefs.NOWHERE:
		_search(delta_s)
	elif walk_to(route[_stop], 1.6, delta_s):
		_waited_s += delta_s
		if _waited_s >= WAIT_S:
			_waited_s = 0.0
			_stop = (_stop + 1) % route.size()


## Walks along the path of the agent; returns true on arrival.
func walk_to(place: Vector3, speed: float, delta_s: float) -> bool:
	if _flat(place - global_position).length() <= REACH_M:
		velocity = Vector3.ZERO
		return true
	if _agent.target_position.distance_to(place) > AIM_AGAIN_M:
		_agent.target_position = place
	var way := _flat(_agent.get_next_path_position() - global_position)
	_agent.velocity = way.normalized() * speed
	velocity = Vector3(_safe.x, velocity.y, _safe.z)
	if not is_on_floor():
		velocity += get_gravity() * delta_s
	move_and_slide()
	if way != Vector3.ZERO:
		rotation.y = rotate_toward(rotation.y, atan2(-way.x, -way.z), TURN_SPEED * delta_s)
	return false


func _search(delta_s: float) -> void:
	if _center != beliefs.suspicion:
		_center = beliefs.suspicion
		_place = 0
	var place := _center
	if _place > 0:
		place += Vector3.RIGHT.rotated(Vector3.UP, _place * TAU / PLACES) * SEARCH_RADIUS_M
	if not walk_to(place, 3.0, delta_s):
		return
	_waited_s += delta_s
	rotation.y += sin(_waited_s / LOOK_S * TAU) * delta_s
	if _waited_s >= LOOK_S:
		_waited_s = 0.0
		_place += 1
		if _place > PLACES:
			beliefs.suspicion = Beliefs.NOWHERE


func _face(place: Vector3, delta_s: float) -> void:
	var way := place - global_position
	rotation.y = rotate_toward(rotation.y, atan2(-way.x, -way.z), TURN_SPEED * delta_s)


func _flat(way: Vector3) -> Vector3:
	return Vector3(way.x, 0.0, way.z)
