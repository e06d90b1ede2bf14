extends "walked_rooms.gd"
## Guards from the inspector alone: a sensor, a tree of eight built-in habits, and movement along a navigation map.

const GuardScene := preload("inspector_guard.tscn")

var scheduler := AIScheduler.new()
var sources: Array[SenseSource3D] = []
var guards: Array[Node3D] = []


func _ready() -> void:
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = 0.0
	add_child(scheduler)
	scheduler.add_child(SenseManager.new())
	build()
	for intruder in intruders:
		var source := SenseSource3D.new()
		intruder.add_child(source)
		sources.append(source)
	for i in guard_count:
		var guard: Node3D = GuardScene.instantiate()
		guard.name = "Guard%d" % i
		guard.position = post(i)
		(guard.get_node("Route") as Node3D).position = position + post(i)
		guards.append(guard)
		add_child(guard)


func think(delta_s: float) -> void:
	if is_step():
		for source in sources:
			source.emit("hearing", STEP_STRENGTH)
	scheduler.step(delta_s)


func saw_count() -> int:
	return _count_with("last_seen_position")


func heard_count() -> int:
	return _count_with("last_heard_position")


func _count_with(key: String) -> int:
	return guards.filter(
		func(guard: Node3D) -> bool: return (guard.get_node("Habits") as HabitTree).get_value(key) != null).size()
