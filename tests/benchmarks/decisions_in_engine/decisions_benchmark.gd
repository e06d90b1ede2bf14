extends Node
## What a crowd that decides by habit trees or state machines adds to a frame.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const CHARACTERS := 1000
const MACHINES := 5000
const FRAMES := 10
const MANY := 5000
const BY_HAND := "GDScript ifs"
const ALONE := "alone"
const BARE := "bare calls"
const LEAVES := "tests.benchmarks.decisions_in_engine.leaves:"

var sampling := Sampling.new()


class Refusing extends Habit:
	func _can_activate() -> bool: return false


class Working extends Habit:
	var ticks := 0
	func _tick(_elapsed_s: float) -> int:
		ticks += 1
		return STATUS_RUNNING


class ByHand extends Node:
	var ticks := 0
	func _process(_delta: float) -> void:
		for i in 9:
			if wants(): return
		ticks += 1
	func wants() -> bool: return false


## Calls the methods that trees would call, on the same nodes, without trees: what no tree can be cheaper than,
## unless it reads nodes from memory in a better order.
class Bare extends Node:
	var refusing: Array[Refusing] = []
	var above: Array[Node] = []
	var working: Array[Working] = []
	func _process(delta: float) -> void:
		var first := 0
		for one in working:
			for i in 9:
				if refusing[first + i]._can_activate(): break
			first += 9
			one._tick(delta)

	func _notification(what: int) -> void:
		if what == NOTIFICATION_PREDELETE:
			for one in above: one.free()


## Sends an event to one machine in so many, in each frame to others.
class Driver extends Node:
	var machines: Array[Node] = []
	var one_in := 10
	var first := 0
	func _process(_delta: float) -> void:
		first = (first + 1) % one_in
		for i in range(first, machines.size(), one_in): machines[i].send_event("flip")


func _ready() -> void:
	add_child(sampling)
	await get_tree().process_frame
	var by_hand := crowd(Node.new(), CHARACTERS, func() -> Node: return ByHand.new())
	await compare("ten habits asked, GDScript leaves", CHARACTERS, trees.bind(asked), {BY_HAND: by_hand, BARE: bare})
	await compare("ten habits asked, Python leaves", CHARACTERS, trees.bind(asked_in_python), {BY_HAND: by_hand})
	await compare("one leaf of ten runs, GDScript", CHARACTERS, trees.bind(runs), {BY_HAND: by_hand})
	await compare("ten habits asked, built-in", CHARACTERS, trees.bind(asked_in_words), {BY_HAND: by_hand})
	await compare("ten built-in habits in turn", CHARACTERS, trees.bind(built_in), {BY_HAND: by_hand})
	await compare("all wait for an event", CHARACTERS, trees.bind(waits), {BY_HAND: by_hand})
	await compare("all wait for a time", CHARACTERS, trees.bind(waits.bind(3600.0)), {BY_HAND: by_hand})
	await compare("state machines, one in ten changes", MACHINES, machines.bind(MACHINES, 10), {
			BARE: machines.bind(MACHINES, 10, told)})
	for count: int in [CHARACTERS, MACHINES]:
		await compare("state machines, all change", count, machines.bind(count, 1), {
				BARE: machines.bind(count, 1, told)})
	Engine.max_fps = 60
	await compare("at 60 frames a second, GDScript leaves", CHARACTERS, trees.bind(asked), {BARE: bare}, 5)
	await compare("at 60 frames a second, Python leaves", CHARACTERS, trees.bind(asked_in_python), {}, 5)
	Engine.max_fps = 0
	await growth()
	await coming_and_going()
	sampling.finish()


## What one character costs among few and among many, and how much dearer the calls alone become.
func growth() -> void:
	if is_left_out("one character among 5,000"): return
	var few := trees(asked)
	var many := trees(asked, MANY)
	var bare_few := bare()
	var bare_many := bare(MANY)
	var bare_rise := func() -> float: return await one_us(bare_many, MANY) / await one_us(bare_few, CHARACTERS)
	await sampling.take_turns("one character among 5,000", 1, {
			"ours": one_us.bind(many, MANY),
			BARE: one_us.bind(bare_many, MANY),
			"among 1,000": one_us.bind(few, CHARACTERS),
			"among 1,000, risen as bare calls do": func() -> float:
				return await one_us(few, CHARACTERS) * maxf(1.3, await bare_rise.call())}, 7, 1)
	for one: Node in [few, many, bare_few, bare_many]: one.free()


## What it costs to add a tree, and to free it, alone and beside many.
func coming_and_going() -> void:
	if is_left_out("adding a tree beside 1,000"): return
	var alone := trees(asked, 1)
	var beside := trees(asked)
	for parent in [alone, beside]: parent.process_mode = Node.PROCESS_MODE_INHERIT
	var added := {"ours": [], ALONE: []}
	var freed := {"ours": [], ALONE: []}
	for i in 60:
		for parent: Node in [alone, beside]:
			var name_of := ALONE if parent == alone else "ours"
			var one := character(asked)
			var begun := sampling.thread_us()
			parent.add_child(one)
			var at := sampling.thread_us()
			await get_tree().process_frame
			var last := sampling.thread_us()
			one.free()
			if i >= 10:
				added[name_of].append(float(at - begun))
				freed[name_of].append(float(sampling.thread_us() - last))
	sampling.report("adding a tree beside 1,000", 1, added)
	sampling.report("freeing a tree beside 1,000", 1, freed)
	alone.free()
	beside.free()


func named(habit: Node, what: String) -> Node:
	habit.name = what
	return habit


