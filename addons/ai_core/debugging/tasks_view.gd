@tool
extends Tree
## The tasks of a scheduler as a table, the one that takes most of a frame first; above it the frames over the budget.

const TITLES: PackedStringArray = ["Task", "µs a frame", "a run", "95 %", "largest", "Every", "Late", "Over", "Faults"]
const HINTS: PackedStringArray = [
	"A task, or many of a kind", "Mean time of a run divided by the period", "Mean time of a run (µs)",
	"95 of 100 recent runs are shorter (µs)", "Longest run (µs)", "Period (frames)",
	"Largest lateness of a run (frames)", "Frames that this task took over the budget", "Runs that failed"]
## Least widths and shares of the columns (px, 1).
const WIDTHS := [[84, 4], [72, 1], [44, 1], [44, 1], [50, 1], [42, 0], [36, 0], [36, 0], [46, 0]]
## Narrower tables leave out the columns of single runs, for the names (px).
const NARROW_PX := 480.0
const WARNING := Color(1.0, 0.7, 0.3)
const BAD := Color(1.0, 0.42, 0.38)
const FAINT := Color(1, 1, 1, 0.35)
enum {NAME, A_FRAME, MEAN, P95, LARGEST, PERIOD, LATE, OVER, FAULTS}
## Overruns that are listed, the latest first.
const MOST_OVERRUNS := 20

var _overruns: TreeItem
var _tasks: Array = []
var _listed: Array = []


func _init() -> void:
	hide_root = true
	columns = TITLES.size()
	column_titles_visible = true
	select_mode = Tree.SELECT_ROW
	size_flags_horizontal = SIZE_EXPAND_FILL
	size_flags_vertical = SIZE_EXPAND_FILL
	for column in columns:
		set_column_title(column, TITLES[column])
		set_column_title_tooltip_text(column, HINTS[column])
		set_column_expand_ratio(column, maxi(1, WIDTHS[column][1]))
		set_column_clip_content(column, true)
		if column > NAME:
			set_column_title_alignment(column, HORIZONTAL_ALIGNMENT_RIGHT)
	set_column_title_alignment(NAME, HORIZONTAL_ALIGNMENT_LEFT)
	resized.connect(_lay_out)
	_lay_out()


## Show rows as DebugWatch reports them, and the overruns among the last frames.
func show_tasks(tasks: Array, frames: Array) -> void:
	var root := get_root() if get_root() != null else create_item()
	var over := frames.filter(func(frame: Dictionary) -> bool: return frame.overran != "")
	over.reverse()
	_show_overruns(root, over.slice(0, MOST_OVERRUNS), over.size(), frames.size())
	if tasks == _tasks:
		return
	_tasks = tasks
	var rows := root.get_children().filter(func(one: TreeItem) -> bool: return one != _overruns)
	while rows.size() > tasks.size():
		rows.pop_back().free()
	while rows.size() < tasks.size():
		rows.append(create_item(root))
	for index in tasks.size():
		_show_task(rows[index], tasks[index])


func shown_rows() -> Array:
	return [] if get_root() == null else get_root().get_children().map(func(row: TreeItem) -> String:
		return " | ".join(range(columns).map(func(column: int) -> String: return row.get_text(column))))


func clear_tasks() -> void:
	clear()
	_overruns = null
	_tasks = []
	_listed = []


func _lay_out() -> void:
	for column in columns:
		var is_shown: bool = size.x >= NARROW_PX or not column in [MEAN, P95]
		set_column_custom_minimum_width(column, WIDTHS[column][0] if is_shown else 1)
		set_column_expand(column, WIDTHS[column][1] > 0 and is_shown)
		set_column_title(column, TITLES[column] if is_shown else "")


func _show_task(row: TreeItem, task: Array) -> void:
	var texts := [
		task[0] if task[1] == 1 else "%s  (%d)" % [task[0], task[1]], _us(task[2]), _us(task[3]), _us(task[4]),
		_us(task[5]), str(task[6]), _count(task[7]), _count(task[8]), _count(task[9])]
	for column in columns:
		row.set_text(column, texts[column])
		row.clear_custom_color(column)
		if column > NAME:
			row.set_text_alignment(column, HORIZONTAL_ALIGNMENT_RIGHT)
	row.set_tooltip_text(NAME, task[0])
	if task[7] > 0: row.set_custom_color(LATE, WARNING)
	if task[8] > 0: row.set_custom_color(OVER, BAD)
	if task[9] > 0: row.set_custom_color(FAULTS, BAD)
	if task[2] < 0.05:
		for column in columns: row.set_custom_color(column, FAINT)


func _show_overruns(root: TreeItem, over: Array, count: int, of: int) -> void:
	if over == _listed:
		return
	_listed = over
	if over.is_empty():
		_overruns.free()
		_overruns = null
		return
	if _overruns == null:
		_overruns = create_item(root, 0)
		_overruns.collapsed = true
	while _overruns.get_child_count() > 0:
		_overruns.get_child(0).free()
	_overruns.set_text(NAME, "%d of %d frames over: %s" % [count, of, over_words(over[0])])
	_overruns.set_custom_color(NAME, BAD)
	_overruns.set_expand_right(NAME, true)
	for frame: Dictionary in over:
		var row := create_item(_overruns)
		row.set_text(NAME, over_words(frame))
		row.set_expand_right(NAME, true)


## Return the task that overran in a frame, and the longest piece of it, in words.
static func over_words(frame: Dictionary) -> String:
	var task_us := 0.0
	var piece := ""
	var piece_us := 0.0
	var is_inside := false
	# Runs are listed as they end: the pieces of a task before it.
	for index in range(frame.runs.size() - 1, -1, -1):
		var run: Array = frame.runs[index]
		if run[1] == 0:
			if is_inside:
				break
			is_inside = run[0] == frame.overran
			task_us = run[3] if is_inside else task_us
		elif is_inside and run[3] > piece_us:
			piece = run[0]
			piece_us = run[3]
	var inside := ", longest piece %s %.0f" % [piece, piece_us] if piece else ""
	return "frame %d: %s %.0f µs%s; all %.0f of %.0f µs" % [
		frame.frame, frame.overran, task_us, inside, frame.used_us, frame.budget_us]


static func _us(value: float) -> String:
	return "%.0f" % value if value >= 100.0 else "%.1f" % value


static func _count(value: float) -> String:
	return "" if value == 0 else "%d" % value
