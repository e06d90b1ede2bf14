@tool
extends VBoxContainer
## The habits of one character of a running game as a chart, with its blackboard and the last 10 seconds to go back to.

## Emitted for a breakpoint that is set or removed; `moment` is "begins", "ends", "begins or ends" or "".
signal breakpoint_wished(tree: String, path: String, moment: String)

const HabitChart := preload("habit_chart.gd")
const KEPT_S := 10.0
## Time for which a changed value is marked (s).
const MARKED_S := 1.5
const MARKED := Color(1.0, 0.85, 0.3)
const VALUES_PX := 260.0
const TITLES: PackedStringArray = ["Blackboard", "Value", "Changed"]
const MOMENTS: PackedStringArray = ["", "begins", "ends", "begins or ends"]

var _tree := ""
var _rows: Array = []
var _chart := HabitChart.new()
var _values := Tree.new()
var _slider := HSlider.new()
var _time := Label.new()
var _search := LineEdit.new()
var _breakpoints := {}
## Dictionaries, the oldest first: seconds, states, values (by scope and key: text and time of its change).
var _history: Array[Dictionary] = []
## What a breakpoint said; "" while none has paused the game.
var _break_words := ""
var _broke_at_s := 0.0


func _init() -> void:
	size_flags_horizontal = SIZE_EXPAND_FILL
	size_flags_vertical = SIZE_EXPAND_FILL
	var bar := HBoxContainer.new()
	_search.placeholder_text = "Search the chart"
	_search.custom_minimum_size.x = 140.0
	_search.text_changed.connect(func(text: String) -> void: _chart.search(text))
	_time.custom_minimum_size.x = 90.0
	_time.clip_text = true
	_time.size_flags_horizontal = SIZE_EXPAND_FILL
	_slider.min_value = -KEPT_S
	_slider.max_value = 0.0
	_slider.step = 0.05
	_slider.custom_minimum_size.x = 180.0
	_slider.size_flags_vertical = SIZE_SHRINK_CENTER
	_slider.tooltip_text = "The last 10 seconds; the right end is the present."
	_slider.value_changed.connect(func(_value: float) -> void: _show())
	for one: Control in [_search, _slider, _time]:
		bar.add_child(one)
	add_child(bar)
	var split := HSplitContainer.new()
	split.size_flags_vertical = SIZE_EXPAND_FILL
	_values.custom_minimum_size.x = VALUES_PX
	_values.columns = TITLES.size()
	_values.column_titles_visible = true
	_values.hide_root = true
	for column in TITLES.size():
		_values.set_column_title(column, TITLES[column])
		_values.set_column_clip_content(column, true)
	split.add_child(_chart)
	split.add_child(_values)
	add_child(split)
	_chart.breakpoint_toggled.connect(_toggle_breakpoint)


## Show what the game reports of a HabitTree; see habit_probe.py for what is in it. Empty forgets the tree.
func show_chart(chart: Dictionary, now_s: float) -> void:
	if chart.is_empty():
		clear()
		return
	if chart.node != _tree:
		clear()
		_tree = chart.node
	if not chart.rows.is_empty() and chart.rows != _rows:
		_rows = chart.rows
		_history.clear()
		_chart.show_game(_rows)
	if chart.breakpoints != _breakpoints:
		_breakpoints = chart.breakpoints
		_chart.show_breakpoints(_breakpoints)
	_add(chart, now_s)
	if now_s > _broke_at_s + 0.001:
		_break_words = ""
	_show()


func show_break(words: String) -> void:
	_break_words = words
	_broke_at_s = INF
	_slider.value = 0.0
	_show()


func clear() -> void:
	_tree = ""
	_rows = []
	_history.clear()
	_breakpoints = {}
	_break_words = ""
	_slider.set_value_no_signal(0.0)
	_values.clear()


func is_empty() -> bool:
	return _history.is_empty()


func shown_text() -> String:
	return "%s\n%s\n%s" % [_time.text, _chart.shown_text(), "\n".join(PackedStringArray(shown_values()))]


## Values of the blackboard in words, for tests.
func shown_values() -> Array:
	return [] if _values.get_root() == null else _values.get_root().get_children().map(
		func(row: TreeItem) -> String: return "%s = %s" % [row.get_text(0), row.get_text(1)])


func _add(chart: Dictionary, now_s: float) -> void:
	var values: Dictionary = {} if _history.is_empty() else _history[-1].values.duplicate()
	var is_first := values.is_empty()
	for one: Array in chart.values:
		var key := "%s/%s" % [one[0], one[1]] if one[0] != "character" else String(one[1])
		if not values.has(key) or values[key][0] != one[2]:
			values[key] = [one[2], -INF if is_first else now_s]
	if not _history.is_empty() and _history[-1].seconds >= now_s:
		_history.pop_back()                 # the game stands
	_history.append({"seconds": now_s, "states": chart.states, "values": values})
	while _history[0].seconds < now_s - KEPT_S:
		_history.pop_front()
	if _broke_at_s == INF:
		_broke_at_s = now_s


func _show() -> void:
	if _history.is_empty():
		return
	var at_s: float = _history[-1].seconds + _slider.value
	var shown := _history[0]
	for one in _history:
		if one.seconds <= at_s + 0.001:
			shown = one
	_chart.show_states(shown.states)
	_show_values(shown)
	var ago_s: float = _history[-1].seconds - shown.seconds
	_time.text = "%.1f s ago" % ago_s if _slider.value < 0.0 else _break_words if _break_words else "live"
	_time.tooltip_text = _time.text


func _show_values(shown: Dictionary) -> void:
	var names: Array = shown.values.keys()
	names.sort()
	var root := _values.get_root()
	if root == null:
		root = _values.create_item()
	while root.get_child_count() > names.size():
		root.get_child(-1).free()
	while root.get_child_count() < names.size():
		_values.create_item(root)
	for index in names.size():
		var row := root.get_child(index)
		var value: Array = shown.values[names[index]]
		var ago_s: float = shown.seconds - value[1]
		row.set_text(0, names[index])
		row.set_text(1, value[0])
		row.set_tooltip_text(1, value[0])
		row.set_text(2, "%.1f s ago" % ago_s if ago_s < INF else "")
		for column in 3:
			if ago_s < MARKED_S:
				row.set_custom_color(column, MARKED)
			else:
				row.clear_custom_color(column)


func _toggle_breakpoint(path: String) -> void:
	var next: int = (MOMENTS.find(_breakpoints.get(path, "")) + 1) % MOMENTS.size()
	_breakpoints = _breakpoints.duplicate()
	if next == 0:
		_breakpoints.erase(path)
	else:
		_breakpoints[path] = MOMENTS[next]
	_chart.show_breakpoints(_breakpoints)
	breakpoint_wished.emit(_tree, path, MOMENTS[next])
