extends Node3D
## What a guard believes: its habit and awareness above the head, and the place it has in mind.

const Guard := preload("guard.gd")

const COLOURS: Array[Color] = [Color(0.75, 0.92, 1.0), Color(1.0, 0.85, 0.3), Color(1.0, 0.4, 0.3)]
const LEVELS: Array[String] = ["unaware", "suspicious", "alert"]

@onready var _guard: Guard = owner
@onready var _label: Label3D = $Label
@onready var _marker: Node3D = $Marker
@onready var _question: Label3D = $Marker/Question


func _ready() -> void:
	set_process(DisplayServer.get_name() != "headless")


func _process(_delta: float) -> void:
	_label.text = "%s: %s\n%s %d %%" % [
			_guard.name, _guard.habit().to_lower(),
			LEVELS[_guard.alertness()], roundi(_guard.habits.get_value("awareness", 0.0) * 100.0)]
	_label.modulate = COLOURS[_guard.alertness()]
	var place: Variant = _guard.suspicion()
	_marker.visible = place != null
	if _marker.visible:
		_marker.global_position = Vector3(place.x, 0.0, place.z)
		_question.text = "%s: %s" % [_guard.name, "last known" if _guard.habit() == "Search" else _guard.why()]
