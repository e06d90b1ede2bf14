@tool
extends Control
## A state machine as boxes and arrows: in the editor boxes are dragged, and connected by dragging from their edge; of a
## running game with the active states, their times and the transition that was taken last.

signal nodes_selected(nodes: Array[Node])
## Emitted as an arrow was dragged from one state to another.
signal connected(from: Node, to: Node)
signal name_wanted(node: Node, wanted: String)
## Emitted as a box was dragged: its new place in its outer state.
signal placed(node: Node, place: Vector2)
signal dropped(data: Dictionary, parent: Node, index: int)
signal menu_requested(at: Vector2)
signal breakpoint_toggled(path: String)

const HabitChart := preload("habit_chart.gd")
const HabitLibrary := preload("habit_library.gd")
const SceneEdits := preload("scene_edits.gd")
## Metadata of an AIState: where the chart draws it in its outer state. Names with an underscore are not in the inspector.
const PLACE := &"_chart_place"

const ANY := "(any state)"
const HEADER_PX := 30.0
const LINE_PX := 18.0
const PADDING := 16.0
const GAP := Vector2(130, 34)
const LEAST_PX := Vector2(132, 40)
const MARGIN := Vector2(28, 24)
const HANDLE_PX := 6.0
const NEAR_PX := 7.0
const DRAG_PX := 5.0
const ZOOMS := Vector2(0.25, 2.0)
## Least zoom at which a chart is made to fit: its text can still be read.
const LEAST_FIT := 0.65
const ARROW_PX := 10.0
## Distance of an arrow from the one that leads back (px).
const APART_PX := 11.0

const BOX := Color(0.23, 0.25, 0.29)
const OUTER := Color(0.19, 0.205, 0.235)
const EDGE := Color(0.42, 0.45, 0.5)
const ARROW := Color(0.66, 0.7, 0.78)
const CHOSEN := Color(1.0, 0.75, 0.3)
const LABEL := Color(1.0, 0.85, 0.5)
const TAKEN := Color(0.35, 0.8, 0.4)
const LABEL_BACK := Color(0.12, 0.13, 0.15, 0.92)

var _is_live := false
var _machine: Node
## By path: {path, name, icon, notes, parent, is_initial, rect, inner}; parents first.
var _boxes := {}
## [{from, to, label, nodes}], merged by their two ends.
var _arrows: Array[Dictionary] = []
var _nodes := {}
var _places := {}
var _states := {}
var _taken := ""
var _breakpoints := {}
var _search := ""
var _selected: Array[Node] = []
var _chosen_path := ""
var _offset := Vector2.ZERO
var _zoom := 1.0
var _hovered := ""
var _pressed := ""
var _pressed_at := Vector2.ZERO
var _connecting := ""
var _dragged := ""
var _drag_from := Vector2.ZERO
var _is_panning := false
var _name_edit := LineEdit.new()
## The state whose name is edited.
var _named: Node


func _init() -> void:
	clip_contents = true
	focus_mode = FOCUS_ALL
	size_flags_horizontal = SIZE_EXPAND_FILL
	size_flags_vertical = SIZE_EXPAND_FILL
	mouse_exited.connect(func() -> void: _hover(""))
	_name_edit.hide()
	_name_edit.text_submitted.connect(func(text: String) -> void: _end_name(text))
	_name_edit.focus_exited.connect(func() -> void: _name_edit.hide())
	add_child(_name_edit)


## Show the states below a StateMachine of the edited scene.
func show_scene(machine: Node) -> void:
	var is_other := _is_live or machine != _machine
	_is_live = false
	_machine = machine
	_states.clear()
	_begin()
	if machine != null:
		_add_states(machine, "")
		_add_arrows(machine, "")
	_lay_out()
	if is_other:
		_fit.call_deferred()


