extends Node3D
## Times the AI of guards that walk as bodies, at 60 frames a second: ours from the inspector alone, and the same by
## hand, in blocks by turns.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")
const Museum := preload("inspector_museum.gd")
const HandMuseum := preload("hand_body_museum.gd")

const GUARDS: Array[int] = [1, 10, 100]
const OURS := "ours"
const OTHER := "GDScript by hand"
const WHAT := "AI of a physics frame, %s"
const BLOCK_FRAMES := 60
const WARMING_BLOCKS := 2
const BLOCKS := 4
const DELTA_S := 1.0 / 60.0

var sampling := Sampling.new()


func _ready() -> void:
	add_child(sampling)
	Engine.max_fps = 60
	await get_tree().physics_frame
	for n in GUARDS:
		await measure(n)
	sampling.finish()


func measure(n: int) -> void:
	var museums: Dictionary[String, Node3D] = {OURS: Museum.new(), OTHER: HandMuseum.new()}
	for case: String in museums:
		museums[case].guard_count = n
		# They stand far apart, in one physics space.
		museums[case].position.z = 1000.0 * museums.keys().find(case)
		add_child(museums[case])
	for i in 3: await get_tree().physics_frame
	await play(museums, WARMING_BLOCKS)
	var taken := await play(museums, BLOCKS)
	for percentile: int in [50, 99]:
		sampling.report(WHAT % ("p%d" % percentile), n, {
			OURS: [at(percentile, taken[OURS])], OTHER: [at(percentile, taken[OTHER])]})
	check(n, museums)
	for case: String in museums:
		museums[case].free()


## Returns the time that the thread ran in each frame: other programs do not count.
func play(museums: Dictionary[String, Node3D], blocks: int) -> Dictionary[String, Array]:
	var taken: Dictionary[String, Array] = {}
	for block in blocks:
		for case: String in museums:
			var museum := museums[case]
			for frame in BLOCK_FRAMES:
				await get_tree().physics_frame
				museum.move_intruders(DELTA_S)
				var begun := sampling.thread_us()
				museum.think(DELTA_S)
				taken.get_or_add(case, []).append(float(sampling.thread_us() - begun))
	return taken


func at(percentile: int, times: Array) -> float:
	var sorted := times.duplicate()
	sorted.sort()
	return sorted[mini(sorted.size() * percentile / 100, sorted.size() - 1)]


## Checks that in each museum most guards saw and heard an intruder, as many as by hand, and walked.
func check(n: int, museums: Dictionary[String, Node3D]) -> void:
	for case: String in museums:
		var museum := museums[case]
		for sense: String in ["saw", "heard"]:
			var noticed: int = museum.call(sense + "_count")
			var by_hand: int = museums[OTHER].call(sense + "_count")
			var said := "%s: %d of %d guards %s somebody, by hand %d" % [case, noticed, n, sense, by_hand]
			sampling.check(WHAT % "p50", n, noticed >= 0.6 * n and absi(noticed - by_hand) <= ceili(0.2 * n), said)
		var walked := 0
		for i: int in n:
			var guard: Node3D = museum.guards[i]
			if guard.position.distance_to(museum.post(i)) > 0.5: walked += 1
		sampling.check(WHAT % "p50", n, walked >= 0.6 * n, "%s: only %d of %d guards walked" % [case, walked, n])
