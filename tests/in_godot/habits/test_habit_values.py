"""What a character knows as it begins, written in the inspector: with types that hold from then on."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct


@pytest.fixture
def bob(node, scheduler):
    """``bob(values)``: a HabitTree called Brain that begins to know these."""

    def begin(values, condition=""):
        tree, flee, walk = construct("HabitTree"), construct("Habit"), construct("Habit")
        for one, name in ((tree, "Brain"), (flee, "flee"), (walk, "walk")):
            one.set("name", name)
        flee.set("condition", condition or "false")
        tree.add_child(flee)
        tree.add_child(walk)
        tree.set("values", values)
        node("Node3D", scheduler, name="Bob").add_child(tree)
        return tree

    return begin


def test_conditions_read_inspector_values_without_a_script(bob, physics_frames):
    tree = bob({"health": 1.0}, "health < 0.3")
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/walk"]
    tree.set_value("health", 0)
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/flee"]
    assert tree.get_value("health") == 0.0


WRONG = {
    "a text for a number": ("health", "full", "blackboard 'character': 'health' must be float, got 'full'; set"),
    "a fraction for a whole number": ("arrows", 0.5, "'arrows' must be int, got 0.5"),
    "a number for a text": ("state", 3, "'state' must be str or StringName, got 3"),
    "a place for a flag": ("alarmed", Vector3(0, 0, 0), "'alarmed' must be bool, got Vector3(0, 0, 0)"),
    "nothing for a number": ("health", None, "'health' must be float, got null"),
    "a text for a place": ("home", "here", "'home' must be Vector3 or null, got 'here'"),
}


@pytest.mark.parametrize(("key", "value", "message"), WRONG.values(), ids=list(WRONG))
def test_a_value_of_another_type_is_refused_and_changes_nothing(bob, expect_errors, key, value, message):
    values = {"health": 1.0, "arrows": 5, "state": "calm", "alarmed": False, "home": Vector3(1, 0, 0), "target": None}
    tree = bob(values)
    expect_errors(message, times=1)
    tree.call("set_value", key, value)
    assert tree.get_value(key) == values[key]


def test_what_begins_as_null_or_as_an_object_may_become_anything(bob):
    tree = bob({"target": None, "door": construct("Resource")})
    for key in ("target", "door"):
        for value in (3, "x", tree, None):
            tree.set_value(key, value)
            assert tree.get_value(key) == value


def test_what_a_script_set_before_it_began_stays(node, scheduler, expect_errors):
    tree = construct("HabitTree")
    tree.add_child(construct("Habit"))
    tree.set_value("health", 1)
    tree.set_value("state", 7)
    tree.set("values", {"health": 5.0, "state": "calm"})
    expect_errors("'state' is reset to 'calm': blackboard 'character': 'state' must be", times=1)
    node("Node3D", scheduler).add_child(tree)
    assert (tree.get_value("health"), tree.get_value("state")) == (1.0, "calm")


def test_new_values_are_known_at_once_and_old_ones_stay(bob, expect_errors):
    tree = bob({"health": 1.0})
    tree.set_value("health", 0.25)
    tree.set("values", {"health": 1.0, "hungry": True})
    expect_errors("'hungry' must be bool, got 3", times=1)
    tree.call("set_value", "hungry", 3)
    assert (tree.get_value("health"), tree.get_value("hungry")) == (0.25, True)


def test_lists_are_each_characters_own(bob):
    begun = {"seen": []}
    tree = bob(begun)
    tree.get_value("seen").append(3)
    assert tree.get("values") == {"seen": []}


def test_keys_are_texts(bob, expect_errors):
    expect_errors("keys of values must be strings, got 3", times=1)
    assert bob({3: 4}).get("values") == {}


def test_a_save_with_another_type_is_refused(bob, scheduler, expect_errors):
    tree = bob({"health": 1.0})
    state = tree.save_state()
    text = tree.get_value("health")
    assert text == 1.0
    board = state["parts"]["node"]["state"]["tree"]["blackboard"]
    board["health"] = "full"
    expect_errors("'health' must be float, got 'full'", times=1)
    assert not tree.call("load_state", state)
    assert tree.get_value("health") == 1.0


@pytest.mark.parametrize("condition", ["sees", "sees == true", "sees and true", "sees > 0"])
def test_a_condition_without_its_value_is_false_with_one_warning(
    bob, physics_frames, expect_errors, condition,
):
    expect_errors(
        "condition of 'flee': 'sees' is neither a value of the blackboard nor a property of 'Bob';"
        " set it with set_value(); it is false until then", times=1)
    tree = bob({}, condition)
    physics_frames(10)
    assert list(tree.get_active_paths()) == ["Brain/walk"]
    tree.set_value("sees", 1 if ">" in condition else True)
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/flee"]


def test_a_null_value_compares_as_less_and_as_more(bob, physics_frames, expect_errors):
    expect_errors("condition of 'flee': 'near_distance < 5.0' cannot be evaluated", times=1)
    tree = bob({"near_distance": None}, "near_distance < 5.0")
    physics_frames(10)
    tree.set_value("near_distance", 3.0)
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/flee"]


def test_arithmetic_with_a_missing_value_fails_until_it_is_set(bob, physics_frames, expect_errors):
    expect_errors("value of 'hurt': 'health' is neither a value", times=1)
    tree = bob({})
    hurt = construct("HabitSetValue")
    for key, value in {"name": "hurt", "key": "health", "value": "health - 1"}.items():
        hurt.set(key, value)
    tree.add_child(hurt)
    tree.move_child(hurt, 0)
    physics_frames(10)
    tree.set_value("health", 5)
    physics_frames(1)
    assert tree.get_value("health") < 5


def test_a_mistake_in_a_condition_is_still_an_error(bob, physics_frames, expect_errors):
    expect_errors("condition of 'flee': 'no_method()' cannot be evaluated")
    tree = bob({}, "no_method()")
    physics_frames(10)
    assert list(tree.get_active_paths()) == ["Brain/walk"]


@pytest.mark.parametrize(("condition", "hint"), [
    ("is_in_veiw", "it is false until then; did you mean is_in_view?"),
    ("positoin == 3", "it is false until then; did you mean position or global_position?"),
    ("get_paretn()", "'Bob' (Node3D) has no method get_paretn(); did you mean get_parent"),
])
def test_a_misspelt_name_is_said_with_what_is_close_to_it(
    bob, physics_frames, expect_errors, condition, hint,
):
    expect_errors(hint)
    bob({"is_in_view": False}, condition)
    physics_frames(3)
