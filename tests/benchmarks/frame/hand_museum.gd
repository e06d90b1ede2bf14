extends "rooms.gd"
## The same museum as a developer without an addon writes it: one loop over guards.

const HandGuard := preload("hand_guard.gd")

var guards: Array[HandGuard] = []


func _ready() -> void:
	build()
	for i in guard_count:
		var guard := HandGuard.new()
		guard.home = position + post(i)
		guard.position = post(i)
		guard.phase = i % HandGuard.THINKS_EVERY
		guard.intruders = intruders
		guards.append(guard)
		add_child(guard)


func think(delta_s: float) -> void:
	var step := is_step()
	var space := get_world_3d().direct_space_state
	for guard in guards:
		if step:
			guard.hear(STEP_STRENGTH)
		guard.look(space, delta_s)
		guard.decide(delta_s)


func saw_count() -> int:
	return guards.filter(func(guard: HandGuard) -> bool: return guard.ever_saw).size()


func heard_count() -> int:
	return guards.filter(func(guard: HandGuard) -> bool: return guard.ever_heard).size()
