extends Node2D
## Two strategists with 100 units each: the battle on the left; on the right the reasons of both, and the layers of
## the maps by which they decide.
## M changes the layer that is drawn over the ground, R plays the next battle, Escape ends.

const SIDES: Array[String] = ["blue", "orange"]
const COLORS: Array[Color] = [Color("5aa2f0"), Color("f0923c")]
const BACK := Color("161a21")
const CARD := Color("212732")
const GROUND := Color("41503f")
const GRASS := Color("475846")
const WALL := Color("8b8f98")
const WALL_SIDE := Color("5a5e68")
const RESOURCE := Color("6fe3a1")
const TEXT := Color("d7dce5")
const FAINT := Color("8e97a6")
const BATTLE := Rect2(16, 48, 656, 656)
const CARDS_X := 688.0
const CARD_SIZE := Vector2(280, 236)
const MAP_PX := 132.0
const MAPS_Y := 340.0
const LEGEND_Y := 650.0
## Layers of a decision map, their names in words and their colors.
const LAYERS: Array[Array] = [
	["threat", "threat", Color("ff5b4d")], ["resources", "resources", Color("6fe3a1")],
	["exploration", "not seen for long", Color("b79bff")], ["friends", "own units", Color("ffe08a")]]
const DAMAGE: Array = ["", "damage done", Color("ff7043")]
const KINDS: Array[String] = ["worker", "scout", "spear", "bow", "ram", "flyer"]
const LINE := "%3d s   blue: %s, %d units, base %4.0f, %4.0f in store   orange: %s, %d units, base %4.0f, %4.0f in store"
const MARK_PX := 22
const LAYERS_EVERY_S := 0.5
## Ground on which the armies meet within seconds; R goes to the next.
const BATTLES: Array[int] = [4, 22, 10, 25, 33, 5]

static var _battle := 0

## Ends by itself and prints the winner; "--scripted" after "--" sets it.
@export var is_scripted := false

var _shown_layer := 0
var _printed_s := 0
var _pixels_per_m := 5.0
var _report := {}
var _ground: ImageTexture
var _pictures: Dictionary[String, ImageTexture] = {}
var _redrawn_s := -1.0
## What a unit of each kind looks like, white.
var _marks: Array[Texture2D] = []
var _font: Font = ThemeDB.fallback_font

@onready var _life: SkirmishLife = $AIScheduler/SkirmishLife


func _enter_tree() -> void:
	($AIScheduler/SkirmishLife as SkirmishLife).game_seed = BATTLES[_battle]


func _ready() -> void:
	is_scripted = is_scripted or "--scripted" in OS.get_cmdline_user_args()
	if is_scripted:
		# However slow the machine, the same game: no work is put off for lack of time.
		($AIScheduler as AIScheduler).budget = 0.0
		if DisplayServer.get_name() == "headless":
			_life.frames_per_step = 1
	RenderingServer.set_default_clear_color(BACK)
	_make_marks()
	_pixels_per_m = BATTLE.size.x / _life.get_side_m()
	_make_ground()


func _physics_process(_delta: float) -> void:
	_report = _life.get_report()
	if floori(_report.seconds / 10.0) > _printed_s:
		_printed_s += 1
		print(LINE % [
			_report.seconds, _report.postures[0], _report.units[0], _report.bases[0], _report.stock[0],
			_report.postures[1], _report.units[1], _report.bases[1], _report.stock[1]])
	if _life.is_over() and is_scripted:
		var winner: String = SIDES[_report.winner] if _report.winner >= 0 else "nobody"
		print("\nsummary: %s after %d s; winner: %s" % [_report.why, _report.seconds, winner])
		# In another scene the skirmish leaves this to that scene.
		if get_tree().current_scene == self:
			get_tree().quit(0 if _report.why else 1)
		set_physics_process(false)
	if DisplayServer.get_name() != "headless":
		_update_pictures()
		queue_redraw()


