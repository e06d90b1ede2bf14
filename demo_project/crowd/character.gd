extends Node2D
## One of a crowd: decides now and then where to look, and turns there in every frame.

const TURN_RAD_S := 4.0
## So many heads in the way, and one leans to the side to see past them.
const THICK := 6
const LEAN_RAD := 0.15

## So near (px), and what the target does matters.
const NEAR_PX := 240.0

var crowd: Node2D
var wanted_rad := 0.0
var decided_frame := 0
var is_near := false
## The behavior that runs only while the target is near.
var often := 0


## The costly part: how thick the crowd is on the way to the target. The farther it is, the longer it takes.
func decide(_elapsed_s: float) -> void:
	var offset: Vector2 = crowd.target_place - position
	var steps := int(offset.length() / crowd.step_px)
	var heads := 0
	for step in steps:
		heads += crowd.heads_at(position + offset * (float(step) / steps))
	wanted_rad = offset.angle() + (LEAN_RAD if heads > THICK else 0.0)
	decided_frame = crowd.frame
	if is_near != (offset.length() < NEAR_PX):
		is_near = not is_near
		crowd.attend(self)


func turn(delta_s: float) -> void:
	rotation = rotate_toward(rotation, wanted_rad, TURN_RAD_S * delta_s)


func _draw() -> void:
	draw_line(Vector2(-4, 0), Vector2(5, 0), Color("8da5f3"), 2.0)
	draw_circle(Vector2(5, 0), 2.0, Color.WHITE)
