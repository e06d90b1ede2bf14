extends "investigate.gd"
## Look around at the last known place of the lost target, then give up.


func _can_activate() -> bool:
	return guard.has_lost


func _on_done() -> void:
	super()
	guard.has_lost = false
