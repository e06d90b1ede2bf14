extends Node3D
## What squads of bodies on the march add to a frame of physics: theirs, and as many bodies that a script moves straight.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")
const OTHER := "GDScript, straight"
const SQUADS := 20
const MEMBERS := 5
const SPEED_M_S := 3.0
const PACE := 0.85
## The slots go on in every second frame: both kinds count.
const FRAMES := 2
const GROUND := Vector2(200, 400)
const APART_M := 9.0
const FAR_AWAY_M := 190.0

var sampling := Sampling.new()
var scheduler := AIScheduler.new()
var squads: Array[Squad] = []
var bodies: Array[CharacterBody3D] = []


func _ready() -> void:
	add_child(sampling)
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = 0.0
	add_child(scheduler)
	add_ground()
	var ways := PathService.new()
	scheduler.add_child(ways)
	for number in SQUADS: add_squad(ways, number * APART_M)
	for number in SQUADS * MEMBERS:
		bodies.append(add_body(Vector3(number % MEMBERS, 0, FAR_AWAY_M + number / MEMBERS * APART_M)))
	await map_is_there()
	await sampling.take_turns("at rest", SQUADS * MEMBERS, {"ours": step_us}, 21)
	for squad in squads: squad.move_to(squad.get_characters()[0].position + Vector3(150, 0, 0))
	for frame in 90: await step_us()      # everybody is in his slot
	var before := places()
	await sampling.take_turns("on the march", SQUADS * MEMBERS, {"ours": step_us, OTHER: straight_us}, 41)
	check(before)
	sampling.finish()


func add_ground() -> void:
	var floor_body := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = WorldBoundaryShape3D.new()
	floor_body.add_child(shape)
	add_child(floor_body)
	var mesh := NavigationMesh.new()
	var corners := PackedVector3Array()
	for corner: Vector2 in [Vector2(-20, -20), Vector2(GROUND.x, -20), GROUND, Vector2(-20, GROUND.y)]:
		corners.append(Vector3(corner.x, 0, corner.y))
	mesh.vertices = corners
	mesh.add_polygon([0, 1, 2, 3])
	var region := NavigationRegion3D.new()
	region.navigation_mesh = mesh
	add_child(region)


func add_squad(ways: PathService, z: float) -> void:
	var squad := Squad.new()
	scheduler.add_child(squad)
	squad.paths = squad.get_path_to(ways)
	squads.append(squad)
	for number in MEMBERS:
		var member := SquadMember.new()
		member.speed = SPEED_M_S
		var body := add_body(Vector3(number, 0, z))
		body.add_child(member)
		member.squad_path = member.get_path_to(squad)


func add_body(place: Vector3) -> CharacterBody3D:
	var body := CharacterBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = CapsuleShape3D.new()
	shape.shape.radius = 0.3
	shape.shape.height = 1.8
	shape.position.y = 0.9
	body.position = place
	body.add_child(shape)
	add_child(body)
	return body


func map_is_there() -> void:
	var map := get_world_3d().navigation_map
	while (NavigationServer3D.map_get_iteration_id(map) == 0
			or not NavigationServer3D.map_get_closest_point_owner(map, Vector3.ZERO).is_valid()):
		await get_tree().physics_frame


## The time of a frame of all squads, in the middle of a frame of physics.
func step_us() -> float:
	var used := 0.0
	for frame in FRAMES:
		await get_tree().physics_frame
		var begun := sampling.thread_us()
		scheduler.step(1.0 / 60.0)
		used += sampling.thread_us() - begun
	return used / FRAMES


## As many bodies, each with its velocity and nothing else.
func straight_us() -> float:
	var used := 0.0
	for frame in FRAMES:
		await get_tree().physics_frame
		var begun := sampling.thread_us()
		var velocity := Vector3(SPEED_M_S * PACE, 0, 0)
		for body in bodies:
			body.velocity = velocity
			body.move_and_slide()
		used += sampling.thread_us() - begun
	return used / FRAMES


func places() -> Array:
	var theirs := 0.0
	var straight := 0.0
	for squad in squads:
		for body: Node3D in squad.get_characters(): theirs += body.position.x
	for body in bodies: straight += body.position.x
	return [theirs / (SQUADS * MEMBERS), straight / (SQUADS * MEMBERS)]


## Both have gone equally far, and nobody has lost his squad.
func check(before: Array) -> void:
	var after := places()
	var gone: float = (after[0] - before[0]) / (after[1] - before[1])
	sampling.check_equal("on the march", SQUADS * MEMBERS, absf(gone - 1.0) < 0.05, true)
	for squad in squads:
		sampling.check_equal("on the march", SQUADS * MEMBERS, squad.get_stats()["stragglers"], 0)
		sampling.check_equal("on the march", SQUADS * MEMBERS, squad.get_order()["state"], "marching")
