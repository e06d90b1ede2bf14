## Plays a scene for some game time, saves what it shows as a PNG and quits.
## Arguments after "--": --scene=res://… --out=/absolute.png --after=seconds
extends Node

var _out := ""
var _frames_left := 0


func _ready() -> void:
	var options := {}
	for argument: String in OS.get_cmdline_user_args():
		options[argument.get_slice("=", 0)] = argument.substr(argument.find("=") + 1)
	_out = options["--out"]
	# Two frames at least: one to lay the scene out, one to draw it.
	_frames_left = maxi(2, roundi(float(options["--after"]) * 60.0))
	# Drawing in software is slow; only the last frames are looked at.
	RenderingServer.render_loop_enabled = false
	_show.call_deferred(options["--scene"])


func _show(path: String) -> void:
	var packed := load(path) as PackedScene
	if packed == null:
		get_tree().quit(1)
		return
	var scene := packed.instantiate()
	get_tree().root.add_child(scene)
	get_tree().current_scene = scene


func _process(_delta: float) -> void:
	_frames_left -= 1
	if _frames_left == 2:
		RenderingServer.render_loop_enabled = true
	if _frames_left == 0:
		_save()


func _save() -> void:
	await RenderingServer.frame_post_draw
	var failure := get_viewport().get_texture().get_image().save_png(_out)
	get_tree().quit(0 if failure == OK else 1)
