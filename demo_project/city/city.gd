extends Node2D
## 100,000 inhabitants of four towns: the view goes from the whole land to a single person and back. What is near the
## traveller is simulated person by person, what is far as one number for a block, a quarter or a town.
## The mouse wheel zooms, Space lets the view go by itself again, Escape ends.

## The totals of so many inhabitants may be off by this share, from adding them in another order.
const ROUNDING := 1e-9
const LINE := "%3d s  %5s people  %3s blocks  %2s quarters  %1s towns  %s inhabitants  wealth %s  %4.0f µs AI per frame"
## What is seen from top to bottom (m), of a person and of the land.
const NEAREST_M := 14.0
const WHEEL := 1.25
## The view goes in and out again in this time.
const TOUR_S := 26.0
## Nearer than this, the city runs slowly, as the traveller is fast.
const SLOW_BELOW_M := 260.0
const SLOWEST_FRAMES := 20
## Nearer than this, the view follows a person beside the traveller, until it is so far behind.
const CLOSE_M := 120.0
const LEFT_BEHIND_M := 40.0
const NAMES: Array[Array] = [
	[40.0, "a person"], [180.0, "a block: every inhabitant lives, trades and talks"],
	[600.0, "a quarter: far blocks are one number each"],
	[1500.0, "a town"], [INF, "the land: a far town is a single piece of work"]]
const BACK := Color("27332a")
const PARK := Color("33483a")
const STREET := Color("3d4540")
const UNHEARD := Color("5c6f8f")
const HEARD := Color("e0a83f")
const HOUSE := Color("79705f")
const ROOF := Color("8f8470")
const SKIN := Color("efcda9")
const TRAVELLER := Color("f0503c")
const PANEL := Color(0.07, 0.09, 0.11, 0.92)
const PANEL_BOX := Rect2(16, 16, 570, 148)
const TEXT := Color("e6eaf0")
const FAINT := Color("a3adba")
## Houses along a side of a block.
const HOUSES := 4
## Plots that are wider on the screen are drawn as the parts that they would open into.
const PARTED_PX := 90.0
const SIGHT_M := 80.0
const WALK_M := 1.6
const MAP := Rect2(1064, 504, 200, 200)

## Ends after this time and judges the totals; "--scripted" after "--" sets it.
@export var is_scripted := false
@export_range(1.0, 600.0, 1.0, "suffix:s") var lifetime := 60.0
## What is seen from top to bottom at first (m); 0: the view goes by itself.
@export var first_view := 0.0

var _passed_s := 0.0
var _printed_s := 0
var _first: Dictionary
var _report := {}
var _greatest_drift := 0.0
var _most_people := 0
var _frame_us: Array[float] = []
var _land := Rect2()
var _view_m := 0.0
var _is_touring := true
var _middle := Vector2.ZERO
var _px_per_m := 1.0
var _wanted := Vector2.INF
var _followed := Vector2.INF
var _towns: Array[Rect2] = []
var _font: Font = ThemeDB.fallback_font

@onready var _scheduler: AIScheduler = $AIScheduler
@onready var _life: CityLife = $AIScheduler/CityLife


func _ready() -> void:
	is_scripted = is_scripted or "--scripted" in OS.get_cmdline_user_args()
	if is_scripted:
		# However slow the machine, the same city: no work is put off for lack of time.
		_scheduler.budget = 0.0
	RenderingServer.set_default_clear_color(BACK)
	_land = _whole_land()
	_is_touring = first_view == 0.0
	_view_m = first_view


func _physics_process(delta: float) -> void:
	_passed_s += delta
	if floori(_passed_s + 1e-6) > _printed_s:
		_printed_s += 1
		_show_report(_life.get_report())
		if is_scripted and _printed_s >= lifetime:
			_judge()
	if DisplayServer.get_name() != "headless":
		_move_view()
		queue_redraw()


