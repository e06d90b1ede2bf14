"""Nothing is left behind: objects, Python objects and memory stay flat."""
from __future__ import annotations

import gc
from itertools import pairwise
from pathlib import Path

import pytest
from _bridge import live_instances

from addons.ai_core.bridge.gd import construct, singleton
from tests.in_godot.bridge.bridge_nodes import BridgeData

NODES = ("AIScheduler", "AIEventManager", "PollingStation", "SenseManager", "Sensor3D", "SenseSource3D", "HabitTree")


def resident_kib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


def object_count():
    return singleton("Performance").get_monitor(8)


def whole_family(root):
    """An AIScheduler with every node of ours below it, in the tree."""
    top = construct("AIScheduler")
    for name in NODES[1:]:
        top.add_child(construct(name))
    top.get_child(5).add_child(construct("Habit"))
    root.add_child(top)
    return top


@pytest.mark.slow
@pytest.mark.timeout(120)  # 8 s where nothing else runs
def test_creating_and_freeing_for_many_frames_leaks_nothing(root, frames):
    def run(count):
        for _ in range(count):
            top = whole_family(root)
            frames(1)
            top.free()

    run(800)
    gc.collect()
    before = (object_count(), live_instances())
    tracked = len(gc.get_objects())
    memory = []
    for _ in range(6):
        run(200)
        gc.collect()
        memory.append(resident_kib())
    assert (object_count(), live_instances()) == before
    assert abs(len(gc.get_objects()) - tracked) < 100
    # A leak grows in every stretch; an allocator that settles does not.
    growth = [later - earlier for earlier, later in pairwise(memory)]
    assert min(growth) < 16, memory


def test_python_resources_are_freed_when_nobody_holds_them(frames):
    before = live_instances()
    for _ in range(100):
        data = BridgeData.new()
        data.duplicate()
    del data
    frames(2)
    assert live_instances() == before


def test_a_handler_of_a_freed_object_is_let_go(node, frames):
    before = len(gc.get_objects())
    for _ in range(100):
        one = construct("Node")
        one.connect("tree_entered", lambda: None)
        one.free()
    gc.collect()
    assert len(gc.get_objects()) - before < 50