## Show the states of a running game.
##
## `rows` are dictionaries with path, parent, name, icon, place and is_initial; `arrows` are [source or "", target or "",
## label, target mode of the StateTransition].
func show_game(rows: Array, arrows: Array) -> void:
	_is_live = true
	_machine = null
	_begin()
	for row: Dictionary in rows:
		_add_box(row.path, row.parent, row.name, row.icon, row.is_initial)
		if row.place is Vector2:
			_places[row.path] = row.place
	for arrow: Array in arrows:
		_add_transition(arrow[0], arrow[1], arrow[2], arrow[3], null)
	_lay_out()
	_fit.call_deferred()


## Show the activity of the states, in the order of `show_game`: [state, why, time_s, cost_us, last change].
func show_states(states: Array) -> void:
	_states.clear()
	var index := 0
	for path: String in _boxes:
		if path != ANY and index < states.size():
			_states[path] = states[index]
			index += 1
	queue_redraw()


## Mark the transition that was taken last; the target is empty for one that stays or leads back.
func show_taken(from: String, to: String) -> void:
	_taken = "%s > %s" % [from if from else ANY, to]


func show_breakpoints(paths: Dictionary) -> void:
	_breakpoints = paths
	queue_redraw()


func search(text: String) -> void:
	_search = text.strip_edges().to_lower()
	queue_redraw()


func selected_nodes() -> Array[Node]:
	return _selected.filter(func(one: Variant) -> bool: return is_instance_valid(one))


func select_nodes(nodes: Array[Node]) -> void:
	_selected = nodes.duplicate()
	queue_redraw()


func shown_text() -> String:
	var lines := PackedStringArray()
	for path: String in _boxes:
		var state: Array = _states.get(path, [])
		lines.append(" | ".join(PackedStringArray([path] + Array(_boxes[path].notes) + state.map(str))))
	for arrow in _arrows:
		lines.append("%s > %s: %s" % [arrow.from, arrow.to, arrow.label])
	return "\n".join(lines)


## The middle of a box in this control, for tests.
func middle_of(path: String) -> Vector2:
	return _on_screen(_boxes[path].rect).get_center()


## The handle of a box from which an arrow is dragged, for tests.
func handle_of(path: String) -> Vector2:
	var box := _on_screen(_boxes[path].rect)
	return Vector2(box.end.x, box.get_center().y)


## Edit the name of the selected state in its box.
func edit_name() -> void:
	for node in selected_nodes():
		var path := _path_of(node)
		if path and SceneEdits.is_editable(node):
			var box := _on_screen(_boxes[path].rect)
			_named = node
			_name_edit.position = box.position
			_name_edit.size = Vector2(maxf(120.0, box.size.x), HEADER_PX)
			_name_edit.text = node.name
			_name_edit.show()
			_name_edit.grab_focus()
			_name_edit.select_all()
			return


func _end_name(text: String) -> void:
	_name_edit.hide()
	if is_instance_valid(_named):
		name_wanted.emit(_named, text)


func _begin() -> void:
	_boxes.clear()
	_arrows.clear()
	_nodes.clear()
	_places.clear()


func _add_states(parent: Node, path: String) -> void:
	var named: NodePath = parent.get(&"initial_state")
	var initial := parent.get_node_or_null(named) if not named.is_empty() else null
	for child in parent.get_children():
		if not child.is_class("AIState"):
			continue
		if initial == null:
			initial = child
		var below := "%s/%s" % [path, child.name] if path else String(child.name)
		_add_box(below, path, child.name, child.call(&"_get_chart_words").icon, child == initial)
		_nodes[below] = child
		if child.has_meta(PLACE):
			_places[below] = child.get_meta(PLACE)
		_add_states(child, below)


func _add_arrows(parent: Node, path: String) -> void:
	for child in parent.get_children():
		if child.is_class("AIState"):
			_add_arrows(child, "%s/%s" % [path, child.name] if path else String(child.name))
		if not child.is_class("StateTransition"):
			continue
		var label: String = child.call(&"_get_chart_words").begins
		var to: NodePath = child.get(&"to")
		var node := child.get_node_or_null(to) if not to.is_empty() else null
		_add_transition(path, _path_of(node) if node != null else "", label, child.get(&"target"), child)


