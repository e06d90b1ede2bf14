extends CanvasLayer
## The meanings of all colors that nodes draw in a running game, in the lower right corner.

const LAYER := 120
const MARGIN_PX := 12.0
const BACK := Color(0.06, 0.07, 0.09, 0.82)
const TEXT := Color(0.88, 0.9, 0.94)
const SAMPLE_PX := 12.0
const TEXT_PX := 14

## By picture: texts and their colors.
var _meanings := {}
var _rows := GridContainer.new()
var _panel := PanelContainer.new()


func _init() -> void:
	layer = LAYER
	var style := StyleBoxFlat.new()
	style.bg_color = BACK
	style.set_corner_radius_all(6)
	style.set_content_margin_all(8.0)
	_panel.add_theme_stylebox_override("panel", style)
	_panel.mouse_filter = Control.MOUSE_FILTER_IGNORE
	_panel.set_anchors_preset(Control.PRESET_BOTTOM_RIGHT)
	_panel.grow_horizontal = Control.GROW_DIRECTION_BEGIN
	_panel.grow_vertical = Control.GROW_DIRECTION_BEGIN
	_rows.columns = 2
	_rows.add_theme_constant_override("h_separation", 8)
	_rows.add_theme_constant_override("v_separation", 1)
	_panel.add_child(_rows)
	add_child(_panel)


## Sets the meanings of the colors of a picture; an empty Dictionary removes it.
func put(picture: int, meanings: Dictionary) -> void:
	if meanings: _meanings[picture] = meanings
	else: _meanings.erase(picture)
	var shown := {}
	for one: Dictionary in _meanings.values(): shown.merge(one)
	_panel.visible = not shown.is_empty()
	for row in _rows.get_children():
		_rows.remove_child(row)
		row.queue_free()
	for text: String in shown:
		_rows.add_child(_sample(shown[text]))
		_rows.add_child(_label(text))
	_fit()


## Keeps a share of the screen's width free on the right, for the drawer of AIDebugOverlay.
func leave_free(share: float) -> void:
	_panel.anchor_left = 1.0 - share
	_panel.anchor_right = 1.0 - share


## Makes the panel as small as its rows; it grows to the upper left.
func _fit() -> void:
	for side: Side in [SIDE_LEFT, SIDE_TOP, SIDE_RIGHT, SIDE_BOTTOM]: _panel.set_offset(side, -MARGIN_PX)


## The texts that are shown, in their order.
func texts() -> PackedStringArray:
	var found := PackedStringArray()
	for row in _rows.get_children():
		if row is Label: found.append((row as Label).text)
	return found


func _sample(color: Color) -> Control:
	var sample := ColorRect.new()
	sample.color = color
	sample.custom_minimum_size = Vector2(SAMPLE_PX, SAMPLE_PX)
	sample.size_flags_vertical = Control.SIZE_SHRINK_CENTER
	sample.mouse_filter = Control.MOUSE_FILTER_IGNORE
	return sample


func _label(text: String) -> Control:
	var label := Label.new()
	label.text = text
	label.add_theme_color_override("font_color", TEXT)
	label.add_theme_font_size_override("font_size", TEXT_PX)
	return label
