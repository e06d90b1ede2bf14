extends Node3D
## Times characters that enter and leave a running scene, and their first frames.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")
const Refusing := preload("refusing.gd")
const Guard := preload("res://addons/ai_core/examples/guard_3d.tscn")

const PLAIN := "plain nodes"
const ROUNDS := 30
const WARMING := 5
## Characters that are made at once: one alone takes less than the clock can tell.
const COUNT := 20
const FIRST_FRAMES := 3
const WITHOUT := "the same frame without"
const SENSORS := 100
## Sensors that stand together; the others are too far away to be sensed.
const GROUP := 10
## Frames of a kind in a row; the first are those in which the kind changes.
const IN_A_ROW := 20
const CHANGING := 2

var sampling := Sampling.new()
var scheduler := AIScheduler.new()


func _ready() -> void:
	add_child(sampling)
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = 0.0
	add_child(scheduler)
	scheduler.add_child(SenseManager.new())
	await get_tree().physics_frame
	await measure({"ours": func() -> Node: return Habit.new(), PLAIN: func() -> Node: return Node.new()}, "a Habit")
	await measure({"ours": tree_of_ten, PLAIN: ten_nodes}, "a HabitTree of ten scripted habits")
	await measure({"ours": sensing, PLAIN: sensing_nodes}, "a Sensor3D and a SenseSource3D", FIRST_FRAMES)
	await measure({"ours": func() -> Node: return Guard.instantiate()}, "20 guards of a scene in one frame", 1)
	await measure_frames()
	sampling.finish()


## A habit outside a tree would be reported as misplaced.
func tree_of_one() -> Node:
	var tree := HabitTree.new()
	tree.add_child(Habit.new())
	return tree


func tree_of_ten() -> Node:
	var character := Node.new()
	var tree := HabitTree.new()
	for i in 10:
		var habit := Refusing.new()
		habit.name = "habit%d" % i
		tree.add_child(habit)
	character.add_child(tree)
	return character


func ten_nodes() -> Node:
	var character := Node.new()
	var parent := Node.new()
	for i in 10:
		var node := Node.new()
		node.name = "habit%d" % i
		parent.add_child(node)
	character.add_child(parent)
	return character


func sensing() -> Node3D:
	var character := Node3D.new()
	character.add_child(Sensor3D.new())
	character.add_child(SenseSource3D.new())
	return character


func sensing_nodes() -> Node:
	var character := Node3D.new()
	for i in 2: character.add_child(Node3D.new())
	return character


## Characters stand too far apart to sense one another.
func measure(cases: Dictionary[String, Callable], what: String, frames := 0) -> void:
	var made: Dictionary[String, Array] = {}
	var freed: Dictionary[String, Array] = {}
	var is_scene := what.begins_with("20 ")
	for at in ROUNDS + WARMING:
		for case in cases:
			var parent := tree_of_one() if what == "a Habit" and case == "ours" else Node3D.new()
			add_child(parent)
			await frames_us(1)
			var idle_us := await frames_us(maxi(frames, 1))
			var begun := sampling.thread_us()
			for i in COUNT:
				var one: Node = cases[case].call()
				if one is Node3D: one.position = Vector3(i * 1000.0, 0, 0)
				parent.add_child(one)
			var us := float(sampling.thread_us() - begun)
			var first_us := await frames_us(maxi(frames, 1))
			if frames: us += first_us - idle_us
			begun = sampling.thread_us()
			parent.free()
			if at < WARMING: continue
			made.get_or_add(case, []).append(us / (1 if is_scene else COUNT))
			freed.get_or_add(case, []).append(float(sampling.thread_us() - begun) / COUNT)
	var n := COUNT if is_scene else 1
	sampling.report(what + (", with their first frames" if frames > 1 else ""), n, made)
	if not is_scene and what != "a Habit": sampling.report("freeing " + what, n, freed)


## Times the AI of frames before which a character has joined and another has left, beside others.
func measure_frames() -> void:
	for i in SENSORS: add_sensing(Vector3(i / GROUP * 1000.0, 0, i % GROUP * 3.0), i)
	var taken: Dictionary[String, Array] = {"ours": [], WITHOUT: []}
	var last: Node3D = null
	for at in 2 * ROUNDS * IN_A_ROW:
		var case: String = taken.keys()[at / IN_A_ROW % 2]
		if case == "ours":
			if last: last.queue_free()
			last = add_sensing(Vector3(-1000, 0, 0))
		var us := await frames_us(1)
		if at % IN_A_ROW >= CHANGING: taken[case].append(us)
	sampling.report("a frame with a new and without a freed character", SENSORS, taken)


func add_sensing(place: Vector3, turn := 0.0) -> Node3D:
	var character := sensing()
	character.position = place
	character.rotation.y = turn
	add_child(character)
	return character


## Returns how long the AI of the next frames takes.
func frames_us(count: int) -> float:
	var taken := 0.0
	for i in count:
		await get_tree().physics_frame
		var begun := sampling.thread_us()
		scheduler.step(1.0 / 60.0)
		taken += sampling.thread_us() - begun
	return taken
