extends "walker.gd"
## A museum guard: its sensor and its habits do the rest; what it knows is on the blackboard of its habits.

signal caught(intruder: Node3D)
signal alarm_answered

const ALERT := 2

@export var patrol_route: Node3D
## Told when the back door opens; the others are out of reach of the radio.
@export var answers_alarm := false
## Where to look when it does.
@export var alarmed_door: Node3D
@export var events: AIEventManager

@onready var sensor: Sensor3D = $Sensor
@onready var habits: HabitTree = $Habits


func _ready() -> void:
	super()
	if answers_alarm:
		events.listen("back_door_opened", _on_back_door_opened)


## How sure it is of its target: 0 unaware, 1 suspicious, 2 alert.
func alertness() -> int:
	return habits.get_value("awareness_level", 0)


## The place it wants to have a look at; null without one.
func suspicion() -> Variant:
	return habits.get_value("last_known_position")


## Why it has that place in mind, in words.
func why() -> String:
	if habit() == "Search":
		return "lost sight and sound"
	var last := sensor.get_last_sensation()
	if last.is_empty():
		return "the alarm of the door"
	return "%s %.2f" % ["saw" if last["modality"] == "sight" else "heard", last["strength"]]


## Name of the habit right below the tree, such as "Chase".
func habit() -> String:
	var active := habits.get_active_paths()
	return active[0].get_slice("/", 1) if active else ""


func _on_back_door_opened(_code: String, arguments: Array) -> void:
	if arguments[0].is_in_group("guards") or habit() in ["Chase", "Search"]:
		return
	habits.set_value("last_known_position", alarmed_door.global_position)
	alarm_answered.emit()
