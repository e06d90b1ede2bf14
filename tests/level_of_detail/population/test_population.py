"""Populations: people become counts and distributions, and people again."""
from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.dependence import rank_correlation
from ai_core.level_of_detail.population.distributions import Normal, PowerLaw
from ai_core.level_of_detail.population.population import POPULATION_STATE, Population
from ai_core.saving.fields import StateError

PROPERTIES = {"age": Normal(40.0, 15.0), "health": Normal(0.6, 0.25), "wealth": PowerLaw(2.5, 10.0)}
DEPENDENCES = {("age", "health"): -0.6, ("wealth", "age"): 0.3}


def town(count=10_000):
    jobs = Categorical({"farmer": count * 7 // 10, "smith": count - count * 7 // 10})
    return Population(count, {**PROPERTIES, "job": jobs}, dependences=DEPENDENCES)


def check_same(now, before, *, spread=1e-9, correlation=1e-9):
    """Counts exact, totals to 1e-9, spreads and dependences within bounds."""
    assert now.count == before.count
    assert now.properties["job"] == before.properties["job"]
    for name in before.numeric:
        assert now.total(name) == pytest.approx(before.total(name), rel=1e-9)
    assert now.properties["age"].deviation == pytest.approx(before.properties["age"].deviation, rel=spread)
    assert now.properties["wealth"].exponent == pytest.approx(before.properties["wealth"].exponent, rel=spread)
    assert now.properties["health"].deviation == pytest.approx(before.properties["health"].deviation, rel=spread)
    for pair, value in before.dependences.items():
        assert now.dependences[pair] == pytest.approx(value, abs=correlation)


@pytest.mark.slow
@pytest.mark.parametrize("generator", [random.Random(1), np.random.default_rng(1)], ids=["random", "numpy"])
def test_ten_thousand_people_are_what_they_were_compressed_to(generator):
    before = town()
    people = before.expand(generator)
    assert {name: len(column) for name, column in people.items()} == dict.fromkeys(people, 10_000)
    assert people["age"].mean() == pytest.approx(40, rel=1e-9)
    assert people["age"].std() == pytest.approx(15, rel=1e-9)
    assert rank_correlation(people["age"], people["health"]) == pytest.approx(-0.6, abs=1e-4)
    assert rank_correlation(people["age"], people["wealth"]) == pytest.approx(0.3, abs=1e-4)
    assert abs(rank_correlation(people["health"], people["wealth"])) < 0.25  # nothing was said of them
    check_same(before.compressed(people), before)


@pytest.mark.slow
def test_a_thousand_random_openings_and_closings_change_nothing():
    before, chance = town(), random.Random(7)
    parts = before.split([100] * 100, chance)
    for _ in range(1_000):
        at = chance.randrange(len(parts))
        if chance.random() < 0.2 and len(parts) > 2:
            parts[at:at + 2] = [parts[at].merged(parts[at + 1])] if at + 1 < len(parts) else [parts[at]]
        elif chance.random() < 0.25 and parts[at].count > 60:
            half = parts[at].count // 2
            parts[at:at + 1] = parts[at].split([half, parts[at].count - half], chance)
        else:
            parts[at] = parts[at].compressed(parts[at].expand(chance))
    together = parts[0]
    for one in parts[1:]:
        together = together.merged(one)
    check_same(together, before, spread=1e-6, correlation=2e-3)


@settings(max_examples=20)
@given(st.integers(0, 120), st.integers(0, 99))
def test_opening_keeps_counts_and_totals_of_any_number_of_people(count, seed):
    before = town(count)
    now = before.compressed(before.expand(random.Random(seed)))
    assert now.count == count
    assert now.properties["job"].total == count
    for name in before.numeric:
        assert now.total(name) == pytest.approx(before.total(name), rel=1e-9)


def test_the_same_generator_makes_the_same_people():
    one, other = (town(200).expand(random.Random(3)) for _ in range(2))
    assert all((one[name] == other[name]).all() for name in one)
    assert (one["age"] != town(200).expand(random.Random(4))["age"]).any()


def test_parts_merged_again_are_the_whole():
    before = town(1_000)
    parts = before.split([0, 300, 1, 699], random.Random(5))
    assert [one.count for one in parts] == [0, 300, 1, 699]
    together = parts[0]
    for one in parts[1:]:
        together = together.merged(one)
    check_same(together, before)


def test_what_people_did_while_open_is_kept():
    before = town(500)
    people = before.expand(random.Random(6))
    people["age"] += 1
    people["wealth"][:] = np.sort(people["wealth"])[np.argsort(np.argsort(people["health"]))]
    now = before.compressed(people)
    assert now.total("age") == pytest.approx(before.total("age") + 500, rel=1e-12)
    assert now.total("wealth") == pytest.approx(before.total("wealth"), rel=1e-12)
    assert now.dependences["age", "wealth"] == pytest.approx(-0.6, abs=0.01)
    fewer = before.compressed({name: column[:450] for name, column in people.items()})
    assert fewer.count == 450


def test_equal_values_and_few_people_say_nothing_of_dependence():
    same = Population(100, {"a": Normal(1.0, 0.0), "b": Normal(0.0, 1.0)}, dependences={("a", "b"): 0.5})
    assert same.compressed(same.expand(random.Random(1))).dependences == {("a", "b"): 0.5}
    few = town(3)
    assert few.compressed(few.expand(random.Random(1))).dependences == few.dependences


def test_a_property_changes_alone_while_a_group_is_closed():
    before = town(100)
    older = before.with_property("age", Normal(41.0, 15.0))
    assert older.total("age") == pytest.approx(before.total("age") + 100)
    assert older.dependences == before.dependences
    with pytest.raises(ValueError, match="property 'age' must stay a Normal"):
        before.with_property("age", PowerLaw(2.5, 1.0))
    with pytest.raises(ValueError, match="counts of 'job' must add up to 100 people, got 3"):
        before.with_property("job", Categorical({"farmer": 3}))
    with pytest.raises(UnknownNameError, match="unknown property 'aeg'"):
        before.with_property("aeg", Normal(1.0, 1.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Population(-1, {}), "count must be at least 0"),
        (lambda: Population(2, {"job": Categorical({"a": 3})}), "counts of 'job' must add up to 2 people, got 3"),
        (lambda: Population(2, PROPERTIES, dependences={("age", "hat"): 1}), "different numeric properties of 'age'"),
        (lambda: Population(2, PROPERTIES, dependences={("age", "age"): 1}), "between two different numeric"),
        (lambda: Population(2, PROPERTIES, dependences={("age", "health"): 2}), "must be at most 1"),
        (lambda: Population(2, PROPERTIES, dependences={("age", "health"): 0.1, ("health", "age"): 0.1}), "twice"),
        (lambda: Population(2, PROPERTIES, dependences={
            ("age", "health"): 0.9, ("health", "wealth"): 0.9, ("age", "wealth"): -0.9}), "cannot all hold at once"),
        (lambda: town(10).split([5, 6], random.Random(0)), "sizes must add up to 10, got 11"),
        (lambda: town(10).split([-1, 11], random.Random(0)), "size must be at least 0"),
        (lambda: town(10).compressed({"age": [1.0]}), "every property needs a value"),
        (lambda: town(2).compressed({**town(2).expand(random.Random(0)), "age": [1.0, -math.inf]}),
         "property 'age': values must be finite, got -inf in row 1"),
        (lambda: town(10).merged(Population(1, {})), "the same properties"),
    ],
)
def test_misuse_is_told_at_the_call(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_unknown_properties_are_named():
    with pytest.raises(UnknownNameError, match="unknown property 'aeg'; did you mean 'age'"):
        town(10).compressed({"aeg": [1.0]})
    with pytest.raises(UnknownNameError, match="unknown numeric property 'job'"):
        town(10).total("job")
    with pytest.raises(TypeError, match="property 'age' must be a Distribution"):
        Population(1, {"age": 4})
    with pytest.raises(TypeError, match="generator must be"):
        town(10).expand(None)


def test_plain_data_gives_the_population_back():
    before = town(300)
    assert POPULATION_STATE.read(POPULATION_STATE.save(before, None), "", None) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 5}, "counts of 'job' must add up to 5 people, got 300"),
        ({"dependences": [[["age", "hat"], 0.5]]}, "different numeric properties"),
        ({"properties": {"age": {"kind": "bell"}}}, "'properties.age.kind' must be 'normal' or"),
        ({"properties": {"age": {"kind": "normal", "average": 1, "deviation": -1}}},
         "'properties.age': deviation must be at least 0"),
    ],
)
def test_a_damaged_save_is_refused(change, message):
    with pytest.raises(StateError, match=message):
        POPULATION_STATE.read({**POPULATION_STATE.save(town(300), None), **change}, "", None)
