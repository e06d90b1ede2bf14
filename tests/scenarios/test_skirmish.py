"""The skirmish: alike for a seed, saved in the middle, it ends, and who scouts wins."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.snapshot import from_json, restore, take, to_json
from demo_project.scenarios.skirmish import Skirmish
from demo_project.scenarios.skirmish_ground import Ground

SMALL = {"units": 40, "side_cells": 40, "limit_s": 160.0}


def test_the_ground_is_alike_from_both_sides():
    for seed in range(20):
        ground = Ground(np.random.default_rng(seed), 40)
        assert (ground.is_open == ground.is_open[::-1, ::-1]).all()
        assert np.allclose(ground.turned(ground.bases[:1]), ground.bases[1:])
        half = len(ground.sites) // 2
        assert np.allclose(ground.turned(ground.sites[:half]), ground.sites[half:])
        assert ground.is_open.reshape(-1)[ground.area.cells_of(ground.sites)].all()


def test_both_begin_with_the_same_units():
    game = Skirmish(3, units=30)
    kinds = [sorted(game.battle.kind[game.battle.rows(number)].tolist()) for number in (0, 1)]
    assert kinds[0] == kinds[1]
    assert len(kinds[0]) == 30


def test_the_same_seed_plays_the_same_game_and_another_another():
    def told(seed):
        game = Skirmish(seed, **SMALL)
        for _ in range(150):
            game.step()
        return game.observe()

    assert told(4) == told(4)
    assert told(4) != told(5)


def test_saved_in_the_middle_it_goes_on_to_the_last_bit():
    game, other = Skirmish(2, **SMALL), Skirmish(2, **SMALL)
    for _ in range(220):
        game.step()
    text = to_json(take(game.parts))
    restore(from_json(text), other.parts)
    for one in (game, other):
        for _ in range(60):
            one.step()
    assert other.observe() == game.observe()
    assert to_json(take(other.parts)) == to_json(take(game.parts))


@pytest.mark.slow
def test_it_ends_with_a_winner_or_a_draw_that_is_explained():
    score = Skirmish(1, **{**SMALL, "limit_s": 120.0}).play()
    assert score.seconds <= 120.0 + 1
    assert score.why
    assert score.winner in (0, 1, None)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_who_scouts_wins_most_of_ten_games():
    """The whole claim, 70 of 100, is judged by ``dev.py skirmish --seeds 100``.

    Of whole games: small ones, with 40 units a side, are won by little more than half of those who scout.
    """
    wins = 0
    for seed in range(10):
        scouts = seed % 2
        score = Skirmish(seed, scouting=(scouts == 0, scouts == 1)).play()
        wins += score.winner == scouts
    assert wins >= 7
