@tool
extends ScrollContainer
## What the sensors of a character sense: a card for each source near them, with the verdict in words, its factors as
## bars, memory, and awareness and strength over time. Reports come from sense_report.py.

const KEPT_S := 20.0
const TITLE_PX := 20.0
## Heights of a card without the verdicts of the other senses: a panel of 200 px shows a whole one.
const CARD_PX := 132.0
const NARROW_CARD_PX := 256.0
const GAP_PX := 8.0
const BAR_NAME_PX := 74.0
const BAR_PX := 90.0
const BAR_STEP_PX := 15.0
const LINE_PX := 16.0
const LEFT_PX := 370.0
const NARROW_PX := 640.0
const GRAPH_PX := 58.0
const FONT_PX := 13
const SMALL_FONT_PX := 12
const CARD := Color(0.16, 0.18, 0.23)
const TEXT := Color(0.9, 0.92, 0.95)
const FAINT := Color(0.62, 0.66, 0.73)
const SENSED := Color(0.45, 0.9, 0.55)
const UNSENSED := Color(1.0, 0.66, 0.36)
const AWARENESS := Color(1.0, 0.85, 0.3)
const STRENGTH := Color(0.4, 0.7, 1.0)
const GOOD := Color(0.36, 0.74, 0.48)
const BAD := Color(0.92, 0.4, 0.32)

var _sensors: Array = []
## By sensor and source: times, awarenesses and strengths.
var _history := {}
var _page := Control.new()
var _font: Font = ThemeDB.fallback_font


func _init() -> void:
	horizontal_scroll_mode = ScrollContainer.SCROLL_MODE_DISABLED
	size_flags_vertical = SIZE_EXPAND_FILL
	size_flags_horizontal = SIZE_EXPAND_FILL
	_page.size_flags_horizontal = SIZE_EXPAND_FILL
	_page.draw.connect(_draw_page)
	_page.resized.connect(_fit)
	add_child(_page)


## Shows reports of the sensors of a character, taken at this time (s).
func show_senses(sensors: Array, now_s: float) -> void:
	_sensors = sensors
	for sensor: Dictionary in sensors:
		for source: Dictionary in sensor.sources:
			var key: String = sensor.sensor + " " + source.path
			var rows: Array = _history.get_or_add(key, [])
			while not rows.is_empty() and rows[-1][0] >= now_s: rows.pop_back()  # the game has loaded an earlier time
			rows.append([now_s, source.awareness, source.strength])
			while rows[0][0] < now_s - KEPT_S: rows.pop_front()
	_fit()
	_page.queue_redraw()


## Clears the history, for another character or game.
func clear() -> void:
	_sensors = []
	_history.clear()
	_page.queue_redraw()


## Return the shown text.
func shown_text() -> String:
	var lines := PackedStringArray()
	for sensor: Dictionary in _sensors:
		lines.append(sensor.title)
		for source: Dictionary in sensor.sources:
			lines.append("%s: %s; %s; %s" % [source.name, source.verdict, source.level, source.memory])
	return "\n".join(lines)


func _fit() -> void:
	var height := 0.0
	for sensor: Dictionary in _sensors:
		height += TITLE_PX
		for source: Dictionary in sensor.sources: height += _card_px(source) + GAP_PX
	_page.custom_minimum_size.y = maxf(0.0, height - GAP_PX)


func _is_narrow() -> bool:
	return _page.size.x < NARROW_PX


func _card_px(source: Dictionary) -> float:
	return (NARROW_CARD_PX if _is_narrow() else CARD_PX) + _height_of(_others(source))


func _others(source: Dictionary) -> String:
	return "; ".join(PackedStringArray(source.others))


## The height of a text that is wrapped to the width of a card.
func _height_of(text: String) -> float:
	var width := _page.size.x - 20
	return _font.get_multiline_string_size(text, HORIZONTAL_ALIGNMENT_LEFT, width, SMALL_FONT_PX).y if text else 0.0


