extends Habit
## What all habits of a guard have in common: the guard.

const Guard := preload("res://demo_project/museum/guard.gd")

var guard: Guard:
	get:
		return get_actor()
