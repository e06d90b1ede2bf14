"""The launch mode Utility on nodes: the child with the highest score runs."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct


@pytest.fixture
def needs(node, scheduler, gdscript):
    """``needs(children, **settings)``: a tree with children of these properties, which run without end."""

    def made(children, **settings):
        tree = construct("HabitTree")
        for key, value in {"launch": 4, "values": {"hunger": 0.2, "tiredness": 0.5}, **settings}.items():
            tree.set(key, value)
        for name, properties in children.items():
            habit = construct("Habit")
            for key, value in {"name": name, **properties}.items():
                habit.set(key, value)
            tree.add_child(habit)
        actor = node("Node3D", scheduler)
        actor.add_child(tree)
        return tree

    return made


def active(tree):
    return [path.split("/")[-1] for path in tree.get_active_paths()]


def test_child_with_the_highest_score_runs_and_is_interrupted(needs, physics_frames):
    tree = needs({"Eat": {"score": "hunger"}, "Sleep": {"score": "pow(tiredness, 2)"}, "Stroll": {"score": "0.1"}})
    physics_frames(2)
    assert active(tree) == ["Sleep"]
    assert "0.25" in tree.to_text(), tree.to_text()
    tree.set_value("hunger", 0.9)
    physics_frames(2)
    assert active(tree) == ["Eat"]
    tree.set_value("hunger", 0.0)
    tree.set_value("tiredness", 0.0)
    physics_frames(2)
    assert active(tree) == ["Stroll"]


def test_inertia_keeps_the_active_child(needs, physics_frames):
    tree = needs({"Eat": {"score": "hunger"}, "Sleep": {"score": "tiredness"}}, inertia=0.2)
    physics_frames(2)
    tree.set_value("hunger", 0.65)
    physics_frames(2)
    assert active(tree) == ["Sleep"]
    tree.set_value("hunger", 0.75)
    physics_frames(2)
    assert active(tree) == ["Eat"]


def test_condition_and_script_decide_together_with_scores(needs, physics_frames, gdscript):
    tree = needs({"Eat": {"score": "1.0", "condition": "hunger > 0.5"}, "Rest": {}})
    rest = tree.get_child(1)
    rest.set_script(gdscript("""
        extends Habit
        func _score(): return 0.5
    """))
    tree.rebuild()
    physics_frames(2)
    assert active(tree) == ["Rest"]
    tree.set_value("hunger", 0.6)
    physics_frames(2)
    assert active(tree) == ["Eat"]


def test_nested_utility_habit_with_missing_value_warns_once(needs, physics_frames, expect_errors):
    expect_errors("score of 'Eat': 'hungre' is neither a value of the blackboard", times=1)
    tree = needs({"Eat": {"score": "hungre"}, "Rest": {"score": "0.1"}})
    physics_frames(5)
    assert active(tree) == ["Rest"]


@pytest.mark.parametrize(("score", "said"), [
    ("\"much\"", "score of 'HabitTree/Eat' must be a number, got 'much'"),
    ("hunger *", "score of 'Eat': cannot parse 'hunger *'"),
])
def test_wrong_score_is_an_error(needs, physics_frames, expect_errors, score, said):
    expect_errors(said)
    needs({"Eat": {"score": score}, "Rest": {"score": "0.1"}}, name="HabitTree")
    physics_frames(5)


def test_child_without_a_score_is_an_error(needs, physics_frames, expect_errors):
    expect_errors("the child 'Rest' of a utility habit has no score; give it one")
    needs({"Eat": {"score": "0.1"}, "Rest": {}})
    physics_frames(3)
