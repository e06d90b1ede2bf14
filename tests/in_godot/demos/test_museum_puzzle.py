"""The museum's puzzle: glass, camera, air duct and light decide what guards sense, and nothing else does."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import singleton

SCENE = "res://demo_project/scenes/puzzle.tscn"
# Game time in which it must be over, whatever its own limit says.
LIMIT_S = 40

pytestmark = pytest.mark.slow


@pytest.fixture
def puzzle(nodes_of_test, physics_frames, signals):
    """``puzzle(prepare)``: played to the end; what was told, and the verdict."""

    class Played:
        def __init__(self, prepare=None):
            node = singleton("ResourceLoader").load(SCENE).instantiate()
            node.set("time_limit_s", LIMIT_S - 5)
            if prepare is not None:
                prepare(node)
            told, verdict = signals(node, "reported"), signals(node, "finished")
            nodes_of_test.keep(node, None)
            for _ in range(LIMIT_S):
                if verdict:
                    break
                physics_frames(60)
            self.verdicts = verdict
            self.lines = [f"{who} {what}" for _, who, what, _ in told]
            self.summary = node.call("summary")

    return Played


def test_guards_sense_through_glass_camera_and_duct(puzzle):
    played = puzzle()
    assert played.verdicts == [(True,)], played.summary
    assert played.lines.count("Carla sees") == 2


PLACES = "Life/AIScheduler/Senses"


def two_way_glass(level):
    level.get_node(f"{PLACES}/Glass").set("one_way", False)


def glass_that_sounds_pass(level):
    level.get_node(f"{PLACES}/Glass").set("passes_hearing", True)


def no_camera(level):
    level.get_node(f"{PLACES}/Camera").set("is_open", False)


def a_blocked_duct(level):
    level.get_node(f"{PLACES}/Vent").set("is_open", False)


def a_bright_wall_all_along(level):
    level.get_node("Level/DarkWall").set_meta("sense_light", 1.0)


def a_dark_wall_all_along(level):
    level.get_node("Level/BrightWall").set_meta("sense_light", 0.1)


def a_lit_cellar(level):
    level.set("cellar_light", 1.0)


@pytest.mark.parametrize(
    ("prepare", "missing"),
    [(two_way_glass, "Intruder sees a mirror"), (glass_that_sounds_pass, "Carla hears nothing"),
     (a_blocked_duct, "Carla falls asleep"), (a_bright_wall_all_along, "Dan misses"),
     (a_dark_wall_all_along, "Dan sees"), (a_lit_cellar, "Dan misses")],
)
def test_with_another_level_the_story_is_another_one(puzzle, prepare, missing):
    played = puzzle(prepare)
    assert played.verdicts == [(False,)]
    assert missing not in played.lines


def test_without_the_camera_only_the_gallery_is_seen(puzzle):
    assert puzzle(no_camera).lines.count("Carla sees") == 1


def test_the_museum_leads_to_the_puzzle_and_the_puzzle_back():
    museum = singleton("ResourceLoader").load("res://demo_project/museum/museum.gd")
    constants = museum.get_script_constant_map()
    assert constants["PUZZLE"] == SCENE
    assert constants["Puzzle"].get_path() == "res://demo_project/museum/puzzle.gd"
    node = singleton("ResourceLoader").load(SCENE).instantiate()
    assert node.get("returns_to") == ""
    node.free()
