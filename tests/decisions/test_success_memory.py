"""How choices went, by context: from defaults, with forgetting, within bounds."""
from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.decisions.adaptation import TRUSTED_AFTER, SuccessMemory, bands
from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError

FEATURES = {"health": lambda situation: situation[0], "place": lambda situation: situation[1]}


def memory(**more):
    return SuccessMemory(["hit", "block"], FEATURES, **more)


def test_before_anything_is_known_the_defaults_hold():
    assert memory(defaults={"hit": 0.5}).expected("hit", ("low", "wall")) == 0.5
    assert memory().expected("block", ("low", "wall")) == 0.0


def test_outcomes_count_most_in_place_and_some_when_similar():
    one = memory()
    for _ in range(4):
        one.note("hit", 1.0, ("low", "wall"))
    situations = ("low", "wall"), ("low", "door"), ("high", "wall")
    here, alike, elsewhere = (one.expected("hit", where) for where in situations)
    assert 1.0 > here > alike > elsewhere > 0.0
    assert one.expected("block", ("low", "wall")) == 0.0


def test_the_same_choice_is_judged_apart_in_different_contexts():
    one = memory()
    for _ in range(10):
        one.note("hit", 1.0, ("high", "open"))
        one.note("hit", -1.0, ("low", "open"))
    assert one.expected("hit", ("high", "open")) > 0.5
    assert one.expected("hit", ("low", "open")) < -0.5


def test_what_is_long_ago_is_forgotten():
    one = memory(half_life=5.0)
    for _ in range(20):
        one.note("hit", 1.0, ("low", "wall"))
    for _ in range(10):
        one.note("hit", -1.0, ("low", "wall"))
    assert one.expected("hit", ("low", "wall")) < 0.0
    keeps = SuccessMemory(["hit", "block"], half_life=None)
    keeps.note("hit", 1.0)
    for _ in range(50):
        keeps.note("block", 0.0)
    assert keeps.expected("hit") == 1.0 / (1.0 + TRUSTED_AFTER)


def test_a_half_life_halves():
    one = SuccessMemory(["hit", "block"], half_life=10.0)
    one.note("hit", 1.0)
    for _ in range(10):
        one.note("block", 0.0)
    assert one.expected("hit") == pytest.approx(0.5 / (0.5 + TRUSTED_AFTER))


def test_memory_is_bounded_and_drops_the_least_recently_noted():
    one = memory(max_contexts=7)
    for number in range(100):
        one.note("hit", 1.0, (number, "wall"))
    assert one.contexts == 7
    assert one.expected("hit", (99, "wall")) > one.expected("hit", (0, "wall")) == one.expected("hit", (-1, "x"))


def test_without_features_there_is_one_context():
    one = SuccessMemory(["a"])
    one.note("a", 1.0)
    assert one.expected("a") == 1.0 / (1.0 + TRUSTED_AFTER)


class PlainMemory:
    """Keeps every outcome, and weighs all of them at each question."""

    def __init__(self, half_life):
        self.half_life, self.outcomes = half_life, []

    def expected(self, choice, context):
        value = 0.0
        for exact in range(len(context) + 1):
            weight = total = 0.0
            for age, (name, outcome, where) in enumerate(reversed(self.outcomes)):
                if name == choice and where[:exact] == context[:exact]:
                    weight += 0.5 ** (age / self.half_life)
                    total += outcome * 0.5 ** (age / self.half_life)
            value = (total + TRUSTED_AFTER * value) / (weight + TRUSTED_AFTER)
        return value


situations = st.tuples(st.sampled_from(["low", "high"]), st.integers(0, 2))


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["hit", "block"]), st.floats(-1, 1), situations), max_size=25), situations)
def test_expectations_equal_those_of_a_complete_memory(outcomes, asked):
    ours, plain = memory(half_life=8.0), PlainMemory(8.0)
    for outcome in outcomes:
        ours.note(*outcome)
        plain.outcomes.append(outcome)
    for choice in ("hit", "block"):
        assert ours.expected(choice, asked) == pytest.approx(plain.expected(choice, asked), abs=1e-12)
    loaded = memory(half_life=8.0)
    loaded.prepare_state(json.loads(json.dumps(ours.save_state())))()
    assert loaded.save_state() == ours.save_state()
    assert loaded.expected("hit", asked) == ours.expected("hit", asked)


