extends Node3D
## Base of benchmarks that time the AI of museums in blocks by turns.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const OURS := "ours"
const OTHER := "GDScript by hand"
const BLOCK_FRAMES := 60
const WARMING_BLOCKS := 2
const DELTA_S := 1.0 / 60.0

var sampling := Sampling.new()


## Adds museums of n guards. They stand far apart, in one physics space.
func open(museums: Dictionary[String, Node3D], n: int) -> void:
	for case: String in museums:
		museums[case].guard_count = n
		museums[case].position.z = 1000.0 * museums.keys().find(case)
		add_child(museums[case])
	for i in 3: await get_tree().physics_frame


## Returns the time that the thread ran in each frame: other programs do not count.
func play(museums: Dictionary[String, Node3D], blocks: int, frame: Signal) -> Dictionary[String, Array]:
	var taken: Dictionary[String, Array] = {}
	for block in blocks:
		for case: String in museums:
			var museum := museums[case]
			for i in BLOCK_FRAMES:
				await frame
				museum.move_intruders(DELTA_S)
				var begun := sampling.thread_us()
				museum.think(DELTA_S)
				taken.get_or_add(case, []).append(float(sampling.thread_us() - begun))
	return taken


## Checks that in a museum most guards saw and heard an intruder, as many as by hand but for a part.
func check_noticed(what: String, n: int, case: String, museums: Dictionary[String, Node3D], part: float) -> void:
	for sense: String in ["saw", "heard"]:
		var noticed: int = museums[case].call(sense + "_count")
		var by_hand: int = museums[OTHER].call(sense + "_count")
		var said := "%s: %d of %d guards %s somebody, by hand %d" % [case, noticed, n, sense, by_hand]
		sampling.check(what, n, noticed >= 0.6 * n and absi(noticed - by_hand) <= ceili(part * n), said)
