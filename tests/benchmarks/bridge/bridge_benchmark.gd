extends Node3D
## What a crossing from GDScript to Python costs, each beside the same thing in GDScript.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const CALLS := 20000
const FRAMES := 20
const PROCESSING := 1000
const RAYS := 1000
## With boxes of this size about half of the rays hit, as sight does among walls.
const BOX_M := 2.5
const NODES := 1000
const POINTS := 10000
const OTHER := "GDScript"

signal rang(a: int, b: float)
signal rang_there(a: int, b: float)

var sampling := Sampling.new()


class Twin extends Node3D:
	var count := 0
	func add(a: float, b: float) -> float: return a + b
	func on_rang(_a: int, _b: float) -> void: count += 1


class ProcessTwin extends Node:
	var frames := 0
	func _process(_delta: float) -> void: frames += 1


func _ready() -> void:
	add_child(sampling)
	await get_tree().process_frame
	await measure_calls()
	await measure_signals()
	await measure_process()
	await measure_rays()
	await measure_positions()
	await measure_arrays()
	sampling.finish()


func since(begun: int) -> float:
	return Time.get_ticks_usec() - begun


func measure_calls() -> void:
	var python := BenchNode.new()
	var twin := Twin.new()
	add_child(python)
	add_child(twin)
	var what := "method call, two floats"
	sampling.check_equal(what, 1, python.add(1.5, 2.5), twin.add(1.5, 2.5))
	await sampling.take_turns(what, 1, {"ours": call_python.bind(python), OTHER: call_twin.bind(twin)})
	await sampling.take_turns("method call, two floats, untyped variable", 1,
			{"ours": call_untyped.bind(python), OTHER: call_untyped.bind(twin)})


func call_python(python: BenchNode) -> float:
	var begun := Time.get_ticks_usec()
	for i in CALLS: python.add(1.5, 2.5)
	return since(begun) / CALLS


func call_twin(twin: Twin) -> float:
	var begun := Time.get_ticks_usec()
	for i in CALLS: twin.add(1.5, 2.5)
	return since(begun) / CALLS


func call_untyped(either) -> float:
	var begun := Time.get_ticks_usec()
	for i in CALLS: either.add(1.5, 2.5)
	return since(begun) / CALLS


func measure_signals() -> void:
	var python := BenchNode.new()
	var twin := Twin.new()
	add_child(python)
	add_child(twin)
	python.listen_to(self, "rang")
	rang_there.connect(twin.on_rang)
	var what := "signal to a handler, two arguments"
	await sampling.take_turns(what, 1, {
		"ours": func() -> float:
			var begun := Time.get_ticks_usec()
			for i in CALLS: rang.emit(1, 2.5)
			return since(begun) / CALLS,
		OTHER: func() -> float:
			var begun := Time.get_ticks_usec()
			for i in CALLS: rang_there.emit(1, 2.5)
			return since(begun) / CALLS,
	})
	sampling.check_equal(what, 1, python.heard(), twin.count)


func frame_us() -> float:
	for i in 3: await get_tree().process_frame
	var begun := Time.get_ticks_usec()
	for i in FRAMES: await get_tree().process_frame
	return since(begun) / FRAMES


## Time of a frame in which the children of a node are processed, less that of an empty one.
func process_us(parent: Node) -> float:
	var empty := await frame_us()
	parent.process_mode = Node.PROCESS_MODE_INHERIT
	var full := await frame_us()
	parent.process_mode = Node.PROCESS_MODE_DISABLED
	return (full - empty) / PROCESSING


func measure_process() -> void:
	var crowds: Array[Node] = []
	for python: bool in [true, false]:
		var parent := Node.new()
		parent.process_mode = Node.PROCESS_MODE_DISABLED
		for i in PROCESSING: parent.add_child(BenchProcessNode.new() if python else ProcessTwin.new())
		add_child(parent)
		crowds.append(parent)
	var what := "_process of a node"
	await sampling.take_turns(what, PROCESSING, {
		"ours": func() -> float: return await process_us(crowds[0]),
		OTHER: func() -> float: return await process_us(crowds[1]),
	})
	sampling.check_equal(what, PROCESSING, crowds[0].get_child(PROCESSING - 1).counted(), crowds[1].get_child(0).frames)
	for crowd in crowds: crowd.free()


func measure_rays() -> void:
	var random := RandomNumberGenerator.new()
	random.seed = 5
	for i in 200:
		var body := StaticBody3D.new()
		var shape := CollisionShape3D.new()
		var box := BoxShape3D.new()
		box.size = Vector3.ONE * BOX_M
		shape.shape = box
		body.add_child(shape)
		body.position = Vector3(random.randf_range(-50, 50), 0, random.randf_range(-50, 50))
		add_child(body)
	var batches := BenchBatches.new()
	add_child(batches)
	var from := PackedVector3Array()
	var to := PackedVector3Array()
	for i in RAYS:
		from.append(Vector3(random.randf_range(-50, 50), 0, random.randf_range(-50, 50)))
		# As far as characters see.
		to.append(from[i] + Vector3.FORWARD.rotated(Vector3.UP, random.randf() * TAU) * random.randf_range(5, 30))
	for i in 2: await get_tree().physics_frame
	var what := "rays in one batch"
	sampling.check_equal(what, RAYS, batches.cast(from, to), cast_loop(from, to))
	await sampling.take_turns(what, RAYS, {
		"ours": func() -> float:
			var begun := Time.get_ticks_usec()
			batches.cast(from, to)
			return since(begun),
		OTHER: func() -> float:
			var begun := Time.get_ticks_usec()
			cast_loop(from, to)
			return since(begun),
	})


func cast_loop(from: PackedVector3Array, to: PackedVector3Array) -> int:
	var space := get_world_3d().direct_space_state
	var query := PhysicsRayQueryParameters3D.new()
	var found := 0
	for i in RAYS:
		query.from = from[i]
		query.to = to[i]
		if space.intersect_ray(query): found += 1
	return found


func measure_positions() -> void:
	var crowd := Node3D.new()
	add_child(crowd)
	for i in NODES:
		var one := Node3D.new()
		one.position = Vector3(i, 0.5 * i, -i)
		crowd.add_child(one)
	var batches := BenchBatches.new()
	add_child(batches)
	batches.watch(crowd)
	var nodes: Array[Node3D] = []
	nodes.assign(crowd.get_children())
	var places := PackedVector3Array()
	places.resize(NODES)
	var what := "global positions in one batch"
	await sampling.take_turns(what, NODES, {
		"ours": func() -> float:
			var begun := Time.get_ticks_usec()
			for i in 10: batches.read()
			return since(begun) / 10,
		OTHER: func() -> float:
			var begun := Time.get_ticks_usec()
			for i in 10:
				for number in NODES: places[number] = nodes[number].global_position
			return since(begun) / 10,
	})
	sampling.check_equal(what, NODES, batches.rows(), places)


func measure_arrays() -> void:
	var batches := BenchBatches.new()
	add_child(batches)
	var points := PackedVector3Array()
	for i in POINTS: points.append(Vector3(i, 0, 0))
	var what := "PackedVector3Array to NumPy"
	sampling.check_equal(what, POINTS, batches.take(points), POINTS)
	await sampling.take_turns(what, POINTS, {
		"ours": func() -> float:
			var begun := Time.get_ticks_usec()
			for i in 1000: batches.take(points)
			return since(begun) / 1000,
	})