def test_bands_tell_which_of_a_few_kinds_a_number_is_of():
    health = bands(0.3, 0.7)
    assert [health(value) for value in (0.0, 0.3, 0.5, 0.7, 2)] == [0, 1, 1, 2, 2]
    for limits in ((), (0.7, 0.3), (0.3, 0.3)):
        with pytest.raises(ValueError, match="limits must be one or more increasing numbers"):
            bands(*limits)
    with pytest.raises(ValueError, match="finite"):
        health(math.nan)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: SuccessMemory([]), ValueError, "choices must hold at least one name"),
        (lambda: SuccessMemory("hit"), TypeError, "put a single name in a tuple"),
        (lambda: SuccessMemory(["a", "a"]), ValueError, "two choices are named 'a'"),
        (lambda: SuccessMemory([1]), TypeError, "choices must be a sequence of names, got [1]"),
        (lambda: SuccessMemory(["a"], {"f": 3}), TypeError, "feature 'f' must be callable"),
        (lambda: SuccessMemory(["a"], defaults={"b": 0}), UnknownNameError, "unknown choice 'b'"),
        (lambda: SuccessMemory(["a"], defaults={"a": 2}), ValueError, "the default of 'a' must be at most 1"),
        (lambda: SuccessMemory(["a"], half_life=0), ValueError, "half_life must be above 0"),
        (lambda: SuccessMemory(["a"], max_contexts=0), ValueError, "max_contexts must be at least 1"),
        (lambda: memory().note("kick", 1, ("a", "b")), UnknownNameError, "unknown choice 'kick'"),
        (lambda: memory().note("hit", math.nan, ("a", "b")), ValueError, "outcome must be a finite number"),
        (lambda: memory().note("hit", 1.5, ("a", "b")), ValueError, "outcome must be at most 1"),
        (lambda: memory().note("hit", True, ("a", "b")), TypeError, "outcome must be a number"),
        (lambda: memory().note("hit", 1, (0.5, "b")), TypeError, "feature 'health' must return a string or an integer"),
        (lambda: memory().note("hit", 1, (True, "b")), TypeError, "feature 'health' must return a string"),
        (lambda: memory().note_in(("a",), "hit", 1), ValueError, "context must have 2 kinds")])
def test_misuse_is_told_at_the_call(make, error, says):
    with pytest.raises(error) as raised:
        make()
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda state: state.update(choices=["hit"]), "'choices' must be ['hit'"),
        (lambda state: state.update(noted=0), "must have been noted up to 0"),
        (lambda state: state["contexts"][0].__setitem__(0, ["a", "b", "c"]),
         "must have at most one kind for each of the 2"),
        (lambda state: state["contexts"][0].__setitem__(0, [0.5]), "must be an integer"),
        (lambda state: state["contexts"][1].__setitem__(0, ["low", "wall"]), "'contexts[1][0]' occurs twice"),
        (lambda state: state["contexts"][0][1].update(totals=[5.0, 0.0]), "must have totals within their weights"),
        (lambda state: state["contexts"][0][1].update(weights=[1.0]), "must be a list of 2"),
        (lambda state: state.update(contexts=state["contexts"] * 99), "occurs twice")])
def test_mismatched_state_is_refused_and_nothing_changes(change, says):
    one = memory()
    one.note("hit", 1.0, ("low", "wall"))
    state, before = json.loads(json.dumps(one.save_state())), one.save_state()
    change(state)
    with pytest.raises(StateError) as raised:
        one.prepare_state(state)
    assert says in str(raised.value)
    assert one.save_state() == before


@pytest.mark.parametrize("kind", [1.5, [1], None])
def test_a_kind_that_cannot_be_saved_is_refused(kind):
    memory = SuccessMemory(["go"], {"near": lambda _: 1})
    with pytest.raises(TypeError, match="feature 'near' must return a string or an integer"):
        memory.note_in((kind,), "go", 1.0)
    assert memory.save_state() == SuccessMemory(["go"], {"near": lambda _: 1}).save_state()
