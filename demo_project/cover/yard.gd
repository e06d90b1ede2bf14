extends Node3D
## Four soldiers hide from a watcher that walks around their yard: behind walls, and behind crates that are pushed.
##
## What the watcher sees of the ground is a colored fan; spots of cover are discs, and a soldier at its spot stands outside
## of the fan. With --scripted the story is printed and judged: how long soldiers were hidden, and that no two held one
## spot.

const Soldier := preload("soldier.gd")

const WALLS: Array[Rect2] = [
	Rect2(-8, -3, 4, 0.4), Rect2(-2, 2, 0.4, 4), Rect2(3, -4, 5, 0.4), Rect2(6, 2, 3, 0.4), Rect2(-9, 4, 0.4, 3),
]
const CRATES: Array[Vector2] = [Vector2(10, -6), Vector2(-6, 0), Vector2(2, 5)]
const HALF_SIZE := Vector2(13, 9)
const SOLDIERS: Dictionary[String, Vector2] = {
	"Ann": Vector2(-6, 2), "Bob": Vector2(0, 0), "Cid": Vector2(5, 0), "Dee": Vector2(4, 6),
}
const ROUTE: Array[Vector2] = [Vector2(-12, -8), Vector2(12, -8), Vector2(12, 8), Vector2(-12, 8)]
const WATCHER_SPEED := 2.0
const EYE_M := 1.6
const STORY_S := 40.0
## Time from which a crate is pushed away when a soldier hides behind it.
const PUSH_AFTER_S := 6.0
const PUSH := Vector3(3.0, 0, 0)
## Time before the first check, in which all soldiers can reach cover.
const JUDGED_AFTER_S := 5.0
const WANTED_SHARE := 0.75
const HELP := """Four soldiers hide from a watcher, who sees the colored ground
hidden %d %% of the time"""
const SKIN := Color("e8c39e")
const WATCHED_RANGE_M := 30.0
## So low that crates stop its sight, which crouching soldiers hide behind.
const FAN_M := 0.9

var watcher: Node3D
var time_s := 0.0
var soldiers: Array[Soldier] = []
var _begun := false
var _seen := 0
var _looked := 0
var _shared := 0
var _pushed := false
var _ray := PhysicsRayQueryParameters3D.new()

@onready var paths: PathService = $AI/Paths
@onready var cover: CoverMap = $AI/Cover
@onready var label: Label = $Label


func _ready() -> void:
	_box(Vector3(0, -0.1, 0), Vector3(2 * HALF_SIZE.x, 0.2, 2 * HALF_SIZE.y), Color("5c6b58"), $Ground)
	for wall in WALLS:
		var middle := wall.get_center()
		_box(Vector3(middle.x, 1.1, middle.y), Vector3(wall.size.x, 2.2, wall.size.y), Color("b8b3a6"), $Ground)
	for place in CRATES:
		var crate := _box(Vector3(place.x, 0.6, place.y), Vector3(1.3, 1.2, 1.3), Color("a8743f"), self)
		crate.add_to_group("cover")
	watcher = _figure(Color("d4553f"))
	watcher.add_child(_eyes())
	if DisplayServer.get_name() != "headless":
		for node: Node in [paths, cover, $AI/Senses]: node.set("show_in_game", true)
	watcher.position = Vector3(ROUTE[0].x, 0, ROUTE[0].y)
	($Ground as NavigationRegion3D).bake_navigation_mesh(false)
	cover.bake_finished.connect(_on_baked)
	cover.cover_lost.connect(func(agent: Node, _spot: int) -> void: report(agent.name, "lost its cover"))
	_begin_when_there_is_ground()


## The engine builds navigation maps on a thread.
func _begin_when_there_is_ground() -> void:
	var map := get_world_3d().navigation_map
	while (NavigationServer3D.map_get_iteration_id(map) == 0
			or not NavigationServer3D.map_get_closest_point_owner(map, Vector3.ZERO).is_valid()):
		await get_tree().physics_frame
	cover.bake()


func _on_baked(spots: int) -> void:
	report("yard", "has %d spots along its walls" % spots)
	for soldier_name in SOLDIERS:
		var soldier := Soldier.new()
		soldier.name = soldier_name
		soldier.yard = self
		soldier.add_child(_figure(Color("3f6fb5")))
		soldier.add_child(_source())
		soldier.add_child(_name_tag(soldier_name))
		var place := SOLDIERS[soldier_name]
		soldier.position = Vector3(place.x, 0, place.y)
		soldiers.append(soldier)
		add_child(soldier)
	_begun = true


func report(subject: String, event: String) -> void:
	print("%6.2f s  %-8s %s" % [time_s, subject, event])