func _unhandled_key_input(event: InputEvent) -> void:
	var key := event as InputEventKey
	if not key.pressed:
		return
	match key.keycode:
		KEY_ESCAPE:
			get_tree().quit()
		KEY_M:
			_shown_layer = (_shown_layer + 1) % (LAYERS.size() + 1)
		KEY_R:
			_battle = (_battle + 1) % BATTLES.size()
			get_tree().reload_current_scene()


func _update_pictures() -> void:
	if _report.seconds - _redrawn_s < LAYERS_EVERY_S:
		return
	_redrawn_s = _report.seconds
	_update_picture(0, DAMAGE[0])
	for side in 2:
		for layer in LAYERS:
			_update_picture(side, layer[0])


func _update_picture(side: int, layer: String) -> void:
	var values := _life.get_layer(side, layer)
	var columns := roundi(_life.get_side_m() / _life.get_cell_m())
	var image := Image.create_from_data(columns, columns, false, Image.FORMAT_LA8, values)
	var picture: ImageTexture = _pictures.get(_key(side, layer))
	if picture: picture.update(image)
	else: _pictures[_key(side, layer)] = ImageTexture.create_from_image(image)


func _key(side: int, layer: String) -> String:
	return "%d %s" % [side, layer]


func _draw() -> void:
	if not _report or not _pictures:
		return
	_write(Vector2(18, 34), "Skirmish   %d s" % _report.seconds, 22, TEXT)
	_write(Vector2(230, 33), "M: layer on the ground   R: next battle   AI %.1f ms a step" % (_report.ai_us / 1000.0), 15, FAINT)
	_draw_ground()
	for side in 2:
		_draw_orders(side)
	for side in 2:
		_draw_side(side)
	for side in 2:
		_draw_shots(side)
	for side in 2:
		_draw_card(side)
		_draw_maps(side)
	_draw_legend()
	if _report.why:
		_draw_end()


func _draw_ground() -> void:
	draw_texture(_ground, BATTLE.position)
	var layer: Array = DAMAGE if _shown_layer == 0 else LAYERS[_shown_layer - 1]
	draw_texture_rect(_pictures[_key(0, layer[0])], BATTLE, false, Color(layer[2], 0.7))
	for site in _life.get_sites():
		var place := _at(site)
		draw_circle(place, 9, Color(RESOURCE, 0.25))
		draw_colored_polygon([place + Vector2(0, -7), place + Vector2(6, 0), place + Vector2(0, 7), place + Vector2(-6, 0)], RESOURCE)


func _draw_orders(side: int) -> void:
	var ends := _life.get_orders(side)
	var color := Color(COLORS[side], 0.35)
	for row in range(0, ends.size(), 2):
		var from := _at(ends[row])
		var to := _at(ends[row + 1])
		if from.distance_to(to) > 40.0:
			draw_line(from, to, color, 1.5)
			draw_arc(to, 7, 0, TAU, 14, color, 1.5)


func _draw_side(side: int) -> void:
	var base := Rect2(_at(_life.get_bases()[side]) - Vector2(15, 15), Vector2(30, 30))
	draw_rect(Rect2(base.position + Vector2(0, 6), base.size), COLORS[side].darkened(0.6))
	draw_rect(base, COLORS[side].darkened(0.15))
	draw_rect(base.grow(-7), COLORS[side].lightened(0.35))
	_draw_bar(Rect2(base.position + Vector2(-5, -12), Vector2(40, 6)), _life.get_worth()[2 * side], COLORS[side])
	var kinds := _life.get_kinds(side)
	var places := _life.get_places(side)
	for row in places.size():
		_draw_unit(_at(places[row]), kinds[row], COLORS[side])


func _draw_unit(place: Vector2, kind: int, color: Color) -> void:
	draw_texture(_marks[kind], place - Vector2.ONE * MARK_PX / 2.0, color)


