extends Node3D
## What a guard believes, told by its sensor; what it does about it is up to its habits.

const NOWHERE := Vector3.INF

var sensor := Sensor3D.new()
var home := Vector3.ZERO
var target: Node3D
var suspicion := NOWHERE
var has_lost := false
var alertness := 0
var ever_saw := false
var ever_heard := false


func _ready() -> void:
	sensor.sensed.connect(_on_sensed)
	sensor.target_gained.connect(_on_gained)
	sensor.target_lost.connect(_on_lost)
	sensor.awareness_changed.connect(_on_awareness_changed)


func walk_to(place: Vector3, speed: float, elapsed_s: float) -> bool:
	var way := place - position
	way.y = 0.0
	if way.length() < 0.3:
		return true
	position += way.limit_length(speed * elapsed_s)
	rotation.y = atan2(-way.x, -way.z)
	return false


func _on_sensed(_source: Node, modality: String, _strength: float, place: Vector3, _character: Node) -> void:
	suspicion = _here(place)
	if modality == "sight":
		ever_saw = true
	else:
		ever_heard = true


## What is searched is over, unless somebody was gained fallback.
func forget_suspicion() -> void:
	if target == null:
		suspicion = NOWHERE


func _on_gained(gained: Node, _character: Node) -> void:
	target = gained
	suspicion = _here((gained as Node3D).global_position)


func _on_lost(_target: Node, place: Vector3, _character: Node) -> void:
	target = null
	suspicion = _here(place)
	has_lost = true


func _on_awareness_changed(_target: Node, level: int, _level_name: String, _character: Node) -> void:
	alertness = level


func _here(place: Vector3) -> Vector3:
	return place - Vector3(0.0, 0.0, get_parent().position.z)
