# meta-name: Habit
# meta-description: What a character does, when it begins, goes on and ends
# meta-default: true
extends _BASE_


## Return whether the habit may begin.
func _can_activate() -> bool:
	return true


func _enter() -> void:
	pass


## Called while the habit is active, until it returns STATUS_SUCCEEDED or STATUS_FAILED.
func _tick(_elapsed_s: float) -> int:
	return STATUS_RUNNING


## Called when the habit has ended or was interrupted.
func _exit() -> void:
	pass
