@tool
extends VBoxContainer
## The habits or states of one character of a running game as a chart, with its blackboard, its transitions, and the last
## 10 seconds to go back to.

## Emitted for a breakpoint that is set or removed; `moment` is one of MOMENTS, "" removes it.
signal breakpoint_wished(tree: String, path: String, moment: String)
## Emitted when another HabitTree or StateMachine of the character is chosen: `wanted_chart` has changed.
signal chart_wished

const HabitChart := preload("habit_chart.gd")
const StateChart := preload("state_chart.gd")
const KEPT_S := 10.0
## Time for which a changed value is marked (s).
const MARKED_S := 1.5
const MARKED := Color(1.0, 0.85, 0.3)
const VALUES_PX := 210.0
const AGO_PX := 70
const TITLES: PackedStringArray = ["Blackboard", "Value", "Changed"]
const MOVE_TITLES: PackedStringArray = ["Transition", "Not taken: why", "Taken"]
const MOMENTS: PackedStringArray = ["", "begins", "ends", "begins or ends", "condition changes"]
## Offered for rows with a condition only.
const OF_CONDITIONS := 4
## Taken transitions that are kept (count).
const MOST_TAKEN := 100
const TAKEN := Color(0.55, 0.9, 0.6)

## Path of the HabitTree or StateMachine to show; "" for the first of the character.
var wanted_chart := ""

var _tree := ""
var _rows: Array = []
var _habits := HabitChart.new()
var _states := StateChart.new()
## The one that is shown.
var _chart: Control = _habits
var _charts := OptionButton.new()
var _side := VSplitContainer.new()
var _values := Tree.new()
var _moves := Tree.new()
## The taken transitions, the latest last: [seconds, source, target, words].
var _taken: Array = []
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
	_time.text_overrun_behavior = TextServer.OVERRUN_TRIM_ELLIPSIS
	_time.mouse_filter = MOUSE_FILTER_STOP
	_time.size_flags_horizontal = SIZE_EXPAND_FILL
	_slider.min_value = -KEPT_S
	_slider.max_value = 0.0
	_slider.step = 0.05
	_slider.custom_minimum_size.x = 180.0
	_slider.size_flags_vertical = SIZE_SHRINK_CENTER
	_slider.tooltip_text = "The last 10 seconds; the right end is the present."
	_slider.value_changed.connect(func(_value: float) -> void: _show())
	_charts.tooltip_text = "The habit trees and state machines of the character"
	_charts.item_selected.connect(func(index: int) -> void:
		wanted_chart = _charts.get_item_metadata(index)
		chart_wished.emit())
	for one: Control in [_charts, _search, _slider, _time]:
		bar.add_child(one)
	add_child(bar)
	var split := HSplitContainer.new()
	split.size_flags_vertical = SIZE_EXPAND_FILL
	_make_table(_values, TITLES)
	_make_table(_moves, MOVE_TITLES)
	for table: Tree in [_values, _moves]:
		table.set_column_expand(2, false)
		table.set_column_expand_ratio(0, 2)
		table.set_column_custom_minimum_width(2, AGO_PX)
	_side.custom_minimum_size.x = VALUES_PX
	_side.size_flags_horizontal = SIZE_EXPAND_FILL
	_side.add_child(_moves)
	_side.add_child(_values)
	_habits.item_selected.connect(func() -> void: _show())
	for chart: Control in [_habits, _states]:
		split.add_child(chart) if chart == _habits else _habits.add_sibling(chart)
		chart.breakpoint_toggled.connect(_toggle_breakpoint)
	split.add_child(_side)
	add_child(split)
	_use(_habits)


func _make_table(table: Tree, titles: PackedStringArray) -> void:
	table.size_flags_vertical = SIZE_EXPAND_FILL
	table.columns = titles.size()
	table.column_titles_visible = true
	table.hide_root = true
	for column in titles.size():
		table.set_column_title(column, titles[column])
		table.set_column_title_alignment(column, HORIZONTAL_ALIGNMENT_LEFT)
		table.set_column_clip_content(column, true)


## Show what the game reports of a HabitTree or StateMachine; probe.py describes it. Empty forgets it.
func show_chart(chart: Dictionary, now_s: float) -> void:
	if chart.is_empty():
		clear()
		return
	if chart.node != _tree:
		clear()
		_tree = chart.node
		_use(_states if chart.kind == "StateMachine" else _habits)
	_fill_charts(chart.charts)
	if not chart.rows.is_empty() and chart.rows != _rows:
		_rows = chart.rows
		_history.clear()
		if _chart == _states:
			_states.show_game(_rows, chart.arrows)
		else:
			_habits.show_game(_rows)
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
	_moves.clear()
	_taken.clear()
	_charts.clear()