func _add_transition(from: String, to: String, label: String, target: int, node: Node) -> void:
	var source := from if from else ANY
	if target == 0:
		_add_arrow(source, to, label, node)
	else:
		_with_any(source).notes.append("%s: %s" % [label, "back to the previous state" if target == 1 else "stays"])


func _path_of(node: Node) -> String:
	for path: String in _nodes:
		if _nodes[path] == node:
			return path
	return ""


func _add_box(path: String, parent: String, named: String, icon: String, is_initial: bool) -> void:
	_boxes[path] = {
		"path": path, "name": named, "icon": HabitLibrary.icon_of(icon), "notes": PackedStringArray(),
		"parent": parent, "is_initial": is_initial, "rect": Rect2(), "inner": []}
	if parent in _boxes:
		_boxes[parent].inner.append(path)


func _with_any(path: String) -> Dictionary:
	if path == ANY and not ANY in _boxes:
		_add_box(ANY, "", ANY, "", false)
	return _boxes[path]


func _add_arrow(from: String, to: String, label: String, node: Node) -> void:
	_with_any(from)
	if not to in _boxes:
		_boxes[from].notes.append("%s: leads nowhere" % label)
		return
	for arrow in _arrows:
		if arrow.from == from and arrow.to == to:
			arrow.label += "\n" + label
			arrow.nodes.append(node)
			return
	_arrows.append({"from": from, "to": to, "label": label, "nodes": [node]})


func _lay_out() -> void:
	var outermost := _boxes.keys().filter(func(path: String) -> bool: return not _boxes[path].parent in _boxes)
	_place_all(outermost, MARGIN)
	queue_redraw()


## Give the boxes of one outer state their rectangles, from its inner corner on; return the size of all.
func _place_all(paths: Array, corner: Vector2) -> Vector2:
	var sizes := {}
	for path: String in paths:
		sizes[path] = _size_of(path)
	var layers := _layers(paths)
	var at := Vector2.ZERO
	var far := Vector2.ZERO
	for layer: Array in layers:
		at.y = 0.0
		var widest := 0.0
		for path: String in layer:
			var place: Vector2 = _places.get(path, at)
			_move_box(path, corner + place, sizes[path])
			far = far.max(place + sizes[path])
			at.y += sizes[path].y + GAP.y
			widest = maxf(widest, sizes[path].x)
		at.x += widest + GAP.x
	return far


## States by their distance from the initial one along transitions, in columns.
func _layers(paths: Array) -> Array[Array]:
	var depth := {}
	var waiting: Array = paths.filter(func(path: String) -> bool: return _boxes[path].is_initial or path == ANY)
	for path: String in waiting:
		depth[path] = 0
	while not waiting.is_empty():
		var from: String = waiting.pop_front()
		for arrow in _arrows:
			var to := _ancestor_among(arrow.to, paths)
			if _ancestor_among(arrow.from, paths) == from and to and not to in depth:
				depth[to] = depth[from] + 1
				waiting.append(to)
	var layers: Array[Array] = []
	var last: int = depth.values().max() if not depth.is_empty() else 0
	for path: String in paths:
		var layer: int = 0 if path == ANY else depth.get(path, last + 1)
		while layers.size() <= layer:
			layers.append([])
		layers[layer].append(path)
	return layers.filter(func(layer: Array) -> bool: return not layer.is_empty())


func _ancestor_among(path: String, paths: Array) -> String:
	var found := path
	while found and not found in paths:
		found = _boxes[found].parent if found in _boxes else ""
	return found


