import cProfile, pstats, io, time, os, pathlib
from addons.ai_core.bridge.gd import singleton, construct
import pytest
pytestmark = pytest.mark.in_its_own_world
WHAT = os.environ.get("WHAT", "tree")
SRC = '''extends Node3D
const Refusing := preload("res://tests/benchmarks/spawning_in_engine/refusing.gd")
const Guard := preload("res://addons/ai_core/examples/guard_3d.tscn")
var scheduler := AIScheduler.new()
func _ready() -> void:
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = 0.0
	add_child(scheduler)
	scheduler.add_child(SenseManager.new())
func tree() -> Node:
	var character := Node.new()
	var tree := HabitTree.new()
	for i in 10:
		var habit := Refusing.new()
		habit.name = "habit%d" % i
		tree.add_child(habit)
	character.add_child(tree)
	return character
func sensing() -> Node:
	var character := Node3D.new()
	character.add_child(Sensor3D.new())
	character.add_child(SenseSource3D.new())
	return character
func guard() -> Node:
	return Guard.instantiate()
func spawn(what: String, parent: Node3D) -> void:
	for i in 20:
		var one: Node = call(what)
		if one is Node3D: one.position = Vector3(i * 1000.0, 0, 0)
		parent.add_child(one)
'''
def test_spawn(node, tree, physics_frames):
    script = construct("GDScript"); script.set_source_code(SRC); assert script.reload() == 0
    world = construct("Node3D"); world.set_script(script)
    tree.get_root().add_child(world)
    physics_frames(3)
    p = cProfile.Profile(); out = io.StringIO()
    made, first, freed = [], [], []
    import gc
    if os.environ.get("NOGC"): gc.disable()
    c0 = [s["collections"] for s in gc.get_stats()]
    for i in range(40):
        parent = construct("Node3D"); world.add_child(parent)
        physics_frames(1); world.get("scheduler").step(1/60)
        if i >= 10 and os.environ.get("PROF"): p.enable()
        t = time.thread_time_ns(); world.call("spawn", WHAT, parent); made.append(time.thread_time_ns() - t)
        p.disable()
        f = 0
        for k in range(3):
            physics_frames(1)
            if i >= 10 and os.environ.get("PROF"): p.enable()
            t = time.thread_time_ns(); world.get("scheduler").step(1/60); f += time.thread_time_ns() - t
            p.disable()
        first.append(f)
        t = time.thread_time_ns(); parent.free(); freed.append(time.thread_time_ns() - t)
    md = lambda x: sorted(x[10:])[15] / 20 / 1e3
    out.write(f"{WHAT}: made {md(made):.1f} us, first frames {md(first):.1f} us, freed {md(freed):.1f}\n")
    if os.environ.get("PROF"):
        s = pstats.Stats(p, stream=out); s.sort_stats("tottime").print_stats(45); s.sort_stats("cumtime").print_stats(45)
    out.write(f"gc {gc.isenabled()} {gc.get_threshold()} {gc.get_count()} {[s['collections'] - c for s, c in zip(gc.get_stats(), c0)]}\n")
    pathlib.Path("/tmp/habits/spawn.txt").write_text(out.getvalue())
    world.free()
