extends Node3D
## Hides from the watcher: asks for cover, holds it, requests a path, moves, and looks for better cover now and then.

const SPEED := 3.5
const ASK_EVERY_S := 0.5
const STANDING_M := 1.8
const CROUCHING_M := 1.0
const NEAR_M := 0.15

var yard: Node3D
var spot := 0
var hidings := 0
var height_m := STANDING_M:
	set(height):
		height_m = height
		scale.y = height / STANDING_M
		for tag: Label3D in find_children("*", "Label3D", true, false): tag.scale.y = 1.0 / scale.y

var _request := 0
var _ticket := 0
var _path := PackedVector3Array()
var _asked_at_s := -INF


func _ready() -> void:
	yard.cover.cover_found.connect(_on_cover_found)
	yard.cover.cover_failed.connect(_on_cover_failed)
	yard.cover.cover_lost.connect(_on_cover_lost)
	yard.paths.path_ready.connect(_on_path_ready)
	yard.paths.path_failed.connect(_on_path_failed)


func _physics_process(delta: float) -> void:
	if not _request and yard.time_s - _asked_at_s >= ASK_EVERY_S:
		_asked_at_s = yard.time_s
		_request = yard.cover.request_cover(self, [yard.watcher])
	if _ticket:
		# The path is being searched: move by bump and turn meanwhile.
		_go(yard.paths.get_fallback_position(_ticket, position), delta)
	elif _path:
		_go(_path[0], delta)
		if position.distance_to(_path[0]) < NEAR_M:
			_path.remove_at(0)
			if _path.is_empty(): _arrive()


func _go(place: Vector3, delta: float) -> void:
	var ahead := place - position
	if ahead.length() > NEAR_M: rotation.y = atan2(-ahead.x, -ahead.z)
	position = position.move_toward(place, SPEED * delta)


func _on_cover_found(request: int, found: int) -> void:
	if request != _request: return
	_request = 0
	if found == spot or not yard.cover.reserve(found, self): return
	spot = found
	height_m = STANDING_M
	if _ticket: yard.paths.release(_ticket)
	_path.clear()
	_ticket = yard.paths.request_path(position, yard.cover.get_place(spot))


func _on_cover_failed(request: int, _why: String) -> void:
	if request == _request: _request = 0


func _on_cover_lost(agent: Node, _lost: int) -> void:
	if agent == self:
		spot = 0
		height_m = STANDING_M
		_asked_at_s = -INF


func _on_path_ready(ticket: int, path: PackedVector3Array) -> void:
	if ticket == _ticket:
		_ticket = 0
		_path = path


func _on_path_failed(ticket: int, why: String) -> void:
	if ticket == _ticket:
		_ticket = 0
		yard.report(name, "finds no path: " + why)


func _arrive() -> void:
	if not spot: return
	hidings += 1
	var behind: Node = yard.cover.get_object(spot)
	var towards: Vector3 = yard.watcher.position - position
	rotation.y = atan2(-towards.x, -towards.z)
	height_m = CROUCHING_M if yard.cover.is_low(spot) else STANDING_M
	yard.report(name, "hides behind a %s%s" % [
		"crate" if behind else "wall", ", crouching" if yard.cover.is_low(spot) else ""])
