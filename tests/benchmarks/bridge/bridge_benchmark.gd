extends Node3D
## What a crossing from GDScript to Python costs, each beside the same thing in GDScript.
## Prints one JSON object a line; medians of samples taken in turns.

const SAMPLES := 31
const CALLS := 20000
const PROCESSING := 1000
const RAYS := 1000

signal rang(a: int, b: float)

var found := 0


class Twin extends Node3D:
	var count := 0
	func add(a: float, b: float) -> float: return a + b
	func on_rang(_a: int, _b: float) -> void: count += 1


class ProcessTwin extends Node:
	var frames := 0
	func _process(_delta: float) -> void: frames += 1


func _ready() -> void:
	OS.low_processor_usage_mode_sleep_usec = 1
	await get_tree().process_frame
	measure_calls()
	measure_signals()
	await measure_process()
	await measure_rays()
	get_tree().quit()


func report(what: String, n: int, ours: Array, other: Array) -> void:
	ours.sort()
	other.sort()
	var ours_us: float = ours[ours.size() / 2]
	var other_us: float = other[other.size() / 2]
	print(JSON.stringify({"suite": "bridge", "name": what, "n": n, "ours_us": ours_us, "other": "GDScript",
		"other_us": other_us, "ratio": other_us / ours_us}))


func measure_calls() -> void:
	var python := BenchNode.new()
	var twin := Twin.new()
	add_child(python)
	add_child(twin)
	var ours := []
	var other := []
	for sample in SAMPLES:
		var begun := Time.get_ticks_usec()
		for i in CALLS: python.add(1.5, 2.5)
		ours.append(float(Time.get_ticks_usec() - begun) / CALLS)
		begun = Time.get_ticks_usec()
		for i in CALLS: twin.add(1.5, 2.5)
		other.append(float(Time.get_ticks_usec() - begun) / CALLS)
	report("method call, two floats", 1, ours, other)


func measure_signals() -> void:
	var python := BenchNode.new()
	var twin := Twin.new()
	add_child(python)
	add_child(twin)
	var ours := []
	var other := []
	for sample in SAMPLES:
		python.listen_to(self, "rang")
		var begun := Time.get_ticks_usec()
		for i in CALLS: rang.emit(1, 2.5)
		ours.append(float(Time.get_ticks_usec() - begun) / CALLS)
		for connection in rang.get_connections(): rang.disconnect(connection.callable)
		rang.connect(twin.on_rang)
		begun = Time.get_ticks_usec()
		for i in CALLS: rang.emit(1, 2.5)
		other.append(float(Time.get_ticks_usec() - begun) / CALLS)
		rang.disconnect(twin.on_rang)
	report("signal to a handler, two arguments", 1, ours, other)


func frame_us(frames: int) -> float:
	await get_tree().process_frame
	var begun := Time.get_ticks_usec()
	for i in frames: await get_tree().process_frame
	return float(Time.get_ticks_usec() - begun) / frames


func measure_process() -> void:
	var ours := []
	var other := []
	for sample in SAMPLES:
		for python in [true, false]:
			var empty := await frame_us(20)
			var parent := Node.new()
			for i in PROCESSING: parent.add_child(BenchProcessNode.new() if python else ProcessTwin.new())
			add_child(parent)
			var full := await frame_us(20)
			(ours if python else other).append((full - empty) / PROCESSING)
			parent.free()
	report("_process of a node", PROCESSING, ours, other)


func measure_rays() -> void:
	var random := RandomNumberGenerator.new()
	random.seed = 5
	for i in 200:
		var body := StaticBody3D.new()
		var shape := CollisionShape3D.new()
		shape.shape = BoxShape3D.new()
		body.add_child(shape)
		body.position = Vector3(random.randf_range(-50, 50), 0, random.randf_range(-50, 50))
		add_child(body)
	var batch := BenchRays.new()
	add_child(batch)
	var from := PackedVector3Array()
	var to := PackedVector3Array()
	for i in RAYS:
		from.append(Vector3(random.randf_range(-50, 50), 0, random.randf_range(-50, 50)))
		to.append(from[i] + Vector3(random.randf_range(-40, 40), 0, random.randf_range(-40, 40)))
	await get_tree().physics_frame
	await get_tree().physics_frame
	var ours := []
	var other := []
	# Whoever comes first after a physics step pays for the cold cache: they take turns.
	for sample in SAMPLES * 2:
		await get_tree().physics_frame
		if sample % 2 == 0: ours.append(cast_batch(batch, from, to))
		other.append(cast_loop(from, to))
		if sample % 2 == 1: ours.append(cast_batch(batch, from, to))
	if absi(found - batch.cast(from, to)) > RAYS / 100:
		push_error("the batch and the loop disagree about the hits")
	report("1,000 rays", RAYS, ours, other)


func cast_batch(batch: BenchRays, from: PackedVector3Array, to: PackedVector3Array) -> float:
	var begun := Time.get_ticks_usec()
	batch.cast(from, to)
	return float(Time.get_ticks_usec() - begun)


func cast_loop(from: PackedVector3Array, to: PackedVector3Array) -> float:
	var space := get_world_3d().direct_space_state
	var begun := Time.get_ticks_usec()
	var query := PhysicsRayQueryParameters3D.new()
	found = 0
	for i in RAYS:
		query.from = from[i]
		query.to = to[i]
		if space.intersect_ray(query): found += 1
	return float(Time.get_ticks_usec() - begun)
