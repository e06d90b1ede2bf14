@tool
extends Control
## The last frames of AI as bars: tasks by color, the budget as a line, overruns in red. Hover for details.

const MOST_FRAMES := 120
const HEIGHT_PX := 72.0
const FONT_PX := 11
## Runs narrower than this share of a frame are drawn as one bar with the next run: those of a crowd are below a pixel.
const THINNEST := 1.0 / 32.0
const BUDGET := Color(1.0, 0.85, 0.3)
const OVERRAN := Color(0.9, 0.22, 0.2)
const BACK := Color(0, 0, 0, 0.25)

## Dictionaries, the oldest first: frame, budget_us, used_us, overran, left_out, runs [name, depth, begins_us, used_us];
## and its drawn bars [color, begins_us, used_us].
var frames: Array[Dictionary] = []


func _init() -> void:
	clip_contents = true
	custom_minimum_size = Vector2(MOST_FRAMES, HEIGHT_PX)
	size_flags_horizontal = SIZE_EXPAND_FILL


func add(newer: Array) -> void:
	for frame: Dictionary in newer:
		frame.bars = bars_of(frame)
		frames.append(frame)
	if frames.size() > MOST_FRAMES:
		frames = frames.slice(-MOST_FRAMES)
	queue_redraw()


func clear() -> void:
	frames.clear()
	queue_redraw()


func _draw() -> void:
	draw_rect(Rect2(Vector2.ZERO, size), BACK)
	var per_us := size.y / _highest_us()
	var width := _bar_px()
	for index in frames.size():
		_draw_frame(frames[index], size.x - width * (frames.size() - index), width, per_us)
	if not frames.is_empty() and frames[-1].budget_us > 0.0:
		var y: float = size.y - frames[-1].budget_us * per_us
		draw_line(Vector2(0, y), Vector2(size.x, y), BUDGET, 1.0)
		draw_string(
			ThemeDB.fallback_font, Vector2(4, y - 3), "budget %.0f µs" % frames[-1].budget_us,
			HORIZONTAL_ALIGNMENT_LEFT, -1, FONT_PX, BUDGET)


func _draw_frame(frame: Dictionary, x: float, width: float, per_us: float) -> void:
	for bar: Array in frame.bars:
		draw_rect(Rect2(x, size.y - (bar[1] + bar[2]) * per_us, maxf(1.0, width - 1.0), bar[2] * per_us), bar[0])


func _get_tooltip(at: Vector2) -> String:
	var index := frames.size() - 1 - int((size.x - at.x) / _bar_px())
	return words_of(frames[index]) if index >= 0 and index < frames.size() else ""


## Return one line per run of a frame, indented below the run that contains it.
static func words_of(frame: Dictionary) -> String:
	var limit := " of %.0f" % frame.budget_us if frame.budget_us > 0.0 else ""
	var lines := PackedStringArray(["frame %d: %.0f%s µs" % [frame.frame, frame.used_us, limit]])
	for run: Array in frame.runs:
		var mark := "  <- overran" if run[0] == frame.overran and run[1] == 0 else ""
		lines.append("%s%s: %.1f µs%s" % ["  ".repeat(run[1] + 1), run[0], run[3], mark])
	if frame.left_out > 0:
		lines.append("  and %d more" % frame.left_out)
	return "\n".join(lines)


## Return the bars of a frame: one for each run in its color; narrow runs share one, in the color of the longest.
static func bars_of(frame: Dictionary) -> Array[Array]:
	var bars: Array[Array] = []
	var thinnest_us: float = frame.used_us * THINNEST
	var longest_us := 0.0
	for run: Array in frame.runs:
		if run[1] > 0:
			continue
		var overran: bool = run[0] == frame.overran
		var last: Array = [] if bars.is_empty() else bars[-1]
		if overran or last.is_empty() or last[2] >= thinnest_us or last[0] == OVERRAN:
			longest_us = run[3]
			bars.append([OVERRAN if overran else color_of(run[0]), run[2], run[3]])
			continue
		last[2] = run[2] + run[3] - last[1]
		if run[3] > longest_us:
			longest_us = run[3]
			last[0] = color_of(run[0])
	return bars


## Return the color of a name.
static func color_of(run: String) -> Color:
	return Color.from_hsv(fposmod(run.hash() * 0.618034, 1.0) * 0.55 + 0.3, 0.55, 0.85)


func _bar_px() -> float:
	return maxf(2.0, size.x / MOST_FRAMES)


## Return the top of the scale (µs): the budget and 19 of 20 frames fit, so that one slow frame does not flatten all.
func _highest_us() -> float:
	var used := frames.map(func(frame: Dictionary) -> float: return frame.used_us)
	if used.is_empty():
		return 1.0
	used.sort()
	var most: float = used[used.size() * 19 / 20]
	return maxf(1.0, maxf(most, frames[-1].budget_us)) * 1.2
