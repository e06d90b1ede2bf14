"""Choosing a character for the debugger by a click in the running game."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, construct
from addons.ai_core.nodes.debugging.character_picker import CharacterPicker


@pytest.fixture
def level(node):
    root = node("Node2D", name="Level")
    scheduler = node("AIScheduler", root, name="AI", budget=0.0)
    for name, place in (("Ann", (100.0, 100.0)), ("Bob", (400.0, 100.0))):
        character = node("Node2D", root, name=name, position=Vector2(*place))
        tree = node("HabitTree", character, name="Habits")
        node("HabitWait", tree, name="Doze", duration=100.0)
    return scheduler


def click(tree, place):
    for is_pressed in (True, False):
        event = construct("InputEventMouseButton")
        event.button_index, event.pressed, event.position = 1, is_pressed, Vector2(*place)
        tree.get_root().push_input(event, True)


def test_a_click_picks_the_nearest_character(level, tree, physics_frames, frames):
    picked = []
    physics_frames(2)
    picker = CharacterPicker(level, picked.append)
    before = level.get_child_count(True)
    picker.begin(level)
    frames(3)
    assert set(picker._strips.get("_places")) == {"/root/Level/Ann", "/root/Level/Bob"}
    click(tree, (380.0, 60.0))
    click(tree, (60.0, 200.0))
    assert picked == ["/root/Level/Bob", "/root/Level/Ann"]
    picker.end()
    frames(2)
    assert level.get_child_count(True) == before
    click(tree, (380.0, 60.0))
    assert len(picked) == 2
