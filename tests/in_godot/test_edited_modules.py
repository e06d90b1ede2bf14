"""Python that is edited while a game runs is read again by the stated rule: when a tree is built that uses it."""
from __future__ import annotations

import sys

import pytest

from addons.ai_core.bridge.gd import construct

HABIT = """
from ai_core.decisions.habits import habits as core
from ai_core.decisions.habits.habits import Status

class Hum(core.Habit):
    def tick(self, context):
        context.blackboard["hums"] = "{says}"
        return Status.RUNNING
"""
NODE = """
from addons.ai_core.bridge.gd import Node, gdclass
from ai_core.decisions.habits import habits as core

class Hum(core.Habit):
    said = "{says}"

class Declared(Node):
    __declared__ = {{}}
"""


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """``edited(text)``: write the module ``edited_hum``."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "edited_hum", raising=False)
    yield lambda text: (tmp_path / "edited_hum.py").write_text(text)
    sys.modules.pop("edited_hum", None)


@pytest.fixture
def habits(node, scheduler, edited):
    edited(HABIT.format(says="low"))
    made, habit = construct("HabitTree"), construct("Habit")
    habit.set("python_class", "edited_hum:Hum")
    made.add_child(habit)
    node("Node3D", scheduler).add_child(made)
    return made


def test_an_edited_habit_goes_on_as_it_began_until_its_tree_is_rebuilt(habits, edited, physics_frames):
    physics_frames(3)
    assert habits.get_value("hums") == "low"
    edited(HABIT.format(says="high and long"))
    physics_frames(3)
    assert habits.get_value("hums") == "low"
    habits.rebuild()
    physics_frames(3)
    assert habits.get_value("hums") == "high and long"


def test_an_edit_with_a_mistake_is_reported_and_changes_nothing(habits, edited, physics_frames, expect_errors):
    physics_frames(3)
    edited("class Hum(:\n")
    expect_errors("reading 'edited_hum' again, which was edited; what it had stays", times=1)
    habits.rebuild()
    physics_frames(3)
    assert habits.get_value("hums") == "low"


def test_a_module_that_declares_nodes_is_not_read_again(edited):
    from addons.ai_core.nodes.debugging.edited_modules import current_module

    edited(NODE.format(says="low"))
    assert current_module("edited_hum").Hum.said == "low"
    edited(NODE.format(says="high and long"))
    assert current_module("edited_hum").Hum.said == "low"


def test_what_was_not_edited_is_not_read_again(habits, physics_frames):
    physics_frames(2)
    before = sys.modules["edited_hum"].Hum
    habits.rebuild()
    physics_frames(2)
    assert sys.modules["edited_hum"].Hum is before
