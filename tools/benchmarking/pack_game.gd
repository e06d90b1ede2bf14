extends SceneTree
## Packs files into a .pck: `-s pack_game.gd -- OUT FOLDER`, every file below FOLDER as res://.


func _initialize() -> void:
	var arguments := OS.get_cmdline_user_args()
	var packer := PCKPacker.new()
	var failed := packer.pck_start(arguments[0]) != OK
	for file in _files(arguments[1]):
		failed = packer.add_file("res://" + file, arguments[1].path_join(file)) != OK or failed
	failed = packer.flush() != OK or failed
	quit(1 if failed else 0)


func _files(folder: String, below := "") -> PackedStringArray:
	var found := PackedStringArray()
	var here := DirAccess.open(folder.path_join(below))
	here.include_hidden = true
	for file in here.get_files():
		found.append(below.path_join(file))
	for inner in here.get_directories():
		found.append_array(_files(folder, below.path_join(inner)))
	return found
