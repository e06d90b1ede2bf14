extends Node
## What an AIDebugOverlay adds to a frame: hidden after it was shown, and shown. The debugger's tab stands on the same.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const WITHOUT := "without AIDebugOverlay"
const NEVER := "never looked at"
const GUARDS := 20
const CONDITIONS: PackedStringArray = [
	"health < 0.2", "sees and health > 0.5", "heard", "tired > 0.9", "hungry", "is_at_night", "bored", ""]
const FRAMES := 30
## The panel that closes leaves cold caches behind, and nodes to free: 20 µs a frame for some frames, then nothing.
const SETTLING := 100
## Reports are made five times a second; here so often that each sample has its share at sixty frames a second.
const FRAMES_A_REPORT := 12

var sampling := Sampling.new()


class Thinker extends Node:
	var seconds := 0.0
	func think(elapsed_s: float) -> void:
		seconds += elapsed_s


func _ready() -> void:
	add_child(sampling)
	await get_tree().process_frame
	for count: int in [100, 1000]:
		var scheduler := crowd(count)
		var overlay := AIDebugOverlay.new()
		overlay.refresh_interval = 5.0
		var without := with_overlay.bind(scheduler, null, false)
		await sampling.take_turns("a frame, hidden after it was shown", count,
				{"ours": with_overlay.bind(scheduler, overlay, false), WITHOUT: without}, 41, 3)
		await sampling.take_turns("a frame, shown", count,
				{"ours": with_overlay.bind(scheduler, overlay, true), WITHOUT: without}, 15, 2)
		overlay.free()
		scheduler.free()
	var guards := with_habits()
	var looked_at := with_chart.bind(guards, false)
	var never := with_chart.bind(guards, null)
	await sampling.take_turns("a frame of guards, after one was looked at", GUARDS, {"ours": looked_at, NEVER: never}, 41, 3)
	await sampling.take_turns("a frame of guards, the live chart of one", GUARDS,
			{"ours": with_chart.bind(guards, true), NEVER: never}, 41, 3)
	sampling.finish()


## Guards with eight habits each, whose values change now and then.
func with_habits() -> AIScheduler:
	var scheduler := AIScheduler.new()
	scheduler.update = AIScheduler.UPDATE_IDLE
	scheduler.budget = 100000.0
	for i in GUARDS:
		var tree := HabitTree.new()
		tree.values = {"health": 1.0, "sees": false, "heard": false, "tired": 0.0, "hungry": false, "is_at_night": false,
				"bored": false}
		for condition in CONDITIONS:
			var habit := HabitWait.new()
			habit.condition = condition
			habit.duration = 0.1
			tree.add_child(habit)
		var guard := Node3D.new()
		guard.add_child(tree)
		scheduler.add_child(guard)
	add_child(scheduler)
	return scheduler


## Time of a frame (µs), on average of some; with a live chart of the first guard, after it was closed, or (null) without.
func with_chart(scheduler: AIScheduler, is_open: Variant) -> float:
	var chart: Node = null
	var first := scheduler.get_child(0)
	if is_open != null:
		chart = ClassDB.instantiate("BenchLiveChart")
		scheduler.add_child(chart)
		chart.connect("reported", func(report: Dictionary) -> void: var_to_bytes(report))
		chart.call("watch", scheduler, str(first.get_path()))
		for i in 5: await get_tree().process_frame
		if not is_open: chart.call("unwatch")
	for i in SETTLING: await get_tree().process_frame
	var begun := sampling.thread_us()
	for i in 2 * FRAMES:
		if is_open and i % FRAMES_A_REPORT == 0: chart.call("report")
		if is_open and i == FRAMES: chart.call("wish")
		if i % 10 == 0: (first.get_child(0) as HabitTree).set_value("heard", i % 20 == 0)
		await get_tree().process_frame
	var used := float(sampling.thread_us() - begun) / (2 * FRAMES)
	if chart != null:
		if is_open: chart.call("unwatch")
		chart.free()
	return used


func crowd(count: int) -> AIScheduler:
	var scheduler := AIScheduler.new()
	scheduler.update = AIScheduler.UPDATE_IDLE
	scheduler.budget = 100000.0
	for i in count:
		var behavior := AIBehavior.new()
		behavior.period = 3
		var thinker := Thinker.new()
		thinker.add_child(behavior)
		scheduler.add_child(thinker)
	add_child(scheduler)
	return scheduler


## Time of a frame (µs), on average of some.
func with_overlay(scheduler: AIScheduler, overlay: AIDebugOverlay, is_shown: bool) -> float:
	if overlay != null:
		scheduler.add_child(overlay)
		overlay.shown = true
		await get_tree().process_frame
		overlay.shown = is_shown
	for i in SETTLING: await get_tree().process_frame
	var begun := sampling.thread_us()
	for i in FRAMES:
		if is_shown and i % FRAMES_A_REPORT == 0: overlay.get_child(0, true).get_child(-1).timeout.emit()
		await get_tree().process_frame
	var used := float(sampling.thread_us() - begun) / FRAMES
	if overlay != null:
		overlay.shown = false
		scheduler.remove_child(overlay)
	return used
