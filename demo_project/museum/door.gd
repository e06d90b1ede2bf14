extends Node3D
## A sliding door that opens for whoever stands before it. Shut, it hides what is behind.

@export_range(0.05, 5.0, 0.05, "suffix:s") var slide_s := 0.35
@export_range(0.1, 5.0, 0.1, "suffix:m") var way_m := 1.6

var _openness := 0.0

@onready var _panel: AnimatableBody3D = $Panel
@onready var _near: Area3D = $Near


func _physics_process(delta: float) -> void:
	var wanted := 1.0 if _near.has_overlapping_bodies() else 0.0
	_openness = move_toward(_openness, wanted, delta / slide_s)
	_panel.position.x = _openness * way_m
