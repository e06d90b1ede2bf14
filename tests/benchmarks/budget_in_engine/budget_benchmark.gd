extends Node3D
## How long a frame of AI takes when there is up to ten times as much to do as its budget allows, at 60 frames a
## second, and the same with a script that never yields.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")
const Hall := preload("hall.gd")

## Characters for each budget (µs), as in suite.py.
const CHARACTERS: Dictionary[int, Array] = {500: [10, 30, 100], 1000: [20, 60, 200], 2000: [40, 120, 400]}
const BUDGET := "the budget"
const OURS := "ours"
## A loop in GDScript whose median is the budget: what the machine alone makes of always the same work.
const LOOP := "a loop as long"
const WARMING_FRAMES := 60
## The 99th of 100 is then the fifth longest; of 200 frames it was the third, and differed by half from run to run.
const FRAMES := 400
const DELTA_S := 1.0 / 60.0

var sampling := Sampling.new()


func _ready() -> void:
	add_child(sampling)
	add_child(BenchThreadClock.new())
	await get_tree().physics_frame
	for budget: int in CHARACTERS:
		for n: int in CHARACTERS[budget]: await measure(budget, n)
	sampling.finish()


func measure(budget: int, n: int) -> void:
	var unlimited := await play(0, n, false)
	report("%d us, needed" % budget, n, {OURS: Sampling.at(50, unlimited.taken), BUDGET: budget})
	for is_greedy: bool in [false, true]:
		var what := "%d us%s" % [budget, ", beside a script that never yields" if is_greedy else ""]
		var played := await play(budget, n, is_greedy)
		for percentile: int in [50, 99, 100]:
			var figure := "max" if percentile == 100 else "p%d" % percentile
			var us: Dictionary[String, float] = {OURS: Sampling.at(percentile, played.taken), BUDGET: budget}
			if percentile == 99: us[LOOP] = budget * Sampling.at(99, played.loops) / Sampling.at(50, played.loops)
			report("%s, %s" % [what, figure], n, us)
		sampling.check("%s, p99" % what, n, played.starved == "", played.starved)
		if is_greedy:
			sampling.check("%s, p99" % what, n, played.is_greedy_named, "frame_overran did not name Greedy.think")


func report(what: String, n: int, us: Dictionary[String, float]) -> void:
	var taken: Dictionary[String, Array] = {}
	for name: String in us: taken[name] = [us[name]]
	sampling.report(what, n, taken)


func loop(times: int) -> int:
	var sum := 0
	for i in times: sum += i & 3
	return sum


class Played:
	## Time of each frame (µs), without those of the script that never yields.
	var taken: Array[float] = []
	## Time of a loop after each of them (µs).
	var loops: Array[float] = []
	var is_greedy_named := false
	## The behavior that waited longer than the policy allows, or never ran.
	var starved := ""


func play(budget: int, n: int, is_greedy: bool) -> Played:
	var hall := Hall.new()
	hall.budget = budget
	hall.count = n
	hall.has_greedy = is_greedy
	add_child(hall)
	for i in 3: await get_tree().physics_frame
	var played := Played.new()
	Engine.max_fps = 0 if budget == 0 else 60
	var times := 10000
	for frame in WARMING_FRAMES + (FRAMES if budget else FRAMES / 4):
		await get_tree().process_frame
		hall.play()
		var runs: int = hall.greedy.runs if is_greedy else 0
		var begun := sampling.thread_us()
		hall.scheduler.step(DELTA_S)
		var ended := sampling.thread_us()
		loop(times)
		var looped := float(sampling.thread_us() - ended)
		if frame < WARMING_FRAMES:
			if budget: times = ceili(lerpf(times, times * budget / maxf(looped, 1.0), 0.2))
		elif not is_greedy or hall.greedy.runs == runs:
			played.taken.append(float(ended - begun))
			played.loops.append(looped)
	Engine.max_fps = 0
	played.is_greedy_named = hall.offenders.has("../Greedy.think")
	for row: Dictionary in hall.scheduler.get_stats().behaviors:
		var longest := hall.scheduler.get_longest_wait(row.id)
		if row.runs == 0 or row.lateness_frames_max > longest:
			played.starved = "%s ran %d times and waited %d of %d frames" % [
					row.name, row.runs, row.lateness_frames_max, longest]
	hall.free()
	return played