func _unhandled_input(event: InputEvent) -> void:
	var key := event as InputEventKey
	var wheel := event as InputEventMouseButton
	if key and key.pressed and key.keycode == KEY_ESCAPE:
		get_tree().quit()
	elif key and key.pressed and key.keycode == KEY_SPACE:
		_is_touring = true
	elif wheel and wheel.pressed and wheel.button_index in [MOUSE_BUTTON_WHEEL_UP, MOUSE_BUTTON_WHEEL_DOWN]:
		_is_touring = false
		_view_m = clampf(_view_m * (1.0 / WHEEL if wheel.button_index == MOUSE_BUTTON_WHEEL_UP else WHEEL),
				NEAREST_M, _land.size.y)


func _show_report(report: Dictionary) -> void:
	if not _first:
		_first = report
	for total: String in ["inhabitants", "wealth"]:
		_greatest_drift = maxf(_greatest_drift, absf(report[total] / float(_first[total]) - 1.0))
	_most_people = maxi(_most_people, report["people"])
	_frame_us.append(report["ai_us_per_frame"])
	var line := LINE % [
		_printed_s, report["people"], report["blocks"], report["quarters"], report["towns"],
		report["inhabitants"], "%.2f" % report["wealth"], report["ai_us_per_frame"]]
	print(line)
	_report = report


func _judge() -> void:
	_frame_us.sort()
	var is_kept := _greatest_drift <= ROUNDING
	print("\nsummary: %d inhabitants, never more than %d of them simulated one by one" % [
		_first["inhabitants"], _most_people])
	print("         totals %s (greatest difference %s)" % [
		"never drifted" if is_kept else "DRIFTED", String.num_scientific(_greatest_drift)])
	print("         AI per frame: median second %.0f µs, worst second %.0f µs" % [
		_frame_us[_frame_us.size() / 2], _frame_us[-1]])
	# In another scene the city leaves this to that scene.
	if get_tree().current_scene == self:
		get_tree().quit(0 if is_kept and _most_people > 0 else 1)


## Goes from the land to the traveller, where it looks closest, and back.
func _move_view() -> void:
	if _is_touring:
		var share := 0.5 - 0.5 * cos(TAU * _passed_s / TOUR_S)
		_view_m = _land.size.y * pow(NEAREST_M / _land.size.y, share)
	var traveller := _life.get_traveller()
	_middle = traveller + (_land.get_center() - traveller).limit_length(maxf(0.0, 0.45 * (_view_m - CLOSE_M)))
	if _view_m < CLOSE_M:
		_follow_person(traveller)
		_middle = traveller.lerp(_followed, smoothstep(CLOSE_M, CLOSE_M / 3.0, _view_m))
	_px_per_m = get_viewport_rect().size.y / _view_m
	_life.frames_per_step = clampi(roundi(SLOW_BELOW_M / _view_m), 1, SLOWEST_FRAMES)


## Looks at the person next to the traveller, and stays with it while it is near.
func _follow_person(traveller: Vector2) -> void:
	if _wanted.distance_to(traveller) > LEFT_BEHIND_M:
		var nearest_m := INF
		for person in _life.get_people():
			if person.distance_to(traveller) < nearest_m:
				nearest_m = person.distance_to(traveller)
				_wanted = person
	_followed = _followed.lerp(_wanted, 0.06) if _followed.distance_to(_wanted) < 2.0 * LEFT_BEHIND_M else _wanted


func _whole_land() -> Rect2:
	var plots := _life.get_plots()
	var land := Rect2(_life.get_traveller(), Vector2.ZERO)
	for row in range(0, plots.size(), 5):
		land = land.merge(Rect2(plots[row], plots[row + 1], plots[row + 2], plots[row + 2]))
		_towns.append(Rect2(plots[row], plots[row + 1], plots[row + 2], plots[row + 2]))
	return land.grow(land.size.y * 0.06)


func _draw() -> void:
	if _view_m == 0.0 or _px_per_m <= 0.0:
		return
	var plots := _life.get_plots()
	for town in _towns: draw_rect(_on_screen(town), PARK)
	for row in range(0, plots.size(), 5):
		_draw_plot(Rect2(plots[row], plots[row + 1], plots[row + 2], plots[row + 2]), plots[row + 4])
	_draw_names(plots)
	var blocks := _life.get_open_blocks()
	for row in range(0, blocks.size(), 3):
		_draw_block(Rect2(blocks[row], blocks[row + 1], blocks[row + 2], blocks[row + 2]))
	var nearest := _draw_people()
	_draw_traveller()
	_draw_panel()
	if nearest: _draw_person_card(nearest)
	_draw_map(plots)


