"""The script templates compile, and run without a word."""
from __future__ import annotations

from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import construct

TEMPLATES = sorted((Path(__file__).parents[3] / "addons/ai_core/script_templates").rglob("*.gd"))


def test_there_are_templates_for_habits_behaviors_and_topics():
    assert [file.parent.name for file in TEMPLATES] == ["Habit", "Node", "PollingStation"]


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.stem)
def test_a_template_compiles_and_runs(file, gdscript, scheduler, physics_frames):
    made = gdscript(file.read_text().replace("_BASE_", file.parent.name)).new()
    assert made.is_class(file.parent.name)
    if made.is_class("Habit"):
        tree = construct("HabitTree")
        tree.add_child(made)
        made = tree
    scheduler.add_child(made)
    physics_frames(3)


def test_the_topic_of_the_template_is_answered(gdscript, scheduler, physics_frames):
    [file] = [file for file in TEMPLATES if file.parent.name == "PollingStation"]
    station = gdscript(file.read_text().replace("_BASE_", "PollingStation")).new()
    scheduler.add_child(station)
    physics_frames(1)
    assert station.poll("is_night") is False
