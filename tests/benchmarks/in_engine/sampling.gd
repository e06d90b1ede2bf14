extends Node
## Takes times and reports them to whoever started the game: one JSON object a line, after a mark.
##
## Cases are Callables that return the time they took (µs); they take turns, and who is
## first changes from round to round, so that a slow moment is slow for all.

const MARK := "BENCH "

var _yardstick := BenchYardstick.new()
## Printed at the end: a warning in between would tear a line that is still in the buffer of the output.
var _lines := PackedStringArray()


func _ready() -> void:
	# Headless, the engine otherwise sleeps 6.9 ms a frame.
	OS.low_processor_usage_mode_sleep_usec = 1
	add_child(_yardstick)
	tell({"kind": "versions", "versions": JSON.parse_string(_yardstick.versions())})


## Samples cases by name, "ours" among them; the first rounds only warm them up.
func take_turns(what: String, n: int, cases: Dictionary[String, Callable], rounds := 41, warming := 5) -> void:
	var taken: Dictionary[String, Array] = {}
	var names := cases.keys()
	var yardstick := []
	for round_number in rounds + warming:
		for offset in names.size():
			var case: String = names[(round_number + offset) % names.size()]
			var us: float = await cases[case].call()
			if round_number >= warming:
				taken.get_or_add(case, []).append(us)
		yardstick.append(_yardstick.empty_call_ns())
	tell({"kind": "empty_call", "ns": yardstick})
	report(what, n, taken)


## How long the main thread has run on a processor (µs): other programs do not count. Not for a few µs.
func thread_us() -> int:
	return _yardstick.thread_us()


## Returns a percentile of times, 0 to 100.
static func at(percentile: int, times: Array) -> float:
	var sorted := times.duplicate()
	sorted.sort()
	return sorted[mini(sorted.size() * percentile / 100, sorted.size() - 1)]


func report(what: String, n: int, taken: Dictionary) -> void:
	tell({"kind": "samples", "name": what, "n": n, "samples": taken})


## Fails the benchmark unless two results are equal.
func check_equal(what: String, n: int, ours: Variant, other: Variant) -> void:
	check(what, n, ours == other, "ours gives %s, the other %s" % [ours, other])


func check(what: String, n: int, holds: bool, why_not: String) -> void:
	if not holds:
		tell({"kind": "wrong", "name": what, "n": n, "why": why_not})


func tell(record: Dictionary) -> void:
	_lines.append(MARK + JSON.stringify(record))


## Tells that everything was measured, and ends the game.
func finish() -> void:
	tell({"kind": "end"})
	print("\n".join(_lines))
	get_tree().quit()
