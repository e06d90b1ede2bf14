"""Rules and their conditions: read once, and refused by name where they cannot work."""
from __future__ import annotations

import math

import pytest

from ai_core.decisions.rules import LONGEST_CONDITION, Rule, RuleMind, RuleSet, parsed_condition
from ai_core.errors import CycleError, UnknownNameError

FACTS, PARAMETERS = {"near": 0, "hurt": 1, "alone": 2}, {"courage": 0}


def act(mind):
    pass


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("near", 0.75),
        ("not near", 0.25),
        ("near and hurt", 0.5),
        ("near or hurt", 0.75),
        ("near and hurt and alone", 0.0),
        ("near or hurt or alone", 0.75),
        ("not (near and hurt) and near", 0.5),
        ("near >= 0.75", 1.0),
        ("near > 0.75", 0.0),
        ("hurt < courage", 1.0),
        ("hurt <= -1", 0.0),
        ("near > hurt and not alone", 1.0),
        ("  near\n", 0.75)])
def test_a_condition_is_met_as_far_as_its_facts_are(text, grade):
    condition = parsed_condition(text, FACTS, PARAMETERS, "rule 'x'")
    assert condition.grade([0.75, 0.5, 0.0], [0.6]) == grade


def test_a_condition_knows_the_facts_it_reads():
    assert parsed_condition("alone and near > courage", FACTS, PARAMETERS, "x").facts == (0, 2)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (3, TypeError, "rule 'x': a condition must be a string, got 3"),
        ("near and", ValueError, "rule 'x': a condition must have the form"),
        ("near = 1", ValueError, "must have the form"),
        ("near\x00", ValueError, "must have the form"),
        ("nea", UnknownNameError, "unknown fact in rule 'x' 'nea'; did you mean 'near'?"),
        ("courage", ValueError, "rule 'x': 'courage' is a parameter and has no grade"),
        ("near + hurt", ValueError, "got 'near + hurt'"),
        ("near == hurt", ValueError, "got 'near == hurt'"),
        ("0 < near < 1", ValueError, "got '0 < near < 1'"),
        ("__import__('os')", ValueError, "got \"__import__('os')\""),
        ("near.real", ValueError, "got 'near.real'"),
        ("True", ValueError, "got 'True'"),
        ("near > True", ValueError, "got 'True'"),
        ("near > 1e999", ValueError, "a number in a condition must be a finite number"),
        ("near and " * LONGEST_CONDITION + "near", ValueError, f"at most {LONGEST_CONDITION} characters"),
        ("(" * 400 + "near" + ")" * 400, ValueError, "must have the form")])
def test_what_is_no_condition_is_refused_with_the_rule(text, error, says):
    with pytest.raises(error) as raised:
        parsed_condition(text, FACTS, PARAMETERS, "rule 'x'")
    assert says in str(raised.value)


def rule_set(*rules, facts=None, **more):
    return RuleSet(rules, facts={"near": 0.0} if facts is None else facts, **more)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Rule("", "near", act), ValueError, "the name of a rule must be a non-empty string, got ''"),
        (lambda: Rule("x", "near", 3), TypeError, "rule 'x': then must be a callable or None, got 3"),
        (lambda: Rule("x", "near"), ValueError, "rule 'x' must have either then or concludes"),
        (lambda: Rule("x", "near", act, concludes="far"), ValueError, "rule 'x' must have either then or concludes"),
        (lambda: Rule("x", "near", act, salience=math.nan), ValueError, "rule 'x': salience must be a finite number"),
        (lambda: Rule("x", "near", act, salience=True), TypeError, "rule 'x': salience must be a number"),
        (lambda: Rule("x", "near", act, above=1.0), ValueError, "above must be at least 0 and below 1, got 1.0"),
        (lambda: Rule("x", "near", act, above=-0.1), ValueError, "above must be at least 0 and below 1"),
        (lambda: rule_set("x"), TypeError, "rules must hold Rule, got 'x'"),
        (lambda: rule_set(Rule("x", "near", act), Rule("x", "near", act)), ValueError, "two rules are named 'x'"),
        (lambda: rule_set(Rule("x", "far", act)), UnknownNameError, "unknown fact in rule 'x' 'far'"),
        (lambda: rule_set(Rule("x", "near", act, salience="bold")), UnknownNameError,
         "unknown parameter as salience of rule 'x' 'bold'"),
        (lambda: rule_set(Rule("x", "near", act, above="bold")), UnknownNameError, "parameter as above of rule 'x'"),
        (lambda: rule_set(facts={"near": math.nan}), ValueError, "the grade of 'near' must be a finite number"),
        (lambda: rule_set(facts={"near": 1.5}), ValueError, "the grade of 'near' must be at most 1, got 1.5"),
        (lambda: rule_set(facts={"near by": 0}), ValueError, "the name of a fact must be an identifier"),
        (lambda: rule_set(facts={"not": 0}), ValueError, "the name of a fact must be an identifier"),
        (lambda: rule_set(facts={3: 0}), ValueError, "the name of a fact must be an identifier"),
        (lambda: rule_set(parameters={"near": 1}), ValueError, "'near' is both a fact and a parameter; rename one"),
        (lambda: rule_set(parameters={"bold": math.inf}), ValueError, "parameter 'bold' must be a finite number"),
        (lambda: rule_set(Rule("x", "", concludes="near")), ValueError, "fact 'near' is concluded by a rule; leave it"),
        (lambda: rule_set(Rule("x", "b", concludes="a"), Rule("y", "near and a", concludes="b")), CycleError,
         "a fact must not depend on itself: 'a' from 'b' from 'a'"),
        (lambda: rule_set(Rule("x", "a", concludes="a")), CycleError, "'a' from 'a'"),
        (lambda: rule_set(period_s=-1), ValueError, "period_s must be at least 0"),
        (lambda: rule_set(period_s="speed"), UnknownNameError, "unknown parameter as period_s 'speed'")])
def test_rules_that_cannot_work_are_refused(make, error, says):
    with pytest.raises(error) as raised:
        make()
    assert says in str(raised.value)


@pytest.mark.parametrize(("given", "grade"), [(1.0000002, 1.0), (-1e-7, 0.0), (1, 1.0)])
def test_a_grade_outside_by_rounding_counts(given, grade):
    mind = RuleMind(rule_set(Rule("x", "near", act), facts={"near": 0.5}))
    mind.set("near", given)
    assert mind.grade("near") == grade


def test_text_lists_firing_rules_before_concluding_ones():
    rules = rule_set(
        Rule("fear", "near", concludes="afraid"), Rule("flee", "afraid", act, salience="care"), Rule("sit", "", act),
        parameters={"care": 1.0})
    assert rules.to_text().splitlines() == [
        "flee: afraid (salience care)", "sit: always (salience 0.0)", "fear: near -> afraid"]
