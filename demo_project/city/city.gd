extends Node2D
## Follows the traveller through four towns, and says every second what is simulated as what.

## The totals of so many inhabitants may be off by this share, from adding them in another order.
const ROUNDING := 1e-9
const MARGIN_PX := 40.0
## How far the view on the right reaches.
const AROUND_M := 200.0
const LINE := "%3d s  %5s people  %3s blocks  %2s quarters  %1s towns  %s inhabitants  wealth %s  %4.0f µs AI per frame"

## Ends after this time and judges the totals; "--scripted" after "--" sets it.
@export var is_scripted := false
@export_range(1.0, 600.0, 1.0, "suffix:s") var lifetime := 60.0

var _passed_s := 0.0
var _told_s := 0
var _first: Dictionary
var _greatest_drift := 0.0
var _most_people := 0
var _frame_us: Array[float] = []
var _centres: PackedVector2Array
var _sides: PackedFloat32Array
var _people: PackedVector2Array

@onready var _scheduler: AIScheduler = $AIScheduler
@onready var _life: CityLife = $AIScheduler/CityLife
@onready var _line: Label = $Screen/Line


func _ready() -> void:
	is_scripted = is_scripted or "--scripted" in OS.get_cmdline_user_args()
	if is_scripted:
		# However slow the machine, the same city: no work is put off for lack of time.
		_scheduler.budget = 0.0


func _physics_process(delta: float) -> void:
	_passed_s += delta
	if floori(_passed_s + 1e-6) > _told_s:
		_told_s += 1
		_show_report(_life.get_report())
		if is_scripted and _told_s >= lifetime:
			_judge()
	queue_redraw()


func _unhandled_key_input(event: InputEvent) -> void:
	if (event as InputEventKey).keycode == KEY_ESCAPE:
		get_tree().quit()


func _show_report(report: Dictionary) -> void:
	if not _first:
		_first = report
	for total: String in ["inhabitants", "wealth"]:
		_greatest_drift = maxf(_greatest_drift, absf(report[total] / float(_first[total]) - 1.0))
	_most_people = maxi(_most_people, report["people"])
	_frame_us.append(report["ai_us_per_frame"])
	var line := LINE % [
		_told_s, report["people"], report["blocks"], report["quarters"], report["towns"],
		report["inhabitants"], "%.2f" % report["wealth"], report["ai_us_per_frame"]]
	print(line)
	_line.text = line


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


## All the land on the left, what is around the traveller on the right.
func _draw() -> void:
	_centres = _life.get_plot_centres()
	_sides = _life.get_plot_sides()
	_people = _life.get_people()
	var land := Rect2(_life.get_traveller(), Vector2.ZERO)
	for i in _centres.size():
		land = land.merge(Rect2(_centres[i] - Vector2.ONE * _sides[i] / 2.0, Vector2.ONE * _sides[i]))
	var screen := get_viewport_rect()
	draw_rect(screen, Color(0.09, 0.11, 0.14))
	var half := Vector2(screen.size.x / 2.0, screen.size.y)
	_draw_view(land.grow(AROUND_M), Rect2(Vector2.ZERO, half))
	var around := Rect2(_life.get_traveller(), Vector2.ZERO).grow(AROUND_M)
	_draw_view(around, Rect2(Vector2(half.x, 0.0), half))


func _draw_view(seen: Rect2, panel: Rect2) -> void:
	panel = panel.grow(-MARGIN_PX)
	var zoom := minf(panel.size.x / seen.size.x, panel.size.y / seen.size.y)
	draw_set_transform(panel.get_center() - seen.get_center() * zoom, 0.0, Vector2.ONE * zoom)
	draw_rect(seen, Color(0.13, 0.16, 0.2))
	for i in _centres.size():
		if seen.encloses(Rect2(_centres[i], Vector2.ZERO).grow(_sides[i] * 0.5)):
			draw_circle(_centres[i], _sides[i] * 0.46, Color(0.36, 0.45, 0.62, 0.55))
	for person in _people:
		if seen.has_point(person):
			draw_circle(person, maxf(1.0, 1.6 / zoom), Color(0.98, 0.8, 0.42))
	draw_circle(_life.get_traveller(), 6.0 / zoom, Color(0.93, 0.35, 0.3))
	draw_set_transform(Vector2.ZERO)
