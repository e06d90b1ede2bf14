extends SceneTree
## An empty tree with the runner in it. Nothing else of the project's scenes runs.


func _initialize() -> void:
	if not ClassDB.class_exists("GodotPytestRunner"):
		printerr("pytest_godot_headless: the extension has not started Python; see the errors above")
		quit(4)
		return
	root.add_child.call_deferred(ClassDB.instantiate("GodotPytestRunner"))
