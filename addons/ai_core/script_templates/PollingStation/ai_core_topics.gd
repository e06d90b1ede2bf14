# meta-name: Topics
# meta-description: Queries of your own, each answered once a frame for all callers
# meta-default: true
extends _BASE_


func _ready() -> void:
	add_topic("is_night", _is_night)


func _is_night() -> bool:
	return false
