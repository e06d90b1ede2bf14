"""The live view: what is active, what is pending, and why?"""
from __future__ import annotations

from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from tests.decisions.diary import Diary


class AlwaysLast:
    """A generator that chooses the last child."""

    def random(self):
        return 0.99


def guard_tree(diary):
    root = diary.habit(
        "guard",
        diary.habit("dodge"),
        diary.habit("attack", diary.habit("shoot")),
        diary.habit("idle", diary.habit("yawn"), diary.habit("hum"), launch=Launch.RANDOM),
        diary.habit("talk", non_blocking=True))
    return HabitTree(root, name="bob", random=AlwaysLast())


def test_before_the_first_tick_all_is_pending():
    assert guard_tree(Diary()).to_text().splitlines() == [
        "bob",
        "  guard: pending, waits for the next tick",
        "    dodge: pending, guard is not active",
        "    attack: pending, guard is not active",
        "      shoot: pending, attack is not active",
        "    idle: pending, guard is not active",
        "      yawn: pending, idle is not active",
        "      hum: pending, idle is not active",
        "    talk: pending, guard is not active"]


def test_text_says_why_habits_are_active_or_pending():
    diary = Diary(wants="guard idle yawn hum talk")
    tree = guard_tree(diary)
    tree.tick(0.1)
    tree.tick(0.25)
    assert tree.to_text().splitlines() == [
        "bob",
        "* guard: active for 0.25 s, can activate",
        "    dodge: pending, cannot activate",
        "    attack: pending, cannot activate",
        "      shoot: pending, attack is not active",
        "  * idle: active for 0.25 s, can activate",
        "      yawn: pending, hum was chosen",
        "    * hum: active for 0.25 s, chosen 2 of 2",
        "  * talk: active for 0.25 s, beside the others"]


def test_text_says_a_refusal_only_of_habits_that_were_asked():
    tree = HabitTree(Habit("root", [
        Habit("fire", begins_on=["alarm"], can_activate=lambda _: False),
        Habit("look", can_activate=lambda _: 1 / 0),
        Habit("rest", can_activate=lambda _: False)]), name="bob")

    def reasons():
        return [line.partition("pending, ")[2] for line in tree.to_text(lambda place: "refused").splitlines()[2:]]

    tree.tick(0.1)
    assert reasons() == ["waits for alarm", "its can_activate raised an error, which was reported", "refused"]
    tree.notify("alarm")
    for _ in range(2):
        tree.tick(0.1)
        assert reasons()[0] in ("refused", "waits for alarm")
    assert reasons() == ["waits for alarm", "quarantined after repeated failures", "refused"]


def test_text_says_last_outcomes_and_interrupted_habits():
    diary = Diary(wants="guard attack shoot")
    tree = guard_tree(diary)
    tree.tick(0.1)
    diary.wants.add("dodge")
    tree.tick(0.1)
    lines = tree.to_text().splitlines()
    assert lines[2] == "  * dodge: active for 0.00 s, interrupted attack"
    assert lines[3] == "    attack: pending, dodge is more urgent (before: interrupted by dodge)"
    assert lines[4] == "      shoot: pending, attack is not active (before: its parent ended)"


def test_hold_is_shown_on_every_level_and_on_what_it_blocks():
    diary = Diary(wants="root act swing")
    tree = HabitTree(
        diary.habit(
            "root", diary.habit("dodge"), diary.habit("act", diary.habit("swing", uninterruptible=True))))
    tree.tick(0.1)
    diary.wants.add("dodge")
    tree.tick(0.5)
    assert tree.to_text().splitlines() == [
        "root",
        "* root: active for 0.50 s, holds, can activate",
        "    dodge: pending, held back by act",
        "  * act: active for 0.50 s, holds, can activate",
        "    * swing: active for 0.50 s, holds, can activate"]


def test_a_sequence_shows_what_is_done_and_whose_turn_comes():
    diary = Diary()
    diary.results["draw"] = Status.SUCCEEDED
    root = diary.habit(
        "shoot", *(diary.habit(name) for name in ("draw", "aim", "fire")), launch=Launch.SEQUENTIAL)
    tree = HabitTree(root)
    tree.tick(0.1)
    assert tree.to_text().splitlines()[2:] == [
        "    draw: pending, done (before: succeeded)",
        "  * aim: active for 0.00 s, next in sequence",
        "    fire: pending, its turn comes after aim"]


def test_a_sequence_that_could_not_go_on_tells_where():
    diary = Diary(wants="root a")
    diary.results["a"] = Status.SUCCEEDED
    root = diary.habit("root", diary.habit("a"), diary.habit("b"), launch=Launch.SEQUENTIAL)
    tree = HabitTree(root)
    tree.tick(0.1)
    lines = tree.to_text().splitlines()
    assert lines[1] == "  root: pending, waits for the next tick (before: failed)"
    assert lines[3] == "    b: pending, root is not active (before: could not activate in its turn)"
