extends Node3D
## Starts the museum once its navigation map is built: live, or with its script.

const Story := preload("story.gd")
const Intruder := preload("intruder.gd")
const Guard := preload("guard.gd")
const Puzzle := preload("puzzle.gd")
const SightConeView := preload("sight_cone_view.gd")
const Legend := preload("res://addons/ai_core/debugging/legend.gd")

## The museum's other wing: one-way glass, cameras, an air duct, light and dark.
const PUZZLE := "res://demo_project/scenes/puzzle.tscn"

## Lines of the timeline that stay on the screen.
const LINES_SHOWN := 5
const MEANINGS: Dictionary[String, Color] = {
	"sight, unaware": SightConeView.CALM, "sight, suspicious": SightConeView.SUSPICIOUS,
	"sight, alert": SightConeView.ALERT, "place that a guard has in mind": Color(1.0, 0.72, 0.1),
}

## The intruder follows its route and the story is judged; "--scripted" after "--" sets it.
@export var is_scripted := false

## What save_state() of the AIScheduler returned; set before the scene enters the tree, it is
## loaded when the level is ready.
var saved := {}

static var _quick_save := {}
static var _is_loading := false

@onready var scheduler: AIScheduler = $Life/AIScheduler
@onready var story: Story = $Life/Story
@onready var _life: Node3D = $Life
@onready var _intruder: Intruder = $Life/Intruder
@onready var _help: Label = $Screen/Help
@onready var _timeline: Label = $Screen/Panel/Timeline


func _ready() -> void:
	if _is_loading:
		_is_loading = false
		saved = _quick_save
	is_scripted = is_scripted or "--scripted" in OS.get_cmdline_user_args()
	_intruder.is_scripted = is_scripted
	_help.visible = not is_scripted
	_timeline.text = ""
	_show_legend()
	story.reported.connect(_on_reported)
	if is_scripted:
		# However slow the machine, the same story: no work is put off for lack of time.
		scheduler.budget = 0.0
		story.finished.connect(_on_story_finished)
	for guard: Guard in get_tree().get_nodes_in_group("guards"):
		guard.caught.connect(_on_caught)
		guard.habits.habit_entered.connect(_on_habit_entered)


func _show_legend() -> void:
	var legend := Legend.new()
	legend.add_to_group(&"_ai_core_legend")        # what else is drawn in the game is named there, too
	add_child(legend)
	var opaque := {}
	for meaning in MEANINGS:
		opaque[meaning] = Color(MEANINGS[meaning], 1.0)
	legend.put(get_instance_id(), opaque)


func _unhandled_key_input(event: InputEvent) -> void:
	var key := event as InputEventKey
	if not key.pressed or is_scripted:
		return
	if key.keycode == KEY_F5:
		var saved := scheduler.save_state()
		if saved:                                 # empty if it failed; then the last one stays
			_quick_save = saved
	elif key.keycode == KEY_F9 and _quick_save:
		_is_loading = true
		get_tree().reload_current_scene()
	elif key.keycode == KEY_F2:
		Puzzle.returns_to = scene_file_path
		get_tree().change_scene_to_file(PUZZLE)
	elif key.keycode == KEY_ESCAPE:
		get_tree().quit()


## No AI has run until now: after loading, bodies are at their saved positions before any contact.
func _on_level_baked() -> void:
	if saved and not scheduler.load_state(saved):
		push_warning("the museum restarts, because its saved state could not be loaded")
	_life.process_mode = Node.PROCESS_MODE_INHERIT


func _on_caught(_who: Node3D) -> void:
	if is_scripted:
		return
	_life.set_deferred("process_mode", Node.PROCESS_MODE_DISABLED)
	_help.text = "Caught! Once more …"
	($Restart as Timer).start()


func _on_restart_timeout() -> void:
	get_tree().reload_current_scene()


func _on_habit_entered(path: String, _reason: String) -> void:
	if path.ends_with("/Chase"):
		_intruder.take_flight()


func _on_reported(time_s: float, subject: String, event: String, details: String) -> void:
	print("%6.2f s  %-6s %-17s %s" % [time_s, subject, event, details])
	var lines := _timeline.text.split("\n", false)
	lines.append("%.1f s   %s %s %s" % [time_s, subject, event, details])
	_timeline.text = "\n".join(lines.slice(-LINES_SHOWN))


func _on_story_finished(succeeded: bool) -> void:
	print(story.summary())
	print("In its other wing: one-way glass, cameras and gas. Play it with the demo 'puzzle'.")
	_life.set_deferred("process_mode", Node.PROCESS_MODE_DISABLED)
	# In another scene the museum leaves this to that scene.
	if get_tree().current_scene == self:
		get_tree().quit(0 if succeeded else 1)
