"""The museum: its story comes out of what the guards sense, and fails without it."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import singleton

SCENE = "res://demo_project/scenes/museum.tscn"
# Game time in which the story must be over, whatever its own limit says.
LIMIT_S = 70

pytestmark = pytest.mark.slow


@pytest.fixture
def museum(nodes_of_test, physics_frames, signals):
    """``museum(**story_settings)``: the scripted museum, played to the end; what was told, and the verdict."""

    class Played:
        def __init__(self, prepare=None, **story_settings):
            node = singleton("ResourceLoader").load(SCENE).instantiate()
            node.set("is_scripted", True)
            story = node.get_node("Life/Story")
            for name, value in story_settings.items():
                story.set(name, value)
            for guard in ("Alice", "Bob"):
                if prepare is not None:
                    prepare(node.get_node(f"Life/{guard}"))
            told, verdict = signals(story, "reported"), signals(story, "finished")
            nodes_of_test.keep(node, None)
            for _ in range(LIMIT_S):
                if verdict:
                    break
                physics_frames(60)
            self.verdicts = verdict
            self.lines = [(who, what) for _, who, what, _ in told]
            self.summary = story.call("summary")

    return Played


def test_a_guard_hears_sees_chases_loses_and_gives_up(museum):
    played = museum()
    assert played.verdicts == [(True,)], played.summary
    bobs = [what for who, what in played.lines if who == "Bob"]
    chapters = ["hears", "investigates", "sees", "chases", "searches", "gives up"]
    assert [what for what in bobs if what in chapters] == chapters
    assert bobs[-1] == "patrols"


def test_a_door_signal_becomes_an_event_that_a_guard_answers(museum):
    lines = museum().lines
    assert lines.index(("event", "back_door_opened")) < lines.index(("Alice", "answers"))


def test_deaf_and_blind_guards_tell_no_story(museum):
    def blindfold(guard):
        sensor = guard.get_node("Sensor")
        sensor.set("hearing_threshold", 100.0)
        sensor.set("sight_threshold", 100.0)

    played = museum(blindfold, time_limit_s=20.0)
    assert played.verdicts == [(False,)]
    assert "MISSING: Bob hears" in played.summary
