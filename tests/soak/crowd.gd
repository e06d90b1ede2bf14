extends Node3D
## 100 people within 40 m turn and see one another; some of them make a sound in each frame, within a budget.
##
## A visitor comes and goes. Each sensor must notice it within `noticed_within_s` of the SenseManager, once the visitor
## has been in the sight cone for that time without a break. `tools/dev.py soak` plays it for many frames;
## tests/in_godot/senses/test_overload.py for few.

const MARK := "SOAK "
const FRAME_S := 1.0 / 60.0
const WIDTH_M := 40.0
const TURN_PER_S := 1.0
const CONE := deg_to_rad(110.0)
## Deducted from each side of the cone: the visitor's direction and the sensor's cone are computed with other numbers.
const MARGIN := deg_to_rad(1.0)
const LOSE_AFTER_S := 0.5
const AWAY := Vector3(5000.0, 0.0, 0.0)
## A visit begins every so many frames (count); the visitor is forgotten between two visits.
const VISIT_EVERY := 600
const VISIT_FRAMES := 450
const FRAMES_PER_RECORD := 1000

## To set before the first frame.
var people := 100
var sounds := 3
var budget := 2000.0

var scheduler := AIScheduler.new()
var manager := SenseManager.new()
var visitor := SenseSource3D.new()
var sensors: Array[Sensor3D] = []
var sources: Array[SenseSource3D] = []

var frame := 0
## Microseconds that each frame's AI took, in time of the thread if there is a yardstick.
var taken_us: Array[float] = []
## Times a sensor noticed the visitor, and the longest time in the sight cone before it did (s).
var noticed := 0
var longest_s := 0.0
## Descriptions of sensors that noticed the visitor too late or not at all.
var failures: Array[String] = []
var most_waiting := 0

var _yardstick: Node
var _in_cone_s: PackedFloat64Array
var _has_noticed: PackedByteArray
var _bound_s := 0.0
var _visits := 0


func _ready() -> void:
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = budget
	add_child(scheduler)
	scheduler.add_child(manager)
	var random := RandomNumberGenerator.new()
	random.seed = people
	for i in people:
		_add_person(i, Vector3(random.randf_range(-0.5, 0.5) * WIDTH_M, 0.0, random.randf_range(-0.5, 0.5) * WIDTH_M))
	visitor.position = AWAY
	add_child(visitor)
	_in_cone_s.resize(people)
	_has_noticed.resize(people)
	if ClassDB.class_exists("BenchYardstick"):
		_yardstick = ClassDB.instantiate("BenchYardstick")
		add_child(_yardstick)
	if get_tree().current_scene == self:
		_play_to_the_end.call_deferred()


func _add_person(i: int, place: Vector3) -> void:
	var person := Node3D.new()
	var source := SenseSource3D.new()
	var sensor := Sensor3D.new()
	sensor.sight_range = 2.0 * WIDTH_M
	sensor.horizontal_angle = CONE
	sensor.near_range = 0.0
	sensor.sight_threshold = 0.01
	sensor.hearing_threshold = 0.01
	sensor.lose_after = LOSE_AFTER_S
	sensor.max_age = 2.0 * LOSE_AFTER_S
	sensor.self_source = ^"../Source"
	sensor.target_gained.connect(_on_gained.bind(i))
	source.name = "Source"
	person.position = place
	person.add_child(source)
	person.add_child(sensor)
	add_child(person)
	sources.append(source)
	sensors.append(sensor)


## Plays some frames. The scene must have been in the tree for a physics step.
func live(frames: int) -> void:
	for i in frames:
		frame += 1
		_turn()
		_visit()
		for number in sounds:
			sources[(frame * sounds + number) % people].emit("hearing", 5.0)
		var begun := _now_us()
		scheduler.step(FRAME_S)
		taken_us.append(float(_now_us() - begun))
		_judge()


## Returns what there is to know of all frames so far.
func report() -> Dictionary:
	var stats := manager.get_stats()
	return {
		"frame": frame, "people": people, "sounds": sounds, "visits": _visits, "noticed": noticed,
		"longest_s": longest_s, "bound_s": stats.noticed_within_s, "failures": failures.slice(0, 5),
		"failed": failures.size(), "most_waiting": most_waiting, "merged": stats.stimuli_merged,
		"dropped": stats.stimuli_dropped, "p50_us": _at(50), "p99_us": _at(99),
		"resident_kb": 0 if _yardstick == null else _yardstick.resident_kb(),
		"empty_call_ns": 0.0 if _yardstick == null else _yardstick.empty_call_ns(),
		"objects": Performance.get_monitor(Performance.OBJECT_COUNT),
	}


func _now_us() -> int:
	return Time.get_ticks_usec() if _yardstick == null else _yardstick.thread_us()


func _at(percentile: int) -> float:
	var sorted := taken_us.duplicate()
	sorted.sort()
	return sorted[mini(sorted.size() * percentile / 100, sorted.size() - 1)] if sorted else 0.0


func _turn() -> void:
	for i in people:
		sensors[i].get_parent().rotation.y = frame * FRAME_S * TURN_PER_S * (1.0 if i % 2 else -1.0) + i


func _visit() -> void:
	var since := frame % VISIT_EVERY
	if since == 0:
		_visits += 1
		_bound_s = 0.0
		_in_cone_s.fill(0.0)
		_has_noticed.fill(0)
		visitor.position = Vector3(_visits % 7 - 3.0, 0.0, _visits % 5 - 2.0)
	elif since == VISIT_FRAMES:
		visitor.position = AWAY


func _on_gained(target: Node, _character: Node, i: int) -> void:
	if target == visitor and not _has_noticed[i]:
		_has_noticed[i] = 1
		noticed += 1
		longest_s = maxf(longest_s, _in_cone_s[i])


func _judge() -> void:
	var stats := manager.get_stats()
	most_waiting = maxi(most_waiting, int(stats.arrivals_under_way + stats.stimuli_waiting))
	if _visits == 0 or frame % VISIT_EVERY >= VISIT_FRAMES:
		return
	_bound_s = maxf(_bound_s, stats.noticed_within_s)
	for i in people:
		if _has_noticed[i]:
			continue
		if not _is_in_cone(sensors[i]):
			_in_cone_s[i] = 0.0
			continue
		_in_cone_s[i] += FRAME_S
		if _in_cone_s[i] > _bound_s + FRAME_S:
			_has_noticed[i] = 1
			failures.append("frame %d: sensor %d has not noticed the visitor in %.2f s; the bound is %.2f s" % [
				frame, i, _in_cone_s[i], _bound_s])


func _is_in_cone(sensor: Sensor3D) -> bool:
	var offset := visitor.global_position - sensor.global_position
	return (-sensor.global_basis.z).angle_to(offset) < CONE / 2.0 - MARGIN


## Plays as many frames as the command line says, and prints a report every FRAMES_PER_RECORD frames.
func _play_to_the_end() -> void:
	OS.low_processor_usage_mode_sleep_usec = 1
	var wanted := FRAMES_PER_RECORD
	for argument in OS.get_cmdline_user_args():
		var value := argument.get_slice("=", 1).to_int()
		match argument.get_slice("=", 0):
			"--frames": wanted = value
			"--sounds": sounds = value
	await get_tree().physics_frame
	await get_tree().physics_frame
	while frame < wanted:
		live(1)
		if frame % FRAMES_PER_RECORD == 0:
			print(MARK + JSON.stringify(report()))
			taken_us.clear()
		await get_tree().process_frame
	get_tree().quit()
