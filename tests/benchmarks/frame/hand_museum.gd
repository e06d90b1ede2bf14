extends "rooms.gd"
## The same museum as a developer without an addon writes it: one loop over guards.

const HandGuard := preload("hand_guard.gd")

## Frames from one look of a guard to its next; the guards are spread over them.
var looks_every := 1
var guards: Array[HandGuard] = []
var _frame := 0


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
	for i in guards.size():
		var guard := guards[i]
		if step:
			guard.hear(STEP_STRENGTH)
		if (_frame + i) % looks_every == 0:
			guard.look(space, delta_s * looks_every)
		guard.decide(delta_s)
	_frame += 1


func saw_count() -> int:
	return guards.filter(func(guard: HandGuard) -> bool: return guard.ever_saw).size()


func heard_count() -> int:
	return guards.filter(func(guard: HandGuard) -> bool: return guard.ever_heard).size()
