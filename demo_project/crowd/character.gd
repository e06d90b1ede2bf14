extends RefCounted
## One of a crowd: decides now and then where to look, and turns there in every frame.

const TURN_RAD_S := 4.0
## More heads than these in the way, and the character leans to the side to see past them.
const THICK := 6
const LEAN_RAD := 0.15

## Nearer than this (px), what the target does matters.
const NEAR_PX := 240.0

var field: Node2D
var place := Vector2.ZERO
var looks_rad := 0.0
var wanted_rad := 0.0
var decided_frame := 0
var is_near := false
## The behavior that runs only while the target is near.
var often := 0


## The costly part: how thick the crowd is on the way to the target. The farther it is, the longer it takes.
func decide(_elapsed_s: float) -> void:
	var offset: Vector2 = field.target_place - place
	var steps := int(offset.length() / field.step_px)
	var heads := 0
	for step in steps:
		heads += field.heads_at(place + offset * (float(step) / steps))
	wanted_rad = offset.angle() + (LEAN_RAD if heads > THICK else 0.0)
	decided_frame = field.frame
	if is_near != (offset.length() < NEAR_PX):
		is_near = not is_near
		field.attend(self)


func turn(delta_s: float) -> void:
	looks_rad = rotate_toward(looks_rad, wanted_rad, TURN_RAD_S * delta_s)
