extends Node
## What a crowd that thinks adds to a frame: thinking by AIBehavior, and by its own _process.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const CHARACTERS := 1000
## A multiple of every period, so that each period is measured in whole.
const FRAMES := 30
## Never spent, also where the machine stalls: who then waited would have thought less often than it should.
const BUDGET_US := 1e9
const OTHER := "GDScript _process"
const EVERY_FRAME := "every frame"
## The floor of an extension: calls by name, in one crossing, without a scheduler.
const CALLS := "calls by name alone"

var sampling := Sampling.new()


class Thinker extends Node:
	var thoughts := 0
	var seconds := 0.0
	func think(elapsed_s: float) -> void:
		thoughts += 1
		seconds += elapsed_s


class Processed extends Node:
	var thoughts := 0
	var seconds := 0.0
	func _process(delta: float) -> void:
		thoughts += 1
		seconds += delta


## What characters do in the article that the demo crowd shows: they face a target.
class Facing extends Node3D:
	static var target := Vector3(3, 0, 4)
	var thoughts := 0
	func think(_elapsed_s: float) -> void:
		thoughts += 1
		var away := target - position
		if away.length_squared() > 1.0: rotation.y = atan2(-away.x, -away.z)


class FacingProcessed extends Node3D:
	var thoughts := 0
	func _process(_delta: float) -> void:
		thoughts += 1
		var away := Facing.target - position
		if away.length_squared() > 1.0: rotation.y = atan2(-away.x, -away.z)


func _ready() -> void:
	add_child(sampling)
	await get_tree().process_frame
	for kind: String in ["facing a target", "adding two numbers"]: await measure(kind)
	sampling.finish()


func measure(what: String) -> void:
	var thinkers: GDScript = Facing if what == "facing a target" else Thinker
	var by_hand := processed_crowd(FacingProcessed if thinkers == Facing else Processed)
	var base := crowd(AIScheduler.POLICY_FREQUENCY, 1, thinkers)
	await compare("%s, every frame" % what, base, {OTHER: by_hand, CALLS: called_crowd(1, thinkers)}, 1)
	for period: int in [5, 10, 30]:
		await compare("%s, every %dth frame" % [what, period],
				crowd(AIScheduler.POLICY_FREQUENCY, period, thinkers),
				{EVERY_FRAME: base, OTHER: by_hand, CALLS: called_crowd(period, thinkers)}, period)
	for period: int in [1, 10]:
		await compare("%s, load balancing, every %s" % [what, "frame" if period == 1 else "10th frame"],
				crowd(AIScheduler.POLICY_LOAD_BALANCING, period, thinkers), {OTHER: by_hand}, period)
	by_hand.free()
	base.free()


func processed_crowd(kind: GDScript) -> Node:
	return add_crowd(Node.new(), func() -> Node: return kind.new())


func called_crowd(period: int, kind: GDScript) -> Node:
	var caller := BenchNamedCalls.new()
	add_crowd(caller, func() -> Node: return kind.new())
	caller.call_every(period)
	return caller


func crowd(policy: AIScheduler.Policy, period: int, kind: GDScript) -> Node:
	var scheduler := AIScheduler.new()
	scheduler.policy = policy
	scheduler.update = AIScheduler.UPDATE_IDLE
	scheduler.budget = BUDGET_US
	return add_crowd(scheduler, func() -> Node:
		var behavior := AIBehavior.new()
		behavior.period = period
		var thinker: Node = kind.new()
		thinker.add_child(behavior)
		return thinker)


func add_crowd(parent: Node, make: Callable) -> Node:
	for i in CHARACTERS: parent.add_child(make.call())
	parent.process_mode = Node.PROCESS_MODE_DISABLED
	add_child(parent)
	return parent


func compare(what: String, ours: Node, others: Dictionary, period: int) -> void:
	var cases: Dictionary[String, Callable] = {"ours": added_us.bind(ours)}
	for other: String in others: cases[other] = added_us.bind(others[other])
	await sampling.take_turns(what, CHARACTERS, cases, 21, 3)
	# Of all frames that ran each has thought in its share, give or take the last one.
	var frames: int = others[OTHER].get_child(0).thoughts
	others[OTHER].get_child(0).thoughts = 0
	var thoughts := PackedInt32Array()
	for thinker in ours.get_children(): thoughts.append(thinker.thoughts)
	thoughts.sort()
	sampling.check_equal(what, CHARACTERS, absi(thoughts[0] - frames / period) <= 1, true)
	sampling.check_equal(what, CHARACTERS, absi(thoughts[-1] - frames / period) <= 1, true)
	if others.has(CALLS): others[CALLS].free()
	if ours is AIScheduler and not others.has(CALLS) or period > 1: ours.free()


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