func _draw_page() -> void:
	if _sensors.is_empty():
		_write(Vector2(4, 18), "No sensor at this character; choose a character on the left.", FAINT)
	var y := 0.0
	for sensor: Dictionary in _sensors:
		_write(Vector2(4, y + 15), sensor.title, TEXT)
		y += TITLE_PX
		for source: Dictionary in sensor.sources:
			var card := Rect2(0, y, _page.size.x, _card_px(source))
			_draw_card(card, source, _history.get(sensor.sensor + " " + source.path, []))
			y += card.size.y + GAP_PX


func _draw_card(card: Rect2, source: Dictionary, rows: Array) -> void:
	var verdict_color := SENSED if source.is_sensed else UNSENSED
	_page.draw_rect(card, CARD)
	_page.draw_rect(Rect2(card.position, Vector2(4, card.size.y)), verdict_color)
	var at := card.position + Vector2(14, 16)
	var width := card.size.x - 20
	_write(at, source.name, TEXT, width)
	if _is_narrow():
		at.y += LINE_PX
		_write(at, source.verdict, verdict_color, width)
	else:
		_write(at + Vector2(230, 0), source.verdict, verdict_color, width - 230)
	at.y += 18
	for bar: Array in source.bars:
		_draw_bar(at, bar)
		at.y += BAR_STEP_PX
	var awareness := "awareness %.2f: %s" % [source.awareness, source.level]
	var others := _others(source)
	_page.draw_multiline_string(
			_font, Vector2(card.position.x + 14, card.end.y - 2 - _height_of(others) + _font.get_ascent(SMALL_FONT_PX)),
			others, HORIZONTAL_ALIGNMENT_LEFT, width, SMALL_FONT_PX, -1, FAINT)
	var place := Rect2(card.position + Vector2(LEFT_PX + 24, 39), Vector2(card.size.x - LEFT_PX - 34, GRAPH_PX))
	if _is_narrow():
		place = Rect2(card.position + Vector2(14, 172), Vector2(width - 8, GRAPH_PX))
	_write(place.position - Vector2(0, 5), awareness, AWARENESS, place.size.x)
	_draw_graph(place, rows)
	_write(place.position + Vector2(0, place.size.y + 14), source.memory, FAINT, place.size.x)


func _draw_bar(at: Vector2, bar: Array) -> void:
	var share: float = bar[1]
	var is_result: bool = bar[0] == "result"
	_write(at + Vector2(0, 4), bar[0], TEXT if is_result else FAINT)
	var place := Rect2(at + Vector2(BAR_NAME_PX, -5), Vector2(BAR_PX, 10))
	_page.draw_rect(place, Color(0, 0, 0, 0.45))
	_page.draw_rect(Rect2(place.position, Vector2(place.size.x * share, place.size.y)), BAD.lerp(GOOD, share))
	_write(at + Vector2(BAR_NAME_PX + BAR_PX + 10, 4), bar[2], TEXT, LEFT_PX - BAR_NAME_PX - BAR_PX - 10)


func _draw_graph(place: Rect2, rows: Array) -> void:
	_page.draw_rect(place, Color(0, 0, 0, 0.35))
	_write(place.position + Vector2(4, 12), "yellow: awareness, blue: strength, of the last %d s" % KEPT_S, FAINT,
			place.size.x - 8, SMALL_FONT_PX)
	if rows.size() < 2: return
	var strongest := 1.0
	for row: Array in rows: strongest = maxf(strongest, row[2])
	var last_s: float = rows[-1][0]
	for column in [2, 1]:
		var line := PackedVector2Array()
		for row: Array in rows:
			var share: float = row[column] / (strongest if column == 2 else 1.0)
			line.append(Vector2(
					place.end.x - (last_s - row[0]) / KEPT_S * place.size.x, place.end.y - 2 - share * (place.size.y - 4)))
		_page.draw_polyline(line, STRENGTH if column == 2 else AWARENESS, 1.5)


func _write(at: Vector2, text: String, color: Color, width := -1.0, font_px := FONT_PX) -> void:
	_page.draw_string(_font, at, text, HORIZONTAL_ALIGNMENT_LEFT, width, font_px, color)