## Draws the ground with its walls once: each layer of color over a large part of the screen costs time.
func _make_ground() -> void:
	var size := Vector2i(BATTLE.size)
	var cell := Vector2.ONE * _life.get_cell_m() * _pixels_per_m
	var image := Image.create_empty(size.x, size.y, false, Image.FORMAT_RGB8)
	image.fill(GROUND)
	for stripe in range(0, roundi(BATTLE.size.y / cell.y), 2):
		image.fill_rect(Rect2(Vector2(0, stripe * cell.y), Vector2(BATTLE.size.x, cell.y)), GRASS)
	for part: Array in [[WALL_SIDE, Vector2(0, 5)], [WALL, Vector2.ZERO]]:
		for middle in _life.get_walls():
			image.fill_rect(Rect2(middle * _pixels_per_m - cell / 2 + part[1], cell.ceil()), part[0])
	_ground = ImageTexture.create_from_image(image)


## Draws the marks of all kinds once: workers are small, scouts rings, spears discs, bows squares, rams large discs with
## a hole, flyers triangles; dark at their edges. Circles drawn anew for each unit would take most of a frame.
func _make_marks() -> void:
	for kind in KINDS.size():
		var image := Image.create_empty(MARK_PX, MARK_PX, false, Image.FORMAT_RGBA8)
		for y in MARK_PX:
			for x in MARK_PX:
				image.set_pixel(x, y, _mark_color(kind, Vector2(x + 0.5, y + 0.5) - Vector2.ONE * MARK_PX / 2.0))
		_marks.append(ImageTexture.create_from_image(image))


func _mark_color(kind: int, at: Vector2) -> Color:
	var outside := at.length()
	match kind:
		0: outside -= 3.0
		1: outside = absf(outside - 5.0) - 1.2
		2: outside -= 5.5
		3: outside = maxf(absf(at.x), absf(at.y)) - 4.5
		4: outside = maxf(outside - 8.0, 2.5 - outside)
		_: outside = maxf(at.y - 5.0, (absf(at.x) * 1.7 - at.y - 8.0) * 0.5)
	var edge := 0.35 if outside > -1.5 and kind > 1 else 1.0
	return Color(edge, edge, edge, clampf(0.5 - outside, 0.0, 1.0))


func _draw_shots(side: int) -> void:
	var ends := _life.get_shots(side)
	if ends.is_empty():
		return
	var lines := PackedVector2Array()
	for end in ends:
		lines.append(_at(end))
	draw_multiline(lines, Color(COLORS[side].lightened(0.55), 0.8), 1.5)
	for row in range(1, lines.size(), 2):
		draw_rect(Rect2(lines[row] - Vector2(2, 2), Vector2(4, 4)), Color("fff4c2"))


func _draw_card(side: int) -> void:
	var card := Rect2(Vector2(CARDS_X + side * (CARD_SIZE.x + 16), 48), CARD_SIZE)
	draw_rect(card, CARD)
	draw_rect(Rect2(card.position, Vector2(card.size.x, 4)), COLORS[side])
	var place := card.position + Vector2(14, 30)
	_write(place, "%s: %s" % [SIDES[side].capitalize(), _report.postures[side]], 18, COLORS[side])
	var worth := _life.get_worth()
	for row in 2:
		place.y += 24
		_write(place, ["base", "units"][row], 14, FAINT)
		_draw_bar(Rect2(place + Vector2(50, -9), Vector2(150, 8)), worth[2 * side + row], COLORS[side])
		_write(place + Vector2(210, 0), "%d" % [_report.bases[side], _report.units[side]][row], 14, TEXT)
	place.y += 28
	_write(place + Vector2(190, 0), "%d in store" % _report.stock[side], 14, FAINT)
	_write(place, "Reasons of the strategist", 14, TEXT)
	for reason in _life.get_reasons(side).slice(-4):
		place.y += 20
		draw_multiline_string(_font, place, reason, HORIZONTAL_ALIGNMENT_LEFT, card.size.x - 24, 14, 2, FAINT)
		place.y += 20 * int(_font.get_multiline_string_size(reason, HORIZONTAL_ALIGNMENT_LEFT, card.size.x - 24, 14).y > 30)


