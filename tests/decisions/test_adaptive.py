"""Choosing between tactics: by what went well here, and by what they will do."""
from __future__ import annotations

import json
import math
import random
import re

import pytest

from ai_core.decisions.adaptation import AdaptiveChoice, SequencePrediction, SuccessMemory
from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError

ANSWERS = {"block": {"high": 1.0, "low": -1.0}, "jump": {"low": 1.0, "high": -1.0}}


def memory(**more):
    return SuccessMemory(["rush", "block", "jump"], {"health": lambda situation: situation}, **more)


def fighter(seed=1, **more):
    prediction = SequencePrediction(["high", "low"], longest=2)
    return AdaptiveChoice(memory(), random.Random(seed), prediction=prediction, answers=ANSWERS, **more)


class Always:
    """A generator that gives one number, and counts how often it was asked."""

    def __init__(self, number):
        self.number, self.asked = number, 0

    def random(self):
        self.asked += 1
        return self.number


def test_it_begins_with_the_default_tactic():
    choice = AdaptiveChoice(memory(defaults={"block": 0.5}), random.Random(1), exploration=0.0)
    assert choice.choose("full") == ("block", 0.5, False)


def test_of_equal_tactics_the_first_is_chosen():
    assert AdaptiveChoice(memory(), random.Random(1), exploration=0.0).choose("full").tactic == "rush"


def test_failing_tactic_is_dropped_only_in_that_situation():
    choice = AdaptiveChoice(memory(defaults={"rush": 0.25}), random.Random(1), exploration=0.0)
    for _ in range(10):
        choice.choose("full")
        choice.note(1.0)
    for _ in range(10):
        tactic = choice.choose("hurt").tactic
        choice.note(-1.0 if tactic == "rush" else 0.5)
    assert choice.choose("full").tactic == "rush"
    assert choice.choose("hurt").tactic != "rush"


def test_it_answers_the_predicted_move_once_it_sees_a_habit():
    choice = fighter(exploration=0.0)
    assert choice.choose("full").tactic == "rush"
    for _ in range(12):
        choice.saw("high")
        choice.saw("low")
    assert choice.choose("full").tactic == "block"
    choice.saw("high")
    assert choice.choose("full").tactic == "jump"


def test_the_surer_the_prediction_the_less_memory_counts():
    choice = fighter(exploration=0.0)
    choice.memory.note("block", -1.0, "full")
    for _ in range(3):
        choice.saw("high")
    chances, sure = choice.prediction.probabilities(), choice.prediction.predict().confidence
    remembered = choice.memory.expected("block", "full")
    assert 0.1 < sure < 1.0
    wanted = (1 - sure) * remembered + sure * (chances["high"] - chances["low"])
    assert choice.values("full")["block"] == pytest.approx(wanted)


def test_it_tries_every_tactic_equally_with_one_draw_each_time():
    trials = [
        AdaptiveChoice(memory(), Always(mark), exploration=0.3).choose("full")
        for mark in (0.0, 0.0999, 0.1001, 0.2001, 0.2999, 0.3)]
    assert [one.tactic for one in trials] == ["rush", "rush", "block", "jump", "jump", "rush"]
    assert [one.is_trial for one in trials] == [True] * 5 + [False]
    for exploration in (0.0, 1.0):
        source = Always(0.5)
        AdaptiveChoice(memory(), source, exploration=exploration).choose("full")
        assert source.asked == 1


def test_the_last_tactic_can_be_part_of_the_situation():
    choices = []
    after = SuccessMemory(["a", "b"], {"last": lambda situation: choices[0].last_tactic})
    choices.append(AdaptiveChoice(after, random.Random(1), exploration=0.0))
    for _ in range(20):  # twice the same never works
        before = choices[0].last_tactic
        tactic = choices[0].choose().tactic
        choices[0].note(-1.0 if tactic == before else 1.0)
    assert {choices[0].choose().tactic, choices[0].choose().tactic} == {"a", "b"}


def test_a_loaded_choice_goes_on_as_the_saved_one():
    first, second = fighter(1, exploration=0.5), fighter(2, exploration=0.5)

    def live(one, number):
        chosen = one.choose("full" if number % 3 else "hurt")
        one.note(0.5 if chosen.tactic == "jump" else -0.25)
        one.saw(("high", "low")[number % 2])
        return chosen

    for number in range(20):
        live(first, number)
    second.prepare_state(json.loads(json.dumps(first.save_state())))()
    assert second.to_text("full") == first.to_text("full")
    assert [live(second, number) for number in range(20)] == [live(first, number) for number in range(20)]
    assert second.save_state() == first.save_state()


def test_the_text_shows_what_each_tactic_promises():
    choice = fighter()
    for _ in range(5):
        choice.saw("high")
    lines = choice.to_text("full").splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == ["rush", "block", "jump"]
    assert re.fullmatch(r"expects high \(\d+%, confidence 9\d%\)", lines[3])
    assert lines[0] == "rush: +0.00"


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: AdaptiveChoice([], random.Random(1)), TypeError, "memory must be a SuccessMemory"),
        (lambda: AdaptiveChoice(memory(), None), TypeError, "pass random.Random(seed)"),
        (lambda: AdaptiveChoice(memory(), random.Random(1), exploration=1.5), ValueError, "must be at most 1"),
        (lambda: AdaptiveChoice(memory(), random.Random(1), exploration=math.nan), ValueError, "a finite number"),
        (lambda: AdaptiveChoice(memory(), random.Random(1), answers=ANSWERS), ValueError, "must be given together"),
        (lambda: AdaptiveChoice(memory(), random.Random(1), prediction=3), TypeError, "must be a SequencePrediction"),
        (lambda: AdaptiveChoice(memory(), random.Random(1)).note(1.0), RuntimeError, "call choose before note"),
        (lambda: AdaptiveChoice(memory(), random.Random(1)).saw("high"), RuntimeError, "pass a SequencePrediction"),
        (lambda: fighter().saw("hihg"), UnknownNameError, "did you mean 'high'?")])
def test_misuse_is_told_at_the_call(make, error, says):
    with pytest.raises(error) as raised:
        make()
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("answers", "error", "says"),
    [
        ({"duck": {}}, UnknownNameError, "unknown tactic in answers 'duck'"),
        ({"jump": {"mid": 1.0}}, UnknownNameError, "unknown move in answers of 'jump' 'mid'"),
        ({"jump": {"low": 2.0}}, ValueError, "the worth of 'jump' against 'low' must be at most 1")])
def test_answers_name_what_there_is(answers, error, says):
    prediction = SequencePrediction(["high", "low"])
    with pytest.raises(error) as raised:
        AdaptiveChoice(memory(), random.Random(1), prediction=prediction, answers=answers)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"last": ["duck", ["full"]]}, "'last[0]' must be"),
        ({"last": ["jump", []]}, "'last' must have a kind for each of the 1 features"),
        ({"prediction": None}, "'prediction' must be present exactly if"),
        ({"random": {}}, "'random.index' is missing"),
        ({"memory": 3}, "must be a dict")])
def test_a_state_that_does_not_fit_is_refused(change, says):
    choice = fighter()
    choice.choose("full")
    with pytest.raises(StateError) as raised:
        choice.prepare_state({**choice.save_state(), **change})
    assert says in str(raised.value)
