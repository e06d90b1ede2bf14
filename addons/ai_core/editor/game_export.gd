@tool
extends EditorExportPlugin
## Puts Python, the library and the nodes into an exported game: beside the program, where the loader finds them.

const ADDON := "res://addons/ai_core"
const SYSTEMS: PackedStringArray = ["Linux", "Windows", "macOS"]
const STRIP_DOCUMENTATION := "ai_core/strip_documentation"
const STRIP_EDITOR_PARTS := "ai_core/strip_editor_parts"
const LEAVE_OUT := "ai_core/leave_out"
const EDITOR_PARTS: PackedStringArray = ["/editor/", "/icons/", "/script_templates/"]

## Folder of files to be copied; outside the project, which would import them.
var _staged := ""


## Plugins are called in order of their names; after "GDScript" a script can no longer be left out.
func _get_name() -> String:
	return "AI core"


func _supports_platform(platform: EditorExportPlatform) -> bool:
	return platform.get_os_name() in SYSTEMS


func _get_export_options(_platform: EditorExportPlatform) -> Array[Dictionary]:
	return [
		{"option": {"name": STRIP_DOCUMENTATION, "type": TYPE_BOOL}, "default_value": true},
		{"option": {"name": STRIP_EDITOR_PARTS, "type": TYPE_BOOL}, "default_value": true},
		{"option": {"name": LEAVE_OUT, "type": TYPE_PACKED_STRING_ARRAY},
			"default_value": PackedStringArray(["test", "tests"])},
	]


func _get_export_option_warning(platform: EditorExportPlatform, option: String) -> String:
	if option != STRIP_DOCUMENTATION:
		return ""
	var processor: Variant = get_option("binary_format/architecture")
	return _what_is_missing(_folder_of(platform, [processor if processor is String else ""]))


func _export_begin(features: PackedStringArray, _is_debug: bool, _path: String, _flags: int) -> void:
	var platform := get_export_platform()
	var folder := _folder_of(platform, features)
	var problem := _what_is_missing(folder)
	if problem.is_empty():
		problem = _add_files(folder)
	if not problem.is_empty():
		platform.add_message(EditorExportPlatform.EXPORT_MESSAGE_ERROR, "ai_core", problem)


func _export_file(path: String, _type: String, _features: PackedStringArray) -> void:
	if not path.begins_with(ADDON + "/"):
		return
	var rest := path.trim_prefix(ADDON)
	if get_option(STRIP_EDITOR_PARTS) and Array(EDITOR_PARTS).any(func(part: String) -> bool: return rest.begins_with(part)):
		skip()


func _export_end() -> void:
	if not _staged.is_empty():
		_remove(_staged)
		_staged = ""


## Returns the name of the platform's folders in bin and runtime.
func _folder_of(platform: EditorExportPlatform, features: PackedStringArray) -> String:
	var system := platform.get_os_name().to_lower()
	if system == "macos":
		return "macos.universal"
	return "%s.%s" % [system, "arm64" if "arm64" in features else "x86_64"]


func _what_is_missing(folder: String) -> String:
	var runtime := "%s/runtime/%s" % [ADDON, folder]
	if DirAccess.dir_exists_absolute(ProjectSettings.globalize_path(runtime)):
		return ""
	return "%s is missing, so the game would find no Python; unpack the zip of ai_core for that platform into this project" % runtime


func _add_files(platform: String) -> String:
	_staged = EditorInterface.get_editor_paths().get_cache_dir().path_join("ai_core_export_%d" % OS.get_process_id())
	_remove(_staged)
	var files: RefCounted = ClassDB.instantiate("AIGameFiles")
	if files == null:
		return "the editor runs without Python, so no files can be exported; see the errors at its start"
	var problem: String = files.call("gather", _staged, platform, get_option(STRIP_DOCUMENTATION),
		get_option(STRIP_EDITOR_PARTS), get_option(LEAVE_OUT))
	if not problem.is_empty():
		return problem
	add_shared_object(ProjectSettings.globalize_path("%s/runtime/%s" % [ADDON, platform]), [], "addons/ai_core/runtime")
	for folder in DirAccess.get_directories_at(_staged):
		add_shared_object(_staged.path_join(folder), [], "")
	for file in DirAccess.get_files_at(_staged):
		add_shared_object(_staged.path_join(file), [], "")
	return ""


func _remove(folder: String) -> void:
	if not DirAccess.dir_exists_absolute(folder):
		return
	for inner in DirAccess.get_directories_at(folder):
		_remove(folder.path_join(inner))
	for file in DirAccess.get_files_at(folder):
		DirAccess.remove_absolute(folder.path_join(file))
	DirAccess.remove_absolute(folder)
