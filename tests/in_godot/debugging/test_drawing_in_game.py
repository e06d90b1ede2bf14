"""What is drawn in a running game is paid for by no budget, and changes nothing of what the AI does."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3
from addons.ai_core.nodes.debugging.game_picture import GamePicture


@pytest.fixture
def drawn_in_turn(scheduler, monkeypatch):
    """A list that grows by each drawing: whether the scheduler's turn was under way."""
    found, draw, core, turns = [], GamePicture.draw, scheduler.core, []

    class Watched:
        def __getattr__(self, name):
            return getattr(core, name)

        def advance(self, budget):
            turns.append(budget)
            core.advance(budget)
            turns.pop()

    def note(self, lines):
        found.append(bool(turns))
        draw(self, lines)
    scheduler._core = Watched()
    monkeypatch.setattr(GamePicture, "draw", note)
    return found


def guard_and_thief(node, scheduler, shown):
    manager = node("SenseManager", scheduler, show_in_game=shown)
    guard = node("Sensor3D")
    thief = node("SenseSource3D", position=Vector3(0, 0, -5))
    return manager, guard, thief


def test_senses_are_drawn_after_the_frame_of_ai(node, scheduler, frames, drawn_in_turn):
    guard_and_thief(node, scheduler, True)
    frames(4)
    assert len(drawn_in_turn) >= 3
    assert not any(drawn_in_turn)


def test_inner_schedulers_draw_after_the_outer_frame(node, scheduler, frames, drawn_in_turn):
    inner = node("AIScheduler", scheduler)
    guard_and_thief(node, inner, True)
    frames(4)
    assert len(drawn_in_turn) >= 3
    assert not any(drawn_in_turn)


def test_the_ai_does_the_same_with_and_without_pictures(node, frames):
    runs = {}
    for shown in (False, True):
        scheduler = node("AIScheduler", budget=0.0)
        _, guard, thief = guard_and_thief(node, scheduler, shown)
        said = []
        guard.connect("target_gained", lambda *_, said=said, of=scheduler: said.append(of.clock.now.frame))
        thief.position = Vector3(0, 0, 5)
        frames(3)
        thief.position = Vector3(0, 0, -5)
        frames(3)
        runs[shown] = said, [row["runs"] for row in scheduler.get_stats()["behaviors"]]
        for one in (guard, thief, scheduler):
            one.free()
    assert runs[True] == runs[False]


def test_a_picture_that_raises_is_reported_and_others_are_drawn(node, scheduler, frames, expect_errors):
    drawn = []
    first, second = node("Squad", scheduler, show_in_game=True), node("Squad", scheduler, show_in_game=True)

    def fail():
        raise ValueError("no ink")
    scheduler.draw_later(first, fail)
    scheduler.draw_later(second, lambda: drawn.append("second"))
    expect_errors("no ink")
    frames(2)                    # reporting may take so long that the others wait for the next
    assert drawn == ["second"]


def test_one_that_leaves_the_tree_is_not_drawn(node, scheduler, frames):
    drawn = []
    squad = node("Squad", scheduler, show_in_game=True)
    scheduler.draw_later(squad, lambda: drawn.append("squad"))
    squad.free()
    frames(1)
    assert drawn == []
