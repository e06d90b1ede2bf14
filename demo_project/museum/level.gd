@tool
extends NavigationRegion3D
## Walls from a plan drawn in text, and the navigation mesh baked over them.
##
## In the plan + - | are walls, = is furniture, o a statue, O a pillar, a gap is a doorway.

## Emitted when paths can be requested.
signal baked

## From one letter to the next, and from one line to the next (m): as letters
## are twice as high as wide, the plan looks like the building.
const CELL := Vector2(0.5, 1.0)
const THICKNESS_M := 0.3
## Higher than eyes, or guards see across; drawn lower, so that the player does.
const HEIGHT_M := 2.4
const DRAWN_HEIGHT_M := 1.3
const YARD_M := 4.0

@export_multiline var plan := ""
## Rooms by name, as (x, z) rectangles in metres.
@export var rooms: Dictionary[String, Rect2] = {}
@export var wall_material: Material
@export var room_material: Material
@export var statue_material: Material
@export var furniture_material: Material

var _walls: StaticBody3D
## By material: all that is drawn with it becomes one mesh, as each drawn object costs time.
var _drawn: Dictionary[Material, SurfaceTool] = {}


func _ready() -> void:
	_walls = StaticBody3D.new()
	add_child(_walls)
	var lines := plan.split("\n", false)
	var size := CELL * Vector2(lines[0].length() - 1, lines.size() - 1)
	var ground := Vector3(size.x + 2 * YARD_M, 0.2, size.y + 2 * YARD_M)
	_add_shape(Vector3.DOWN * ground.y / 2, ground)       # drawn by the background, which costs nothing
	_add_walls(lines, size)
	_add_exhibits(lines, size)
	for room in rooms:
		_add_room(room, rooms[room])
	_show_drawn()
	set_physics_process(not Engine.is_editor_hint())
	if not Engine.is_editor_hint():
		bake_navigation_mesh(false)


func _physics_process(_delta: float) -> void:
	if _is_in_map():
		set_physics_process(false)
		baked.emit()


func room_at(place: Vector3) -> String:
	for room in rooms:
		if rooms[room].has_point(Vector2(place.x, place.z)):
			return room
	return "yard"


## Another thread builds the map, and an empty one comes first. Until the floor is in it,
## paths are empty, without an error.
func _is_in_map() -> bool:
	var map := get_navigation_map()
	return (NavigationServer3D.map_get_iteration_id(map) > 0
			and NavigationServer3D.map_get_closest_point_owner(map, Vector3.ZERO) == get_rid())


func _add_walls(lines: PackedStringArray, size: Vector2) -> void:
	for row in lines.size():
		for wall in _runs(lines[row], "+-", 2):
			_add_wall(_place(wall.x, row, size), _place(wall.y, row, size))
	for column in lines[0].length():
		var letters := ""
		for line in lines:
			letters += line[column]
		for wall in _runs(letters, "+|", 2):
			_add_wall(_place(column, wall.x, size), _place(column, wall.y, size))


func _add_exhibits(lines: PackedStringArray, size: Vector2) -> void:
	for row in lines.size():
		for found in _runs(lines[row], "="):
			var from := _place(found.x, row, size)
			var to := _place(found.y, row, size)
			_add_box((from + to) / 2 + Vector3.UP * HEIGHT_M / 2,
					to - from + Vector3(0.5, HEIGHT_M, 0.5), 1.0, furniture_material)
		for at in _runs(lines[row], "oO", 1, true):
			var height := HEIGHT_M if lines[row][at.x] == "O" else 0.9
			var place := _place(at.x, row, size) + Vector3.UP * height / 2
			_add_box(place, Vector3(0.7, height, 0.7), minf(height, DRAWN_HEIGHT_M + 0.3), wall_material)
			if height < 1.0:
				_add_statue(place + Vector3.UP * height / 2)


## First and last index of each run of letters from a set, of at least so many; letters of a set may stand alone.
func _runs(line: String, letters: String, least := 1, stand_alone := false) -> Array[Vector2i]:
	var runs: Array[Vector2i] = []
	var first := -1
	for at in line.length() + 1:
		var is_one := at < line.length() and letters.contains(line[at])
		if first >= 0 and (stand_alone or not is_one):
			if at - first >= least:
				runs.append(Vector2i(first, at - 1))
			first = -1
		if is_one and first < 0:
			first = at
	return runs


func _place(column: int, row: int, size: Vector2) -> Vector3:
	return Vector3(column * CELL.x - size.x / 2, 0.0, row * CELL.y - size.y / 2)


func _add_wall(from: Vector3, to: Vector3) -> void:
	var centre := (from + to) / 2 + Vector3.UP * HEIGHT_M / 2
	var size := to - from + Vector3(THICKNESS_M, HEIGHT_M, THICKNESS_M)
	_add_box(centre, size, DRAWN_HEIGHT_M, wall_material)


## A solid box, drawn from its foot up to a height of its own.
func _add_box(centre: Vector3, size: Vector3, drawn_height: float, material: Material) -> void:
	_add_shape(centre, size)
	var box := BoxMesh.new()
	box.size = Vector3(size.x, drawn_height, size.z)
	_draw(box, centre + Vector3.DOWN * (size.y - drawn_height) / 2, material)


func _add_shape(centre: Vector3, size: Vector3) -> void:
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	(shape.shape as BoxShape3D).size = size
	shape.position = centre
	_walls.add_child(shape)


func _add_statue(foot: Vector3) -> void:
	var bust := CapsuleMesh.new()
	bust.radius = 0.2
	bust.height = 0.7
	bust.radial_segments = 16
	bust.rings = 4
	_draw(bust, foot + Vector3.UP * 0.35, statue_material)


func _add_room(title: String, extent: Rect2) -> void:
	var plane := PlaneMesh.new()
	plane.size = extent.size
	var centre := Vector3(extent.get_center().x, 0.01, extent.get_center().y)
	_draw(plane, centre, room_material)
	var label := Label3D.new()
	label.text = title
	label.font_size = 72
	label.modulate = Color(0.2, 0.16, 0.12, 0.5)
	label.outline_size = 0
	label.rotation.x = -PI / 2
	label.position = centre + Vector3.UP * 0.01
	add_child(label)


func _draw(mesh: Mesh, centre: Vector3, material: Material) -> void:
	if not material in _drawn:
		_drawn[material] = SurfaceTool.new()
	_drawn[material].append_from(mesh, 0, Transform3D(Basis.IDENTITY, centre))


func _show_drawn() -> void:
	for material in _drawn:
		var shown := MeshInstance3D.new()
		shown.mesh = _drawn[material].commit()
		shown.material_override = material
		add_child(shown)
	_drawn.clear()
