@tool
extends VBoxContainer
## The bottom panel "AI": draws and edits the HabitTree or StateMachine of the edited scene, and shows it live.

## Emitted to show the running game in `place`, or no longer.
signal live_wished(is_on: bool, place: Container)
## Emitted with the character of the selected node: see `follow` of the debugger's panel.
signal live_followed(character: String)

const HabitChart := preload("habit_chart.gd")
const HabitLibrary := preload("habit_library.gd")
const SceneEdits := preload("scene_edits.gd")
const StateChart := preload("state_chart.gd")

const ROOTS: PackedStringArray = ["HabitTree", "StateMachine"]
const PARTS: PackedStringArray = ["HabitTree", "Habit", "StateMachine", "AIState", "StateTransition"]
const LAUNCHES: PackedStringArray = ["Prioritized", "Sequential", "Random", "Fallback", "Utility"]
const LAUNCH_HINTS: PackedStringArray = [
	"the first that can run", "one after the other", "one drawn by weight", "until one succeeds", "the highest score"]
const LIBRARY_PX := 220.0
const NO_TREE := "The scene has no HabitTree and no StateMachine. Select the node of a character, then add one:"
const SHOW_LIVE := "Game runs: show it live"
const SHOW_SCENE := "Live; back to the scene"
enum Item {ADD_CHILD, RENAME, DUPLICATE, DELETE, UP, DOWN, INITIAL, SCRIPT, FAVORITE, WRAP = 100, LAUNCH = 200}

var undo: EditorUndoRedoManager:
	set(value):
		_edits.undo = value

var _edits := SceneEdits.new()
var _root: Node
var _roots := OptionButton.new()
var _search := LineEdit.new()
var _tools := HBoxContainer.new()
var _buttons := {}
var _live := Button.new()
var _game := MarginContainer.new()
var _split := HSplitContainer.new()
var _charts := PanelContainer.new()
var _habits := HabitChart.new()
var _states := StateChart.new()
var _library := HabitLibrary.new()
var _empty := VBoxContainer.new()
var _menu := PopupMenu.new()
var _wraps := PopupMenu.new()
var _launches := PopupMenu.new()
var _is_library_old := true
var _is_telling := false


func _init() -> void:
	name = "AI"
	custom_minimum_size.y = 200.0
	add_child(_toolbar())
	_split.size_flags_vertical = SIZE_EXPAND_FILL
	_charts.size_flags_horizontal = SIZE_EXPAND_FILL
	_library.custom_minimum_size.x = LIBRARY_PX
	_charts.add_child(_habits)
	_charts.add_child(_states)
	_charts.add_child(_empty_note())
	_split.add_child(_charts)
	_split.add_child(_library)
	add_child(_split)
	_game.size_flags_vertical = SIZE_EXPAND_FILL
	_game.hide()
	add_child(_game)
	_fill_menu()
	for chart: Control in [_habits, _states]:
		chart.nodes_selected.connect(_select)
		chart.dropped.connect(_dropped)
		chart.menu_requested.connect(_open_menu)
		chart.gui_input.connect(_key)
		chart.name_wanted.connect(func(node: Node, wanted: String) -> void:
			_edits.rename(node, wanted)
			refresh.call_deferred())
	_habits.add_requested.connect(func(node: Node) -> void:
		_select([node] as Array[Node])
		_library.search("")
		_library.grab_search())
	_states.connected.connect(connect_states)
	_states.placed.connect(func(node: Node, place: Vector2) -> void: _edits.set_place(node, place, StateChart.PLACE))
	_library.chosen.connect(func(entry: Dictionary) -> void: add_entry(entry))
	visibility_changed.connect(_visibility_changed)


## Show the tree that a node belongs to, or that is below it; another tree of the scene stays for a node of neither.
func follow(node: Node) -> void:
	var found := root_of(node)
	if found != null and found != _root:
		_root = found
		refresh()
		if is_live():
			live_followed.emit(character_of_root())
	elif is_visible_in_tree() and not _is_telling and not is_live():
		_chart().select_nodes(EditorInterface.get_selection().get_selected_nodes())
		_update_tools()


