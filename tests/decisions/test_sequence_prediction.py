"""What they will do next: n-grams that back off, and say how sure they are."""
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.decisions.adaptation import SequencePrediction
from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError

MOVES = ("jab", "hook", "kick")


def seen(moves, **more):
    one = SequencePrediction(MOVES, **more)
    for move in moves:
        one.note(move)
    return one


def test_before_anything_came_all_are_alike_and_nothing_is_sure():
    assert seen([]).predict() == ("jab", pytest.approx(1 / 3), 0.0)


def test_a_habit_is_found_and_the_surer_the_longer_it_lasts():
    short, long = (seen(["jab", "jab", "kick"] * times + ["jab", "jab"]) for times in (2, 20))
    assert short.predict().symbol == long.predict().symbol == "kick"
    assert 0.2 < short.predict().confidence < long.predict().confidence < 1.0


def test_it_looks_as_far_back_as_it_must():
    pattern = ["jab", "hook", "jab", "kick"]
    assert seen([*pattern * 10, "jab"], longest=2).predict().symbol == "hook"
    assert seen([*pattern * 10, "jab", "hook", "jab"], longest=2).predict().symbol == "kick"
    assert seen([*pattern * 10, "jab"], longest=0).predict().symbol == "jab"


def test_unseen_sequence_backs_off_to_the_most_frequent():
    one = seen(["jab"] * 9 + ["kick"])
    assert one.predict().symbol == "jab"
    assert one.predict().confidence < seen(["jab"] * 10).predict().confidence


def test_habits_that_change_are_forgotten():
    one = seen(["jab"] * 50 + ["kick"] * 10, half_life=5.0)
    assert one.predict().symbol == "kick"
    assert one.predict().confidence > 0.6


def test_an_interrupted_sequence_begins_anew_and_forgets_nothing():
    one = seen(["jab", "kick"] * 10 + ["jab"])
    assert one.predict().symbol == "kick"
    one.interrupt()
    assert one.predict().confidence < 0.35


def test_memory_is_bounded():
    names = [str(number) for number in range(30)]
    one = SequencePrediction(names, longest=3, max_sequences=40)
    for number in range(500):
        one.note(names[number * number % 29])
    assert len(one.save_state()["sequences"]) == 40
    assert sum(one.probabilities().values()) == pytest.approx(1.0)


def test_a_single_symbol_is_certain():
    assert SequencePrediction(["only"]).predict() == ("only", 1.0, 1.0)


class PlainPrediction:
    """Keeps the whole sequence, and counts it anew at each question."""

    def __init__(self, longest, half_life):
        self.longest, self.half_life, self.moves = longest, half_life, []

    def probabilities(self):
        chances = dict.fromkeys(MOVES, 1 / len(MOVES))
        for length in range(min(self.longest, len(self.moves)) + 1):
            counts = dict.fromkeys(MOVES, 0.0)
            last = self.moves[len(self.moves) - length :]
            for end in range(length, len(self.moves)):
                if self.moves[end - length : end] == last:
                    counts[self.moves[end]] += 0.5 ** ((len(self.moves) - 1 - end) / self.half_life)
            kinds = sum(min(count, 1.0) for count in counts.values())
            if kinds:
                whole = sum(counts.values()) + kinds
                chances = {move: (counts[move] + kinds * chances[move]) / whole for move in MOVES}
        return chances


@pytest.mark.slow
@given(st.lists(st.sampled_from(MOVES), max_size=30))
def test_probabilities_equal_those_of_a_complete_memory(moves):
    ours, plain = seen(moves, longest=2, half_life=6.0), PlainPrediction(2, 6.0)
    plain.moves = moves
    assert ours.probabilities() == pytest.approx(plain.probabilities(), abs=1e-12)
    loaded = SequencePrediction(MOVES, longest=2, half_life=6.0)
    loaded.prepare_state(json.loads(json.dumps(ours.save_state())))()
    assert loaded.save_state() == ours.save_state()
    assert loaded.predict() == ours.predict()


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: SequencePrediction([]), ValueError, "symbols must hold at least one name"),
        (lambda: SequencePrediction(["a", "a"]), ValueError, "two symbols are named 'a'"),
        (lambda: SequencePrediction(["a"], longest=-1), ValueError, "longest must be at least 0"),
        (lambda: SequencePrediction(["a"], longest=17), ValueError, "longest must be at most 16"),
        (lambda: SequencePrediction(["a"], longest=True), TypeError, "longest must be an integer"),
        (lambda: SequencePrediction(["a"], half_life=float("nan")), ValueError, "half_life must be a finite number"),
        (lambda: SequencePrediction(["a"], max_sequences=3), ValueError, "max_sequences must be at least 4"),
        (lambda: seen(["jabb"]), UnknownNameError, "unknown symbol 'jabb'; did you mean 'jab'?"),
        (lambda: seen([["jab"]]), UnknownNameError, "unknown symbol")])
def test_misuse_is_told_at_the_call(make, error, says):
    with pytest.raises(error) as raised:
        make()
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda state: state.update(symbols=["jab"]), "'symbols' must be ['jab'"),
        (lambda state: state.update(recent=[0] * 9), "must hold at most 3 symbols"),
        (lambda state: state.update(recent=[7]), "'recent[0]' must be at most 2, got 7"),
        (lambda state: state["sequences"][0][1].update(counts=[1.0]), "must be a list of 3"),
        (lambda state: state["sequences"][0][1].update(counts=[-1.0, 0.0, 0.0]), "must be at least 0"),
        (lambda state: state["sequences"][0][1].update(noted_at=99), "must have been noted up to 4"),
        (lambda state: state["sequences"].append(state["sequences"][0]), "occurs twice")])
def test_mismatched_state_is_refused_and_nothing_changes(change, says):
    one = seen(["jab", "hook", "jab", "kick"])
    before = one.save_state()
    state = json.loads(json.dumps(before))
    change(state)
    with pytest.raises(StateError) as raised:
        one.prepare_state(state)
    assert says in str(raised.value)
    assert one.save_state() == before