## A plot that is simulated as one, as a pattern of the plots inside, in the color of its rumour.
func _draw_plot(plot: Rect2, heard: float) -> void:
	var place := _on_screen(plot)
	if not place.intersects(get_viewport_rect()):
		return
	if place.size.x > PARTED_PX and plot.size.x > 150.0:
		draw_rect(place, STREET)
		var side := plot.size / 3.0
		for number in 9:
			@warning_ignore("integer_division")
			_draw_plot(Rect2(plot.position + side * Vector2(number % 3, number / 3), side), heard)
		return
	var shade := 0.2 + 0.12 * fposmod(plot.position.x * 0.37 + plot.position.y * 0.73, 1.0)
	draw_rect(place.grow(-maxf(1.0, place.size.x * 0.05)), UNHEARD.lerp(HEARD, heard).darkened(shade))
	if place.size.x > PARTED_PX: _draw_houses(plot, UNHEARD.lerp(HEARD, heard))


func _draw_houses(plot: Rect2, color: Color) -> void:
	var step := plot.size / HOUSES
	for number in HOUSES * HOUSES:
		@warning_ignore("integer_division")
		var house := Rect2(plot.position + step * Vector2(number % HOUSES, number / HOUSES), step)
		var place := _on_screen(house.grow(-step.x * 0.34))
		draw_rect(Rect2(place.position + Vector2(0, place.size.y * 0.18), place.size), color.darkened(0.55))
		draw_rect(place, color)
		draw_rect(Rect2(place.position, Vector2(place.size.x, place.size.y * 0.45)), color.lightened(0.15))


func _draw_names(plots: PackedFloat32Array) -> void:
	var names := _life.get_plot_names()
	for number in names.size():
		var plot := Rect2(plots[5 * number], plots[5 * number + 1], plots[5 * number + 2], plots[5 * number + 2])
		var place := _on_screen(plot)
		if place.size.x > 60.0 and get_viewport_rect().has_point(place.get_center()) \
				and not PANEL_BOX.grow(40).has_point(place.get_center()):
			var lines := "%s\n%d" % [names[number], plots[5 * number + 3]]
			draw_multiline_string_outline(_font, place.get_center() - Vector2(100, 4), lines,
					HORIZONTAL_ALIGNMENT_CENTER, 200, 15, 2, 6, Color(0, 0, 0, 0.7))
			draw_multiline_string(_font, place.get_center() - Vector2(100, 4), lines,
					HORIZONTAL_ALIGNMENT_CENTER, 200, 15, 2, TEXT)


func _draw_block(block: Rect2) -> void:
	var place := _on_screen(block)
	if place.intersects(get_viewport_rect()):
		draw_rect(place, STREET)
		if place.size.x > 30.0: _draw_houses(block, ROOF)


## Draws who is simulated one by one; returns what the nearest to the middle is, if the view is near enough.
func _draw_people() -> Dictionary:
	var people := _life.get_people()
	var facts := _life.get_facts()
	var shown := get_viewport_rect().grow(20)
	var nearest := {}
	var nearest_px := 240.0
	var is_near := _px_per_m > 12.0
	for number in people.size():
		var turn := number * 2.4 + _passed_s * (0.3 + 0.1 * (number % 5))
		var place := (people[number] + WALK_M * Vector2(cos(turn), sin(turn)) - _middle) * _px_per_m + shown.get_center()
		if not shown.has_point(place):
			continue
		var color := HEARD if facts[3 * number + 2] > 0.5 else UNHEARD.lightened(0.3)
		if is_near:
			_draw_person(place, color)
			if place.distance_to(shown.get_center()) < nearest_px:
				nearest_px = place.distance_to(shown.get_center())
				nearest = {"place": place, "age": facts[3 * number], "wealth": facts[3 * number + 1],
						"heard": facts[3 * number + 2] > 0.5}
		else:
			draw_rect(Rect2(place, Vector2.ONE * maxf(2.0, 0.9 * _px_per_m)), color)
	return nearest


