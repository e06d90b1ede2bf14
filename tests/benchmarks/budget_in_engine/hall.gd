extends Node3D
## A hall in which all sense all, decide, request paths, hear events and query a station, within one budget.

const Guard := preload("res://tests/benchmarks/frame/guard.gd")
const Museum := preload("res://tests/benchmarks/frame/museum.gd")
const HALL_M := 20.0
const SIDE := 200
const PATHS_A_FRAME := 3
const STEP_EVERY_FRAMES := 30
## Frames from one think of a character's script to the next.
const PERIOD := 10

## Hears events, and queries the station.
class Ears extends Node:
	var station: PollingStation
	var other: Node3D
	var heard := 0
	func on_event(_code: String, _arguments: Array) -> void:
		heard += 1
	func think(_elapsed_s: float) -> void:
		station.can_see(get_parent(), other)


## Runs for a time that it does not look at: a script that never yields.
class Greedy extends Node:
	const GREEDY_US := 3000
	const PERIOD := 30
	var runs := 0
	func think(_elapsed_s: float) -> void:
		runs += 1
		var begun := Time.get_ticks_usec()
		while Time.get_ticks_usec() < begun + GREEDY_US: pass


## To set before it enters the tree; a budget of 0 is unlimited (µs).
var budget := 0.0
var count := 10
var has_greedy := false

var scheduler := AIScheduler.new()
var senses := SenseManager.new()
var paths := PathService.new()
var events := AIEventManager.new()
var station := PollingStation.new()
var guards: Array[Guard] = []
var sources: Array[SenseSource3D] = []
var greedy: Greedy
## Behaviors that overran.
var offenders: Dictionary[String, bool] = {}
var _tickets: Array[int] = []
var _random := RandomNumberGenerator.new()
var _frame := 0


func _ready() -> void:
	_random.seed = 7
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = budget
	scheduler.frame_overran.connect(func(behavior: String, _over_us: float) -> void:
		offenders[behavior] = true)
	add_child(scheduler)
	for service: Node in [senses, paths, events, station]:
		scheduler.add_child(service)
	events.codes = PackedStringArray(["bell"])
	paths.set_grid_from(_grid())
	for i in 12: _add_pillar(i)
	for i in count: _add_guard(i)
	if has_greedy:
		greedy = Greedy.new()
		greedy.name = "Greedy"
		add_child(greedy)
		var behavior := AIBehavior.new()
		behavior.period = Greedy.PERIOD
		greedy.add_child(behavior)


## What the game does in a frame before the AI, which is not timed.
func play() -> void:
	_frame += 1
	for ticket: int in _tickets.duplicate():
		if paths.get_state(ticket) not in ["waiting", "running"]:
			paths.release(ticket)
			_tickets.erase(ticket)
	for i in PATHS_A_FRAME:
		_tickets.append(paths.request_path(_cell(), _cell()))
	if _frame % STEP_EVERY_FRAMES == 0:
		events.send("bell")
		sources[_frame / STEP_EVERY_FRAMES % count].emit("hearing", 3.0)


func _cell() -> Vector2:
	return Vector2(_random.randi_range(0, SIDE - 1), _random.randi_range(0, SIDE - 1)) + Vector2(0.5, 0.5)


func _grid() -> AStarGrid2D:
	var grid := AStarGrid2D.new()
	grid.region = Rect2i(0, 0, SIDE, SIDE)
	grid.offset = Vector2(0.5, 0.5)
	grid.diagonal_mode = AStarGrid2D.DIAGONAL_MODE_ONLY_IF_NO_OBSTACLES
	grid.update()
	for i in SIDE * SIDE / 5:
		grid.set_point_solid(Vector2i(_random.randi_range(0, SIDE - 1), _random.randi_range(0, SIDE - 1)))
	return grid


func _add_pillar(i: int) -> void:
	var body := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	var box := BoxShape3D.new()
	box.size = Vector3(1.0, 3.0, 1.0)
	shape.shape = box
	body.add_child(shape)
	body.position = Vector3(cos(TAU * i / 12.0), 0.0, sin(TAU * i / 12.0)) * HALL_M * 0.3 + Vector3(0, 1.5, 0)
	add_child(body)


func _add_guard(i: int) -> void:
	var guard := Guard.new()
	guard.home = Vector3(_random.randf_range(-HALL_M, HALL_M), 0.0, _random.randf_range(-HALL_M, HALL_M)) / 2
	guard.position = guard.home
	guard.name = "Guard%d" % i
	var source := SenseSource3D.new()
	source.affiliation = 1 + i % 2
	guard.add_child(source)
	sources.append(source)
	guard.sensor.position.y = 1.6
	guard.sensor.sight_range = 2 * HALL_M
	guard.add_child(guard.sensor)
	Museum.add_habits(guard)
	add_child(guard)
	guards.append(guard)
	var made := Ears.new()
	made.station = station
	made.other = guards[maxi(0, i - 1)]
	guard.add_child(made)
	var behavior := AIBehavior.new()
	behavior.period = PERIOD
	made.add_child(behavior)
	events.listen("bell", made.on_event)
