extends "museums_by_turns.gd"
## Times the AI of each frame: our guards with all that there is to do in a frame, the same within the default
## budget, our guards without habits, and guards written by hand, in blocks by turns; and guards of ours and by hand
## that look in every third frame.

const Museum := preload("museum.gd")
const HandMuseum := preload("hand_museum.gd")

const GUARDS: Array[int] = [1, 10, 100, 500]
const WITHIN_BUDGET := "within the budget"
const SENSES := "senses alone"
const RARELY := "ours, 20 looks a second"
const OTHER_RARELY := "by hand, 20 looks a second"
const LOOKS_EVERY := 3
const BUDGET := "the budget"
const BUDGET_US := 2000.0
const OWN_MEDIAN := "twice its p50, and 100 us"
const HOT := "of a frame"
const AT_60 := "of a frame at 60 frames a second"
## Blocks of each that count: as fast as frames come, and at 60 a second.
const BLOCKS := 8
const BLOCKS_AT_60 := 2


func _ready() -> void:
	add_child(sampling)
	await get_tree().physics_frame
	for n in GUARDS:
		await measure(n)
	sampling.finish()


func measure(n: int) -> void:
	var museums: Dictionary[String, Node3D] = {
		OURS: Museum.new(), WITHIN_BUDGET: Museum.new(), SENSES: Museum.new(), OTHER: HandMuseum.new(),
		RARELY: Museum.new(), OTHER_RARELY: HandMuseum.new()}
	(museums[RARELY] as Museum).looks_every = LOOKS_EVERY
	(museums[OTHER_RARELY] as HandMuseum).looks_every = LOOKS_EVERY
	(museums[WITHIN_BUDGET] as Museum).budget = BUDGET_US
	(museums[SENSES] as Museum).has_habits = false
	await open(museums, n)
	await play(museums, WARMING_BLOCKS, get_tree().process_frame)
	report_all(HOT, n, await play(museums, BLOCKS, get_tree().process_frame))
	Engine.max_fps = 60
	report_all(AT_60, n, await play(museums, BLOCKS_AT_60, get_tree().process_frame))
	Engine.max_fps = 0
	check(n, museums)
	for case: String in museums:
		museums[case].free()


func report_all(what: String, n: int, taken: Dictionary) -> void:
	for percentile: int in [50, 99, 100]:
		var place := "max" if percentile == 100 else "p%d" % percentile
		var found := {OURS: [Sampling.at(percentile, taken[OURS])], OTHER: [Sampling.at(percentile, taken[OTHER])]}
		if percentile == 99:
			found[OWN_MEDIAN] = [2.0 * Sampling.at(50, taken[OURS]) + 100.0]
		sampling.report("AI %s, %s" % [what, place], n, found)
		sampling.report("AI %s within the budget, %s" % [what, place], n, {
			OURS: [Sampling.at(percentile, taken[WITHIN_BUDGET])], BUDGET: [BUDGET_US]})
		sampling.report("senses %s, %s" % [what, place], n, {OURS: [Sampling.at(percentile, taken[SENSES])]})
		sampling.report("AI %s at 20 looks a second, %s" % [what, place], n, {
			OURS: [Sampling.at(percentile, taken[RARELY])], OTHER: [Sampling.at(percentile, taken[OTHER_RARELY])]})
	sampling.report("AI %s at 20 looks a second, mean" % what, n, {
		OURS: [mean(taken[RARELY])], OTHER: [mean(taken[OTHER_RARELY])]})
	sampling.report("AI %s, mean" % what, n, {OURS: [mean(taken[OURS])], OTHER: [mean(taken[OTHER])]})


func mean(times: Array) -> float:
	return times.reduce(func(sum: float, one: float) -> float: return sum + one, 0.0) / times.size()


## Checks that in each museum most guards saw and heard an intruder, as many as by hand, and have finite positions.
func check(n: int, museums: Dictionary[String, Node3D]) -> void:
	var what := "AI of a frame, p50"
	for case: String in museums:
		var museum := museums[case]
		for guard: Node3D in museum.guards:
			sampling.check(what, n, guard.position.is_finite(), "%s: a guard is nowhere" % case)
		if case == SENSES:
			continue
		check_noticed(what, n, case, museums, 0.1)
