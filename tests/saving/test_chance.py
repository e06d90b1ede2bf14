"""Generators of chance: saved, and going on where they were."""
from __future__ import annotations

import json
import random

import pytest

from ai_core.saving.chance import RandomState, prepare_random, save_random
from ai_core.saving.fields import StateError


@pytest.mark.parametrize("rolls", [0, 1, 623, 624, 1000])
def test_numbers_go_on_where_they_were(rolls):
    dice = random.Random(8)
    for _ in range(rolls):
        dice.getrandbits(32)
    dice.gauss(0, 1)
    state = json.loads(json.dumps(save_random(dice)))
    other = random.Random(1)
    prepare_random(other, state)()
    assert [other.gauss(0, 1), other.random()] == [dice.gauss(0, 1), dice.random()]


def test_preparing_changes_nothing():
    dice = random.Random(8)
    before = dice.getstate()
    prepare_random(dice, save_random(random.Random(9)))
    assert dice.getstate() == before


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("index", 625, "'index' must be at most 624, got 625"), ("words", "xyz", "'words' must be 624 words"),
     ("words", " " * 4992, "'words' must be 624 words"), ("gauss_next", "x", "'gauss_next' must be a finite number"),
     ("version", 2, "'version' is 2")],
)
def test_a_wrong_state_is_refused(field, value, message):
    state = {**save_random(random.Random(1)), field: value}
    with pytest.raises(StateError, match=message):
        prepare_random(random.Random(1), state)


@pytest.mark.parametrize("source", [random.SystemRandom(), object(), None])
def test_a_generator_that_cannot_be_saved_says_so_at_once(source):
    with pytest.raises(TypeError, match=r"cannot be saved; use random.Random\(seed\), or add the methods"):
        RandomState(source)


def test_a_generator_of_ones_own_saves_itself():
    class Counting:
        at = 0

        def random(self):
            self.at += 1
            return self.at / 100 % 1

        def save_state(self):
            return {"version": 1, "at": self.at}

        def prepare_state(self, state):
            return lambda: setattr(self, "at", state["at"])

    numbers = Counting()
    numbers.random()
    state = save_random(numbers)
    numbers.random()
    prepare_random(numbers, state)()
    assert numbers.random() == 0.02
