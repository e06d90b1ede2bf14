@tool
extends VBoxContainer
## Shows the work of an AIScheduler and of a character: the same panel in the editor's debugger and over a running game.
##
## It requests the visible sections, only while it is visible; its owner delivers the reports.

## Emitted when the panel is shown, when the choice changes, and once a second: the sections to report; empty is none.
signal wished(wish: Dictionary)
signal pause_wished(is_paused: bool)
signal frame_wished
## Emitted when a click in the running game shall choose the character, or no longer.
signal pick_wished(is_on: bool)

const FrameStrip := preload("frame_strip.gd")
const SensesView := preload("senses_view.gd")
const TasksView := preload("tasks_view.gd")
const SECTIONS: PackedStringArray = ["scheduler", "habits", "senses", "events", "paths"]
## Sections whose text is a table: lines are not wrapped.
const TABLES: PackedStringArray = ["scheduler", "events"]
## Height below which the frames are beside the tasks, and hidden in other sections (px).
const LOW_PX := 330.0
const OF_A_CHARACTER: PackedStringArray = ["habits", "senses"]
const ASK_EVERY_S := 1.0
const LIST_PX := 130.0
## Width below which the list is above the chosen section (px).
const NARROW_PX := 600.0
const LIST_HEIGHT_PX := 96.0
const NO_REPORT := "No report yet: a running game with an AIScheduler sends one."

## False hides the list; the owner chooses the character.
var has_list := true
var scheduler := ""
var section := SECTIONS[0]
var character := ""

## True if the game is another process, and a click in it can choose the character.
var can_pick := false:
	set(value):
		can_pick = value
		_pick.visible = value

var _headline := Label.new()
var _schedulers := OptionButton.new()
var _pause := Button.new()
var _pick := Button.new()
var _buttons := HBoxContainer.new()
var _frames := VBoxContainer.new()
var _split := SplitContainer.new()
var _strip := FrameStrip.new()
var _sections := TabBar.new()
var _filter := LineEdit.new()
var _list := ItemList.new()
var _text := TextEdit.new()
var _senses := SensesView.new()
var _tasks := TasksView.new()
## Draws the habits of the character; null shows them as text.
var _chart: Control
var _asking := Timer.new()
var _was_visible := false


func _init() -> void:
	name = "AI"
	add_child(_toolbar())
	_frames.add_child(_headline)
	_frames.add_child(_strip)
	_frames.size_flags_horizontal = SIZE_EXPAND_FILL
	_strip.size_flags_vertical = SIZE_EXPAND_FILL
	_split.size_flags_vertical = SIZE_EXPAND_FILL
	_split.add_child(_frames)
	_split.add_child(_body())
	add_child(_split)
	resized.connect(_lay_out)
	_asking.wait_time = ASK_EVERY_S
	_asking.autostart = true
	_asking.ignore_time_scale = true
	_asking.process_mode = PROCESS_MODE_ALWAYS
	_asking.timeout.connect(_ask)
	add_child(_asking)
	visibility_changed.connect(_visibility_changed)
	clear()


func _ready() -> void:
	_lay_out()
	_visibility_changed()


func _exit_tree() -> void:
	_visibility_changed.call_deferred()


## Clear the reports, when a game has ended.
func clear() -> void:
	_strip.clear()
	_list.clear()
	_schedulers.clear()
	_headline.text = NO_REPORT
	_text.text = ""
	_senses.clear()
	_tasks.clear_tasks()
	if _chart != null:
		_chart.clear()
	_pause.set_pressed_no_signal(false)
	_pick.set_pressed_no_signal(false)


func choose_section(wanted: String) -> void:
	section = wanted
	_sections.set_block_signals(true)
	_sections.current_tab = SECTIONS.find(wanted)
	_sections.set_block_signals(false)
	_lay_out()
	_ask()