func _size_of(path: String) -> Vector2:
	var box: Dictionary = _boxes[path]
	var font := _font()
	var wide := font.get_string_size(box.name, HORIZONTAL_ALIGNMENT_LEFT, -1, _font_px()).x + 52.0
	for note: String in box.notes:
		wide = maxf(wide, font.get_string_size(note, HORIZONTAL_ALIGNMENT_LEFT, -1, _small_px()).x + 24.0)
	var lines: float = box.notes.size() + (1 if _is_live and path != ANY else 0)
	var own := Vector2(wide, maxf(LEAST_PX.y, HEADER_PX + lines * LINE_PX + 8.0)).max(LEAST_PX)
	if _is_live:
		own.x = maxf(own.x, 190.0)
	if box.inner.is_empty():
		return own
	var inside := _place_all(box.inner, Vector2.ZERO)
	return Vector2(maxf(own.x, inside.x + 2.0 * PADDING), own.y + inside.y + PADDING)


func _move_box(path: String, at: Vector2, extent: Vector2) -> void:
	var box: Dictionary = _boxes[path]
	box.rect = Rect2(at, extent)
	if not box.inner.is_empty():
		var lines: float = box.notes.size() + (1 if _is_live else 0)
		_place_all(box.inner, at + Vector2(PADDING, HEADER_PX + lines * LINE_PX + 4.0))


func _draw() -> void:
	draw_rect(Rect2(Vector2.ZERO, size), get_theme_color(&"dark_color_2", &"Editor"))
	draw_set_transform(_offset, 0.0, Vector2(_zoom, _zoom))
	for path: String in _boxes:
		_draw_box(_boxes[path])
	for arrow in _arrows:
		_draw_arrow(arrow)
	if _connecting:
		var end := _at_chart(get_local_mouse_position())
		_draw_line_with_head(_edge_point(_boxes[_connecting].rect, end), end, CHOSEN)
	draw_set_transform(Vector2.ZERO)
	if _boxes.is_empty() and not _is_live:
		draw_string(
			_font(), Vector2(20, 34), "No states yet: add one from the library at the right.",
			HORIZONTAL_ALIGNMENT_LEFT, -1, _font_px(), Color(1, 1, 1, 0.6))


func _draw_box(box: Dictionary) -> void:
	var state: Array = _states.get(box.path, [])
	var is_active: bool = not state.is_empty() and state[0] == "active"
	var is_faint: bool = not _search.is_empty() and not _search in String(box.name).to_lower()
	var style := StyleBoxFlat.new()
	style.set_corner_radius_all(6)
	style.bg_color = OUTER if not box.inner.is_empty() else BOX
	style.border_color = EDGE
	style.set_border_width_all(1)
	if is_active:
		style.bg_color = style.bg_color.lerp(TAKEN, 0.28)
		style.border_color = TAKEN
		style.set_border_width_all(2)
	if _nodes.get(box.path) in _selected and not _is_live or _is_live and box.path == _chosen_path:
		style.border_color = CHOSEN
		style.set_border_width_all(2)
	if box.path == ANY:
		style.bg_color = Color(OUTER, 0.4)
		style.border_color = Color(EDGE, 0.5)
	draw_style_box(style, box.rect)
	var text := Color(get_theme_color(&"font_color", &"Label"), 0.35 if is_faint else 1.0)
	var at: Vector2 = box.rect.position
	if box.icon != null:
		draw_texture_rect(box.icon, Rect2(at + Vector2(8, 8), Vector2(16, 16)), false)
	draw_string(_font(), at + Vector2(30, 21), box.name, HORIZONTAL_ALIGNMENT_LEFT, -1, _font_px(), text)
	if box.is_initial:
		draw_circle(at + Vector2(-13, 20), 4.5, ARROW)
		_draw_line_with_head(at + Vector2(-9, 20), at + Vector2(0, 20), ARROW, 6.0)
	if box.path in _breakpoints:
		draw_circle(_breakpoint_of(box), 5.0, Color(1.0, 0.35, 0.3))
	elif _is_live and box.path != ANY:
		draw_arc(_breakpoint_of(box), 5.0, 0.0, TAU, 16, Color(1, 1, 1, 0.3), 1.0, true)
	var line := at + Vector2(12, HEADER_PX + 12)
	if not state.is_empty():
		var why := String(state[4])
		if is_active:
			var parts := ["%.1f s" % state[2] if state[2] >= 0.0 else "active", state[1]]
			why = ", ".join(PackedStringArray(parts.filter(func(one: String) -> bool: return one != "")))
		draw_string(_font(), line, why, HORIZONTAL_ALIGNMENT_LEFT, box.rect.size.x - 20, _small_px(),
			TAKEN.lightened(0.3) if is_active else Color(text, 0.55))
		line.y += LINE_PX
	for note: String in box.notes:
		draw_string(_font(), line, note, HORIZONTAL_ALIGNMENT_LEFT, -1, _small_px(), LABEL)
		line.y += LINE_PX
	if box.path == _hovered and not _is_live and box.path != ANY:
		draw_circle(Vector2(box.rect.end.x, box.rect.get_center().y), HANDLE_PX, CHOSEN)


