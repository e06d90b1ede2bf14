"""Habits added, removed and replaced while the character lives: who goes on, who ends?"""
from __future__ import annotations

import pytest

from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit, added, removed, replaced
from ai_core.errors import UnknownNameError
from tests.decisions.diary import Diary

SUCCEEDED = Status.SUCCEEDED


@pytest.fixture
def diary():
    return Diary()


@pytest.fixture
def tree(diary):
    fight = diary.habit("fight", diary.habit("dodge"), diary.habit("attack"))
    tree = HabitTree(diary.habit("guard", fight, diary.habit("walk")))
    diary.wants = {"guard", "fight", "attack", "walk"}
    tree.tick(0.1)
    diary.read()
    return tree


def test_what_is_not_touched_goes_on_and_is_not_begun_again(tree, diary):
    tree.add("guard/fight", diary.habit("taunt"), before="attack")
    assert diary == []
    tree.tick(0.1)
    assert diary.read() == ["tick attack"]
    diary.wants.add("taunt")
    tree.tick(0.1)
    assert diary.read() == ["exit attack", "enter taunt", "tick taunt"]


def test_removed_active_habit_ends_first_with_all_below_it(tree, diary):
    tree.remove("guard/fight")
    assert diary.read() == ["exit attack", "exit fight"]
    tree.tick(0.1)
    assert tree.active_paths() == ["guard/walk"]
    with pytest.raises(UnknownNameError, match="unknown habit 'guard/fight'"):
        tree.remove("guard/fight")


def test_end_part_ends_its_habit_and_those_below_it(diary):
    fight = diary.habit("fight", diary.habit("dodge"), diary.habit("attack"))
    parts = [object() for _ in range(5)]
    tree = HabitTree(diary.habit("guard", fight, diary.habit("walk")), parts=parts)
    diary.wants = {"guard", "fight", "attack", "walk"}
    tree.tick(0.1)
    diary.read()
    tree.end_part(parts[4])
    assert diary == []
    tree.end_part(parts[1])
    assert diary.read() == ["exit attack", "exit fight"]
    assert tree.active_paths() == ["guard"]


def test_end_part_inside_a_habit_takes_effect_after_the_tick(diary):
    part, said = object(), []

    def tick(context):
        context.tree.end_part(part)
        said.append(context.status)

    tree = HabitTree(Habit("guard", [Habit("walk", tick=tick)]), parts=[None, part])
    tree.tick(0.1)
    assert said == [Status.RUNNING]
    assert tree.active_paths() == ["guard"]


def test_replaced_active_habit_ends_and_the_new_one_may_begin(tree, diary):
    tree.replace("guard/fight/attack", diary.habit("attack", diary.habit("bite")))
    assert diary.read() == ["exit attack"]
    assert "attack: pending, cannot activate (before: replaced)" in tree.to_text()
    diary.wants.add("bite")
    tree.tick(0.1)
    assert diary.read() == ["enter attack", "enter bite", "tick bite"]


def test_an_edit_of_one_character_changes_no_other(tree, diary):
    other = HabitTree(tree.definition)
    tree.replace("guard/walk", diary.habit("ride"))
    assert [child.name for child in other.definition.children] == ["fight", "walk"]
    assert [child.name for child in tree.definition.children] == ["fight", "ride"]


def test_an_edited_definition_is_shared_like_any_other(diary):
    root = diary.habit("guard", diary.habit("fight", diary.habit("dodge")), diary.habit("walk"))
    edited = replaced(root, "guard/fight/dodge", diary.habit("roll"))
    first, second = HabitTree(edited), HabitTree(edited)
    assert first.plan is second.plan
    assert edited.children[1] is root.children[1]
    assert [place.path for place in first.plan.places] == ["guard", "guard/fight", "guard/fight/roll", "guard/walk"]


def test_edits_inside_a_habit_apply_in_order_at_end_of_tick(diary):
    def grow(context):
        context.tree.add("root", diary.habit("b"))
        context.tree.replace("root/b", diary.habit("b", diary.habit("c")))
        return SUCCEEDED

    tree = HabitTree(Habit("root", [Habit("a", tick=grow, cooldown_s=9.0)]))
    tree.tick(0.1)
    assert diary == []
    tree.tick(0.1)
    assert tree.active_paths() == ["root/b/c"]