## Whether the running game is shown instead of the edited scene.
func is_live() -> bool:
	return _game.visible


## Offer the running game, when one has begun; go back to the scene when it has ended.
func set_running(is_running: bool) -> void:
	_live.visible = is_running
	if not is_running:
		_live.button_pressed = false


## Show the running game, or the edited scene again.
func show_live(is_on: bool) -> void:
	_live.set_pressed_no_signal(is_on)
	_live.text = SHOW_SCENE if is_on else SHOW_LIVE
	_game.visible = is_on
	for one: Control in [_split, _roots, _search, _tools]:
		one.visible = not is_on
	live_wished.emit(is_on, _game)
	if is_on:
		live_followed.emit(character_of_root())
	else:
		refresh()


## Show the edited scene again.
func leave_live() -> void:
	if is_live():
		show_live(false)


## The character of the shown root in the running game: "res://guard.tscn::Path", the first instance of the edited scene;
## "" without one.
func character_of_root() -> String:
	var scene := EditorInterface.get_edited_scene_root()
	if shown_root() == null or scene == null or scene.scene_file_path.is_empty():
		return ""
	var actor := _root.get_node_or_null(_root.get(&"actor"))
	return "" if actor == null else "%s::%s" % [scene.scene_file_path, scene.get_path_to(actor)]


## Draw the scene again, after it has changed; does nothing while the panel is hidden.
func refresh() -> void:
	if not is_visible_in_tree() or is_live():
		return
	var scene := EditorInterface.get_edited_scene_root()
	var roots := roots_of(scene)
	if not is_instance_valid(_root) or not _root in roots:
		_root = roots[0] if not roots.is_empty() else null
	_fill_roots(scene, roots)
	var is_machine := _root != null and _root.is_class("StateMachine")
	_habits.visible = _root != null and not is_machine
	_states.visible = is_machine
	_empty.visible = _root == null
	_library.visible = _root != null
	if is_machine:
		_states.show_scene(_root)
		_habits.show_scene(null)
	else:
		_habits.show_scene(_root)
		_states.show_scene(null)
	if _is_library_old and _root != null:
		_is_library_old = false
		_library.show_classes(&"AIState" if is_machine else &"Habit")
	_chart().select_nodes(EditorInterface.get_selection().get_selected_nodes())
	_update_tools()


## Read the scripts of the project again as soon as they are shown.
func files_changed() -> void:
	_is_library_old = true
	refresh()


## The HabitTree or StateMachine that is shown.
func shown_root() -> Node:
	return _root if is_instance_valid(_root) else null


func shown_text() -> String:
	return _chart().shown_text()


static func is_part(node: Object) -> bool:
	return node is Node and Array(PARTS).any(func(one: String) -> bool: return node.is_class(one))


static func is_root(node: Object) -> bool:
	return node is Node and Array(ROOTS).any(func(one: String) -> bool: return node.is_class(one))


## The HabitTree or StateMachine of a node: the node itself, one above it, or the first among its children.
static func root_of(node: Node) -> Node:
	var above := node
	while above != null and is_part(above):
		if is_root(above):
			return above
		above = above.get_parent()
	for child in node.get_children() if node != null else [] as Array[Node]:
		if is_root(child):
			return child
	return null


static func roots_of(scene: Node) -> Array[Node]:
	var found: Array[Node] = []
	for node: Node in ([scene] + scene.find_children("*", "", true, false)) if scene != null else []:
		if is_root(node):
			found.append(node)
	return found


