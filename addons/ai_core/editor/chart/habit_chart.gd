@tool
extends Tree
## A habit tree as rows with drawn connections: in the editor with conditions and launch modes, to be edited by drag and
## drop; of a running game with states, reasons, times and costs.

## Emitted as rows are selected: nodes of the edited scene.
signal nodes_selected(nodes: Array[Node])
## Emitted for habits or an entry of the library that are dropped below `parent`, before the child at `index`.
signal dropped(data: Dictionary, parent: Node, index: int)
signal name_wanted(node: Node, wanted: String)
signal menu_requested(at: Vector2)
## Emitted by the button at the end of a row.
signal add_requested(node: Node)
signal breakpoint_toggled(path: String)

const HabitLibrary := preload("habit_library.gd")
const SceneEdits := preload("scene_edits.gd")
const DRAGGED := "ai_habits"
const LAUNCH_COLOR := Color(0.55, 0.75, 1.0)
const CONDITION_COLOR := Color(1.0, 0.85, 0.5)
const LOCKED_ALPHA := 0.5
const ICON_PX := 16
## Alpha of the background of a row by its state.
const TINT := 0.22

enum {NAME, BEGINS, LAUNCH, KIND}
enum {LIVE_NAME, STATE, WHY, TIME, COST, CHANGED}

const SCENE_TITLES: PackedStringArray = ["Habit", "Begins", "Children run", "Runs"]
const LIVE_TITLES: PackedStringArray = ["Habit", "State", "Why", "Time", "µs", "Last change"]
## Least widths and shares of the columns (px, 1).
const SCENE_WIDTHS := [[150, 4], [130, 5], [110, 2], [100, 3]]
const LIVE_WIDTHS := [[110, 3], [78, 0], [110, 6], [48, 0], [38, 0], [70, 3]]
const STATE_COLORS := {
	"active": Color(0.35, 0.8, 0.4), "waiting": Color(0.4, 0.65, 1.0), "succeeded": Color(0.6, 0.75, 0.6),
	"failed": Color(0.95, 0.45, 0.4), "cooling down": Color(0.7, 0.55, 0.95), "pending": Color(0.55, 0.55, 0.58),
	"quarantined": Color(1.0, 0.3, 0.3), "interrupted": Color(0.9, 0.7, 0.35),
}

var _is_live := false
var _root: Node
var _rows := {}
var _collapsed := {}
var _search := ""
var _is_filling := false
var _breakpoints := {}


func _init() -> void:
	hide_root = false
	select_mode = Tree.SELECT_MULTI
	allow_rmb_select = true
	allow_reselect = true
	column_titles_visible = true
	size_flags_horizontal = SIZE_EXPAND_FILL
	size_flags_vertical = SIZE_EXPAND_FILL
	add_theme_constant_override(&"draw_relationship_lines", 1)
	add_theme_constant_override(&"draw_guides", 0)
	add_theme_constant_override(&"relationship_line_width", 1)
	add_theme_constant_override(&"parent_hl_line_width", 2)
	multi_selected.connect(func(_item: TreeItem, _column: int, _is_on: bool) -> void: _tell_selection.call_deferred())
	item_collapsed.connect(func(item: TreeItem) -> void: _collapsed[item.get_metadata(0)] = item.collapsed)
	item_edited.connect(_edited)
	item_activated.connect(_activated)
	item_mouse_selected.connect(_mouse_selected)
	button_clicked.connect(_button_clicked)
	_lay_out()


## Show the habits below a node of the edited scene.
func show_scene(root: Node) -> void:
	var selected := selected_nodes()
	_use(false)
	_root = root
	_is_filling = true
	_rows.clear()
	clear()
	if root != null:
		_add_node(root, null)
	_filter()
	_is_filling = false
	select_nodes(selected)


## Show the habits of a running game; `rows` are dictionaries with path, depth, name, kind, icon, begins and launch.
func show_game(rows: Array) -> void:
	_use(true)
	_root = null
	_rows.clear()
	clear()
	var above: Array[TreeItem] = []
	for row: Dictionary in rows:
		above.resize(row.depth)
		var item := create_item(above[-1] if row.depth > 0 else null)
		above.append(item)
		item.set_metadata(0, row.path)
		item.set_text(LIVE_NAME, row.name)
		item.set_icon(LIVE_NAME, HabitLibrary.icon_of(row.icon))
		item.set_icon_max_width(LIVE_NAME, ICON_PX)
		item.set_tooltip_text(LIVE_NAME, "%s\n%s" % [row.kind, row.begins])
		item.set_text_alignment(TIME, HORIZONTAL_ALIGNMENT_RIGHT)
		item.set_text_alignment(COST, HORIZONTAL_ALIGNMENT_RIGHT)
		item.collapsed = _collapsed.get(row.path, false)
		_rows[row.path] = item
	_mark_breakpoints()
	_filter()


