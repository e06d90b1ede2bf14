extends "walked_rooms.gd"
## The museum of inspector_guard.tscn as a developer without an addon writes it.

const HandGuard := preload("hand_body_guard.gd")

var guards: Array[HandGuard] = []


func _ready() -> void:
	build()
	for i in guard_count:
		var guard := HandGuard.new()
		guard.position = post(i)
		var home := position + post(i)
		guard.route = [home + Vector3(-1.5, 0, 0), home + Vector3(1.5, 0, 0)]
		guard.beliefs.intruders = intruders
		guards.append(guard)
		add_child(guard)


func think(delta_s: float) -> void:
	var step := is_step()
	var space := get_world_3d().direct_space_state
	for guard in guards:
		if step:
			guard.beliefs.hear(STEP_STRENGTH)
		guard.beliefs.look(space, delta_s)
		guard.decide(delta_s)


func saw_count() -> int:
	return guards.filter(func(guard: HandGuard) -> bool: return guard.beliefs.ever_saw).size()


func heard_count() -> int:
	return guards.filter(func(guard: HandGuard) -> bool: return guard.beliefs.ever_heard).size()
