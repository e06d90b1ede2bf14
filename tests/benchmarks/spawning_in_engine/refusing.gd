extends Habit

func _can_activate() -> bool: return false
