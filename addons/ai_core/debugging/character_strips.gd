extends Control
## A compact strip at the feet of each character on the screen, where it hides no name above a head: its habit or
## state, its awareness as a meter with a mark at each level, an eye while it sees a target and waves while it knows of
## one by another sense. A click on a strip chooses its character.

signal chosen(path: String)

const MOST := 24
## Below the origin of a character (px).
const BELOW_PX := 18.0
const FONT_PX := 13
const HEIGHT_PX := 34.0
const METER_PX := 5.0
## Between two strips of characters that stand close together.
const GAP_PX := 2.0
const BACK := Color(0.05, 0.06, 0.08, 0.8)
const TEXT := Color(0.93, 0.94, 0.97)
const LEVELS: Array[Color] = [Color(0.55, 0.85, 0.95), Color(1.0, 0.66, 0.25), Color(1.0, 0.3, 0.24)]
const CHOSEN := Color(1.0, 0.85, 0.3)
const ICON_PX := 16.0

## True if a click anywhere chooses the character whose strip is nearest; the game does not receive it.
var picks := false:
	set(value):
		picks = value
		mouse_default_cursor_shape = CURSOR_CROSS if value else CURSOR_ARROW
## The character shown in the drawer.
var character := ""

var _strips: Array = []
## Where strips were drawn: rectangles by the paths of characters.
var _places := {}
var _font: Font = ThemeDB.fallback_font


func _init() -> void:
	set_anchors_and_offsets_preset(PRESET_FULL_RECT)
	process_mode = PROCESS_MODE_ALWAYS


## The paths of the characters on the screen, at most MOST; in 3D the nearest ones.
func on_screen(paths: Array) -> Array:
	var found := []
	for path: String in paths:
		var node := get_node_or_null(path)
		if node and _is_shown(_place_of(node)): found.append([_distance_of(node), path])
	found.sort()
	return found.slice(0, MOST).map(func(one: Array) -> String: return one[1])


## Shows strips; AIDebugOverlay.strips_of describes their content.
func show_strips(strips: Array) -> void:
	_strips = strips


func _process(_delta: float) -> void:
	queue_redraw()


func _has_point(point: Vector2) -> bool:
	return picks or _strip_at(point) != ""


func _gui_input(event: InputEvent) -> void:
	var click := event as InputEventMouseButton
	var path := _strip_at(click.position) if click and click.pressed and click.button_index == MOUSE_BUTTON_LEFT else ""
	if path:
		accept_event()
		chosen.emit(path)


## The character whose strip is at a point; while it picks, the one whose strip, or whose place, is nearest.
func _strip_at(point: Vector2) -> String:
	var nearest := ""
	var nearest_px := INF
	for path: String in _places:
		var box: Rect2 = _places[path]
		if box.has_point(point): return path
		var middle := Vector2(box.get_center().x, box.position.y - BELOW_PX)
		if picks and middle.distance_to(point) < nearest_px:
			nearest_px = middle.distance_to(point)
			nearest = path
	return nearest


func _draw() -> void:
	_places.clear()
	for strip: Dictionary in _strips:
		var node := get_node_or_null(str(strip.path))
		if node:
			var place := _place_of(node)
			if _is_shown(place): _draw_strip(place, strip)


func _draw_strip(place: Vector2, strip: Dictionary) -> void:
	var text: String = "%s: %s" % [strip.name, strip.does] if strip.does else str(strip.name)
	var width := _font.get_string_size(text, HORIZONTAL_ALIGNMENT_LEFT, -1, FONT_PX).x + 16.0
	var has_meter: bool = strip.awareness >= 0.0
	var icons := int(strip.sees) + int(strip.senses)
	width += icons * (ICON_PX + 4.0)
	var box := _beside_others(
			Rect2(place + Vector2(-width / 2, BELOW_PX), Vector2(width, HEIGHT_PX if has_meter else HEIGHT_PX - 10)))
	_places[str(strip.path)] = box
	var color := LEVELS[clampi(strip.level, 0, LEVELS.size() - 1)]
	draw_rect(box, BACK)
	draw_rect(box, CHOSEN if strip.path == character else Color(color, 0.5), false, 2.0 if strip.path == character else 1.0)
	draw_string(_font, box.position + Vector2(8, 16), text, HORIZONTAL_ALIGNMENT_LEFT, -1, FONT_PX, TEXT)
	var icon := box.position + Vector2(width - 6 - ICON_PX / 2, 12)
	if strip.sees:
		_draw_eye(icon, color)
		icon.x -= ICON_PX + 4
	if strip.senses: _draw_waves(icon, color)
	if has_meter: _draw_meter(Rect2(box.position + Vector2(8, 23), Vector2(width - 16, METER_PX)), strip, color)


## A strip moved down until it covers no other one.
func _beside_others(box: Rect2) -> Rect2:
	var is_free := false
	while not is_free:
		is_free = true
		for other: Rect2 in _places.values():
			if other.intersects(box):
				box.position.y = other.end.y + GAP_PX
				is_free = false
	return box


func _draw_meter(place: Rect2, strip: Dictionary, color: Color) -> void:
	draw_rect(place, Color(1, 1, 1, 0.15))
	draw_rect(Rect2(place.position, Vector2(place.size.x * clampf(strip.awareness, 0.0, 1.0), place.size.y)), color)
	for share: float in strip.marks:
		var x := place.position.x + place.size.x * share
		draw_line(Vector2(x, place.position.y - 2), Vector2(x, place.end.y + 2), TEXT, 1.0)


func _draw_eye(middle: Vector2, color: Color) -> void:
	draw_set_transform(middle, 0.0, Vector2(1.0, 0.6))
	draw_circle(Vector2.ZERO, ICON_PX / 2, color)
	draw_set_transform(Vector2.ZERO)
	draw_circle(middle, 3.0, Color.BLACK)


func _draw_waves(middle: Vector2, color: Color) -> void:
	for radius: float in [3.0, 6.5, 10.0]:
		draw_arc(middle + Vector2(-5, 0), radius, -0.8, 0.8, 8, color, 1.5)


func _is_shown(place: Vector2) -> bool:
	return place.is_finite() and Rect2(Vector2.ZERO, size).has_point(place)


func _place_of(node: Node) -> Vector2:
	if node is Node3D:
		var camera := get_viewport().get_camera_3d()
		var place := (node as Node3D).global_position
		return Vector2.INF if camera == null or camera.is_position_behind(place) else camera.unproject_position(place)
	if node is CanvasItem:
		return (node as CanvasItem).get_global_transform_with_canvas().origin
	return Vector2.INF


func _distance_of(node: Node) -> float:
	var camera := get_viewport().get_camera_3d()
	return camera.global_position.distance_to((node as Node3D).global_position) if camera and node is Node3D else 0.0
