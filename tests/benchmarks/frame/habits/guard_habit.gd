extends Habit
## What the habits of a guard share: the guard and its tree.

const Guard := preload("res://tests/benchmarks/frame/guard.gd")

@onready var guard: Guard = get_parent().get_parent()


## Walks to a value of the sensor; returns true on arrival, or if the value is null.
func walk_to_value(key: String, speed: float, elapsed_s: float) -> bool:
	var place: Variant = guard.tree.get_value(key)
	return place == null or guard.walk_to(place, speed, elapsed_s)


## Forgets where the target was last known to be, unless the sensor still notices it.
func forget() -> void:
	if guard.tree.get_value("target") == null:
		guard.tree.set_value("last_known_position", null)
