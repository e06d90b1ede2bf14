extends CharacterBody3D
## A body that walks over the navigation map to a goal, and turns as it goes.

## Nearer than this a point of the path counts as reached (m). Smaller, and a fast
## walker circles round the point; larger, and corners of doorways are cut.
const REACHED_M := 0.3

## How far a goal must move before another path is requested (m).
const REPLAN_M := 0.4

@export_range(1.0, 20.0, 0.1, "suffix:rad/s") var turn_speed := 6.0

var _goal := Vector3.INF
var _ended_for := Vector3.INF
var _path := PackedVector3Array()
var _next := 0
var _speed := 0.0
var _yaw := 0.0


func _ready() -> void:
	_yaw = rotation.y


func _physics_process(delta: float) -> void:
	while not has_arrived() and is_near(_path[_next], REACHED_M):
		_next += 1
		if has_arrived():
			_ended_for = _goal
	velocity = Vector3.ZERO
	if not has_arrived():
		velocity = _flat(_path[_next] - global_position).normalized() * _speed
		look_along(velocity)
	rotation.y = rotate_toward(rotation.y, _yaw, turn_speed * delta)
	move_and_slide()


## Walk to a place, or to the nearest place to it that can be reached.
func walk_to(goal: Vector3, speed_m_per_s: float) -> void:
	_speed = speed_m_per_s
	if _path and _goal.distance_to(goal) <= REPLAN_M:
		return
	_goal = goal
	_ended_for = Vector3.INF
	_next = 0
	_path = NavigationServer3D.map_get_path(
			get_world_3d().navigation_map, global_position, goal, true)


func stand() -> void:
	_goal = Vector3.INF
	_path.clear()
	_next = 0


func has_arrived() -> bool:
	return _next >= _path.size()


## Whether it stands at a place, or as near to it as the path leads.
func is_at(place: Vector3, distance_m: float) -> bool:
	return is_near(place, distance_m) or _ended_for.distance_to(place) <= REPLAN_M


## Height does not count: paths lie a little above the floor.
func is_near(place: Vector3, distance_m: float) -> bool:
	return _flat(place - global_position).length() <= distance_m


func look_along(direction: Vector3) -> void:
	if not _flat(direction).is_zero_approx():
		_yaw = atan2(-direction.x, -direction.z)


func look_to_yaw(yaw: float) -> void:
	_yaw = yaw


func _save_state() -> Dictionary:
	return {
		"goal": _goal, "ended_for": _ended_for, "path": _path, "next": _next,
		"speed": _speed, "yaw": _yaw,
	}


func _load_state(state: Dictionary) -> void:
	_goal = state["goal"]
	_ended_for = state["ended_for"]
	_path = state["path"]
	_next = state["next"]
	_speed = state["speed"]
	_yaw = state["yaw"]


func _flat(vector: Vector3) -> Vector3:
	return Vector3(vector.x, 0.0, vector.z)
