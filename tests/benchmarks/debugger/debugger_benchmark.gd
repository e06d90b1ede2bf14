extends Node
## What an AIDebugOverlay adds to a frame: hidden after it was shown, and shown. The debugger's tab stands on the same.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const WITHOUT := "without AIDebugOverlay"
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
	sampling.finish()


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
