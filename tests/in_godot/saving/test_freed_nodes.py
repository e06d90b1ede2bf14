"""Any node of a scene may be freed: what is left is saved, and the save is loaded again."""
from __future__ import annotations

from tests.in_godot.saving.every_part import EveryPart

KEPT = ("AI", "Flat", "Flat/AI")
"""The schedulers by which the scene is saved."""

COMPLAINTS = (
    "has agents but no ImportanceViewer", "target_node '../../../../Fire' is not in the scene",
    "job Jobs('x') raised GodotFreedError", "level 'Idle' was freed; call rebuild()",
    "keeps its previous states: transition 'Calm/Worry' to '../../Alarmed' is not an AIState",
)
"""What is said of nodes that need the one that is freed."""


def paths_below(node, top):
    for child in node.get_children():
        yield str(top.get_path_to(child))
        yield from paths_below(child, top)


def test_a_scene_without_any_of_its_nodes_is_saved(gdscript, nodes_of_test, tmp_path, physics_frames, expect_errors):
    for text in COMPLAINTS:
        expect_errors(text)
    first = EveryPart(gdscript, tmp_path)
    paths = [path for path in paths_below(first.top, first.top) if path not in KEPT]
    first.top.free()
    for path in paths:
        scene = EveryPart(gdscript, tmp_path)
        nodes_of_test.keep(scene.top, None)
        scene.begin()
        scene.live(5)
        scene.top.get_node(path).free()
        states = [scene.save()]
        scene.live(3)
        physics_frames(1)
        states.append(scene.save())
        assert all(map(all, states)), path
        for one in states:
            assert all(scene.load(one)), path
        scene.top.free()
