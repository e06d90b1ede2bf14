@tool
extends VBoxContainer
## The habits or states that can be added: favorites, built-in classes, scripts and Python classes of the project.

## Emitted as an entry is activated; `entry` is made into a node by `node_of`.
signal chosen(entry: Dictionary)

const FAVORITES := "favorite_habits"
const PLACE := "ai_core"
const DRAGGED := "ai_library_entry"
const ICONS := "res://addons/ai_core/icons"
## Python classes whose base is named Habit, or ends with it.
const PYTHON_HABIT := "(?m)^class\\s+(\\w+)\\s*\\([^)]*Habit[^)]*\\)\\s*:"
const STAR := "★ "

var _search := LineEdit.new()
var _list := Tree.new()
var _base := &"Habit"
var _entries: Array[Dictionary] = []
var _favorites: PackedStringArray


func _init() -> void:
	_search.placeholder_text = "Search habits"
	_search.clear_button_enabled = true
	_search.text_changed.connect(func(_text: String) -> void: _fill())
	_search.text_submitted.connect(func(_text: String) -> void: _choose(_first()))
	_list.hide_root = true
	_list.size_flags_vertical = SIZE_EXPAND_FILL
	_list.item_activated.connect(func() -> void: _choose(_list.get_selected()))
	_list.button_clicked.connect(_toggle_favorite)
	_list.set_drag_forwarding(_drag, Callable(), Callable())
	add_child(_search)
	add_child(_list)


## Show the classes that derive from `base`: &"Habit", or &"AIState".
func show_classes(base: StringName) -> void:
	_base = base
	_search.placeholder_text = "Search habits" if base == &"Habit" else "Search states"
	refresh()


## Read the classes and scripts of the project again.
func refresh() -> void:
	_favorites = EditorInterface.get_editor_settings().get_project_metadata(PLACE, FAVORITES, PackedStringArray())
	_entries = _classes() + _scripts()
	if _base == &"Habit":
		_entries.append_array(_python_classes())
	_fill()


## Keep nothing of the user's choices in the editor's settings; for a plugin that is disabled.
static func forget() -> void:
	EditorInterface.get_editor_settings().set_project_metadata(PLACE, FAVORITES, null)


func grab_search() -> void:
	_search.grab_focus()


func search(text: String) -> void:
	_search.text = text
	_fill()


## Names of the entries that are listed, for tests.
func listed() -> PackedStringArray:
	return PackedStringArray(_entries.filter(_is_wanted).map(func(one: Dictionary) -> String: return one.name))


func entry_named(wanted: String) -> Dictionary:
	for one in _entries:
		if one.name == wanted:
			return one
	return {}


## A new node for an entry.
static func node_of(entry: Dictionary) -> Node:
	var node: Node = ClassDB.instantiate(entry.class)
	if entry.has("script"):
		node.set_script(load(entry.script))
	if entry.has("python_class"):
		node.set(&"python_class", entry.python_class)
	node.name = entry.node_name
	return node


## Icon of a class of ours or of the engine.
static func icon_of(path: String) -> Texture2D:
	return load(path) as Texture2D if not path.is_empty() and ResourceLoader.exists(path) else null


func _classes() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	var names: Array = [_base] + Array(ClassDB.get_inheriters_from_class(_base))
	for name: String in names:
		if not ClassDB.can_instantiate(name):
			continue
		var node: Node = ClassDB.instantiate(name)
		var words: Dictionary = node.call(&"_get_chart_words")
		node.free()
		var short := name.trim_prefix("Habit").trim_prefix("AI")
		found.append({
			"id": name, "group": "Built in", "name": (short if short else name).capitalize(), "class": name,
			"node_name": short if short else name, "icon": words.icon, "about": words.about})
	return found


## Scripts that extend the base, also without a class_name.
func _scripts() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	var bases := {}
	for one: Dictionary in ProjectSettings.get_global_class_list():
		bases[one.class] = one.base
	for path in _files(EditorInterface.get_resource_filesystem().get_filesystem(), &"GDScript"):
		if path.begins_with("res://addons/ai_core/"):
			continue
		var script := load(path) as Script
		if script == null or not script.can_instantiate() and not script.is_tool() and script.get_instance_base_type() == "":
			continue
		var base := script.get_instance_base_type()
		if base == _base or ClassDB.is_parent_class(base, _base):
			var name: String = script.get_global_name() if script.get_global_name() else path.get_file().get_basename()
			found.append({
				"id": path, "group": "Scripts", "name": name.capitalize(), "class": base, "script": path,
				"node_name": name.to_pascal_case(), "icon": ICONS.path_join("habit.svg"), "about": path})
	return found