func _draw_maps(side: int) -> void:
	var y := MAPS_Y + side * (MAP_PX + 10)
	_write(Vector2(CARDS_X, MAPS_Y - 34), "Decision layers: what each side knows", 15, TEXT)
	for number in LAYERS.size():
		var place := Rect2(CARDS_X + number * (MAP_PX + 16), y, MAP_PX, MAP_PX)
		if side == 0:
			_write(place.position - Vector2(0, 7), LAYERS[number][1], 14, LAYERS[number][2])
		draw_rect(place.grow(1.0), COLORS[side].darkened(0.3), false, 2.0)
		draw_texture_rect(_pictures[_key(side, LAYERS[number][0])], place, false, LAYERS[number][2])
		for owner_side in 2:
			_draw_base_mark(place.position + _life.get_bases()[owner_side] * MAP_PX / _life.get_side_m(), owner_side)


func _draw_base_mark(place: Vector2, side: int) -> void:
	draw_rect(Rect2(place - Vector2(6, 6), Vector2(12, 12)), BACK)
	draw_rect(Rect2(place - Vector2(4, 4), Vector2(8, 8)), COLORS[side])


func _draw_legend() -> void:
	var place := Vector2(CARDS_X + 8, LEGEND_Y)
	for kind in KINDS.size():
		_draw_unit(place, kind, TEXT)
		_write(place + Vector2(14, 5), KINDS[kind], 14, FAINT)
		place.x += 96
	place = Vector2(CARDS_X + 8, LEGEND_Y + 30)
	draw_colored_polygon([place + Vector2(0, -7), place + Vector2(6, 0), place + Vector2(0, 7), place + Vector2(-6, 0)], RESOURCE)
	_write(place + Vector2(14, 5), "resource", 14, FAINT)
	draw_arc(place + Vector2(96, 0), 7, 0, TAU, 14, TEXT, 1.5)
	_write(place + Vector2(110, 5), "order", 14, FAINT)
	for side in 2:
		_draw_base_mark(place + Vector2(176 + 18 * side, 0), side)
	_write(place + Vector2(206, 5), "bases", 14, FAINT)
	var layer: Array = DAMAGE if _shown_layer == 0 else LAYERS[_shown_layer - 1]
	draw_rect(Rect2(place + Vector2(270, -7), Vector2(14, 14)), layer[2])
	_write(place + Vector2(292, 5), "on the ground: %s%s" % [layer[1], "" if _shown_layer == 0 else " (blue's map)"], 14, FAINT)


func _draw_end() -> void:
	var middle := BATTLE.get_center()
	draw_rect(Rect2(BATTLE.position.x, middle.y - 46, BATTLE.size.x, 84), Color(BACK, 0.85))
	var winner: String = "%s wins" % SIDES[_report.winner].capitalize() if _report.winner >= 0 else "A draw"
	var color := COLORS[_report.winner] if _report.winner >= 0 else TEXT
	draw_string(_font, Vector2(BATTLE.position.x, middle.y - 8), winner, HORIZONTAL_ALIGNMENT_CENTER, BATTLE.size.x, 30, color)
	draw_string(_font, Vector2(BATTLE.position.x, middle.y + 22), "%s. R: next battle" % _report.why,
			HORIZONTAL_ALIGNMENT_CENTER, BATTLE.size.x, 16, TEXT)


func _draw_bar(place: Rect2, share: float, color: Color) -> void:
	draw_rect(place, Color(0, 0, 0, 0.5))
	draw_rect(Rect2(place.position, Vector2(place.size.x * clampf(share, 0.0, 1.0), place.size.y)), color)


func _write(place: Vector2, text: String, size_px: int, color: Color) -> void:
	draw_string(_font, place, text, HORIZONTAL_ALIGNMENT_LEFT, -1, size_px, color)


func _at(place: Vector2) -> Vector2:
	return place * _pixels_per_m + BATTLE.position