## Add an entry of the library below `parent`, or below the selection.
func add_entry(entry: Dictionary, parent: Node = null, index := -1) -> Node:
	var below := parent if parent != null else _parent_for_new()
	if below == null or entry.is_empty():
		return null
	var node: Node = HabitLibrary.node_of(entry)
	_edits.add(node, below, index)
	_select([node] as Array[Node])
	refresh()
	return node


## Move the selection below `parent`, before the child at `index`.
func move_selected(parent: Node, index := -1) -> void:
	_move(selected(), parent, index)


## Move the selection one place up or down among its siblings.
func shift_selected(by: int) -> void:
	var nodes := _movable()
	if nodes.is_empty():
		return
	var siblings := nodes[0].get_parent().get_children().filter(is_part)
	var at := siblings.find(nodes[0] if by < 0 else nodes[-1]) + by
	if at >= 0 and at < siblings.size():
		_move(nodes, nodes[0].get_parent(), siblings[at].get_index() + (1 if by > 0 else 0))


## Put a habit with a launch mode, or an outer state, around the selection.
func wrap_selected(launch := 0) -> Node:
	var nodes := _wrappable()
	if nodes.is_empty():
		return null
	var is_state := nodes[0].is_class("AIState")
	var wrapper: Node = ClassDB.instantiate("AIState" if is_state else "Habit")
	wrapper.name = "State" if is_state else LAUNCHES[launch]
	if not is_state:
		wrapper.set(&"launch", launch)
	_edits.wrap(nodes, wrapper)
	_select([wrapper] as Array[Node])
	refresh()
	return wrapper


func duplicate_selected() -> void:
	if not _movable().is_empty():
		select(_edits.duplicate(_movable()))
		refresh()


func remove_selected() -> void:
	var nodes := _movable()
	if nodes.is_empty():
		return
	var parent := nodes[0].get_parent()
	_edits.remove(nodes)
	_select([parent] as Array[Node])
	refresh()


## Add a transition from one state to another, and select it: its event and guard are set in the inspector.
func connect_states(from: Node, to: Node) -> void:
	var transition: Node = ClassDB.instantiate("StateTransition")
	transition.name = "To%s" % String(to.name).to_pascal_case()
	transition.set(&"to", NodePath("../" + String(from.get_path_to(to))))
	transition.set(&"event", String(to.name).to_snake_case())
	_edits.add(transition, from)
	_select([transition] as Array[Node])
	refresh()


func selected() -> Array[Node]:
	return _chart().selected_nodes()


func select(nodes: Array[Node]) -> void:
	_chart().select_nodes(nodes)
	_select(nodes)


## Moved nodes leave the tree for a moment, and with it the editor's selection.
func _move(nodes: Array[Node], parent: Node, index: int) -> void:
	EditorInterface.get_selection().clear()
	_edits.move(nodes, parent, index)
	_select(nodes)
	refresh()


func _chart() -> Control:
	return _states if _states.visible else _habits


func _movable() -> Array[Node]:
	return selected().filter(func(one: Node) -> bool: return one != _root and SceneEdits.is_editable(one))


## Habits and states; a transition belongs to its state.
func _wrappable() -> Array[Node]:
	return _movable().filter(func(one: Node) -> bool: return not one.is_class("StateTransition"))


func _parent_for_new() -> Node:
	for node in selected():
		if node.is_class("StateTransition"):
			continue
		if SceneEdits.is_editable(node):
			return node
	return _root if SceneEdits.is_editable(_root) else null


func _select(nodes: Array[Node]) -> void:
	_is_telling = true
	var selection := EditorInterface.get_selection()
	selection.clear()
	for node in nodes:
		selection.add_node(node)
	if nodes.size() == 1:
		EditorInterface.edit_node(nodes[0])
	_is_telling = false
	_update_tools()


func _dropped(data: Dictionary, parent: Node, index: int) -> void:
	if data.has("entry"):
		add_entry(data.entry, parent, index)
	else:
		_move(Array(data.nodes, TYPE_OBJECT, &"Node", null), parent, index)


