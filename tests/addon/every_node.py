"""A scene that uses every node of ours rightly, and the GDScript that plays it: nothing may be said against it."""
from __future__ import annotations

from pathlib import Path

SETTINGS = """config_version=5

[application]

config/name="every node"
run/main_scene="res://every_node.tscn"
"""
SCENE = """[gd_scene format=3]

[ext_resource type="Script" path="res://every_node.gd" id="play"]
[ext_resource type="Script" path="res://villager.gd" id="villager"]

[sub_resource type="RuleSet" id="rules"]
rules = "hide: danger | do rest"
facts = { "danger": 0.0 }

[sub_resource type="Formation" id="wedge"]
spacing = 1.5

[sub_resource type="StrategicProduct" id="worker"]
product_name = "worker"

[node name="Level" type="Node3D"]
script = ExtResource("play")

[node name="AI" type="AIScheduler" parent="."]

[node name="Events" type="AIEventManager" parent="AI"]

[node name="Seen" type="SignalEvent" parent="AI/Events"]
source = NodePath("../../../Villager")
signal_name = "worried"

[node name="Station" type="PollingStation" parent="AI"]

[node name="Ways" type="PathService" parent="AI"]

[node name="Squad" type="Squad" parent="AI"]
formation = SubResource("wedge")
paths = NodePath("../Ways")

[node name="Cover" type="CoverMap" parent="AI"]
level = NodePath("../../Ground")
bakes_at_start = false

[node name="Importance" type="ImportanceManager" parent="AI"]

[node name="Jobs" type="Timeslicer" parent="AI"]

[node name="Senses" type="SenseManager" parent="AI"]
mode = 1

[node name="Map" type="DecisionMap" parent="AI"]

[node name="Seen" type="AIDebugOverlay" parent="AI"]

[node name="General" type="Strategist" parent="."]
products = [SubResource("worker")]

[node name="Baker" type="SenseGraphBaker" parent="."]
level = NodePath("../Ground")

[node name="Ground" type="Node3D" parent="."]

[node name="Floor" type="NavigationRegion3D" parent="Ground"]

[node name="Hall" type="SenseRegion3D" parent="."]
size = Vector3(20, 4, 20)

[node name="Yard" type="SenseRegion3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 20, 0, 0)
size = Vector3(20, 4, 20)

[node name="Door" type="SensePortal3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 10, 0, 0)
from_region = NodePath("../Hall")
to_region = NodePath("../Yard")

[node name="Camera" type="Camera3D" parent="."]

[node name="Viewer" type="ImportanceViewer" parent="Camera"]

[node name="Fire" type="SenseSource3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, -4)

[node name="Village" type="GroupLOD" parent="."]

[node name="Villager" type="Node3D" parent="."]
script = ExtResource("villager")

[node name="Presence" type="MapWriter" parent="Villager"]

[node name="Animations" type="AnimationPlayer" parent="Villager"]

[node name="Thought" type="AIBehavior" parent="Villager"]

[node name="Sensor" type="Sensor3D" parent="Villager"]

[node name="Member" type="SquadMember" parent="Villager"]
squad_path = NodePath("../../AI/Squad")

[node name="LOD" type="BehavioralLOD" parent="Villager"]

[node name="Idle" type="LODBehavior" parent="Villager/LOD"]
fallback = true

[node name="Mind" type="RuleMind" parent="Villager"]
rule_set = SubResource("rules")

[node name="Machine" type="StateMachine" parent="Villager"]

[node name="Calm" type="AIState" parent="Villager/Machine"]

[node name="Worry" type="StateTransition" parent="Villager/Machine/Calm"]
event = "worried"
to = NodePath("../../Alarmed")

[node name="Alarmed" type="AIState" parent="Villager/Machine"]

[node name="Day" type="HabitTree" parent="Villager"]

[node name="Routine" type="Habit" parent="Villager/Day"]
launch = 1
repeats = 0

[node name="Wait" type="HabitWait" parent="Villager/Day/Routine"]
duration = 0.05

[node name="Set" type="HabitSetValue" parent="Villager/Day/Routine"]
key = "round"
value = "1"

[node name="Check" type="HabitCheckValue" parent="Villager/Day/Routine"]
key = "round"
value = "1"

[node name="Emit" type="HabitEmitSignal" parent="Villager/Day/Routine"]
signal_name = "worried"

[node name="Call" type="HabitCallMethod" parent="Villager/Day/Routine"]
method_name = "rest"

[node name="Look" type="HabitLookAt" parent="Villager/Day/Routine"]
target_node = NodePath("../../../../Fire")

[node name="Play" type="HabitPlayAnimation" parent="Villager/Day/Routine"]
player = NodePath("../../../Animations")
animation = "nod"

[node name="Round" type="HabitPatrol" parent="Villager/Day/Routine"]
route = NodePath("../../../../Ground")
order = 3

[node name="Search" type="HabitSearch" parent="Villager/Day/Routine"]
target_node = NodePath("../../../../Fire")
places = 0

[node name="Move" type="HabitMoveTo" parent="Villager/Day/Routine"]
target_node = NodePath("../../../../Fire")

[node name="Attack" type="HabitAttack" parent="Villager/Day/Routine"]
target_node = NodePath("../../../../Fire")
attack_range = 0.1

[node name="Flee" type="HabitFlee" parent="Villager/Day/Routine"]
target_node = NodePath("../../../../Fire")
safe_distance = 0.2

[node name="Flat" type="Node2D" parent="."]

[node name="AI" type="AIScheduler" parent="Flat"]

[node name="Senses" type="SenseManager" parent="Flat/AI"]
mode = 1
dimensions = 1

[node name="Hall" type="SenseRegion2D" parent="Flat/AI"]

[node name="Yard" type="SenseRegion2D" parent="Flat/AI"]
position = Vector2(2000, 0)

[node name="Door" type="SensePortal2D" parent="Flat/AI"]
from_region = NodePath("../Hall")
to_region = NodePath("../Yard")

[node name="Sensor" type="Sensor2D" parent="Flat/AI"]

[node name="Fire" type="SenseSource2D" parent="Flat/AI"]
"""
PLAY = """extends Node3D

## Frames of game time to play.
var frames := 120

func _ready() -> void:
	print("not in the scene: ", not_in_the_scene())
	var library := AnimationLibrary.new()
	library.add_animation("nod", Animation.new())
	$Villager/Animations.add_animation_library("", library)
	$Villager/Sensor.target_gained.connect(func(target: Node, _who: Node) -> void: print("saw ", target.name))
	for word in OS.get_cmdline_user_args():
		if word.begins_with("--frames="): frames = int(word.get_slice("=", 1))

func _physics_process(_delta: float) -> void:
	frames -= 1
	if frames == 0: get_tree().quit()

func not_in_the_scene() -> Array:
	var there := {}
	for node in [self] + find_children("*", "", true, false): there[node.get_class()] = true
	return Array(ClassDB.get_class_list()).filter(func(name: String) -> bool:
		return (ClassDB.class_get_api_type(name) == ClassDB.API_EXTENSION and ClassDB.is_parent_class(name, "Node")
			and ClassDB.can_instantiate(name) and not there.has(name)))
"""
VILLAGER = """extends Node3D

signal worried

var thoughts := 0

func think(_elapsed_s: float) -> void:
	thoughts += 1

func rest() -> void:
	pass
"""
FILES = {"every_node.tscn": SCENE, "every_node.gd": PLAY, "villager.gd": VILLAGER}


def write_every_node(project: Path) -> None:
    """Write the scene and its scripts into a folder; its project.godot is made if there is none."""
    for name, text in FILES.items():
        (project / name).write_text(text)
    if not (project / "project.godot").is_file():
        (project / "project.godot").write_text(SETTINGS)
