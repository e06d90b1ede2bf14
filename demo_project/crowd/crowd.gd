extends Node2D
## A thousand characters look at a moving target: all in every frame, in naive slices, and within a budget.
##
## Now and then there is smoke, and each has to look twice as closely. Naive slices treat all alike,
## and take whatever time they take. The AIScheduler keeps to a budget, lets those decide more often who are
## near the target, and loses nobody: what does not fit comes first in the next frame.
##
## Keys 1, 2 and 3 choose how. With --scripted each way is timed, and a table printed.

const Character := preload("character.gd")

enum How { EVERYONE, NAIVE, OURS }

const CHARACTERS := 1000
const SIZE_PX := Vector2(1152, 648)
const CELL_PX := 24.0
const COLUMNS := 48
const ROWS := 27
## The article's way: so many a frame, whatever they take.
const NAIVE_PER_FRAME := 100
const OFTEN_FRAMES := 5
const RARELY_FRAMES := 20
const STEP_PX := 60.0
const SMOKE_STEP_PX := 30.0
const SMOKE_EVERY_FRAMES := 100
const SMOKE_FRAMES := 25
## A budget holds but for the one piece of work that is running when it ends, and the scheduler's own.
const TOLERANCE := 1.1
const WARMING_FRAMES := 30
const MEASURED_FRAMES := 300
const RECORDED_FRAMES := 120
const DIGEST_EVERY_FRAMES := 30
const NAMES: Dictionary[How, String] = {
	How.EVERYONE: "everyone, every frame",
	How.NAIVE: "naive slices of 100",
	How.OURS: "AIScheduler, %d µs",
}

var target_place := SIZE_PX / 2
var step_px := STEP_PX
var frame := 0
var how := How.OURS
var characters: Array[Character] = []
var _heads := PackedInt32Array()
var _walker := 0
var _begun_us := 0
var _times_us: Array[float] = []
var _over_budget := 0
var _ages := {true: PackedInt32Array(), false: PackedInt32Array()}

@onready var ai: AIScheduler = $AI
@onready var label: Label = $Label


func _ready() -> void:
	_heads.resize(COLUMNS * ROWS)
	var random := RandomNumberGenerator.new()
	random.seed = 7
	for number in CHARACTERS:
		var one := Character.new()
		one.name = "Character%d" % number
		one.crowd = self
		# Row by row, so that those next to each other in the list stand together.
		one.position = Vector2(random.randf() * SIZE_PX.x, (number + 0.5) / CHARACTERS * SIZE_PX.y)
		characters.append(one)
		add_child(one)
		_heads[_cell(one.position)] += 1
		ai.add_behavior(one.decide, RARELY_FRAMES, -1, 1.0, "character %d" % number)
		one.often = ai.add_behavior(one.decide, OFTEN_FRAMES, -1, 1.0, "character %d near" % number)
		attend(one)
	if "--scripted" in OS.get_cmdline_user_args():
		_play_scripted.call_deferred()


## Lets a character decide more often while it is near.
func attend(one: Character) -> void:
	if one.is_near: ai.resume_behavior(one.often)
	else: ai.pause_behavior(one.often)


func heads_at(place: Vector2) -> int:
	return _heads[_cell(place)]


func _cell(place: Vector2) -> int:
	return clampi(int(place.y / CELL_PX), 0, ROWS - 1) * COLUMNS + clampi(int(place.x / CELL_PX), 0, COLUMNS - 1)


func _process(delta: float) -> void:
	var now_us := Time.get_ticks_usec()
	# But not when looking at ages took part of it.
	if frame % DIGEST_EVERY_FRAMES != 0: _times_us.append(float(now_us - _begun_us))
	_begun_us = now_us
	frame += 1
	var angle := frame * 0.02
	target_place = SIZE_PX * (Vector2(0.5, 0.5) + 0.45 * Vector2(cos(angle), sin(1.7 * angle)))
	step_px = SMOKE_STEP_PX if frame % SMOKE_EVERY_FRAMES < SMOKE_FRAMES else STEP_PX
	var thought_us := Time.get_ticks_usec()
	match how:
		How.EVERYONE:
			for one in characters: one.decide(delta)
		How.NAIVE:
			for i in NAIVE_PER_FRAME:
				characters[_walker].decide(delta)
				_walker = (_walker + 1) % CHARACTERS
		How.OURS:
			ai.step(delta)
	if Time.get_ticks_usec() - thought_us > TOLERANCE * ai.budget: _over_budget += 1
	for one in characters: one.turn(delta)
	if frame % DIGEST_EVERY_FRAMES == 0: _look_at_ages()
	queue_redraw()


func _look_at_ages() -> void:
	for one in characters: _ages[one.is_near].append(frame - one.decided_frame)
	label.text = "%s   p50 %d µs   p99 %d µs   (keys 1, 2 and 3 choose how)" % [_name_of(how), _at(50), _at(99)]
	if _times_us.size() > MEASURED_FRAMES: _times_us.clear()


func _draw() -> void:
	draw_circle(target_place, 9.0, Color("f3a48d"))


func _unhandled_key_input(event: InputEvent) -> void:
	var key := event as InputEventKey
	if key.pressed and key.keycode >= KEY_1 and key.keycode <= KEY_3:
		_choose((key.keycode - KEY_1) as How)


func _choose(chosen: How) -> void:
	how = chosen
	_times_us.clear()
	_over_budget = 0
	for ages: PackedInt32Array in _ages.values(): ages.clear()


func _name_of(one: How) -> String:
	return NAMES[one] % roundi(ai.budget) if one == How.OURS else NAMES[one]


func _at(percent: int) -> float:
	if _times_us.is_empty(): return 0.0
	var sorted := _times_us.duplicate()
	sorted.sort()
	return sorted[mini(sorted.size() * percent / 100, sorted.size() - 1)]


func _age(is_near: bool) -> String:
	var ages: PackedInt32Array = _ages[is_near]
	ages.sort()
	var sum := 0.0
	for age in ages: sum += age
	return "%.1f %3d" % [sum / maxi(1, ages.size()), ages[-1]] if ages else "-"


func _play_scripted() -> void:
	print("%d characters look at a moving target; time of a frame (µs), share of frames in which decisions" % CHARACTERS)
	print("took a tenth more than %d µs, age of decisions (frames), mean and oldest, near the target and far:" % ai.budget)
	print("  %-24s %8s %8s %8s %8s %10s %10s" % ["how", "p50", "p99", "max", "over", "near", "far"])
	for one: How in How.values():
		_choose(one)
		await _frames(WARMING_FRAMES)
		_choose(one)
		await _frames(MEASURED_FRAMES)
		print("  %-24s %8d %8d %8d %7d%% %10s %10s" % [_name_of(one), _at(50), _at(99), _at(100),
				roundi(100.0 * _over_budget / MEASURED_FRAMES), _age(true), _age(false)])
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