func _breakpoint_of(box: Dictionary) -> Vector2:
	return Vector2(box.rect.end.x - 12, box.rect.position.y + 12)


func _get_tooltip(at: Vector2) -> String:
	var path := _box_at(at)
	if not _is_live or path.is_empty() or path == ANY:
		return ""
	if not path in _breakpoints:
		return "%s\nThe circle sets a breakpoint: pause when the state begins or ends." % path
	return "%s\nPauses when it %s. Click the circle to change." % [path, _breakpoints[path]]


func _draw_arrow(arrow: Dictionary) -> void:
	var color := ARROW
	if arrow.nodes.any(func(one: Variant) -> bool: return one != null and one in _selected):
		color = CHOSEN
	elif _is_live and "%s > %s" % [arrow.from, arrow.to] == _taken:
		color = TAKEN
	var line := _line_of(arrow)
	if arrow.from == arrow.to:
		var box: Rect2 = _boxes[arrow.from].rect
		draw_arc(Vector2(box.get_center().x, box.position.y), 16.0, PI * 1.1, PI * 1.9, 16, color, 1.5, true)
	else:
		_draw_line_with_head(line[0], line[1], color)
	var lines: PackedStringArray = arrow.label.split("\n")
	var wide := 0.0
	for text in lines:
		wide = maxf(wide, _font().get_string_size(text, HORIZONTAL_ALIGNMENT_LEFT, -1, _small_px()).x)
	var label := _label_rect(arrow, wide, lines.size())
	if wide > 0.0:
		draw_rect(label, LABEL_BACK)
	for index in lines.size():
		draw_string(
			_font(), label.position + Vector2(4, 13 + 15 * index), lines[index], HORIZONTAL_ALIGNMENT_LEFT, -1,
			_small_px(), color if color != ARROW else LABEL)


func _label_rect(arrow: Dictionary, wide: float, count: int) -> Rect2:
	var line := _line_of(arrow)
	var extent := Vector2(wide + 8.0, 15.0 * count + 4.0)
	if arrow.from == arrow.to:
		var box: Rect2 = _boxes[arrow.from].rect
		return Rect2(Vector2(box.get_center().x - extent.x / 2, box.position.y - 18 - extent.y), extent)
	var middle := (line[0] + line[1]) / 2
	if _has_way_back(arrow):                     # the label lies on the outer side of its arrow
		var aside := (line[1] - line[0]).orthogonal().normalized()
		middle += aside * absf(aside.dot(extent)) / 2
	return Rect2(middle - extent / 2, extent)


## The ends of an arrow on the edges of its boxes; two that lead back and forth lie side by side.
func _line_of(arrow: Dictionary) -> Array[Vector2]:
	var from: Rect2 = _boxes[arrow.from].rect
	var to: Rect2 = _boxes[arrow.to].rect
	var shift := Vector2.ZERO
	var along := to.get_center() - from.get_center()
	if _has_way_back(arrow):
		shift = along.orthogonal().normalized() * APART_PX
	var begin := from.get_center() + shift
	var end := to.get_center() + shift
	if from.encloses(to):
		begin = Vector2(from.position.x, end.y)
	elif to.encloses(from):
		end = Vector2(to.end.x, begin.y)
		return [_edge_point(from, end, begin), end]
	return [_edge_point(from, end, begin) if not from.encloses(to) else begin, _edge_point(to, begin, end)]


