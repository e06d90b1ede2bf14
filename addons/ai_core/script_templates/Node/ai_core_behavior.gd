# meta-name: AI behavior
# meta-description: A character with an AIBehavior below it, which calls think()
extends _BASE_


## Called by the AIBehavior once per period, with the elapsed time since the last call.
func think(_elapsed_s: float) -> void:
	pass
