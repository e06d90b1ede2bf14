extends "walker.gd"
## A museum guard: what it believes. What it does about it is up to the habits below it.

signal caught(intruder: Node3D)
signal alarm_answered

const NOWHERE := Vector3.INF
const ALERT := 2

@export var patrol_route: Node3D
## Told when the back door opens; the others are out of reach of the radio.
@export var answers_alarm := false
## Where to look when it does.
@export var alarmed_door: Node3D
@export var events: AIEventManager

## What it senses now by any sense; null once that is lost.
var target: Node3D
## How sure it is of the target: 0 unaware, 1 suspicious, 2 alert.
var alertness := 0
## The place it wants to have a look at, or NOWHERE.
var suspicion := NOWHERE
## Why it wants to, in words.
var why := ""
## It chased somebody and does not know where they are now.
var has_lost := false

@onready var sensor: Sensor3D = $Sensor
@onready var habits: HabitTree = $Habits


func _ready() -> void:
	super()
	sensor.sensed.connect(_on_sensed)
	sensor.target_gained.connect(func(gained: Node, _character: Node) -> void: target = gained)
	sensor.target_lost.connect(_on_lost)
	sensor.awareness_changed.connect(_on_awareness_changed)
	if answers_alarm:
		events.listen("back_door_opened", _on_back_door_opened)


func sees_target() -> bool:
	return target != null and sensor.can_sense(target)


## Highest awareness of a target, 0 to 1.
func awareness() -> float:
	var known := sensor.get_known_targets()
	return known[0]["awareness"] if known else 0.0


## Name of the habit right below the tree, such as "Chase".
func habit() -> String:
	var active := habits.get_active_paths()
	return active[0].get_slice("/", 1) if active else ""


func _save_state() -> Dictionary:
	return super().merged({
		"target": target, "alertness": alertness, "suspicion": suspicion, "why": why,
		"has_lost": has_lost,
	})


func _load_state(state: Dictionary) -> void:
	super(state)
	target = state["target"]
	alertness = state["alertness"]
	suspicion = state["suspicion"]
	why = state["why"]
	has_lost = state["has_lost"]


func _on_sensed(_source: Node, modality: String, strength: float, place: Vector3, _character: Node) -> void:
	suspicion = place
	why = "%s %.2f" % ["saw" if modality == "sight" else "heard", strength]


func _on_lost(_target: Node, last_known_position: Vector3, _character: Node) -> void:
	target = null
	if habit() == "Chase":
		suspicion = last_known_position
		why = "lost sight and sound"
		has_lost = true


func _on_awareness_changed(_target: Node, level: int, _level_name: String, _character: Node) -> void:
	alertness = level


func _on_back_door_opened(_code: String, arguments: Array) -> void:
	if arguments[0].is_in_group("guards") or habit() in ["Chase", "Search"]:
		return
	suspicion = alarmed_door.global_position
	why = "the back door opened"
	alarm_answered.emit()
