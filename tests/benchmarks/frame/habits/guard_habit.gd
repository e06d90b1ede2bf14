extends Habit
## What the four habits have in common: the guard.

const Guard := preload("res://tests/benchmarks/frame/guard.gd")

@onready var guard: Guard = get_parent().get_parent()
