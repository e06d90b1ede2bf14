extends "res://tests/benchmarks/frame/museums_by_turns.gd"
## Times the AI of guards that walk as bodies, at 60 frames a second: ours from the inspector alone, and the same by
## hand, in blocks by turns.

const Museum := preload("inspector_museum.gd")
const HandMuseum := preload("hand_body_museum.gd")

const GUARDS: Array[int] = [1, 10, 100]
const WHAT := "AI of a physics frame, %s"
const BLOCKS := 4


func _ready() -> void:
	add_child(sampling)
	Engine.max_fps = 60
	await get_tree().physics_frame
	for n in GUARDS:
		await measure(n)
	sampling.finish()


func measure(n: int) -> void:
	var museums: Dictionary[String, Node3D] = {OURS: Museum.new(), OTHER: HandMuseum.new()}
	await open(museums, n)
	await play(museums, WARMING_BLOCKS, get_tree().physics_frame)
	var taken := await play(museums, BLOCKS, get_tree().physics_frame)
	for percentile: int in [50, 99]:
		sampling.report(WHAT % ("p%d" % percentile), n, {
			OURS: [Sampling.at(percentile, taken[OURS])], OTHER: [Sampling.at(percentile, taken[OTHER])]})
	check(n, museums)
	for case: String in museums:
		museums[case].free()


## Checks that in each museum most guards saw and heard an intruder, as many as by hand, and walked.
func check(n: int, museums: Dictionary[String, Node3D]) -> void:
	for case: String in museums:
		var museum := museums[case]
		check_noticed(WHAT % "p50", n, case, museums, 0.2)
		var walked := 0
		for i: int in n:
			var guard: Node3D = museum.guards[i]
			if guard.position.distance_to(museum.post(i)) > 0.5: walked += 1
		sampling.check(WHAT % "p50", n, walked >= 0.6 * n, "%s: only %d of %d guards walked" % [case, walked, n])