func _toolbar() -> Control:
	var bar := HBoxContainer.new()
	_roots.tooltip_text = "The HabitTree or StateMachine that is shown; selecting one of its nodes shows it, too."
	_roots.item_selected.connect(func(index: int) -> void:
		_root = instance_from_id(_roots.get_item_metadata(index))
		_is_library_old = true
		refresh())
	_search.placeholder_text = "Search the chart"
	_search.clear_button_enabled = true
	_search.custom_minimum_size.x = 160.0
	_search.text_changed.connect(func(text: String) -> void: _chart().search(text))
	_live.text = SHOW_LIVE
	_live.tooltip_text = "Shows the selected character in the running game here, instead of in the debugger's tab AI."
	_live.toggle_mode = true
	_live.hide()
	_live.toggled.connect(show_live)
	bar.add_child(_live)
	bar.add_child(_roots)
	bar.add_child(_search)
	bar.add_child(_tools)
	_add_tool("wrap", "Wrap", "Put a habit around the selection, which then launches it.", _open_wraps)
	_add_tool("up", "", "Move up: more urgent (Ctrl+Up)", shift_selected.bind(-1))
	_add_tool("down", "", "Move down: less urgent (Ctrl+Down)", shift_selected.bind(1))
	_add_tool("duplicate", "", "Duplicate (Ctrl+D)", duplicate_selected)
	_add_tool("delete", "", "Delete (Del)", remove_selected)
	return bar


func _add_tool(key: String, text: String, hint: String, pressed: Callable) -> void:
	var button := Button.new()
	button.text = text
	button.flat = true
	button.tooltip_text = hint
	button.pressed.connect(pressed)
	_buttons[key] = button
	_tools.add_child(button)


func _ready() -> void:
	for one: Array in [["wrap", &"Group"], ["up", &"MoveUp"], ["down", &"MoveDown"], ["duplicate", &"Duplicate"],
			["delete", &"Remove"]]:
		_buttons[one[0]].icon = get_theme_icon(one[1], &"EditorIcons")


func _update_tools() -> void:
	for key: String in _buttons:
		_buttons[key].disabled = _root == null or (_wrappable() if key == "wrap" else _movable()).is_empty()


func _empty_note() -> Control:
	_empty.alignment = BoxContainer.ALIGNMENT_CENTER
	var text := Label.new()
	text.text = NO_TREE
	text.horizontal_alignment = HORIZONTAL_ALIGNMENT_CENTER
	text.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	_empty.add_child(text)
	var row := HBoxContainer.new()
	row.alignment = BoxContainer.ALIGNMENT_CENTER
	for kind in ROOTS:
		var button := Button.new()
		button.text = "Add %s" % kind
		button.pressed.connect(_add_root.bind(kind))
		row.add_child(button)
	_empty.add_child(row)
	return _empty


func _add_root(kind: String) -> void:
	var scene := EditorInterface.get_edited_scene_root()
	if scene == null:
		return
	var chosen := EditorInterface.get_selection().get_selected_nodes()
	var node: Node = ClassDB.instantiate(kind)
	node.name = kind
	var parent: Node = chosen[0] if not chosen.is_empty() and SceneEdits.is_editable(chosen[0]) else scene
	_edits.add(node, parent)
	_root = node
	_is_library_old = true
	_select([node] as Array[Node])
	refresh()


func _fill_roots(scene: Node, roots: Array[Node]) -> void:
	_roots.clear()
	_roots.visible = not roots.is_empty()
	for root in roots:
		var path := String(scene.get_path_to(root)) if root != scene else String(root.name)
		_roots.add_icon_item(HabitLibrary.icon_of(root.call(&"_get_chart_words").icon), path)
		_roots.set_item_metadata(-1, root.get_instance_id())
		if root == _root:
			_roots.select(_roots.item_count - 1)


