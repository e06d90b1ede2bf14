extends Node3D
## Plays some frames of a work, and marks the next one for the command lines.

const Museum := preload("res://tests/benchmarks/frame/museum.gd")
const HandMuseum := preload("res://tests/benchmarks/frame/hand_museum.gd")
const FRAME_S := 1.0 / 60.0


class Nothing extends Node:
	var guard_count := 0

	func move_intruders(_delta_s: float) -> void:
		pass

	func think(_delta_s: float) -> void:
		pass


class Idle extends Nothing:
	var scheduler := AIScheduler.new()

	func _ready() -> void:
		scheduler.update = AIScheduler.UPDATE_MANUAL
		add_child(scheduler)

	func think(delta_s: float) -> void:
		scheduler.step(delta_s)


func _ready() -> void:
	var marks: Node = ClassDB.instantiate("FrameMarks")
	add_child(marks)
	marks.call("prepare")
	var work := chosen(OS.get_environment("LINES_WORK"))
	work.guard_count = int(OS.get_environment("LINES_GUARDS"))
	add_child(work)
	for i in 3:
		await get_tree().physics_frame
	for i in int(OS.get_environment("LINES_FRAME")):
		await get_tree().process_frame
		work.move_intruders(FRAME_S)
		work.think(FRAME_S)
	await get_tree().process_frame
	work.move_intruders(FRAME_S)
	marks.call("stop")
	marks.call("begin")
	work.think(FRAME_S)
	marks.call("end")
	get_tree().quit()


func chosen(named: String) -> Node:
	match named:
		"nothing":
			return Nothing.new()
		"scheduler":
			return Idle.new()
		"hand":
			return HandMuseum.new()
	var museum := Museum.new()
	museum.has_habits = named != "senses"
	return museum
