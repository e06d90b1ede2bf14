extends Node
## What a crowd that decides by habit trees or state machines adds to a frame.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const CHARACTERS := 1000
const MACHINES := 5000
const FRAMES := 10
const BY_HAND := "GDScript ifs"

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


## Sends an event to one machine in ten, in each frame to others.
class Driver extends Node:
	var machines: Array[Node] = []
	var first := 0
	func _process(_delta: float) -> void:
		first = (first + 1) % 10
		for i in range(first, machines.size(), 10): machines[i].send_event("flip")


func _ready() -> void:
	add_child(sampling)
	await get_tree().process_frame
	var by_hand := crowd(Node.new(), CHARACTERS, func() -> Node: return ByHand.new())
	await compare("ten habits asked, GDScript leaves", CHARACTERS, trees(asked), {BY_HAND: by_hand})
	await compare("one leaf of ten runs, GDScript", CHARACTERS, trees(runs), {BY_HAND: by_hand})
	await compare("ten built-in habits in turn", CHARACTERS, trees(built_in), {BY_HAND: by_hand})
	await compare("all wait for an event", CHARACTERS, trees(waits), {BY_HAND: by_hand})
	await compare("state machines, one in ten changes", MACHINES, machines(), {})
	sampling.finish()


func named(habit: Node, what: String) -> Node:
	habit.name = what
	return habit


func asked(tree: Node) -> void:
	for i in 9: tree.add_child(named(Refusing.new(), "no%d" % i))
	tree.add_child(named(Working.new(), "work"))


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


func waits(tree: Node) -> void:
	for i in 9:
		var habit := named(Refusing.new(), "no%d" % i)
		habit.wakes_on = PackedStringArray(["danger"])
		tree.add_child(habit)
	var wait := HabitWait.new()
	wait.seconds = 0.0
	wait.until_told = "dinner"
	tree.add_child(named(wait, "wait"))


func trees(fill: Callable) -> Node:
	return crowd(scheduler(), CHARACTERS, func() -> Node:
		var character := Node.new()
		var tree := HabitTree.new()
		fill.call(tree)
		character.add_child(tree)
		return character)


func machines() -> Node:
	var driver := Driver.new()
	var made := crowd(scheduler(), MACHINES, func() -> Node:
		var character := Node.new()
		var machine := StateMachine.new()
		machine.name = "Machine"
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
		character.add_child(machine)
		driver.machines.append(machine)
		return character)
	made.add_child(driver)
	return made


func scheduler() -> Node:
	var made := AIScheduler.new()
	made.update = AIScheduler.UPDATE_IDLE
	made.budget_us = 0.0
	return made


func crowd(parent: Node, count: int, make: Callable) -> Node:
	for i in count: parent.add_child(make.call())
	parent.process_mode = Node.PROCESS_MODE_DISABLED
	add_child(parent)
	return parent


func compare(what: String, count: int, ours: Node, others: Dictionary) -> void:
	var cases: Dictionary[String, Callable] = {"ours": added_us.bind(ours)}
	for other: String in others: cases[other] = added_us.bind(others[other])
	await sampling.take_turns(what, count, cases, 7, 1)
	ours.free()


func frame_us() -> float:
	for i in 3: await get_tree().process_frame
	var begun := sampling.thread_us()
	for i in FRAMES: await get_tree().process_frame
	return float(sampling.thread_us() - begun) / FRAMES


## Time of a frame with a crowd, less that of one without.
func added_us(crowd_of: Node) -> float:
	var empty := await frame_us()
	crowd_of.process_mode = Node.PROCESS_MODE_INHERIT
	var full := await frame_us()
	crowd_of.process_mode = Node.PROCESS_MODE_DISABLED
	return full - empty