func is_empty() -> bool:
	return _history.is_empty()


func shown_text() -> String:
	return "\n".join(PackedStringArray([_time.text, _chart.shown_text()] + shown_values() + shown_moves()))


## The transitions in words, for tests.
func shown_moves() -> Array:
	return [] if _moves.get_root() == null else _moves.get_root().get_children().map(func(row: TreeItem) -> String:
		return "%s: %s" % [row.get_text(0), row.get_text(1) if row.get_text(1) else "taken %s" % row.get_text(2)])


## Values of the blackboard in words, for tests.
func shown_values() -> Array:
	return [] if _values.get_root() == null else _values.get_root().get_children().map(
		func(row: TreeItem) -> String: return "%s = %s" % [row.get_text(0), row.get_text(1)])


func _add(chart: Dictionary, now_s: float) -> void:
	var values: Dictionary = {} if _history.is_empty() else _history[-1].values.duplicate()
	var is_first := values.is_empty()
	for key: String in values:
		if values[key][1] > now_s:
			values[key] = [values[key][0], -INF]
	for one: Array in chart.values:
		var key := "%s/%s" % [one[0], one[1]] if one[0] != "character" else String(one[1])
		if not values.has(key) or values[key][0] != one[2]:
			values[key] = [one[2], -INF if is_first else now_s]
	while not _history.is_empty() and _history[-1].seconds >= now_s:
		_history.pop_back()                 # the game stands, or has loaded an earlier time
	_history.append({"seconds": now_s, "states": chart.states, "values": values, "waiting": chart.waiting})
	_taken = (_taken + chart.taken).filter(
		func(one: Array) -> bool: return one[0] <= now_s + 0.001).slice(-MOST_TAKEN)
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
	if _chart == _states:
		_show_moves(shown)
	var ago_s: float = _history[-1].seconds - shown.seconds
	_time.text = "%.1f s ago" % ago_s if _slider.value < 0.0 else _break_words if _break_words else "live"
	var words := _habits.selected_words() if _chart == _habits else ""
	if words: _time.text += "   " + words
	_time.tooltip_text = _time.text


func _use(chart: Control) -> void:
	_chart = chart
	_habits.visible = chart == _habits
	_states.visible = chart == _states
	_moves.visible = chart == _states
	_side.size_flags_stretch_ratio = 0.7 if chart == _states else 0.4


func _fill_charts(paths: Array) -> void:
	_charts.visible = paths.size() > 1
	if range(_charts.item_count).map(func(index: int) -> String: return _charts.get_item_metadata(index)) != paths:
		_charts.clear()
		for path: String in paths:
			_charts.add_item(path.get_file())
			_charts.set_item_metadata(-1, path)
	_charts.selected = paths.find(_tree)


## Rows for the transitions taken, the latest first, and for those that lead out of the active states.
func _show_moves(shown: Dictionary) -> void:
	var taken := _taken.filter(func(one: Array) -> bool: return one[0] <= shown.seconds + 0.001)
	_states.show_taken(taken[-1][1], taken[-1][2]) if not taken.is_empty() else _states.show_taken("", "")
	_moves.clear()
	var root := _moves.create_item()
	for one: Array in shown.waiting:
		_add_move(root, one[0], one[1], one[2], one[3], "")
	taken.reverse()
	for one: Array in taken:
		var ago_s: float = shown.seconds - one[0]
		var row := _add_move(root, one[1], one[2], one[3], "", "%.1f s ago" % ago_s)
		for column in 3:
			row.set_custom_color(column, MARKED if ago_s < MARKED_S else TAKEN)


func _add_move(root: TreeItem, from: String, to: String, words: String, why: String, ago: String) -> TreeItem:
	var row := _moves.create_item(root)
	row.set_text(0, "%s > %s" % [from.get_file() if from else "any", to.get_file() if to else "(stays or back)"])
	row.set_tooltip_text(0, "%s > %s: %s" % [from if from else "any state", to, words])
	row.set_text(1, why)
	row.set_tooltip_text(1, why)
	row.set_text(2, ago)
	return row


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
	var row := _rows.filter(func(one: Dictionary) -> bool: return one.path == path)
	var moments := MOMENTS.size() if row and row[0].has_condition else OF_CONDITIONS
	var next: int = (MOMENTS.find(_breakpoints.get(path, "")) + 1) % moments
	_breakpoints = _breakpoints.duplicate()
	if next == 0:
		_breakpoints.erase(path)
	else:
		_breakpoints[path] = MOMENTS[next]
	_chart.show_breakpoints(_breakpoints)
	breakpoint_wished.emit(_tree, path, MOMENTS[next])
