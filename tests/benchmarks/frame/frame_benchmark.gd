extends Node3D
## Times the AI of each frame: our guards, and guards written by hand, in blocks by turns.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")
const Museum := preload("museum.gd")
const HandMuseum := preload("hand_museum.gd")

const GUARDS: Array[int] = [10, 100, 500]
const OTHER := "GDScript by hand"
const BLOCK_FRAMES := 60
const WARMING_BLOCKS := 2
## Blocks of each that count: as fast as frames come, and at 60 a second.
const BLOCKS := 8
const BLOCKS_AT_60 := 2
const DELTA_S := 1.0 / 60.0

var sampling := Sampling.new()


func _ready() -> void:
	add_child(sampling)
	await get_tree().physics_frame
	for n in GUARDS:
		await measure(n)
	sampling.finish()


func measure(n: int) -> void:
	var ours := Museum.new()
	var by_hand := HandMuseum.new()
	for museum: Node3D in [ours, by_hand]:
		museum.guard_count = n
		add_child(museum)
	# The two stand far apart, in one physics space.
	by_hand.position.z = 1000.0
	for i in 3: await get_tree().physics_frame
	await play(ours, by_hand, WARMING_BLOCKS)
	var taken := await play(ours, by_hand, BLOCKS)
	report("AI of a frame, %s", n, taken, [50, 99, 100])
	report("AI of one guard", n, {"ours": per_guard(taken["ours"], n), OTHER: per_guard(taken[OTHER], n)}, [50])
	Engine.max_fps = 60
	report("AI of a frame at 60 frames a second, %s", n, await play(ours, by_hand, BLOCKS_AT_60), [50, 99])
	Engine.max_fps = 0
	check(n, ours, by_hand)
	ours.free()
	by_hand.free()


func play(ours: Museum, by_hand: HandMuseum, blocks: int) -> Dictionary[String, Array]:
	var taken: Dictionary[String, Array] = {"ours": [], OTHER: []}
	for block in 2 * blocks:
		for frame in BLOCK_FRAMES:
			await get_tree().process_frame
			var museum: Node3D = ours if block % 2 == 0 else by_hand
			museum.move_intruders(DELTA_S)
			var begun := Time.get_ticks_usec()
			museum.think(DELTA_S)
			taken["ours" if block % 2 == 0 else OTHER].append(float(Time.get_ticks_usec() - begun))
	return taken


func report(what: String, n: int, taken: Dictionary, percentiles: Array) -> void:
	for percentile: int in percentiles:
		var found := {}
		for case: String in taken:
			found[case] = [at(percentile, taken[case])]
		var place := "max" if percentile == 100 else "p%d" % percentile
		sampling.report(what % place if "%s" in what else what, n, found)


func at(percentile: int, times: Array) -> float:
	var sorted := times.duplicate()
	sorted.sort()
	return sorted[mini(sorted.size() * percentile / 100, sorted.size() - 1)]


func per_guard(times: Array, n: int) -> Array:
	return times.map(func(us: float) -> float: return us / n)


## Both crowds live through the same: as good as all saw and heard somebody.
func check(n: int, ours: Museum, by_hand: HandMuseum) -> void:
	var what := "AI of a frame, p50"
	for museum: Node3D in [ours, by_hand]:
		sampling.check_equal(what, n, museum.saw_count() >= 0.6 * n and museum.heard_count() >= 0.6 * n, true)
	sampling.check_equal(what, n, absi(ours.saw_count() - by_hand.saw_count()) <= 0.2 * n, true)