func choose_character(path: String) -> void:
	if character != path:
		_text.text = ""
		_senses.clear()
		if _chart != null:
			_chart.clear()
			_chart.wanted_chart = ""
	character = path
	_lay_out()
	_ask()


## Show a character in a section about characters: a path in the running game, or "res://guard.tscn::Path" for the first
## instance of a scene.
func follow(path: String) -> void:
	_pick.set_pressed_no_signal(false)
	if not section in OF_A_CHARACTER:
		choose_section("habits")
	choose_character(path)


## Add a button at the end of the toolbar.
func add_button(button: Button) -> void:
	_buttons.add_child(button)


## Show habits and states with a LiveView of the editor.
func use_chart(chart: Control) -> void:
	_chart = chart
	chart.chart_wished.connect(_ask)
	_text.add_sibling(chart)
	_lay_out()


## Say that a breakpoint has paused the game.
func show_break(words: String) -> void:
	_pause.set_pressed_no_signal(true)
	_pause.tooltip_text = words
	if _chart != null:
		_chart.show_break(words)


## Show a report of the game; debug_watch.py describes its content.
func show_report(report: Dictionary) -> void:
	_headline.text = report.headline
	_headline.tooltip_text = report.headline
	if report.scheduler != scheduler:
		_strip.clear()
		scheduler = report.scheduler
	_strip.add(report.frames)
	if report.asked == character and report.character != "":
		character = report.character         # the one above a node, or in a scene
	_fill_schedulers(report.schedulers)
	_fill_list(report.characters)
	if section == "scheduler" and report.section == section:
		_tasks.show_tasks(report.tasks, _strip.frames)
		_tasks.tooltip_text = report.text.get_slice("\n\n", 1)
	if report.section == section and report.character == character and section == "senses":
		_senses.show_senses(report.senses, report.seconds)
	if _chart != null and section == "habits" and report.section == section and report.character == character:
		_chart.show_chart(report.chart, report.seconds)
		_lay_out()
	if report.section == section and report.character == character and _text.text != report.text:
		var line := _text.scroll_vertical
		var column := _text.scroll_horizontal
		_text.text = report.text
		_text.scroll_vertical = line
		_text.scroll_horizontal = column


## Return the shown text.
func shown_text() -> String:
	if _tasks.visible:
		return "%s\n%s" % [_headline.text, "\n".join(PackedStringArray(_tasks.shown_rows()))]
	return "%s\n%s" % [_headline.text, _chart.shown_text() if _chart != null and _chart.visible else _text.text]


func shown_frames() -> int:
	return _strip.frames.size()


func _toolbar() -> Control:
	var bar := HFlowContainer.new()
	for one in SECTIONS:
		_sections.add_tab(one.capitalize())
	_sections.tab_changed.connect(func(tab: int) -> void: choose_section(SECTIONS[tab]))
	_sections.size_flags_horizontal = SIZE_EXPAND_FILL
	_sections.clip_tabs = false          # where it is narrow, the buttons are below the tabs
	_headline.clip_text = true
	_headline.text_overrun_behavior = TextServer.OVERRUN_TRIM_ELLIPSIS
	_headline.mouse_filter = MOUSE_FILTER_STOP
	_schedulers.item_selected.connect(func(index: int) -> void:
		scheduler = _schedulers.get_item_text(index)
		_ask())
	_pause.text = "Pause"
	_pause.toggle_mode = true
	_pause.toggled.connect(func(is_on: bool) -> void: pause_wished.emit(is_on))
	var next := Button.new()
	next.text = "Next frame"
	next.tooltip_text = "Pauses, and runs one frame."
	next.pressed.connect(_step)
	_pick.text = "Pick in game"
	_pick.tooltip_text = "The next click in the running game chooses the character."
	_pick.toggle_mode = true
	_pick.visible = false
	_pick.toggled.connect(func(is_on: bool) -> void: pick_wished.emit(is_on))
	for one: Control in [_schedulers, _pick, _pause, next]:
		_buttons.add_child(one)
	_buttons.alignment = BoxContainer.ALIGNMENT_END
	_buttons.size_flags_horizontal = SIZE_EXPAND_FILL
	bar.add_child(_sections)
	bar.add_child(_buttons)
	return bar


