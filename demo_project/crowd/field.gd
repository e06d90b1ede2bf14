extends Node2D
## A thousand characters that look at a moving target: all decide in every frame, in naive slices, or by an
## AIScheduler. Measures what the decisions take.
##
## Bright arrows have just decided and fade until they decide again; characters near the target are blue.

const Character := preload("character.gd")

enum How { EVERYONE, NAIVE, OURS }

const CHARACTERS := 1000
const SIZE_PX := Vector2(1152, 648)
const CELL_PX := 24.0
const COLUMNS := 48
const ROWS := 27
## The article's way: as many in each frame, whatever time they take.
const NAIVE_PER_FRAME := 100
const OFTEN_FRAMES := 5
const RARELY_FRAMES := 20
const STEP_PX := 30.0
## In smoke each has to look more closely.
const SMOKE_STEP_PX := 12.0
## A budget holds but for the one piece of work that runs when it ends, and the scheduler's own time.
const TOLERANCE := 1.1
const KEPT_FRAMES := 400
const AGES_EVERY_FRAMES := 30
## Frames in which a decision fades from bright to dim.
const FADES_FRAMES := 20.0
const FRESH := Color("fff3b0")
const NEAR := Color("5ab0ff")
const FAR := Color("48536a")
const GROUND := Color("1f2530")
const SMOKE := Color("5d5348")
const TARGET := Color("ff7d66")

## Runs the behaviors of How.OURS; without one, only the other ways are possible.
var ai: AIScheduler
var budget_us := 0.0
var how := How.NAIVE
var target_place := SIZE_PX / 2
var step_px := STEP_PX
var frame := 0
var characters: Array[Character] = []
## What the decisions of the last frames took (µs), the latest last.
var times_us: Array[float] = []
var over_budget := 0
var measured := 0
## Ages of decisions (frames), by whether the character is near the target.
var ages := {true: PackedInt32Array(), false: PackedInt32Array()}
var _heads := PackedInt32Array()
var _next := 0
var _arrows: MultiMesh


func _ready() -> void:
	_heads.resize(COLUMNS * ROWS)
	var random := RandomNumberGenerator.new()
	random.seed = 7
	for number in CHARACTERS:
		var one := Character.new()
		one.field = self
		# Row by row, so that those next to each other in the list stand together.
		one.place = Vector2(random.randf() * SIZE_PX.x, (number + 0.5) / CHARACTERS * SIZE_PX.y)
		characters.append(one)
		_heads[_cell(one.place)] += 1
	if ai:
		_add_behaviors()
	if DisplayServer.get_name() != "headless":
		_make_arrows()


## Adds those that always run first, so that they are spread evenly whatever else is paused.
func _add_behaviors() -> void:
	for number in CHARACTERS:
		ai.add_behavior(characters[number].decide, RARELY_FRAMES, -1, 1.0, "character %d" % number)
	for number in CHARACTERS:
		var one := characters[number]
		one.often = ai.add_behavior(one.decide, OFTEN_FRAMES, -1, 1.0, "character %d near" % number)
	for one in characters: attend(one)


## Lets a character decide more often while it is near.
func attend(one: Character) -> void:
	if not ai: return
	if one.is_near: ai.resume_behavior(one.often)
	else: ai.pause_behavior(one.often)


func heads_at(at: Vector2) -> int:
	return _heads[_cell(at)]


func _cell(at: Vector2) -> int:
	return clampi(int(at.y / CELL_PX), 0, ROWS - 1) * COLUMNS + clampi(int(at.x / CELL_PX), 0, COLUMNS - 1)


## Runs one frame: some decide, and all turn.
func live(delta_s: float, target: Vector2, is_smoky: bool) -> void:
	frame += 1
	target_place = target
	step_px = SMOKE_STEP_PX if is_smoky else STEP_PX
	var begun_us := Time.get_ticks_usec()
	match how:
		How.EVERYONE:
			for one in characters: one.decide(delta_s)
		How.NAIVE:
			for i in NAIVE_PER_FRAME:
				characters[_next].decide(delta_s)
				_next = (_next + 1) % CHARACTERS
		How.OURS:
			ai.step(delta_s)
	_measure(float(Time.get_ticks_usec() - begun_us))
	for one in characters: one.turn(delta_s)
	if frame % AGES_EVERY_FRAMES == 0:
		for one in characters: ages[one.is_near].append(frame - one.decided_frame)
	if _arrows:
		_show_arrows()
		queue_redraw()


## Forgets what was measured.
func clear() -> void:
	times_us.clear()
	over_budget = 0
	measured = 0
	ages = {true: PackedInt32Array(), false: PackedInt32Array()}


## The time that so many percent of the last frames did not exceed (µs).
func at_percent(percent: int) -> float:
	if times_us.is_empty(): return 0.0
	var sorted := times_us.duplicate()
	sorted.sort()
	return sorted[mini(sorted.size() * percent / 100, sorted.size() - 1)]


func mean_age(is_near: bool) -> float:
	var sum := 0.0
	for age: int in ages[is_near]: sum += age
	return sum / maxi(1, ages[is_near].size())


func _measure(took_us: float) -> void:
	times_us.append(took_us)
	if times_us.size() > KEPT_FRAMES: times_us.pop_front()
	measured += 1
	over_budget += int(took_us > TOLERANCE * budget_us)


func _make_arrows() -> void:
	var shape: Array = []
	shape.resize(Mesh.ARRAY_MAX)
	shape[Mesh.ARRAY_VERTEX] = PackedVector2Array([Vector2(11, 0), Vector2(-6, 5.5), Vector2(-3, 0), Vector2(-6, -5.5)])
	shape[Mesh.ARRAY_INDEX] = PackedInt32Array([0, 1, 2, 0, 2, 3])
	var arrow := ArrayMesh.new()
	arrow.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, shape)
	_arrows = MultiMesh.new()
	_arrows.use_colors = true
	_arrows.mesh = arrow
	_arrows.instance_count = CHARACTERS
	var drawn := MultiMeshInstance2D.new()
	drawn.multimesh = _arrows
	add_child(drawn)


func _show_arrows() -> void:
	for number in CHARACTERS:
		var one := characters[number]
		_arrows.set_instance_transform_2d(number, Transform2D(one.looks_rad, one.place))
		var freshness := maxf(0.0, 1.0 - (frame - one.decided_frame) / FADES_FRAMES)
		_arrows.set_instance_color(number, (NEAR if one.is_near else FAR).lerp(FRESH, freshness * freshness * freshness))


func _draw() -> void:
	draw_rect(Rect2(Vector2.ZERO, SIZE_PX), GROUND.lerp(SMOKE, 0.4) if step_px == SMOKE_STEP_PX else GROUND)
	draw_arc(target_place, Character.NEAR_PX, 0, TAU, 48, Color(NEAR, 0.35), 2.0)
	draw_circle(target_place, 13.0, TARGET)
