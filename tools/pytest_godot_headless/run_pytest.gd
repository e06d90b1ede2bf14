extends SceneTree
## An empty tree with the runner in it. Nothing else of the project's scenes runs.


func _initialize() -> void:
	if not ClassDB.class_exists("GodotPytestRunner"):
		printerr("pytest_godot_headless: Python has not started, or it lacks "
				+ "pytest_godot_headless, pytest or greenlet; see the errors above")
		quit(4)
		return
	root.add_child.call_deferred(ClassDB.instantiate("GodotPytestRunner"))
