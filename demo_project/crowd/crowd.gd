extends Node2D
## Two crowds of a thousand characters look at the same moving target, side by side: an AIScheduler on the left, naive
## slices on the right, and the time of the decisions of both below.
##
## Now and then there is smoke, and each has to look more closely. Naive slices treat all alike,
## and take whatever time they take. The AIScheduler keeps to a budget, lets those decide more often who are
## near the target, and loses nobody: what does not fit comes first in the next frame.
##
## Key 1: the right crowd decides in naive slices; key 2: all of it in every frame. With --scripted each way is timed,
## and a table printed.

const Field := preload("field.gd")

const SMOKE_EVERY_FRAMES := 100
const SMOKE_FRAMES := 25
const WARMING_FRAMES := 30
const MEASURED_FRAMES := 300
const RECORDED_FRAMES := 120
const NAMES: Array[String] = ["everyone, every frame", "naive slices of 100", "AIScheduler, %d µs"]
const PLACES: Array[Vector2] = [Vector2(16, 130), Vector2(648, 130)]
const PANEL_PX := Vector2(616, 346.5)
const GRAPH := Rect2(72, 522, 1192, 164)
const BACK := Color("14181f")
const TEXT := Color("e3e7ee")
const FAINT := Color("97a1b2")
const OURS := Color("6fe3a1")
const OTHER := Color("f0923c")
const BUDGET := Color("ffd84d")
const LINES := """median %d µs, 99 %% of frames below %d µs, over budget in %d %% of frames
decisions are %.1f frames old near the target, %.1f far from it"""
const WRITTEN_EVERY_FRAMES := 15

var fields: Array[Field] = []
var _frame := 0
var _begun_us := 0
var _frames_us: Array[float] = []
var _smoky: Array[bool] = []
var _lines: Array[String] = ["", ""]
var _is_scripted := false
var _font: Font = ThemeDB.fallback_font

@onready var ai: AIScheduler = $AI


func _ready() -> void:
	RenderingServer.set_default_clear_color(BACK)
	# Timed one after the other, so that none pays for the other; side by side when looked at.
	_is_scripted = "--scripted" in OS.get_cmdline_user_args() and DisplayServer.get_name() == "headless"
	for number in 1 if _is_scripted else 2:
		var field := Field.new()
		if number == 0:
			field.ai = ai
			field.how = Field.How.OURS
		field.budget_us = ai.budget
		field.scale = PANEL_PX / Field.SIZE_PX
		fields.append(field)
		var panel := Control.new()
		panel.position = PLACES[number]
		panel.size = PANEL_PX
		panel.clip_contents = true
		panel.add_child(field)
		add_child(panel)
	if _is_scripted:
		_play_scripted.call_deferred()


func _process(delta: float) -> void:
	var now_us := Time.get_ticks_usec()
	_frames_us.append(float(now_us - _begun_us))
	_begun_us = now_us
	_frame += 1
	var angle := _frame * 0.02
	var target := Field.SIZE_PX * (Vector2(0.5, 0.5) + 0.45 * Vector2(cos(angle), sin(1.7 * angle)))
	var is_smoky := _frame % SMOKE_EVERY_FRAMES < SMOKE_FRAMES
	_smoky.append(is_smoky)
	if _smoky.size() > Field.KEPT_FRAMES: _smoky.pop_front()
	for field in fields: field.live(delta, target, is_smoky)
	if not _is_scripted:
		if _frame % WRITTEN_EVERY_FRAMES == 0: _write_lines()
		queue_redraw()


func _unhandled_key_input(event: InputEvent) -> void:
	var key := event as InputEventKey
	if key.pressed and key.keycode in [KEY_1, KEY_2] and not _is_scripted:
		fields[1].how = Field.How.NAIVE if key.keycode == KEY_1 else Field.How.EVERYONE
		for field in fields: field.clear()
	elif key.pressed and key.keycode == KEY_ESCAPE:
		get_tree().quit()


func _write_lines() -> void:
	for number in fields.size():
		var field := fields[number]
		_lines[number] = LINES % [
				field.at_percent(50), field.at_percent(99), roundi(100.0 * field.over_budget / maxi(1, field.measured)),
				field.mean_age(true), field.mean_age(false)]