def test_a_habit_may_remove_itself(diary):
    leaf = diary.habit("leaf", tick=lambda context: context.tree.remove("root/leaf"))
    tree = HabitTree(diary.habit("root", leaf, diary.habit("rest")))
    tree.tick(0.1)
    assert diary.read() == ["enter root", "enter leaf", "exit leaf"]
    tree.tick(0.1)
    assert tree.active_paths() == ["root/rest"]


def sequence(diary, names="abc"):
    tree = HabitTree(diary.habit("root", *(diary.habit(name) for name in names), launch=Launch.SEQUENTIAL))
    diary.results["a"] = SUCCEEDED
    tree.tick(0.1)
    assert tree.active_paths() == ["root/b"]
    diary.read()
    return tree


def test_sequence_goes_on_with_next_when_active_step_is_removed(diary):
    tree = sequence(diary)
    tree.remove("root/b")
    tree.tick(0.1)
    assert diary.read() == ["exit b", "enter c", "tick c"]


def test_sequence_succeeds_when_its_last_active_step_is_removed(diary):
    tree = sequence(diary, "ab")
    tree.remove("root/b")
    assert tree.tick(0.1) is SUCCEEDED
    assert diary.read() == ["exit b", "exit root"]


def test_steps_added_before_the_active_count_as_done(diary):
    tree = sequence(diary)
    tree.add("root", diary.habit("early"), before="a")
    tree.add("root", diary.habit("soon"), before="c")
    diary.results |= {"b": SUCCEEDED, "soon": SUCCEEDED}
    tree.tick(0.1)
    assert [line for line in diary if line.startswith("enter")] == ["enter soon", "enter c"]


def test_holds_cooldowns_and_what_is_kept_stay_with_their_path(diary):
    def keep(context):
        context.kept["seen"] = 1
        context.hold()

    root = diary.habit("root", diary.habit("dodge"), Habit("act", tick=keep), diary.habit("rest"))
    diary.wants = {"root", "rest"}
    tree = HabitTree(root)
    tree.tick(0.1)
    tree.add("root", diary.habit("first"), before="dodge")
    diary.wants |= {"first", "dodge"}
    tree.tick(0.1)
    assert tree.active_paths() == ["root/act"]
    assert tree.root_run.child.kept == {"seen": 1}


def test_another_definition_with_the_same_habits_goes_on(tree, diary):
    fight = tree.definition.children[0]
    tree.change(tree.definition.with_children([fight]))
    assert diary == []
    tree.change(diary.habit("guard", fight))
    assert diary.read() == ["exit attack", "exit fight", "exit guard"]


@pytest.mark.parametrize(
    ("edit", "error", "message"),
    [
        (lambda root: removed(root, "guard"), ValueError, "'guard' is the root"),
        (lambda root: removed(root, "guard/fihgt"), UnknownNameError, "did you mean 'guard/fight'"),
        (lambda root: removed(root, "fight"), UnknownNameError, "unknown habit 'fight'; known: 'guard'"),
        (lambda root: removed(root, "guard/walk/step"), ValueError, "'guard/walk': a sequential habit must have"),
        (lambda root: added(root, "guard", Habit("walk")), ValueError, "two children are named 'walk'"),
        (lambda root: added(root, "guard", "walk"), TypeError, "every child must be a Habit, got 'walk'"),
        (lambda root: added(root, "guard", Habit("a"), before="b"), UnknownNameError, "below 'guard' 'b'"),
        (lambda root: replaced(root, "guard/fight", Habit("walk")), ValueError, "two children are named 'walk'"),
        (lambda root: replaced(root, "guard/fight", None), TypeError, "habit must be a Habit, got None"),
        (lambda root: removed(root, 3), TypeError, "path must be a string like 'root/fight', got 3")])
def test_edits_that_cannot_be_are_refused_and_change_nothing(edit, error, message):
    root = Habit("guard", [Habit("fight"), Habit("walk", [Habit("step")], Launch.SEQUENTIAL)])
    with pytest.raises(error, match=message):
        edit(root)
    assert [child.name for child in root.children] == ["fight", "walk"]


def test_edit_that_needs_a_random_generator_requires_one(tree, diary):
    with pytest.raises(ValueError, match="'guard/idle' requires a random generator"):
        tree.add("guard", diary.habit("idle", diary.habit("yawn"), launch=Launch.RANDOM))
    tree.tick(0.1)
    assert tree.active_paths() == ["guard/fight/attack"]
