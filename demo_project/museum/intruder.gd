extends "walker.gd"
## The intruder: follows a route of stops, or the keyboard.

const RouteStop := preload("route_stop.gd")

## Walked stop by stop when scripted.
@export var route: Node3D
## By pace, slowest first: speed, sound of a step, and how well it is seen.
@export var speeds: Array[float] = [1.2, 2.4, 5.2]
@export var step_sounds: Array[float] = [0.4, 2.2, 2.5]
@export var visibilities: Array[float] = [0.6, 1.0, 1.0]

var is_scripted := false

var _stop := 0
var _stayed_s := 0.0

@onready var _source: SenseSource3D = $Source


func _physics_process(delta: float) -> void:
	if is_scripted:
		_follow_route(delta)
		super(delta)
	else:
		_follow_keys()
		rotation.y = rotate_toward(rotation.y, _yaw, turn_speed * delta)
		move_and_slide()


## Called by the Footsteps behavior below, at the rhythm of steps.
func make_step(_elapsed_s: float) -> void:
	if velocity.length() > 0.1:
		_source.emit("hearing")


## The intruder is chased: it leaves out the part of its route that precedes the flight.
func take_flight() -> void:
	while _stop < route.get_child_count():
		var stop: RouteStop = route.get_child(_stop)
		if stop.pace == RouteStop.Pace.RUN:
			return
		_stop += 1


func _save_state() -> Dictionary:
	return super().merged({"stop": _stop, "stayed_s": _stayed_s})


func _load_state(state: Dictionary) -> void:
	super(state)
	_stop = state["stop"]
	_stayed_s = state["stayed_s"]


func _follow_route(delta: float) -> void:
	if _stop >= route.get_child_count():
		return
	var stop: RouteStop = route.get_child(_stop)
	_set_pace(stop.pace)
	walk_to(stop.global_position, speeds[stop.pace])
	if not has_arrived():
		return
	_stayed_s += delta
	if _stayed_s >= stop.stay_s:
		_stop += 1
		_stayed_s = 0.0


func _follow_keys() -> void:
	var across := _key(KEY_D, KEY_RIGHT) - _key(KEY_A, KEY_LEFT)
	var along := _key(KEY_S, KEY_DOWN) - _key(KEY_W, KEY_UP)
	var pace := RouteStop.Pace.WALK
	if Input.is_key_pressed(KEY_SHIFT):
		pace = RouteStop.Pace.SNEAK
	elif Input.is_key_pressed(KEY_SPACE):
		pace = RouteStop.Pace.RUN
	_set_pace(pace)
	velocity = Vector3(across, 0.0, along).limit_length() * speeds[pace]
	look_along(velocity)


func _key(letter: Key, arrow: Key) -> float:
	return float(Input.is_physical_key_pressed(letter) or Input.is_key_pressed(arrow))


func _set_pace(pace: RouteStop.Pace) -> void:
	if _source.sound_strength != step_sounds[pace]:
		_source.sound_strength = step_sounds[pace]
		_source.sight_strength = visibilities[pace]