func _draw_person(place: Vector2, color: Color) -> void:
	var size_px := 0.45 * _px_per_m
	draw_circle(place + Vector2(0.15, 0.2) * size_px, size_px, Color(0, 0, 0, 0.3))
	draw_circle(place, size_px, color)
	draw_circle(place, size_px * 0.55, SKIN)


func _draw_traveller() -> void:
	var place := (_life.get_traveller() - _middle) * _px_per_m + get_viewport_rect().get_center()
	draw_arc(place, SIGHT_M * _px_per_m, 0, TAU, 64, Color(TRAVELLER, 0.6), 2.0)
	draw_circle(place, maxf(6.0, 0.6 * _px_per_m), TRAVELLER)
	if _px_per_m > 12.0: draw_circle(place, 0.3 * _px_per_m, SKIN)


func _draw_panel() -> void:
	draw_rect(PANEL_BOX, PANEL)
	for row: Array in NAMES:
		if _view_m <= row[0]:
			_write(Vector2(30, 44), "You see %d m: %s" % [_view_m, row[1]], 16, TEXT)
			break
	if _report:
		_write(Vector2(30, 70), "%d inhabitants: %d one by one, the others in %d blocks, %d quarters, %d towns" % [
			_report.inhabitants, _report.people, _report.blocks, _report.quarters, _report.towns], 14, FAINT)
		_write(Vector2(30, 92), "AI %d µs a frame; wealth of all %.2f, which never changes" % [
			_report.ai_us_per_frame, _report.wealth], 14, FAINT)
	var place := Vector2(30, 118)
	for row: Array in [[HEARD, "has heard the rumour"], [UNHEARD.lightened(0.3), "has not"], [TRAVELLER, "traveller, and what it sees"]]:
		draw_rect(Rect2(place + Vector2(0, -11), Vector2(12, 12)), row[0])
		_write(place + Vector2(18, 0), row[1], 14, TEXT)
		place.x += 42 + _font.get_string_size(row[1], HORIZONTAL_ALIGNMENT_LEFT, -1, 14).x
	_write(Vector2(30, 146), "filled: simulated as one   mouse wheel: zoom   Space: by itself" + (
			"   time runs slowly" if _life.frames_per_step > 1 else ""), 14, FAINT)


func _draw_person_card(person: Dictionary) -> void:
	draw_arc(person.place, 0.7 * _px_per_m, 0, TAU, 32, TEXT, 2.0)
	var box := Rect2(person.place + Vector2(0.9 * _px_per_m, -40), Vector2(220, 62))
	draw_rect(box, PANEL)
	_write(box.position + Vector2(12, 24), "age %d, wealth %.1f" % [person.age, person.wealth], 15, TEXT)
	_write(box.position + Vector2(12, 48), "has heard the rumour" if person.heard else "has not heard the rumour", 15,
			HEARD if person.heard else UNHEARD.lightened(0.4))


## The land in a corner, with what is seen.
func _draw_map(plots: PackedFloat32Array) -> void:
	draw_rect(MAP.grow(4), PANEL)
	var scale_px := MAP.size.y / _land.size.y
	for row in range(0, plots.size(), 5):
		draw_rect(Rect2((Vector2(plots[row], plots[row + 1]) - _land.position) * scale_px + MAP.position,
				Vector2.ONE * plots[row + 2] * scale_px).grow(-1), UNHEARD.lerp(HEARD, plots[row + 4]))
	var seen := get_viewport_rect().size / _px_per_m
	var frame := Rect2((_middle - seen / 2.0 - _land.position) * scale_px + MAP.position, seen * scale_px)
	draw_rect(frame.intersection(MAP), TEXT, false, 1.5)
	draw_circle((_life.get_traveller() - _land.position) * scale_px + MAP.position, 4, TRAVELLER)


func _on_screen(place: Rect2) -> Rect2:
	return Rect2((place.position - _middle) * _px_per_m + get_viewport_rect().get_center(), place.size * _px_per_m)


func _write(at: Vector2, text: String, size_px: int, color: Color) -> void:
	draw_string(_font, at, text, HORIZONTAL_ALIGNMENT_LEFT, -1, size_px, color)
