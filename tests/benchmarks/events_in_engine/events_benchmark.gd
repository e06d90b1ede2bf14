extends Node3D
## What an event costs that reaches GDScript Callables, beside a signal connected to them.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const LISTENERS := 100
const EMITS := 100
const PAIRS := 1000
const WALLS := 200
const WALL_M := 2.5
const SIGNAL := "direct signal"
const RAYS := "batched rays"

signal rang(code: String, arguments: Array)
signal rang_alone(code: String, arguments: Array)
signal rang_at_once(how_loud: float)
signal rang_queued(how_loud: float)
signal rang_for_one(how_loud: float)

var sampling := Sampling.new()
var scheduler := AIScheduler.new()


class Listener extends Node:
	var heard := 0
	func on_alarm(_code: String, _arguments: Array) -> void: heard += 1


func _ready() -> void:
	add_child(sampling)
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = 0.0
	add_child(scheduler)
	await get_tree().process_frame
	await measure_events()
	await measure_sight()
	sampling.finish()


## Of a millisecond that a busy machine interrupts the half of, for 4 ms each, the wall clock tells anything.
func now_us() -> int:
	return sampling.thread_us()


func since(begun: int) -> float:
	return now_us() - begun


func listeners(count: int, listen: Callable) -> Array[Listener]:
	var made: Array[Listener] = []
	for i in count:
		made.append(Listener.new())
		add_child(made[-1])
		listen.call(made[-1].on_alarm)
	return made


func manager_for(signal_name: StringName, delivery: int) -> AIEventManager:
	var manager := AIEventManager.new()
	scheduler.add_child(manager)
	var event := SignalEvent.new()
	event.signal_name = signal_name
	event.code = "alarm"
	event.delivery = delivery
	event.source = NodePath("../../..")
	manager.add_child(event)
	return manager


func measure_events() -> void:
	var at_once := manager_for("rang_at_once", SignalEvent.DELIVERY_MODE_IMMEDIATE)
	var queued := manager_for("rang_queued", SignalEvent.DELIVERY_MODE_QUEUED)
	var alone := manager_for("rang_for_one", SignalEvent.DELIVERY_MODE_IMMEDIATE)
	var direct := listeners(LISTENERS, func(handler: Callable) -> void: rang.connect(handler))
	var told := listeners(LISTENERS, func(handler: Callable) -> void: at_once.listen("alarm", handler))
	var waiting := listeners(LISTENERS, func(handler: Callable) -> void: queued.listen("alarm", handler))
	var one := listeners(1, func(handler: Callable) -> void: alone.listen("alarm", handler))
	listeners(1, func(handler: Callable) -> void: rang_alone.connect(handler))
	var arguments := [0.5]
	var emit_direct := func() -> float:
		var begun := now_us()
		for i in EMITS: rang.emit("alarm", arguments)
		return since(begun) / EMITS
	var what := "signal to GDScript Callables, at once"
	await sampling.take_turns(what, LISTENERS, {
		"ours": func() -> float:
			var begun := now_us()
			for i in EMITS: rang_at_once.emit(0.5)
			return since(begun) / EMITS,
		SIGNAL: emit_direct,
	})
	sampling.check_equal(what, LISTENERS, told[-1].heard, direct[-1].heard)
	what = "signal to GDScript Callables, queued"
	var before := direct[0].heard
	await sampling.take_turns(what, LISTENERS, {
		"ours": func() -> float:
			var begun := now_us()
			for i in EMITS: rang_queued.emit(0.5)
			scheduler.step(0.1)
			return since(begun) / EMITS,
		SIGNAL: emit_direct,
	})
	sampling.check_equal(what, LISTENERS, waiting[-1].heard, direct[-1].heard - before)
	what = "signal to one GDScript Callable, at once"
	await sampling.take_turns(what, 1, {
		"ours": func() -> float:
			var begun := now_us()
			for i in EMITS: rang_for_one.emit(0.5)
			return since(begun) / EMITS,
		SIGNAL: func() -> float:
			var begun := now_us()
			for i in EMITS: rang_alone.emit("alarm", arguments)
			return since(begun) / EMITS,
	})
	sampling.check_equal(what, 1, one[0].heard > 0, true)


func place(random: RandomNumberGenerator) -> Node3D:
	var made := Node3D.new()
	made.position = Vector3(random.randf_range(-50, 50), 0, random.randf_range(-50, 50))
	add_child(made)
	return made


func measure_sight() -> void:
	var random := RandomNumberGenerator.new()
	random.seed = 5
	for i in WALLS:
		var body := StaticBody3D.new()
		var shape := CollisionShape3D.new()
		var box := BoxShape3D.new()
		box.size = Vector3.ONE * WALL_M
		shape.shape = box
		body.add_child(shape)
		body.position = Vector3(random.randf_range(-50, 50), 0, random.randf_range(-50, 50))
		add_child(body)
	var station := PollingStation.new()
	scheduler.add_child(station)
	var rays := BenchRays.new()
	add_child(rays)
	var observers := []
	var targets := []
	var guards := []
	for i in 50: guards.append(place(random))
	for guard: Node3D in guards:
		for i in PAIRS / guards.size():
			observers.append(guard)
			targets.append(place(random))
	await get_tree().physics_frame
	await get_tree().physics_frame
	rays.set_pairs(observers, targets)
	var what := "can_see of many pairs in one call"
	var answers := [[]]
	var ask := func() -> float:
		await get_tree().physics_frame
		scheduler.step(0.1)
		var begun := now_us()
		answers[0] = station.can_see_many(observers, targets)
		return since(begun)
	var cast := func() -> float:
		await get_tree().physics_frame
		return rays.cast()
	await sampling.take_turns(what, PAIRS, {"ours": ask, RAYS: cast})
	await cast.call()
	sampling.check_equal(what, PAIRS, answers[0].count(true), rays.seen())
	await sampling.take_turns("can_see of many pairs, kept", PAIRS, {
		"ours": func() -> float:
			var begun := now_us()
			answers[0] = station.can_see_many(observers, targets)
			return since(begun),
	})
