extends Node3D
## The museum's puzzle, in four rounds: what guards sense of an intruder through one-way glass, by a
## camera, through an air duct, and before a dark and a bright wall. Judged by what they sensed.

signal reported(time_s: float, subject: String, event: String, details: String)
## All expected happenings took place, or time is up.
signal finished(succeeded: bool)

const Level := preload("level.gd")

const SENSES: Array[String] = ["sight", "hearing", "smell"]
const LINES_SHOWN := 6
## What is written above the people and the things of the puzzle.
const LABELS: Dictionary[String, String] = {
	"Life/Carla": "Carla", "Life/Dan": "Dan", "Life/Intruder": "Intruder",
	"Level/Glass": "one-way glass", "Level/CameraBox": "camera", "Level/Screens": "screens", "Level/Duct": "air duct",
	"Level/DarkWall": "dark wall", "Level/BrightWall": "bright wall",
}
const LABEL_ABOVE_M := 2.3

## The scene to go back to, if one led here: the museum.
static var returns_to := ""

## What has to happen, in this order; other things may happen between.
@export var expected: PackedStringArray
@export_range(1.0, 600.0, 1.0, "suffix:s") var time_limit_s := 60.0
@export_range(0.5, 5.0, 0.1, "suffix:m/s") var speed := 2.5
## How much gas is in the grenade: its strength in one cubic metre.
@export var gas := 3000.0
## How strong the gas must be where she breathes for Carla to fall asleep.
@export var sleeps_at := 0.5
## How bright it is on the intruder in the cellar; elsewhere it is 1.
@export var cellar_light := 0.1

var time_s := 0.0
var is_over := false

var _steps: Array[Callable]
var _next := 0
var _begun_s := 0.0
var _reached := 0
var _has_heard := false
var _is_asleep := false
var _seen: Dictionary[String, bool] = {}

@onready var _level: Level = $Level
@onready var _intruder: Node3D = $Life/Intruder
@onready var _eyes: Sensor3D = $Life/Intruder/Sensor
@onready var _source: SenseSource3D = $Life/Intruder/Source
@onready var _grenade: SenseSource3D = $Life/Grenade
@onready var _carla: Sensor3D = $Life/Carla/Sensor
@onready var _dan: Sensor3D = $Life/Dan/Sensor
@onready var _timeline: Label = $Screen/Panel/Timeline


func _ready() -> void:
	_timeline.text = ""
	if DisplayServer.get_name() != "headless":
		$Life/AIScheduler/Senses.show_in_game = true
		for path: String in LABELS:
			get_node(path).add_child(_name_tag(LABELS[path]))
	for guard: Sensor3D in [_carla, _dan]:
		guard.sensed.connect(_on_sensed.bind(guard))
		guard.target_lost.connect(_on_lost.bind(guard))
	_steps = _glass() + _camera() + _duct() + _light()


func _physics_process(delta: float) -> void:
	time_s += delta
	var light := cellar_light if _level.room_at(_intruder.global_position) == "cellar" else 1.0
	if _source.light != light:
		_source.light = light
	while _next < _steps.size() and _steps[_next].call():
		_next += 1
		_begun_s = time_s
	if _next == _steps.size() or time_s >= time_limit_s:
		_end()


func _name_tag(text: String) -> Label3D:
	var tag := Label3D.new()
	tag.text = text
	tag.position.y = LABEL_ABOVE_M
	tag.billboard = BaseMaterial3D.BILLBOARD_ENABLED
	tag.no_depth_test = true
	tag.fixed_size = true
	tag.pixel_size = 0.0004
	tag.font_size = 30
	tag.outline_size = 10
	return tag


func summary() -> String:
	var lines := PackedStringArray(["", "summary: %d of %d expected happenings, in order, in %.2f s of game time" % [
			_reached, expected.size(), time_s]])
	for missing in expected.slice(_reached):
		lines.append("MISSING: " + missing)
	return "\n".join(lines)


## Sight passes from the gallery to the control room, nothing passes back, and no sound at all.
func _glass() -> Array[Callable]:
	return [_stay.bind(0.5), _walk.bind($Ways/Mirror), _face.bind(_intruder, -PI / 2), _stay.bind(0.5),
			_look_into_the_mirror, _stay.bind(0.5), _listen]


## The control room sees the vault by a camera, once a guard looks at the screen.
func _camera() -> Array[Callable]:
	return [_walk.bind($Ways/GalleryDoor), _walk.bind($Ways/Vault), _stay.bind(1.0),
			_turn_to_the_screens, _stay.bind(1.0)]


## Gas goes through the air duct, where neither sight nor sounds pass.
func _duct() -> Array[Callable]:
	return [_walk.bind($Ways/Duct), _drop_grenade, _stay.bind(0.1), _let_it_burst, _wait_for_sleep,
			_walk.bind($Ways/Vault), _wave, _stay.bind(1.0), _look_at_the_screens]


