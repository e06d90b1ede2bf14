extends MeshInstance3D
## The field of view of the Sensor3D above it, drawn on the floor and cut off at walls.

const RAYS := 48
const HEIGHT_M := 0.06
const CALM := Color(0.1, 0.55, 1.0, 0.5)
const SUSPICIOUS := Color(1.0, 0.78, 0.15, 0.45)
const ALERT := Color(1.0, 0.2, 0.12, 0.5)

const Guard := preload("guard.gd")

@export_flags_3d_physics var walls := 3

@onready var _sensor: Sensor3D = get_parent()
@onready var _guard: Guard = owner
@onready var _fan := ImmediateMesh.new()


func _ready() -> void:
	mesh = _fan
	top_level = true
	global_transform = Transform3D.IDENTITY
	# Without a window it is not visible, and rays cost time.
	set_physics_process(DisplayServer.get_name() != "headless")


func _physics_process(_delta: float) -> void:
	var colour := CALM
	if _guard.alertness() > 0:
		colour = ALERT if _guard.alertness() == Guard.ALERT else SUSPICIOUS
	var edge := _edge()
	var eye := _sensor.global_position
	_fan.clear_surfaces()
	_fan.surface_begin(Mesh.PRIMITIVE_TRIANGLES)
	for index in RAYS:
		for corner: Vector3 in [eye, edge[index], edge[index + 1]]:
			# Paler with distance.
			var share := eye.distance_to(corner) / _sensor.sight_range
			_fan.surface_set_color(Color(colour, colour.a * (1.0 - 0.75 * share)))
			_fan.surface_add_vertex(Vector3(corner.x, HEIGHT_M, corner.z))
	_fan.surface_end()


func _edge() -> PackedVector3Array:
	var edge := PackedVector3Array()
	var space := get_world_3d().direct_space_state
	var eye := _sensor.global_position
	var ahead := -_sensor.global_basis.z * _sensor.sight_range
	for index in RAYS + 1:
		var angle := _sensor.horizontal_angle * (0.5 - float(index) / RAYS)
		var end := eye + ahead.rotated(Vector3.UP, angle)
		var hit := space.intersect_ray(PhysicsRayQueryParameters3D.create(eye, end, walls))
		edge.append(hit.get("position", end))
	return edge
