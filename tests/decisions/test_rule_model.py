"""Any rules, any facts: the same rules fire in the same order as by the plain reference."""
from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.decisions.rules import Rule, RuleMind, RuleSet
from tests.decisions.reference_rules import ReferenceMind

SET, CONCLUDED, PARAMETERS = ("a", "b", "c"), ("d1", "d2"), {"bold": 0.25, "keen": 0.75}
grades = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def conditions(facts):
    fact = st.sampled_from(facts)
    literal = st.one_of(fact, fact.map("not {}".format))
    return st.one_of(
        st.just(""), literal,
        st.tuples(literal, literal).map(" and ".join), st.tuples(literal, literal).map(" or ".join),
        st.tuples(fact, st.sampled_from([*facts, "bold", "keen", "0.5"])).map(" > ".join))


def acting(name):
    return st.fixed_dictionaries({
        "name": st.just(name), "when": conditions([*SET, *CONCLUDED]), "above": st.sampled_from([0.0, 0.25]),
        "salience": st.sampled_from([0.0, 1.0, "bold", "keen"]), "repeats": st.booleans(), "concludes": st.just(""),
        "sets": st.one_of(st.none(), st.tuples(st.sampled_from(SET), grades))})


def concluding(name, fact, facts):
    return st.fixed_dictionaries({
        "name": st.just(name), "when": conditions(facts), "above": st.just(0.0), "salience": st.just(0.0),
        "repeats": st.just(False), "concludes": st.just(fact), "sets": st.none()})


rules = st.tuples(
    concluding("k1", "d1", SET), concluding("k2", "d1", SET), concluding("k3", "d2", [*SET, "d1"]),
    *(acting(f"r{number}") for number in range(4)),
).map(list)
moments = st.lists(st.tuples(st.dictionaries(st.sampled_from(SET), grades), st.integers(1, 6)), max_size=6)


def mind(rows):
    made = [
        Rule(
            one["name"], one["when"],
            None if one["concludes"] else lambda mind, sets=one["sets"]: mind.set(*sets) if sets else None,
            concludes=one["concludes"], salience=one["salience"], above=one["above"], repeats=one["repeats"])
        for one in rows]
    return RuleMind(RuleSet(made, facts=dict.fromkeys(SET, 0.0), parameters=PARAMETERS))


@pytest.mark.slow
@settings(max_examples=120)
@given(rows=rules, moments=moments)
def test_the_same_rules_fire_in_the_same_order(rows, moments):
    ours, reference = mind(rows), ReferenceMind(rows, dict.fromkeys(SET, 0.0), PARAMETERS)
    for facts, most in moments:
        for fact, grade in facts.items():
            ours.set(fact, grade)
            reference.put(fact, grade)
        assert [one[:2] for one in ours.think(most)] == reference.think(most)
        assert {fact: ours.grade(fact) for fact in reference.facts} == (reference.conclude() or reference.facts)


@pytest.mark.slow
@settings(max_examples=40)
@given(rows=rules, before=moments, after=moments)
def test_a_loaded_mind_thinks_on_as_the_saved_one(rows, before, after):
    first, second = mind(rows), mind(rows)
    for facts, most in before:
        for fact, grade in facts.items():
            first.set(fact, grade)
        first.think(most)
    second.prepare_state(json.loads(json.dumps(first.save_state())))()
    assert second.to_text() == first.to_text()
    for facts, most in after:
        for one in (first, second):
            for fact, grade in facts.items():
                one.set(fact, grade)
        assert first.think(most) == second.think(most)
    assert first.save_state() == second.save_state()
