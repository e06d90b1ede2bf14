"""Rules as text: what a line says, and where it is wrong."""
from __future__ import annotations

import re

import pytest

from ai_core.decisions.rule_text import RuleTextError, read_rules, rules_of
from ai_core.decisions.rules import RuleMind, RuleSet


def test_a_line_says_name_condition_and_options():
    [flee] = read_rules("run away: afraid > courage | salience 2, above 0.1, do run, repeats  # at last")
    assert (flee.name, flee.when, flee.does) == ("run away", "afraid > courage", "run")
    assert (flee.salience, flee.above, flee.repeats) == (2.0, 0.1, True)
    assert (flee.line, flee.column) == (1, 11)


def test_an_arrow_concludes_and_always_is_met():
    fear, go = read_rules("\nfear: hurt -> afraid\n\ngo: always | salience eager\n")
    assert (fear.concludes, fear.when, fear.line) == ("afraid", "hurt", 2)
    assert (go.when, go.salience) == ("", "eager")


def test_the_rules_of_a_text_are_those_a_program_writes():
    rules = rules_of(
        "fear: hurt -> afraid\nflee: afraid > courage | salience 2\nfight: near", ("hurt", "near"), ("courage",),
        lambda line: lambda mind: line.name)
    soldier = RuleSet(rules, facts={"hurt": 0.6, "near": 1.0}, parameters={"courage": 0.5})
    assert [fired.result for fired in RuleMind(soldier).think()] == ["flee", "fight"]
    assert [fired.result for fired in RuleMind(soldier, parameters={"courage": 0.9}).think()] == ["fight"]


@pytest.mark.parametrize(("text", "line", "column"), [
    ("flee hurt", 1, 1),
    ("# a\n\n  : hurt", 3, 3),
    ("a: hurt\nb: hurt and", 2, 12),
    ("a: hurt and near > nobody", 1, 20),
    ("a: hurt -> two words", 1, 11),
    ("a: hurt -> b | repeats", 1, 15),
    ("a: hurt | above 3", 1, 1),
    ("a: hurt | do", 1, 11),
    ("a: near(hurt)", 1, 4),
    ("a: hurt | salience nothing", 1, 1)])
def test_a_mistake_is_told_with_its_place(text, line, column):
    with pytest.raises(RuleTextError) as raised:
        rules_of(text, ("hurt", "near"), (), lambda one: print)
    assert (raised.value.line, raised.value.column) == (line, column)
    assert f"line {line}, column {column}: " in str(raised.value)


def test_what_is_no_text_is_refused():
    with pytest.raises(TypeError, match="rules must be a string"):
        read_rules(None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: x | salience 1e999", "rule 'a', line 1, column 17: must be a finite number"),
        ("a: x | salience 2, salience 3", "column 20: an option must be given once, got salience twice; remove one"),
        ("a: x | repeats, repeats", "got repeats twice")])
def test_option_that_is_infinite_or_given_twice_is_refused(text, says):
    with pytest.raises(RuleTextError, match=re.escape(says)):
        read_rules(text)
