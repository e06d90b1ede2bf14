## Plays a scene for some game time, saves what it shows as a PNG and quits; with --frames, saves so many frames as
## raw RGB in one file.
## Arguments after "--": --scene=res://… --out=/absolute.png --after=seconds --set=Node/Path:property=value
## --frames=count --every=seconds --width=pixels --height=pixels
extends Node

var _out := ""
var _frames_left := 0
## Of an animation: pictures that are still to be saved, frames between two, and their size.
var _pictures_left := 1
var _every_frames := 0
var _size := Vector2i.ZERO
var _file: FileAccess = null
## Node, property and value of each --set.
var _settings: Array[Array] = []


func _ready() -> void:
	var options := {}
	for argument: String in OS.get_cmdline_user_args():
		options[argument.get_slice("=", 0)] = argument.substr(argument.find("=") + 1)
		if argument.begins_with("--set="):
			var setting := argument.trim_prefix("--set=")
			var place := setting.get_slice("=", 0)
			_settings.append([
				place.get_slice(":", 0), place.get_slice(":", 1), str_to_var(setting.substr(setting.find("=") + 1))])
	_out = options["--out"]
	# Two frames at least: one to lay the scene out, one to draw it.
	_frames_left = maxi(2, roundi(float(options["--after"]) * 60.0))
	if options.has("--frames"):
		_pictures_left = int(options["--frames"])
		_every_frames = maxi(3, roundi(float(options["--every"]) * 60.0))
		_size = Vector2i(int(options["--width"]), int(options["--height"]))
		_file = FileAccess.open(_out, FileAccess.WRITE)
	# Drawing in software is slow; only the last frames are looked at.
	RenderingServer.render_loop_enabled = false
	_show.call_deferred(options["--scene"])


func _show(path: String) -> void:
	var packed := load(path) as PackedScene
	if packed == null:
		get_tree().quit(1)
		return
	var scene := packed.instantiate()
	for setting in _settings:
		var node := scene.get_node_or_null(NodePath(setting[0]))
		if node == null or not setting[1] in node:
			push_error("--set: the scene has no node '%s' with a property '%s'" % [setting[0], setting[1]])
			get_tree().quit(1)
			return
		node.set(setting[1], setting[2])
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
	var image := get_viewport().get_texture().get_image()
	var failure := OK
	_pictures_left -= 1
	if _file == null:
		failure = image.save_png(_out)
	else:
		image.convert(Image.FORMAT_RGB8)
		image.resize(_size.x, _size.y, Image.INTERPOLATE_LANCZOS)
		_file.store_buffer(image.get_data())
		RenderingServer.render_loop_enabled = false
		_frames_left = _every_frames - 1
	if _pictures_left == 0 or failure != OK:
		if _file != null:
			_file.close()
		get_tree().quit(0 if failure == OK else 1)