func asked(tree: Node) -> void:
	for i in 9: tree.add_child(named(Refusing.new(), "no%d" % i))
	tree.add_child(named(Working.new(), "work"))


func asked_in_python(tree: Node) -> void:
	for i in 10:
		var habit := named(Habit.new(), "no%d" % i)
		habit.python_class = LEAVES + ("Working" if i == 9 else "Refusing")
		tree.add_child(habit)


func asked_in_words(tree: Node) -> void:
	tree.set_value("health", 1.0)
	for i in 10:
		var habit := named(HabitWait.new(), "no%d" % i)
		if i < 9: habit.condition = "health < 0.%d" % (i + 1)
		else: habit.duration = 1e6
		tree.add_child(habit)


func runs(tree: Node) -> void:
	for i in 9:
		var habit := named(Refusing.new(), "no%d" % i)
		habit.wakes_on = PackedStringArray(["danger"])
		tree.add_child(habit)
	tree.add_child(named(Working.new(), "work"))


func built_in(tree: Node) -> void:
	tree.launch = HabitTree.LAUNCH_FALLBACK
	tree.set_value("health", 1.0)
	for i in 9:
		var check := HabitCheckValue.new()
		check.key = "health"
		check.comparison = "<"
		check.value = "0.5"
		tree.add_child(named(check, "check%d" % i))
	tree.add_child(named(HabitSetValue.new(), "set"))
	tree.get_node("set").key = "seen"


func waits(tree: Node, seconds := 0.0) -> void:
	for i in 9:
		var habit := named(Refusing.new(), "no%d" % i)
		habit.wakes_on = PackedStringArray(["danger"])
		tree.add_child(habit)
	var wait := HabitWait.new()
	wait.duration = seconds
	if not seconds: wait.until_notified = "dinner"
	tree.add_child(named(wait, "wait"))


func trees(fill: Callable, count := CHARACTERS) -> Node:
	return crowd(scheduler(), count, character.bind(fill))


func character(fill: Callable) -> Node:
	var made := Node.new()
	var tree := HabitTree.new()
	tree.name = "Brain"
	fill.call(tree)
	made.add_child(tree)
	return made


## What is sent events, and does nothing: what no machine written in Python can be cheaper than.
func told() -> Node: return ClassDB.instantiate("BenchTold")


func machines(count: int, one_in: int, make := func() -> Node: return StateMachine.new()) -> Node:
	var driver := Driver.new()
	driver.one_in = one_in
	var made := crowd(scheduler(), count, func() -> Node:
		var character := Node.new()
		var machine: Node = make.call()
		machine.name = "Machine"
		if machine is StateMachine: fill(machine)       # states outside of one are an error
		character.add_child(machine)
		driver.machines.append(machine)
		return character)
	made.add_child(driver)
	return made


func fill(machine: StateMachine) -> void:
	var around: Node = machine
	for what: String in ["outer", "middle"]:
		var inside := named(AIState.new(), what)
		around.add_child(inside)
		around = inside
	for what: String in ["a", "b"]:
		var leaf := named(AIState.new(), what)
		around.add_child(leaf)
		var way := StateTransition.new()
		way.event = "flip"
		way.to = NodePath("../../" + ("b" if what == "a" else "a"))
		leaf.add_child(way)


func bare(count := CHARACTERS) -> Node:
	var caller := Bare.new()
	var made := crowd(Node.new(), count, func() -> Node:
		var one := Node.new()
		var instead := Node.new()       # of a tree; outside of the scene, where habits without one are an error
		asked(instead)
		for i in 9: caller.refusing.append(instead.get_child(i))
		caller.working.append(instead.get_child(9))
		caller.above.append(instead)
		return one)
	made.add_child(caller)
	return made


func scheduler() -> Node:
	var made := AIScheduler.new()
	made.update = AIScheduler.UPDATE_IDLE
	made.budget = 0.0
	return made


func crowd(parent: Node, count: int, make: Callable) -> Node:
	for i in count: parent.add_child(make.call())
	parent.process_mode = Node.PROCESS_MODE_DISABLED
	add_child(parent)
	return parent


## Measures a crowd that is made beside others, which are there or made too.
func compare(what: String, count: int, make: Callable, others: Dictionary, rounds := 7) -> void:
	if is_left_out(what): return
	var crowds := [make.call()]
	var cases: Dictionary[String, Callable] = {"ours": added_us.bind(crowds[0])}
	for other: String in others:
		if others[other] is Callable: crowds.append(others[other].call())
		cases[other] = added_us.bind(crowds[-1] if others[other] is Callable else others[other])
	await sampling.take_turns(what, count, cases, rounds, 1)
	for one: Node in crowds: one.free()


## Whether this run is for something else: BENCH_ONLY=words measures what has them in its name.
func is_left_out(what: String) -> bool:
	var only := OS.get_environment("BENCH_ONLY")
	return only != "" and not only in what


func frame_us() -> float:
	for i in 3: await get_tree().process_frame
	var begun := sampling.thread_us()
	for i in FRAMES: await get_tree().process_frame
	return float(sampling.thread_us() - begun) / FRAMES


func one_us(crowd_of: Node, count: int) -> float:
	return await added_us(crowd_of) / count


## Time of a frame with a crowd, less that of one without.
func added_us(crowd_of: Node) -> float:
	var empty := await frame_us()
	crowd_of.process_mode = Node.PROCESS_MODE_INHERIT
	var full := await frame_us()
	crowd_of.process_mode = Node.PROCESS_MODE_DISABLED
	return full - empty
