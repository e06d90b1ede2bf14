extends "investigate.gd"
## Look for somebody who got away, where they were last known to be; then give up.


func _can_activate() -> bool:
	return guard.has_lost


func _on_done() -> void:
	super()
	guard.has_lost = false