func _has_way_back(arrow: Dictionary) -> bool:
	return _arrows.any(func(one: Dictionary) -> bool:
		return one != arrow and one.from == arrow.to and one.to == arrow.from)


## Return the point at which the line from a point in a rectangle to another point leaves it.
func _edge_point(box: Rect2, toward: Vector2, from := Vector2.INF) -> Vector2:
	var begin := box.get_center() if from == Vector2.INF else from
	var along := toward - begin
	var share := 1.0
	if along.x != 0.0:
		share = minf(share, ((box.end.x if along.x > 0.0 else box.position.x) - begin.x) / along.x)
	if along.y != 0.0:
		share = minf(share, ((box.end.y if along.y > 0.0 else box.position.y) - begin.y) / along.y)
	return begin + along * clampf(share, 0.0, 1.0)


func _draw_line_with_head(from: Vector2, to: Vector2, color: Color, head := ARROW_PX) -> void:
	draw_line(from, to, color, 1.5, true)
	var back := (from - to).normalized() * head
	draw_colored_polygon(PackedVector2Array([to, to + back.rotated(0.4), to + back.rotated(-0.4)]), color)


func _gui_input(event: InputEvent) -> void:
	if event is InputEventMouseButton:
		_button(event)
	elif event is InputEventMouseMotion:
		_motion(event)
	elif event is InputEventPanGesture:
		_pan(-event.delta * 16.0)


func _button(event: InputEventMouseButton) -> void:
	if event.button_index in [MOUSE_BUTTON_WHEEL_UP, MOUSE_BUTTON_WHEEL_DOWN] and event.pressed:
		_zoom_at(event.position, 1.1 if event.button_index == MOUSE_BUTTON_WHEEL_UP else 1.0 / 1.1)
	elif event.button_index == MOUSE_BUTTON_MIDDLE:
		_is_panning = event.pressed
	elif event.button_index == MOUSE_BUTTON_RIGHT and event.pressed:
		_choose_at(event.position, event.shift_pressed)
		if not _is_live:
			menu_requested.emit(get_screen_position() + event.position)
	elif event.button_index == MOUSE_BUTTON_LEFT and event.pressed:
		_press(event)
	elif event.button_index == MOUSE_BUTTON_LEFT:
		_release(event.position)


func _press(event: InputEventMouseButton) -> void:
	_pressed_at = event.position
	_pressed = _box_at(event.position)
	if _is_live:
		if _pressed and _pressed != ANY:
			_chosen_path = _pressed
			if _at_chart(event.position).distance_to(_breakpoint_of(_boxes[_pressed])) <= NEAR_PX:
				breakpoint_toggled.emit(_pressed)
		queue_redraw()
		return
	var handle := _handle_at(event.position)
	if handle:
		_connecting = handle
	else:
		_choose_at(event.position, event.shift_pressed)
		if not _pressed and _arrow_at(event.position).is_empty():
			_is_panning = true


func _release(at: Vector2) -> void:
	_is_panning = false
	if _connecting:
		var from := _connecting
		_connecting = ""
		var to := _box_at(at)
		if to and to != ANY:
			connected.emit(_nodes[from], _nodes[to])
		queue_redraw()
	elif _dragged:
		var path := _dragged
		_dragged = ""
		placed.emit(_nodes[path], _places[path])
	_pressed = ""


func _motion(event: InputEventMouseMotion) -> void:
	if _is_panning:
		_pan(event.relative)
	elif _connecting:
		queue_redraw()
	elif _dragged:
		_places[_dragged] = (_drag_from + (event.position - _pressed_at) / _zoom).max(Vector2.ZERO)
		_lay_out()
	elif _pressed and _pressed in _nodes and event.button_mask & MOUSE_BUTTON_MASK_LEFT \
			and event.position.distance_to(_pressed_at) > DRAG_PX and SceneEdits.is_editable(_nodes[_pressed]):
		_dragged = _pressed
		_drag_from = _place_now(_pressed)
	else:
		_hover(_handle_at(event.position) if _handle_at(event.position) else _box_at(event.position))