func _fill_menu() -> void:
	for launch in LAUNCHES.size():
		_wraps.add_item("%s: %s" % [LAUNCHES[launch], LAUNCH_HINTS[launch]], Item.WRAP + launch)
		_launches.add_item("%s: %s" % [LAUNCHES[launch], LAUNCH_HINTS[launch]], Item.LAUNCH + launch)
	for menu: PopupMenu in [_menu, _wraps, _launches]:
		menu.id_pressed.connect(_menu_chosen)
		add_child(menu)


func _open_menu(at: Vector2) -> void:
	_menu.clear()
	var nodes := selected()
	if nodes.is_empty():
		return
	var is_habit := _root.is_class("HabitTree")
	if not nodes[0].is_class("StateTransition"):
		_menu.add_item("Add habit…" if is_habit else "Add state", Item.ADD_CHILD)
	if is_habit:
		_menu.add_submenu_node_item("Children run", _launches.duplicate())
	if nodes[0] != _root:
		if is_habit:
			_menu.add_submenu_node_item("Wrap in", _wraps.duplicate())
		elif nodes[0].is_class("AIState"):
			_menu.add_item("Wrap in an outer state", Item.WRAP)
			_menu.add_item("Make it the initial state", Item.INITIAL)
		_menu.add_separator()
		_menu.add_item("Rename (F2)", Item.RENAME)
		_menu.add_item("Move up (Ctrl+Up)", Item.UP)
		_menu.add_item("Move down (Ctrl+Down)", Item.DOWN)
		_menu.add_item("Duplicate (Ctrl+D)", Item.DUPLICATE)
		_menu.add_item("Delete (Del)", Item.DELETE)
	if nodes[0].get_script() != null:
		_menu.add_item("Open script", Item.SCRIPT)
	for index in _menu.item_count:
		var below := _menu.get_item_submenu_node(index)
		if below != null:
			below.id_pressed.connect(_menu_chosen)
	_menu.position = Vector2i(at)
	_menu.reset_size()
	_menu.popup()


func _open_wraps() -> void:
	if _root.is_class("StateMachine"):
		wrap_selected()
		return
	var button: Button = _buttons.wrap
	_wraps.position = Vector2i(button.get_screen_position() + Vector2(0, button.size.y))
	_wraps.popup()


func _menu_chosen(id: int) -> void:
	if id >= Item.LAUNCH:
		for node in selected():
			if SceneEdits.is_editable(node):
				_edits.set_value(node, &"launch", id - Item.LAUNCH)
		refresh()
		return
	if id >= Item.WRAP:
		wrap_selected(id - Item.WRAP)
		return
	match id:
		Item.ADD_CHILD:
			if _root.is_class("StateMachine"):
				add_entry(_library.entry_named("State"))
			else:
				_library.grab_search()
		Item.RENAME:
			_rename()
		Item.UP:
			shift_selected(-1)
		Item.DOWN:
			shift_selected(1)
		Item.DUPLICATE:
			duplicate_selected()
		Item.DELETE:
			remove_selected()
		Item.INITIAL:
			var state := selected()[0]
			_edits.set_value(state.get_parent(), &"initial_state", NodePath(String(state.name)))
			refresh()
		Item.SCRIPT:
			EditorInterface.edit_script(selected()[0].get_script())


func _rename() -> void:
	if _habits.visible:
		_habits.edit_name()
	else:
		_states.edit_name()


func _key(event: InputEvent) -> void:
	if not event is InputEventKey or not event.pressed:
		return
	var is_command: bool = event.is_command_or_control_pressed()
	if event.keycode == KEY_DELETE:
		remove_selected()
	elif event.keycode == KEY_F2:
		_rename()
	elif is_command and event.keycode == KEY_D:
		duplicate_selected()
	elif is_command and event.keycode in [KEY_UP, KEY_DOWN]:
		shift_selected(-1 if event.keycode == KEY_UP else 1)
	else:
		return
	_chart().accept_event()


func _visibility_changed() -> void:
	refresh()
