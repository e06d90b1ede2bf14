extends "rooms.gd"
## Guards with our nodes: each a Sensor3D, a SenseSource3D and a HabitTree of four habits, which reads the sensor.

const Guard := preload("guard.gd")
## Habits by script, from the most urgent, with the properties that the inspector sets.
const HABITS := {
	preload("habits/chase.gd"): {
		"condition": "awareness_level == 2 and is_in_view", "for_at_most": 1.0,
		"condition_scope": Habit.CONDITION_SCOPE_BOTH},
	preload("habits/search.gd"): {"begins_on": ["target_lost"], "remember_for": 1.0},
	preload("habits/investigate.gd"): {"condition": "last_known_position != null"},
	preload("habits/patrol.gd"): {},
}
const GUARD_AFFILIATION := 2

## What AI may take in a frame (µs); 0 is all it needs. To set before it enters the tree.
var budget := 0.0
## Frames from one look of a guard to its next. To set before it enters the tree.
var looks_every := 1
## Whether the guards have habits; without, they stand and turn. To set before it enters the tree.
var has_habits := true

var scheduler := AIScheduler.new()
var sources: Array[SenseSource3D] = []
var guards: Array[Guard] = []


func _ready() -> void:
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = budget
	add_child(scheduler)
	var manager := SenseManager.new()
	manager.period = looks_every
	scheduler.add_child(manager)
	build()
	for intruder in intruders:
		var source := SenseSource3D.new()
		intruder.add_child(source)
		sources.append(source)
	for i in guard_count:
		guards.append(_new_guard(i))


func think(delta_s: float) -> void:
	if is_step():
		for source in sources:
			source.emit("hearing", STEP_STRENGTH)
	scheduler.step(delta_s)


## Moves the world, which is not timed.
func move_intruders(delta_s: float) -> void:
	super(delta_s)
	if not has_habits:
		for guard in guards:
			guard.rotation.y += delta_s


func saw_count() -> int:
	return guards.filter(func(guard: Guard) -> bool: return guard.ever_saw()).size()


func heard_count() -> int:
	return guards.filter(func(guard: Guard) -> bool: return guard.ever_heard()).size()


func _new_guard(i: int) -> Guard:
	var guard := Guard.new()
	guard.home = post(i)
	guard.position = guard.home
	guard.name = "Guard%d" % i
	var source := SenseSource3D.new()
	source.affiliation = GUARD_AFFILIATION
	guard.add_child(source)
	guard.sensor.position.y = EYES_M
	guard.sensor.detection_mask = 1
	guard.sensor.sight_range = 8.0
	guard.sensor.near_range = 1.0
	guard.add_child(guard.sensor)
	if has_habits:
		add_habits(guard)
	add_child(guard)
	return guard


## Gives a guard with a sensor its tree.
static func add_habits(guard: Guard) -> void:
	guard.tree = HabitTree.new()
	guard.sensor.name = "Sensor"
	guard.tree.sensor = ^"../Sensor"
	guard.tree.period = 3
	for script: Script in HABITS:
		var habit := Habit.new()
		habit.name = script.resource_path.get_file().get_basename().capitalize()
		habit.set_script(script)
		for property: String in HABITS[script]:
			habit.set(property, HABITS[script][property])
		guard.tree.add_child(habit)
	guard.add_child(guard.tree)
