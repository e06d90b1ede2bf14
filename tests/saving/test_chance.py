"""Generators of chance: saved, and going on where they were."""
from __future__ import annotations

import json
import random

import pytest

from ai_core.saving.chance import RandomGenerator, RandomState
from ai_core.saving.fields import StateError

KIND = RandomGenerator()


@pytest.mark.parametrize("rolls", [0, 1, 623, 624, 1000])
def test_numbers_go_on_where_they_were(rolls):
    dice = random.Random(8)
    for _ in range(rolls):
        dice.getrandbits(32)
    dice.gauss(0, 1)
    state = json.loads(json.dumps(KIND.save(dice, None)))
    other = random.Random(1)
    KIND.prepare(other, state, "dice")()
    assert [other.gauss(0, 1), other.random()] == [dice.gauss(0, 1), dice.random()]


def test_preparing_changes_nothing():
    dice = random.Random(8)
    before = dice.getstate()
    KIND.prepare(dice, KIND.save(random.Random(9), None), "dice")
    assert dice.getstate() == before


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("index", 625, "'dice.index' must be at most 624, got 625"), ("words", "xyz", "'dice.words' must be 624 words"),
     ("words", " " * 4992, "'dice.words' must be 624 words"), ("gauss_next", "x", "must be a finite number"),
     ("more", 2, "'dice.more' is an unknown field")],
)
def test_a_wrong_state_is_refused(field, value, message):
    state = {**KIND.save(random.Random(1), None), field: value}
    with pytest.raises(StateError, match=message):
        KIND.prepare(random.Random(1), state, "dice")


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
    state = KIND.save(numbers, None)
    numbers.random()
    KIND.prepare(numbers, state, "dice")()
    assert numbers.random() == 0.02