## In the dark an intruder before a dark wall is not seen; before a bright wall its outline is.
func _light() -> Array[Callable]:
	return [_walk.bind($Ways/Stairs), _walk.bind($Ways/DarkWall), _stay.bind(0.5), _look_at_the_dark_wall,
			_walk.bind($Ways/BrightWall), _stay.bind(1.0)]


func _look_into_the_mirror() -> bool:
	if not _eyes.can_sense($Life/Carla/Source):
		report("Intruder", "sees a mirror", "the glass lets sight pass one way only")
	_source.emit("hearing", 50.0)
	report("Intruder", "shouts", "with strength 50")
	return true


func _listen() -> bool:
	if not _has_heard:
		report("Carla", "hears nothing", "no way for sounds through glass")
	return true


func _turn_to_the_screens() -> bool:
	report("Carla", "turns", "to the screens")
	return _face(_carla.get_parent(), -PI / 2)


func _drop_grenade() -> bool:
	_grenade.global_position = $Life/AIScheduler/Senses/Grate.global_position + Vector3(0.0, 0.1, -0.4)
	return true


func _let_it_burst() -> bool:
	_grenade.emit("smell", gas)
	report("Intruder", "throws", "a gas grenade into the air duct")
	return true


func _wait_for_sleep() -> bool:
	return _is_asleep


func _wave() -> bool:
	report("Intruder", "waves", "into the camera")
	return true


func _look_at_the_screens() -> bool:
	if not _carla.can_sense(_source):
		report("Carla", "sleeps on", "and sees nothing on the screens")
	return true


func _look_at_the_dark_wall() -> bool:
	if not _dan.can_sense(_source):
		var sight: Dictionary = _dan.why(_source)["senses"]["sight"]
		report("Dan", "misses", "the intruder before the dark wall: %s, light %.1f" % [sight["verdict"], _source.light])
	return true


## Report one line; the expected story consists of "subject event".
func report(subject: String, event: String, details: String) -> void:
	reported.emit(time_s, subject, event, details)
	if _reached < expected.size() and expected[_reached] == "%s %s" % [subject, event]:
		_reached += 1
	print("%6.2f s  %-8s %-14s %s" % [time_s, subject, event, details])
	var lines := _timeline.text.split("\n", false)
	lines.append("%.1f s   %s %s: %s" % [time_s, subject, event, details])
	_timeline.text = "\n".join(lines.slice(-LINES_SHOWN))


func _on_sensed(
	source: Node, modality: String, strength: float, place: Vector3, _character: Node, guard: Sensor3D
) -> void:
	var subject := guard.get_parent().name
	if modality == "smell" and strength >= sleeps_at and not _is_asleep:
		_is_asleep = true
		report(subject, "falls asleep", "smells gas, strength %.2f" % strength)
		for sense in SENSES:
			guard.set_sensitivity(sense, 0.0)
	elif modality == "hearing" and guard == _carla:
		_has_heard = true
	elif modality == "sight" and not _seen.get(subject, false):
		_seen[subject] = true
		var where := _level.room_at(source.global_position)
		report(subject, "sees", "Intruder in the %s, strength %.2f (%.1f m away)" % [
				where, strength, guard.global_position.distance_to(place)])


func _on_lost(_target: Node, place: Vector3, _character: Node, guard: Sensor3D) -> void:
	var subject := guard.get_parent().name
	if _seen.get(subject, false):
		_seen[subject] = false
		report(subject, "loses", "Intruder, last known in the " + _level.room_at(place))


## Steps say whether they are done; until then they are called in every frame.
func _walk(stop: Marker3D) -> bool:
	var goal := stop.global_position
	if not _intruder.global_position.is_equal_approx(goal):
		_intruder.look_at(goal, Vector3.UP)
	var step := speed * get_physics_process_delta_time()
	_intruder.global_position = _intruder.global_position.move_toward(goal, step)
	return _intruder.global_position.is_equal_approx(goal)


func _face(body: Node3D, yaw: float) -> bool:
	body.rotation.y = yaw
	return true


func _stay(duration_s: float) -> bool:
	return time_s - _begun_s >= duration_s


func _end() -> void:
	is_over = true
	set_physics_process(false)
	print(summary())
	finished.emit(_reached == expected.size())
	# In another scene the puzzle leaves this to that scene.
	if get_tree().current_scene != self:
		return
	if "--scripted" in OS.get_cmdline_user_args():
		get_tree().quit(0 if _reached == expected.size() else 1)
	elif returns_to:
		get_tree().create_timer(3.0).timeout.connect(_leave)
	else:
		get_tree().create_timer(3.0).timeout.connect(get_tree().reload_current_scene)


func _unhandled_key_input(event: InputEvent) -> void:
	if event.is_pressed() and (event as InputEventKey).keycode == KEY_ESCAPE:
		_leave()


func _leave() -> void:
	if not returns_to:
		get_tree().quit()
		return
	get_tree().change_scene_to_file(returns_to)
	returns_to = ""