## The place of a box in its outer state.
func _place_now(path: String) -> Vector2:
	var box: Dictionary = _boxes[path]
	if not box.parent in _boxes:
		return box.rect.position - MARGIN
	var outer: Dictionary = _boxes[box.parent]
	return box.rect.position - outer.rect.position - Vector2(PADDING, HEADER_PX + outer.notes.size() * LINE_PX + 4.0)


func _hover(path: String) -> void:
	if path != _hovered:
		_hovered = path
		queue_redraw()


func _choose_at(at: Vector2, is_added: bool) -> void:
	var found: Array[Node] = []
	var path := _box_at(at)
	if path in _nodes:
		found = [_nodes[path]]
	elif path.is_empty():
		for node: Variant in _arrow_at(at).get("nodes", []):
			if node != null:
				found.append(node)
	_selected = (_selected + found) if is_added else found
	queue_redraw()
	if not _is_live:
		nodes_selected.emit(selected_nodes() if not _selected.is_empty() else [_machine] as Array[Node])


## The innermost box at a place of this control; empty for none.
func _box_at(at: Vector2) -> String:
	var found := ""
	for path: String in _boxes:
		if _boxes[path].rect.has_point(_at_chart(at)):
			found = path                   # inner states follow their outer ones
	return found


func _handle_at(at: Vector2) -> String:
	for path: String in _nodes:
		var box: Rect2 = _boxes[path].rect
		var is_near := Vector2(box.end.x, box.get_center().y).distance_to(_at_chart(at)) <= HANDLE_PX + 3.0
		if is_near and SceneEdits.is_editable(_nodes[path]):
			return path
	return ""


func _arrow_at(at: Vector2) -> Dictionary:
	for arrow in _arrows:
		var wide := 0.0
		for text: String in arrow.label.split("\n"):
			wide = maxf(wide, _font().get_string_size(text, HORIZONTAL_ALIGNMENT_LEFT, -1, _small_px()).x)
		if _label_rect(arrow, wide, arrow.label.count("\n") + 1).has_point(_at_chart(at)):
			return arrow
		var line := _line_of(arrow)
		var nearest := Geometry2D.get_closest_point_to_segment(_at_chart(at), line[0], line[1])
		if arrow.from != arrow.to and nearest.distance_to(_at_chart(at)) <= NEAR_PX:
			return arrow
	return {}


func _can_drop_data(_at: Vector2, data: Variant) -> bool:
	return not _is_live and _machine != null and data is Dictionary and data.get("type") == HabitLibrary.DRAGGED


func _drop_data(at: Vector2, data: Variant) -> void:
	var path := _box_at(at)
	dropped.emit(data, _nodes.get(path, _machine), -1)


## Zoom out until all is visible, as far as it can be read.
func _fit() -> void:
	var far := Vector2.ONE
	for path: String in _boxes:
		far = far.max(_boxes[path].rect.end + MARGIN)
	_zoom = clampf(minf(size.x / far.x, size.y / far.y), LEAST_FIT, 1.0)
	_offset = Vector2.ZERO
	queue_redraw()


func _pan(by: Vector2) -> void:
	_offset += by
	queue_redraw()


func _zoom_at(at: Vector2, factor: float) -> void:
	var before := _at_chart(at)
	_zoom = clampf(_zoom * factor, ZOOMS.x, ZOOMS.y)
	_offset = at - before * _zoom
	queue_redraw()


func _at_chart(at: Vector2) -> Vector2:
	return (at - _offset) / _zoom


func _on_screen(box: Rect2) -> Rect2:
	return Rect2(box.position * _zoom + _offset, box.size * _zoom)


func _font() -> Font:
	return get_theme_font(&"font", &"Label")


func _font_px() -> int:
	return get_theme_font_size(&"font_size", &"Label")


func _small_px() -> int:
	return maxi(9, _font_px() - 2)