## Show the states of the habits, in the order of `show_game`: [state, why, time_s, cost_us, last change].
func show_states(states: Array) -> void:
	var index := 0
	for path: String in _rows:
		if index >= states.size():
			return
		_show_state(_rows[path], states[index])
		index += 1


func show_breakpoints(paths: Dictionary) -> void:
	_breakpoints = paths
	_mark_breakpoints()


## Hide rows that do not have a text; empty shows all.
func search(text: String) -> void:
	_search = text.strip_edges()
	_filter()


func selected_nodes() -> Array[Node]:
	var found: Array[Node] = []
	if _is_live:
		return found
	var item := get_next_selected(null)
	while item != null:
		var node: Variant = item.get_metadata(0)
		if is_instance_valid(node) and not node in found:
			found.append(node)
		item = get_next_selected(item)
	return found


## Select the rows of nodes, without a signal.
func select_nodes(nodes: Array[Node]) -> void:
	if _is_live:
		return
	_is_filling = true
	deselect_all()
	for node: Node in nodes:
		if node in _rows:
			_rows[node].select(0)
			_rows[node].uncollapse_tree()
			scroll_to_item(_rows[node])
	_is_filling = false


## Rows in words, for tests: indented names with the texts of the other columns.
func shown_text() -> String:
	var lines := PackedStringArray()
	for key: Variant in _rows:
		var item: TreeItem = _rows[key]
		var texts := range(columns).map(func(column: int) -> String: return item.get_text(column))
		lines.append("%s%s" % ["  ".repeat(_depth_of(item)), " | ".join(texts)])
	return "\n".join(lines)


## The selected habit of a running game, with its reason and its last change in full; empty if none is selected.
func selected_words() -> String:
	var item := get_selected() if _is_live else null
	if item == null: return ""
	var words := "%s: %s" % [item.get_text(LIVE_NAME), item.get_text(WHY)]
	return "%s; %s" % [words, item.get_text(CHANGED)] if item.get_text(CHANGED) else words


func edit_name() -> void:
	var selected := selected_nodes()
	if not selected.is_empty() and SceneEdits.is_editable(selected[0]):
		set_selected(_rows[selected[0]], NAME)
		edit_selected(true)


func _use(is_live: bool) -> void:
	if is_live != _is_live:
		_is_live = is_live
		_lay_out()


func _lay_out() -> void:
	var titles := LIVE_TITLES if _is_live else SCENE_TITLES
	var widths := LIVE_WIDTHS if _is_live else SCENE_WIDTHS
	select_mode = Tree.SELECT_ROW if _is_live else Tree.SELECT_MULTI
	columns = titles.size()
	for column in columns:
		set_column_title(column, titles[column])
		set_column_title_alignment(column, HORIZONTAL_ALIGNMENT_LEFT)
		set_column_custom_minimum_width(column, widths[column][0])
		set_column_expand(column, widths[column][1] > 0)
		set_column_expand_ratio(column, maxi(1, widths[column][1]))
		set_column_clip_content(column, true)


func _add_node(node: Node, above: TreeItem) -> void:
	var item := create_item(above)
	_rows[node] = item
	item.set_metadata(0, node)
	var words: Dictionary = node.call(&"_get_chart_words")
	item.set_text(NAME, node.name)
	item.set_icon(NAME, HabitLibrary.icon_of(words.icon))
	item.set_icon_max_width(NAME, ICON_PX)
	item.set_text(BEGINS, words.begins)
	item.set_text(LAUNCH, words.launch)
	var has_kind: bool = words.kind != node.get_class() or words.kind != "Habit"
	item.set_text(KIND, ("%s  %s" % [words.kind, words.does]).strip_edges() if has_kind and above != null else "")
	item.set_custom_color(BEGINS, CONDITION_COLOR)
	item.set_custom_color(LAUNCH, LAUNCH_COLOR)
	for column in columns:
		item.set_selectable(column, column == NAME)
		item.set_tooltip_text(column, ("%s\n%s" % [item.get_text(column), words.about]).strip_edges())
	if not SceneEdits.is_editable(node):
		item.set_custom_color(NAME, Color(get_theme_color(&"font_color"), LOCKED_ALPHA))
		item.set_tooltip_text(NAME, "%s belongs to an instanced scene; open that scene to edit it." % node.name)
	else:
		item.add_button(KIND, get_theme_icon(&"Add", &"EditorIcons"), -1, false, "Add a habit below %s" % node.name)
	item.collapsed = _collapsed.get(node, false)
	for child in node.get_children():
		if child.is_class("Habit"):
			_add_node(child, item)


