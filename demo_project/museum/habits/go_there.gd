extends "guard_habit.gd"
## Walk to the destination of the habit above, wherever it moves.

const DestinationHabit := preload("destination_habit.gd")

## Nearer than this is there (m). Smaller than a walker's precision, and it never is.
const THERE_M := 0.8

@export_range(0.5, 8.0, 0.1, "suffix:m/s") var speed := 1.6

@onready var _habit: DestinationHabit = get_parent()


func _can_activate() -> bool:
	return not guard.is_at(_habit.destination(), THERE_M)


func _tick(_elapsed_s: float) -> int:
	guard.walk_to(_habit.destination(), speed)
	return STATUS_RUNNING if _can_activate() else STATUS_SUCCEEDED


func _exit() -> void:
	guard.stand()