func _python_classes() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	var pattern := RegEx.create_from_string(PYTHON_HABIT)
	for path in _python_files("res://"):
		for one in pattern.search_all(FileAccess.get_file_as_string(path)):
			var module := path.trim_prefix("res://").get_basename().replace("/", ".")
			found.append({
				"id": "%s:%s" % [module, one.get_string(1)], "group": "Python", "name": one.get_string(1).capitalize(),
				"class": "Habit", "python_class": "%s:%s" % [module, one.get_string(1)],
				"node_name": one.get_string(1), "icon": ICONS.path_join("habit.svg"), "about": path})
	return found


func _files(folder: EditorFileSystemDirectory, type: StringName) -> PackedStringArray:
	var found := PackedStringArray()
	if folder == null:
		return found
	for index in folder.get_file_count():
		if folder.get_file_type(index) == type and _may_derive(folder.get_file_path(index)):
			found.append(folder.get_file_path(index))
	for index in folder.get_subdir_count():
		found.append_array(_files(folder.get_subdir(index), type))
	return found


## Whether a script may extend the base: it is loaded only then, because loading runs the compiler.
func _may_derive(path: String) -> bool:
	var text := FileAccess.get_file_as_string(path)
	var at := text.find("extends ")
	if at < 0:
		return false
	var base := text.substr(at + 8, 200).get_slice("\n", 0).get_slice("#", 0).strip_edges()
	if base.begins_with("\""):
		var file := base.trim_prefix("\"").get_slice("\"", 0)
		var full := file if file.is_absolute_path() else path.get_base_dir().path_join(file)
		return full != path and FileAccess.file_exists(full) and _may_derive(full)
	if ClassDB.class_exists(base):
		return base == _base or ClassDB.is_parent_class(base, _base)
	for one: Dictionary in ProjectSettings.get_global_class_list():
		if one.class == base:
			return one.path != path and _may_derive(one.path)
	return false


func _python_files(folder: String) -> PackedStringArray:
	var found := PackedStringArray()
	if folder == "res://addons" or FileAccess.file_exists(folder.path_join(".gdignore")):
		return found
	for file in DirAccess.get_files_at(folder):
		if file.ends_with(".py"):
			found.append(folder.path_join(file))
	for below in DirAccess.get_directories_at(folder):
		if not below.begins_with(".") and below != "__pycache__":
			found.append_array(_python_files(folder.path_join(below)))
	return found


func _is_wanted(entry: Dictionary) -> bool:
	var text := _search.text.strip_edges()
	return text.is_empty() or text.is_subsequence_ofn(entry.name) or text.to_lower() in String(entry.about).to_lower()


func _fill() -> void:
	_list.clear()
	var root := _list.create_item()
	var groups := {}
	for favorites: bool in [true, false]:
		for entry in _entries:
			if not _is_wanted(entry) or favorites and not entry.id in _favorites:
				continue
			var group: String = "Favorites" if favorites else entry.group
			if not group in groups:
				groups[group] = _list.create_item(root)
				groups[group].set_text(0, group)
				groups[group].set_selectable(0, false)
				groups[group].set_custom_color(0, Color(get_theme_color(&"font_color", &"Label"), 0.6))
			_add_row(groups[group], entry)


func _add_row(group: TreeItem, entry: Dictionary) -> void:
	var row := _list.create_item(group)
	row.set_text(0, entry.name)
	row.set_icon(0, icon_of(entry.icon))
	row.set_icon_max_width(0, 16)
	row.set_tooltip_text(0, entry.about)
	row.set_metadata(0, entry)
	var is_favorite: bool = entry.id in _favorites
	var star := get_theme_icon(&"Favorites" if is_favorite else &"NonFavorite", &"EditorIcons")
	row.add_button(0, star, -1, false, "Remove from favorites" if is_favorite else "Add to favorites")


func _toggle_favorite(row: TreeItem, _column: int, _id: int, _mouse: int) -> void:
	set_favorite(row.get_metadata(0).id, not row.get_metadata(0).id in _favorites)


func set_favorite(id: String, is_favorite: bool) -> void:
	if is_favorite == (id in _favorites):
		return
	if is_favorite:
		_favorites.append(id)
	else:
		_favorites.remove_at(_favorites.find(id))
	EditorInterface.get_editor_settings().set_project_metadata(PLACE, FAVORITES, _favorites)
	_fill()


func _first() -> TreeItem:
	var group := _list.get_root().get_first_child() if _list.get_root() != null else null
	return group.get_first_child() if group != null else null


func _choose(row: TreeItem) -> void:
	if row != null and row.get_metadata(0) is Dictionary:
		chosen.emit(row.get_metadata(0))


func _drag(_at: Vector2) -> Variant:
	var row := _list.get_selected()
	if row == null or not row.get_metadata(0) is Dictionary:
		return null
	var preview := Label.new()
	preview.text = row.get_text(0)
	_list.set_drag_preview(preview)
	return {"type": DRAGGED, "entry": row.get_metadata(0)}