func _show_state(item: TreeItem, state: Array) -> void:
	var color: Color = STATE_COLORS.get(state[0], STATE_COLORS.pending)
	var is_running: bool = state[0] == "active" or state[0] == "waiting"
	item.set_text(STATE, state[0])
	item.set_custom_color(STATE, color)
	item.set_text(WHY, state[1])
	item.set_tooltip_text(WHY, state[1])
	item.set_text(TIME, "%.1f s" % state[2] if state[2] >= 0.0 else "")
	item.set_text(COST, "%.0f" % state[3] if state[3] > 0.0 else "")
	item.set_text(CHANGED, state[4])
	var faint := Color(get_theme_color(&"font_color"), 1.0 if is_running else 0.55)
	for column: int in [LIVE_NAME, WHY, TIME, COST, CHANGED]:
		item.set_custom_color(column, faint)
	for column in columns:
		if is_running:
			item.set_custom_bg_color(column, Color(color, TINT))
		else:
			item.clear_custom_bg_color(column)


func _mark_breakpoints() -> void:
	if not _is_live:
		return
	for path: String in _rows:
		var item: TreeItem = _rows[path]
		while item.get_button_count(LIVE_NAME) > 0:
			item.erase_button(LIVE_NAME, 0)
		var is_set: bool = path in _breakpoints
		var icon := get_theme_icon(&"DebuggerBreakpoint" if is_set else &"GuiRadioUnchecked", &"EditorIcons")
		var hint: String = ("Pauses when it %s. Click to change." % _breakpoints[path]) if is_set \
			else "Set a breakpoint: pause when the habit begins or ends."
		item.add_button(LIVE_NAME, icon, -1, false, hint)
		item.set_button_color(LIVE_NAME, 0, Color(1.0, 0.35, 0.3) if is_set else Color(1, 1, 1, 0.25))


func _filter() -> void:
	if get_root() != null:
		_is_wanted(get_root())


## Show the rows that have the text searched for, and those above them; return whether there are any.
func _is_wanted(item: TreeItem) -> bool:
	var wanted := _search.is_empty()
	for column in columns:
		wanted = wanted or _search.to_lower() in item.get_text(column).to_lower()
	for child in item.get_children():
		wanted = _is_wanted(child) or wanted
	item.visible = wanted
	return wanted


func _depth_of(item: TreeItem) -> int:
	return 0 if item.get_parent() == null else 1 + _depth_of(item.get_parent())


func _tell_selection() -> void:
	if not _is_filling and not _is_live:
		nodes_selected.emit(selected_nodes())


func _activated() -> void:
	if not _is_live:
		edit_name.call_deferred()


func _edited() -> void:
	var item := get_edited()
	name_wanted.emit(item.get_metadata(0), item.get_text(NAME))


func _mouse_selected(at: Vector2, button: int) -> void:
	if button == MOUSE_BUTTON_RIGHT and not _is_live:
		menu_requested.emit(get_screen_position() + at)


func _button_clicked(item: TreeItem, _column: int, _id: int, mouse: int) -> void:
	if mouse != MOUSE_BUTTON_LEFT:
		return
	if _is_live:
		breakpoint_toggled.emit(item.get_metadata(0))
	else:
		add_requested.emit(item.get_metadata(0))


func _get_drag_data(_at: Vector2) -> Variant:
	var nodes := selected_nodes().filter(func(one: Node) -> bool: return one != _root and SceneEdits.is_editable(one))
	if _is_live or nodes.is_empty():
		return null
	var preview := Label.new()
	preview.text = ", ".join(nodes.map(func(one: Node) -> String: return one.name))
	set_drag_preview(preview)
	return {"type": DRAGGED, "nodes": nodes}


func _can_drop_data(at: Vector2, data: Variant) -> bool:
	if _is_live or not data is Dictionary or not data.get("type") in [DRAGGED, HabitLibrary.DRAGGED]:
		return false
	drop_mode_flags = Tree.DROP_MODE_INBETWEEN | Tree.DROP_MODE_ON_ITEM
	var place := _place_at(at)
	if place.is_empty() or not SceneEdits.is_editable(place[0]):
		return false
	return data.get("nodes", []).all(
		func(one: Node) -> bool: return one != place[0] and not one.is_ancestor_of(place[0]))


func _drop_data(at: Vector2, data: Variant) -> void:
	var place := _place_at(at)
	if not place.is_empty():
		dropped.emit(data, place[0], place[1])


## The parent and the index at which something is dropped; empty for none.
func _place_at(at: Vector2) -> Array:
	var item := get_item_at_position(at)
	if item == null:
		return [_root, -1] if _root != null else []
	var node: Node = item.get_metadata(0)
	var section := get_drop_section_at_position(at)
	if section == 0 or node == _root:
		return [node, -1]
	if section > 0 and item.get_child_count() > 0 and not item.collapsed:
		return [node, 0]
	return [node.get_parent(), node.get_index() + (1 if section > 0 else 0)]
