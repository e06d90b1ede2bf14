@tool
extends RefCounted
## Copies script templates for habits, behaviors and topics into the project's template folder, and removes them.

const OURS := "res://addons/ai_core/script_templates"


## Copy the templates; existing files stay.
static func put() -> void:
	var is_new := not DirAccess.dir_exists_absolute(_place())
	for kind in DirAccess.get_directories_at(OURS):
		DirAccess.make_dir_recursive_absolute(_place().path_join(kind))
		for file in _files_of(OURS.path_join(kind)):
			var target := _place().path_join(kind).path_join(file)
			if not FileAccess.file_exists(target):
				DirAccess.copy_absolute(OURS.path_join(kind).path_join(file), target)
	if is_new:  # templates do not compile as they are: Godot shall not look at them
		FileAccess.open(_place().path_join(".gdignore"), FileAccess.WRITE).close()


## Remove the templates, and folders that become empty; edited templates stay.
static func take_away() -> void:
	for kind in DirAccess.get_directories_at(OURS):
		var folder := _place().path_join(kind)
		for file in _files_of(OURS.path_join(kind)):
			var put_there := folder.path_join(file)
			if FileAccess.get_md5(put_there) == FileAccess.get_md5(OURS.path_join(kind).path_join(file)):
				DirAccess.remove_absolute(put_there)
		_remove_if_empty(folder)
	if DirAccess.dir_exists_absolute(_place()) and DirAccess.get_directories_at(_place()).is_empty() \
			and _files_of(_place()).is_empty():
		DirAccess.remove_absolute(_place().path_join(".gdignore"))
		_remove_if_empty(_place())


static func _place() -> String:
	return ProjectSettings.get_setting("editor/script/templates_search_path", "res://script_templates")


static func _files_of(folder: String) -> PackedStringArray:
	if not DirAccess.dir_exists_absolute(folder):
		return []
	return PackedStringArray(Array(DirAccess.get_files_at(folder)).filter(
		func(file: String) -> bool: return not file.begins_with(".")))


static func _remove_if_empty(folder: String) -> void:
	if DirAccess.dir_exists_absolute(folder) and DirAccess.get_files_at(folder).is_empty() \
			and DirAccess.get_directories_at(folder).is_empty():
		DirAccess.remove_absolute(folder)
