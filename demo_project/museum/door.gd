extends Node3D
## A sliding door that opens for walkers before it. While it is closed, it blocks sight.
##
## It looks for walkers itself: an Area3D would emit body_entered again when a saved game is
## loaded, because the engine does not save overlaps.

## A walker came near.
signal entered(walker: Node3D)

@export_range(0.05, 5.0, 0.05, "suffix:s") var slide_s := 0.35
@export_range(0.1, 5.0, 0.1, "suffix:m") var travel := 1.6
## Distance within which a walker is before the door (m): along the wall, and across.
@export var near_distance := Vector2(1.1, 1.5)

var _openness := 0.0
var _near: Array[Node3D] = []

@onready var _panel: AnimatableBody3D = $Panel


func _physics_process(delta: float) -> void:
	var known := _near
	_near = []
	for walker: Node3D in get_tree().get_nodes_in_group("walkers"):
		var place := to_local(walker.global_position).abs()
		if place.x < near_distance.x and place.z < near_distance.y:
			_near.append(walker)
			if walker not in known:
				entered.emit(walker)
	_openness = move_toward(_openness, float(not _near.is_empty()), delta / slide_s)
	_panel.position.x = _openness * travel


func _save_state() -> Dictionary:
	return {"openness": _openness, "near": _near}


func _load_state(state: Dictionary) -> void:
	_openness = state["openness"]
	_near.assign(state["near"])
	_panel.position.x = _openness * travel
