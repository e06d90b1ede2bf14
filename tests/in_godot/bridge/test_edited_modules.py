"""Python that is edited while a game runs is read again by the stated rule: when a tree is built that uses it."""
from __future__ import annotations

import sys

import pytest

from addons.ai_core.bridge.gd import construct
from ai_core.saving.fields import StateError

HABIT = """
from ai_core.decisions.habits import habits as core
from ai_core.decisions.habits.habit_status import Status

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


def test_an_edited_habit_keeps_its_code_until_the_tree_rebuilds(habits, edited, physics_frames):
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
    expect_errors("reloading 'edited_hum', which was edited; the old version stays", times=1)
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


SIDE_EFFECT = """
import sys
sys.was_run = getattr(sys, "was_run", 0) + 1
class Other(int): pass
class Plain: pass
def Hum(): pass
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """``hums.low`` below a package and a folder that is none, whose import is noted in ``sys.was_run``."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "was_run", 0, raising=False)
    for place in ("hums", "hums/deep/folder"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "low.py").write_text(SIDE_EFFECT)
    (tmp_path / "hums/__init__.py").write_text(SIDE_EFFECT)
    (tmp_path / "hums/good.py").write_text(HABIT.format(says="low"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "hums"]:
        del sys.modules[name]


NO_HABIT = "is not a Habit class"


@pytest.mark.parametrize(("named", "why"), [
    ("hums.low:Hum", NO_HABIT), ("hums.low:Plain", NO_HABIT), ("hums.low:Missing", NO_HABIT),
    ("hums.deep.folder.low:Hum", NO_HABIT), ("hums:Hum", NO_HABIT), ("hums.low", NO_HABIT),
    ("hums.nothing:Hum", "there is no module 'hums.nothing'"), ("hums..low:Hum", "there is no module 'hums..low'"),
    ("hums.low.deeper:Hum", "there is no module"), ("../hums/low:Hum", "there is no module"),
    ("this:Hum", NO_HABIT),
])
def test_what_cannot_hold_the_class_is_not_imported(node, scheduler, package, frames, expect_errors, named, why):
    expect_errors(why, times=1)
    tree, habit = construct("HabitTree"), construct("Habit")
    habit.set("python_class", named)
    tree.add_child(habit)
    node("Node3D", scheduler).add_child(tree)
    frames(2)                   # it is reported as the next frame begins
    assert tree.to_text() == "not running"
    assert (sys.was_run, "this" in sys.modules, "hums" in sys.modules) == (0, False, False)


def test_what_may_hold_it_is_imported(node, scheduler, package, physics_frames):
    tree, habit = construct("HabitTree"), construct("Habit")
    habit.set("python_class", "hums.good:Hum")
    tree.add_child(habit)
    node("Node3D", scheduler).add_child(tree)
    physics_frames(2)
    assert tree.get_value("hums") == "low"


@pytest.mark.parametrize("name", ["python_class", "settings"])
def test_a_save_names_no_module(habits, package, physics_frames, name):
    physics_frames(2)
    state = habits.saved()
    if name == "settings":
        state["settings"]["python_class"] = "hums.low:Other"
    else:
        state["python_class"] = "hums.low:Other"
    with pytest.raises(StateError, match="python_class"):
        habits.prepared(state)
    assert sys.was_run == 0