func _physics_process(delta: float) -> void:
	if not _begun: return
	time_s += delta
	_walk(delta)
	if time_s >= PUSH_AFTER_S and not _pushed: _push()
	if time_s > JUDGED_AFTER_S: _judge()
	label.text = HELP % roundi(100 * hidden_share())
	if time_s >= STORY_S and "--scripted" in OS.get_cmdline_user_args(): _end()


func _walk(delta: float) -> void:
	var length := 2 * (2 * 12.0 + 2 * 8.0)
	var along := fmod(time_s * WATCHER_SPEED, length)
	for side in 4:
		var start := ROUTE[side]
		var end := ROUTE[(side + 1) % 4]
		if along <= start.distance_to(end):
			var place := start.move_toward(end, along)
			watcher.look_at_from_position(watcher.position, Vector3(0, 0, 0) if along < 0.1 else Vector3(end.x, 0, end.y))
			watcher.position = Vector3(place.x, 0, place.y)
			return
		along -= start.distance_to(end)


func _push() -> void:
	for soldier in soldiers:
		var crate: Node = cover.get_object(soldier.spot) if soldier.spot else null
		if crate:
			_pushed = true
			report("yard", "a crate is pushed away")
			create_tween().tween_property(crate, "position", crate.position + PUSH, 1.0)
			return


func _judge() -> void:
	var held := {}
	for soldier in soldiers:
		_looked += 1
		_seen += int(is_seen(soldier))
		if soldier.spot:
			_shared += int(held.has(soldier.spot))
			held[soldier.spot] = true


func is_seen(soldier: Soldier) -> bool:
	_ray.from = watcher.position + Vector3.UP * EYE_M
	_ray.to = soldier.position + Vector3.UP * soldier.height_m * 0.6
	return get_world_3d().direct_space_state.intersect_ray(_ray).is_empty()


func hidden_share() -> float:
	return 1.0 - float(_seen) / maxi(1, _looked)


func _end() -> void:
	var moves := 0
	for soldier in soldiers: moves += soldier.hidings
	var good := hidden_share() >= WANTED_SHARE and _shared == 0
	print("summary: hidden %d %% of the time, %d times in cover, %d spots shared: %s" % [
		roundi(100 * hidden_share()), moves, _shared, "as expected" if good else "NOT as expected"])
	set_physics_process(false)
	get_tree().quit(0 if good else 1)


func _box(place: Vector3, size: Vector3, color: Color, parent: Node) -> Node3D:
	var body := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	(shape.shape as BoxShape3D).size = size
	body.add_child(shape)
	var mesh := BoxMesh.new()
	mesh.size = size
	body.add_child(_seen_as(mesh, color))
	body.position = place
	parent.add_child(body)
	return body


## A body with a head, a helmet and a weapon that shows where it looks: along -z.
func _figure(color: Color) -> Node3D:
	var figure := Node3D.new()
	var body := CapsuleMesh.new()
	body.radius = 0.32
	body.height = 1.35
	var head := SphereMesh.new()
	head.radius = 0.22
	head.height = 0.44
	var helmet := SphereMesh.new()
	helmet.radius = 0.27
	helmet.height = 0.27
	helmet.is_hemisphere = true
	var weapon := BoxMesh.new()
	weapon.size = Vector3(0.08, 0.1, 0.7)
	body.radial_segments = 16
	body.rings = 4
	for round_part: SphereMesh in [head, helmet]:
		round_part.radial_segments = 16
		round_part.rings = 8
	for part: Array in [
			[body, color, Vector3(0, 0.68, 0)], [head, SKIN, Vector3(0, 1.5, 0)],
			[helmet, color.darkened(0.4), Vector3(0, 1.54, 0)], [weapon, Color("2b2b2b"), Vector3(0.22, 1.0, -0.35)]]:
		var seen := _seen_as(part[0], part[1])
		seen.position = part[2]
		figure.add_child(seen)
	if not watcher: add_child(figure)
	return figure


func _eyes() -> Sensor3D:
	var eyes := Sensor3D.new()
	eyes.position.y = FAN_M
	eyes.sight_range = WATCHED_RANGE_M
	eyes.horizontal_angle = TAU
	eyes.near_range = 0.0
	return eyes


func _source() -> SenseSource3D:
	var source := SenseSource3D.new()
	source.position.y = 1.0
	source.sound_strength = 0.0
	source.smell_strength = 0.0
	return source


func _name_tag(text: String) -> Label3D:
	var tag := Label3D.new()
	tag.text = text
	tag.position.y = 2.3
	tag.billboard = BaseMaterial3D.BILLBOARD_ENABLED
	tag.fixed_size = true
	tag.pixel_size = 0.0006
	tag.no_depth_test = true
	tag.font_size = 30
	tag.outline_size = 10
	return tag


func _seen_as(mesh: Mesh, color: Color) -> MeshInstance3D:
	var seen := MeshInstance3D.new()
	var material := StandardMaterial3D.new()
	material.albedo_color = color
	seen.mesh = mesh
	seen.material_override = material
	return seen
