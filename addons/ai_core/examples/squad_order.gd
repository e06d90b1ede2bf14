extends Node3D
## Orders the patrol through the door and back, again and again.

const PLACES: Array[Vector3] = [Vector3(14, 0, 0), Vector3(-10, 0, 0)]

var _next := 0


func _ready() -> void:
	$AI/Patrol.order_done.connect(func(_order: int) -> void: _march())
	await get_tree().create_timer(0.5).timeout          # the navigation map is made on a thread
	_march()


func _march() -> void:
	$AI/Patrol.move_to(PLACES[_next])
	_next = (_next + 1) % PLACES.size()