func _body() -> Control:
	var split := SplitContainer.new()
	split.size_flags_vertical = SIZE_EXPAND_FILL
	split.size_flags_horizontal = SIZE_EXPAND_FILL
	split.size_flags_stretch_ratio = 2.0
	var side := VBoxContainer.new()
	side.custom_minimum_size = Vector2(LIST_PX, LIST_HEIGHT_PX)
	resized.connect(func() -> void: split.vertical = size.x < NARROW_PX)
	_filter.placeholder_text = "Filter characters"
	_filter.text_changed.connect(func(_text_now: String) -> void: _ask())
	_list.size_flags_vertical = SIZE_EXPAND_FILL
	_list.item_selected.connect(func(index: int) -> void: choose_character(_list.get_item_tooltip(index)))
	_text.editable = false
	_text.size_flags_horizontal = SIZE_EXPAND_FILL
	_text.add_theme_color_override("font_readonly_color", Color(0.88, 0.9, 0.92))
	var font := SystemFont.new()
	font.font_names = PackedStringArray(["monospace"])
	_text.add_theme_font_override("font", font)
	side.add_child(_filter)
	side.add_child(_list)
	split.add_child(side)
	split.add_child(_text)
	_text.add_sibling(_senses)
	_text.add_sibling(_tasks)
	return split


func _lay_out() -> void:
	var is_low := size.y < LOW_PX and size.x >= NARROW_PX
	_split.vertical = not is_low
	_frames.visible = not is_low or section == "scheduler"
	_tasks.visible = section == "scheduler"
	_text.wrap_mode = TextEdit.LINE_WRAPPING_NONE if section in TABLES else TextEdit.LINE_WRAPPING_BOUNDARY
	_list.get_parent().visible = has_list and section in OF_A_CHARACTER
	_senses.visible = section == "senses" and character != ""
	if _chart != null:
		_chart.visible = section == "habits" and character != "" and not _chart.is_empty()
	_text.visible = not _tasks.visible and not _senses.visible and (_chart == null or not _chart.visible)


func _step() -> void:
	if not _pause.button_pressed:
		_pause.button_pressed = true
	frame_wished.emit()
	_ask()


func _visibility_changed() -> void:
	if is_inside_tree() and is_visible_in_tree() != _was_visible or not is_inside_tree() and _was_visible:
		_was_visible = not _was_visible
		if _was_visible:
			_ask()
		else:
			wished.emit({})


func _ask() -> void:
	if is_inside_tree() and is_visible_in_tree():
		wished.emit({
			"scheduler": scheduler, "section": section, "character": character, "wanted": _filter.text,
			"chart": _chart.wanted_chart if _chart != null else "",
		})


func _fill_schedulers(paths: Array) -> void:
	_schedulers.visible = paths.size() > 1
	var have := range(_schedulers.item_count).map(func(index: int) -> String: return _schedulers.get_item_text(index))
	if have == paths:
		return
	_schedulers.clear()
	for path: String in paths:
		_schedulers.add_item(path)
	_schedulers.selected = paths.find(scheduler)


func _fill_list(paths: Array) -> void:
	var have := range(_list.item_count).map(func(index: int) -> String: return _list.get_item_tooltip(index))
	var chosen := Array(_list.get_selected_items()).map(func(index: int) -> String: return _list.get_item_tooltip(index))
	if have == paths and (chosen == [character] or not character in paths):
		return
	_list.clear()
	for path: String in paths:
		var index := _list.add_item(path.get_file())
		_list.set_item_tooltip(index, path)
		if path == character:
			_list.select(index)