func _draw() -> void:
	if _is_scripted: return
	_write(Vector2(16, 34), "A thousand characters look at a moving target", 22, TEXT)
	_write(Vector2(560, 33), "bright: has just decided   blue: near the target   brown ground: smoke, more work", 15, FAINT)
	for number in fields.size():
		var place := PLACES[number]
		_write(place + Vector2(0, -54), _name_of(fields[number].how), 18, OTHER if number else OURS)
		if number: _write(place + Vector2(240, -54), "keys 1 and 2: naive slices, everyone", 14, FAINT)
		draw_multiline_string(_font, place + Vector2(0, -30), _lines[number], HORIZONTAL_ALIGNMENT_LEFT, -1, 14, 2, TEXT)
	_draw_graph()


func _draw_graph() -> void:
	_write(GRAPH.position + Vector2(-56, -10), "Time of the decisions of each frame (µs)", 15, TEXT)
	draw_rect(GRAPH, Color("1f2530"))
	var top_us := 2.5 * ai.budget
	var step_px := GRAPH.size.x / Field.KEPT_FRAMES
	for number in _smoky.size():
		if _smoky[number]:
			draw_rect(Rect2(GRAPH.end.x - (_smoky.size() - number) * step_px, GRAPH.position.y, step_px, GRAPH.size.y),
					Color(Field.SMOKE, 0.3))
	var budget_y := GRAPH.end.y - GRAPH.size.y * ai.budget / top_us
	for number in [1, 0]:
		var line := PackedVector2Array()
		var times := fields[number].times_us
		for at in times.size():
			line.append(Vector2(GRAPH.end.x - (times.size() - at) * step_px,
					GRAPH.end.y - GRAPH.size.y * minf(1.0, times[at] / top_us)))
		if line.size() > 1: draw_polyline(line, OTHER if number else OURS, 1.5)
	draw_dashed_line(Vector2(GRAPH.position.x, budget_y), Vector2(GRAPH.end.x, budget_y), BUDGET, 1.5, 8.0)
	_write(Vector2(GRAPH.position.x - 56, budget_y + 5), "%d" % ai.budget, 14, BUDGET)
	_write(Vector2(GRAPH.position.x - 56, GRAPH.position.y + 14), "%d" % top_us, 14, FAINT)
	var legend := Vector2(GRAPH.position.x + 10, GRAPH.end.y + 20)
	for row: Array in [["AIScheduler", OURS], [NAMES[fields[1].how], OTHER], ["budget", BUDGET], ["smoke", Field.SMOKE]]:
		draw_rect(Rect2(legend + Vector2(0, -10), Vector2(12, 12)), row[1])
		_write(legend + Vector2(18, 0), row[0], 14, FAINT)
		legend.x += 190


func _write(at: Vector2, text: String, size_px: int, color: Color) -> void:
	draw_string(_font, at, text, HORIZONTAL_ALIGNMENT_LEFT, -1, size_px, color)


func _name_of(one: Field.How) -> String:
	return NAMES[one] % roundi(ai.budget) if one == Field.How.OURS else NAMES[one]


func _at(percent: int) -> float:
	var sorted := _frames_us.duplicate()
	sorted.sort()
	return sorted[mini(sorted.size() * percent / 100, sorted.size() - 1)]


func _age(is_near: bool) -> String:
	var ages: PackedInt32Array = fields[0].ages[is_near].duplicate()
	ages.sort()
	return "%.1f %3d" % [fields[0].mean_age(is_near), ages[-1]] if ages else "-"


func _play_scripted() -> void:
	var field := fields[0]
	print("%d characters look at a moving target; time of a frame (µs), share of frames in which decisions" % Field.CHARACTERS)
	print("took a tenth more than %d µs, age of decisions (frames), mean and oldest, near the target and far:" % ai.budget)
	print("  %-24s %8s %8s %8s %8s %10s %10s" % ["how", "p50", "p99", "max", "over", "near", "far"])
	for one: Field.How in Field.How.values():
		field.how = one
		await _frames(WARMING_FRAMES)
		field.clear()
		_frames_us.clear()
		await _frames(MEASURED_FRAMES)
		print("  %-24s %8d %8d %8d %7d%% %10s %10s" % [_name_of(one), _at(50), _at(99), _at(100),
				roundi(100.0 * field.over_budget / field.measured), _age(true), _age(false)])
	await _record()
	get_tree().quit()


## Writes a stretch of frames to the file that "--recording=FILE" names, for a picture of the runs of tasks.
func _record() -> void:
	for argument in OS.get_cmdline_user_args():
		if argument.begins_with("--recording="):
			ai.start_recording(argument.trim_prefix("--recording="))
			await _frames(RECORDED_FRAMES)
			ai.stop_recording()


func _frames(count: int) -> void:
	for i in count: await get_tree().process_frame
