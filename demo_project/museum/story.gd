extends Node
## Reports what happens as a timeline, and judges whether it was the expected story.

const Guard := preload("guard.gd")
const Level := preload("level.gd")

## A sense of a guard is reported again after this silence (s). With a shorter one every
## step of the intruder is a line.
const SILENCE_S := 2.0

## All expected happenings took place, or time is up.
signal finished(succeeded: bool)
signal reported(time_s: float, subject: String, event: String, details: String)

## What has to happen, in this order; other things may happen between.
@export var expected: PackedStringArray
@export_range(1.0, 600.0, 1.0, "suffix:s") var time_limit_s := 60.0
## How long it goes on after the last of them (s).
@export_range(0.0, 60.0, 0.1, "suffix:s") var epilogue_s := 2.0
@export var level: Level
@export var events: AIEventManager

var time_s := 0.0
var is_over := false

var _reached := 0
var _last_sensed_s: Dictionary[String, float] = {}
var _last_habit: Dictionary[String, String] = {}
var _counts: Dictionary[String, int] = {}
var _ends_at_s := INF


func _ready() -> void:
	events.dispatched.connect(_on_event)
	for guard: Guard in get_tree().get_nodes_in_group("guards"):
		guard.sensor.sensed.connect(_on_sensed.bind(guard))
		guard.sensor.target_lost.connect(_on_lost.bind(guard))
		guard.sensor.awareness_changed.connect(_on_awareness_changed.bind(guard))
		guard.habits.habit_entered.connect(_on_habit_entered.bind(guard))
		guard.habits.habit_exited.connect(_on_habit_exited.bind(guard))
		guard.alarm_answered.connect(_on_alarm_answered.bind(guard))
		guard.caught.connect(_on_caught.bind(guard))


func _physics_process(delta: float) -> void:
	time_s += delta
	if _reached == expected.size():
		_ends_at_s = minf(_ends_at_s, time_s + epilogue_s)
	if not is_over and time_s >= minf(_ends_at_s, time_limit_s):
		is_over = true
		finished.emit(_reached == expected.size())


## Report one line; the expected story consists of "subject event".
func report(subject: String, event: String, details: String) -> void:
	reported.emit(time_s, subject, event, details)
	_counts[event] = _counts.get(event, 0) + 1
	if _reached < expected.size() and expected[_reached] == "%s %s" % [subject, event]:
		_reached += 1


func summary() -> String:
	var counts := PackedStringArray()
	for event in _counts:
		counts.append("%s %d" % [event, _counts[event]])
	var lines := PackedStringArray([
		"",
		"summary: %d of %d expected happenings, in order, in %.2f s of game time" % [
				_reached, expected.size(), time_s],
		"         " + ", ".join(counts),
	])
	for missing in expected.slice(_reached):
		lines.append("MISSING: " + missing)
	return "\n".join(lines)


func _save_state() -> Dictionary:
	return {
		"time_s": time_s, "is_over": is_over, "reached": _reached, "ends_at_s": _ends_at_s,
		"last_sensed_s": _last_sensed_s, "last_habit": _last_habit, "counts": _counts,
	}


func _load_state(state: Dictionary) -> void:
	time_s = state["time_s"]
	is_over = state["is_over"]
	_reached = state["reached"]
	_ends_at_s = state["ends_at_s"]
	_last_sensed_s.assign(state["last_sensed_s"])
	_last_habit.assign(state["last_habit"])
	_counts.assign(state["counts"])


func _on_event(code: String, arguments: Array) -> void:
	var names := arguments.map(func(one: Node) -> String: return one.name)
	report("event", code, "(%s)" % ", ".join(names))


func _on_sensed(
		source: Node, modality: String, strength: float, place: Vector3, _character: Node, guard: Guard) -> void:
	var key := guard.name + modality
	if time_s - _last_sensed_s.get(key, -INF) > SILENCE_S:
		var verb := "sees" if modality == "sight" else "hears"
		report(guard.name, verb, "%s in the %s, strength %.2f (%.1f m away)" % [
				source.owner.name, level.room_at(place), strength,
				guard.sensor.global_position.distance_to(place)])
	_last_sensed_s[key] = time_s


func _on_lost(_target: Node, place: Vector3, _character: Node, guard: Guard) -> void:
	report(guard.name, "loses", "Intruder, last known in the " + level.room_at(place))


func _on_awareness_changed(
	_target: Node, _level: int, level_name: String, _character: Node, guard: Guard
) -> void:
	report(guard.name, "is", level_name)


func _on_habit_entered(path: String, reason: String, guard: Guard) -> void:
	if path.get_slice_count("/") != 2 or _last_habit.get(guard.name) == path:
		return
	_last_habit[guard.name] = path
	var because := "%s; %s" % [reason, guard.why()]
	if path.ends_with("Patrol"):
		because = "nothing else to do" if reason == "can activate" else reason
	var habit := path.get_file().to_lower()
	report(guard.name, habit + ("es" if habit.ends_with("ch") else "s"), "(%s)" % because)


func _on_habit_exited(path: String, status: int, guard: Guard) -> void:
	if path.ends_with("/Search") and status == Habit.STATUS_SUCCEEDED:
		report(guard.name, "gives up", "nobody there")


func _on_alarm_answered(guard: Guard) -> void:
	report(guard.name, "answers", "the alarm: the back door opened")


func _on_caught(_who: Node3D, guard: Guard) -> void:
	report(guard.name, "catches", "the intruder")
	_ends_at_s = time_s
