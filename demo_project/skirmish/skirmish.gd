extends Node2D
## Two strategists with 100 units each: draws what happens, what was fought over, and why each does what it does.
## M changes the map that is drawn under it, R plays another game, Escape ends.

const COLORS: Array[Color] = [Color("346eaa"), Color("d66e28")]
const WALL := Color("464646")
const GROUND := Color("f6f4ee")
const RESOURCE := Color("428c54")
const HEAT := Color("d62728")
const LAYERS: Array[String] = ["", "threat", "resources", "exploration", "friends"]
const NAMES: Array[String] = ["damage done", "threat (blue's map)", "resources (blue's map)", "age (blue's map)", "friends"]
const TOP_PX := 44.0
const SIDES: Array[String] = ["blue", "orange"]
const LINE := "%3d s   blue: %s, %d units, base %4.0f, %4.0f in store   orange: %s, %d units, base %4.0f, %4.0f in store"

## Ends by itself and prints the winner; "--scripted" after "--" sets it.
@export var is_scripted := false

var _drawn_layer := 0
var _told_s := 0
var _pixels_per_m := 5.0

@onready var _life: SkirmishLife = $AIScheduler/SkirmishLife
@onready var _line: Label = $Screen/Line
@onready var _why: Label = $Screen/Why


func _ready() -> void:
	is_scripted = is_scripted or "--scripted" in OS.get_cmdline_user_args()
	if is_scripted:
		# However slow the machine, the same game: no work is put off for lack of time.
		($AIScheduler as AIScheduler).budget = 0.0
		if DisplayServer.get_name() == "headless":
			_life.frames_per_step = 1
	RenderingServer.set_default_clear_color(Color("1e1e1e"))


func _physics_process(_delta: float) -> void:
	var report := _life.get_report()
	var line := LINE % [
		report["seconds"], report["postures"][0], report["units"][0], report["bases"][0], report["stock"][0],
		report["postures"][1], report["units"][1], report["bases"][1], report["stock"][1]]
	if floori(report["seconds"] / 10.0) > _told_s:
		_told_s += 1
		print(line)
	_line.text = line + "   AI %4.0f µs" % report["ai_us"]
	_why.text = "map: %s (M)\n\nblue\n%s\n\norange\n%s" % [
		NAMES[_drawn_layer], "\n".join(_life.get_reasons(0)), "\n".join(_life.get_reasons(1))]
	if _life.is_over() and is_scripted:
		var winner: String = SIDES[report["winner"]] if report["winner"] >= 0 else "nobody"
		print("\nsummary: %s after %d s; winner: %s" % [report["why"], report["seconds"], winner])
		# In another scene the skirmish leaves this to that scene.
		if get_tree().current_scene == self:
			get_tree().quit(0 if report["why"] else 1)
		set_physics_process(false)
	queue_redraw()


func _unhandled_key_input(event: InputEvent) -> void:
	var key := event as InputEventKey
	if not key.pressed:
		return
	match key.keycode:
		KEY_ESCAPE:
			get_tree().quit()
		KEY_M:
			_drawn_layer = (_drawn_layer + 1) % LAYERS.size()
		KEY_R:
			get_tree().reload_current_scene()


func _draw() -> void:
	_pixels_per_m = (get_viewport_rect().size.y - TOP_PX - 10.0) / _life.get_side_m()
	var side_px := _life.get_side_m() * _pixels_per_m
	draw_rect(Rect2(10, TOP_PX, side_px, side_px), GROUND)
	_draw_layer()
	var cell := Vector2.ONE * _life.get_cell_m() * _pixels_per_m
	for middle: Vector2 in _life.get_walls():
		draw_rect(Rect2(_at(middle) - cell / 2, cell), WALL)
	for site: Vector2 in _life.get_sites():
		draw_circle(_at(site), 5, RESOURCE)
	for side in 2:
		var base := _at(_life.get_bases()[side])
		draw_rect(Rect2(base - Vector2(9, 9), Vector2(18, 18)), COLORS[side])
		for goal: Vector2 in _life.get_goals(side):
			draw_arc(_at(goal), 6, 0, TAU, 12, Color(COLORS[side], 0.6), 1.5)
		var kinds := _life.get_kinds(side)
		var places := _life.get_places(side)
		for row in places.size():
			_draw_unit(_at(places[row]), kinds[row], COLORS[side])


## Workers are small, scouts rings, spears discs, bows squares, rams large discs, flyers triangles.
func _draw_unit(place: Vector2, kind: int, color: Color) -> void:
	match kind:
		0:
			draw_circle(place, 2, color.darkened(0.2))
		1:
			draw_arc(place, 4, 0, TAU, 10, color, 1.5)
		2:
			draw_circle(place, 3.5, color)
		3:
			draw_rect(Rect2(place - Vector2(3, 3), Vector2(6, 6)), color)
		4:
			draw_circle(place, 5.5, color)
		_:
			draw_colored_polygon([place + Vector2(0, -6), place + Vector2(5, 4), place + Vector2(-5, 4)], color)


func _draw_layer() -> void:
	var values := _life.get_layer(0, LAYERS[_drawn_layer])
	var most := 0.0
	for value in values:
		most = maxf(most, value)
	if most <= 0.0:
		return
	var columns := int(sqrt(values.size()))
	var cell := _life.get_cell_m() * _pixels_per_m
	for number in values.size():
		if values[number] > 0.0:
			@warning_ignore("integer_division")
			var corner := Vector2(number % columns, number / columns) * cell + Vector2(10, TOP_PX)
			draw_rect(Rect2(corner, Vector2(cell, cell)), Color(HEAT, 0.75 * sqrt(values[number] / most)))


func _at(place: Vector2) -> Vector2:
	return place * _pixels_per_m + Vector2(10, TOP_PX)
