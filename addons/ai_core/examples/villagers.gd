extends Node3D
## A thousand villagers: the near ones think oftener than the far ones, within the budget of the scheduler.

const COUNT := 1000
const Villager := preload("villager.gd")


func _ready() -> void:
	var mesh := CapsuleMesh.new()
	for i in COUNT:
		var villager := Villager.new()
		@warning_ignore("integer_division")
		villager.position = Vector3(i % 40 - 20, 0, -2 * (i / 40))
		var look := MeshInstance3D.new()
		look.name = "Look"
		look.mesh = mesh
		look.position.y = 1.0
		villager.add_child(look)
		var behavior := AIBehavior.new()
		behavior.method_name = &"think"
		behavior.period = 6
		behavior.longest_period = 60
		behavior.follow_importance = AIBehavior.FOLLOW_IMPORTANCE_PERIOD
		villager.add_child(behavior)
		$AI.add_child(villager)
	$AI.rephase()


func _process(_delta: float) -> void:
	$Text.text = "AI of a frame: %d of %d us" % [$AI.get_stats().last_frame_us, $AI.budget]
