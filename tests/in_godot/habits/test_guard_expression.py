"""Conditions written in the inspector: what is compared without the engine comes to what the engine says."""
from __future__ import annotations

import itertools

import pytest

from addons.ai_core.bridge.gd import RefusedValue, Vector3, construct
from addons.ai_core.nodes.characters.guard_expression import ABSENT, GuardExpression

VALUES = [0, 1, 3, -2, 0.3, 0.5, 3.0, True, False, "", "far", "near", None, Vector3(1, 2, 3)]
CONSTANTS = ["0", "1", "-2", "3.0", "0.3", "0.50", "true", "false", "null", '""', '"far"']


class Mind:
    """Knows ``a`` and ``b``."""

    def __init__(self, actor, **known):
        self._actor, self.values = actor, known

    def actor_node(self):
        return self._actor

    def known(self, name):
        return self.values.get(name, ABSENT)


@pytest.fixture
def mind(node):
    return lambda **known: Mind(node("Node3D"), **known)


def by_the_engine(expression, mind):
    expression.comparisons = []
    try:
        return expression.value(mind)
    except RefusedValue as refused:
        return str(refused)


def by_us(expression, mind):
    try:
        return expression.value(mind)
    except RefusedValue as refused:
        return str(refused)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_one_comparison_is_what_the_engine_makes_of_it(mind, sign):
    for value, constant in itertools.product(VALUES, CONSTANTS):
        expression, known = GuardExpression(f"a {sign} {constant}", "here"), mind(a=value)
        assert by_us(expression, known) == by_the_engine(expression, known), (value, sign, constant)


@pytest.mark.parametrize("text", [
    "a<1 and b == true", "a < 1 && b != false", "a > 1 and b == true and a < 9.5", "a == 3 and a == 3",
    "b != null", "a == null and b != null", "b", "not b and a < 1", "!b", "a < 1 and b",
])
def test_comparisons_joined_by_and_need_no_crossing(mind, text):
    expression = GuardExpression(text, "here")
    assert expression.comparisons
    for a, b in itertools.product([0, 3, 0.5, True], [True, False]):
        assert by_us(GuardExpression(text, "here"), mind(a=a, b=b)) == by_the_engine(expression, mind(a=a, b=b))


@pytest.mark.parametrize("text", [
    "a < b", "not a < 1", "a < 1 or b == 2", "a < 1 == b", "a or b", "is_inside_tree() and a < 1", "a.x < 1",
    "a < 1 + b", "(a < 1) and b == 2", "a == 'far'", 'a == "say \\\\"hi\\\\""', "a < true", "a in [1, 2]",
    "1 < a", "a < -b",
])
def test_whatever_else_there_is_the_engine_is_asked(text):
    assert not GuardExpression(text, "here").comparisons


@pytest.mark.parametrize("name", ["über", "größe", "Ärger", "здоровье", "生命", "स्वास्थ्य", "a\u0308rger", "Alarm"])
def test_names_of_any_letters_are_values(mind, name):
    known = mind(**{name: 3, "a": True})
    for text, expected in ((f"{name} < 5 and a", True), (f"not {name}", False), (f"(1 + {name}) * 2", 8), (name, 3)):
        assert GuardExpression(text, "here").names[0] == name
        assert GuardExpression(text, "here").value(known) == expected
    assert GuardExpression(f"{name} > 5", "here").why_false(known) == f"{name} 3 <= 5"


@pytest.mark.parametrize("text", ["PI < 4 and a < TAU", "a < INF", "NAN != a", "Vector3(1, 2, 3).x == a"])
def test_constants_and_constructions_are_no_values(mind, text):
    expression = GuardExpression(text, "here")
    assert (expression.names, expression.value(mind(a=1))) == (["a"], True)


def test_freed_objects_equal_null(mind):
    known = construct("Node")
    for text, expected in (("a == null", False), ("a != null", True)):
        assert GuardExpression(text, "here").value(mind(a=known)) is expected
    known.free()
    for text, expected in (("a == null", True), ("a != null", False)):
        assert GuardExpression(text, "here").value(mind(a=known)) is expected


@pytest.mark.parametrize(("text", "place"), [
    ("a <", "at character 3 ('<')"), ("and a < 1", "at character 1 ('and')"),
    ("a < 1 and and b == 2", "at character 11 ('and')"), ("(a < 1 and b", "at the end"),
    ("a @ b", "at character 3 ('@')"), ("a == \"far", "at character 6"),
])
def test_refusal_has_the_position_of_the_mistake(text, place):
    with pytest.raises(RefusedValue) as refused:
        GuardExpression(text, "here")
    assert str(refused.value).startswith(f"here: cannot parse {text!r} {place}"), str(refused.value)


def test_properties_of_the_actor_are_compared_too(mind):
    known = mind()
    assert GuardExpression("process_priority < 1 and visible == true", "here").value(known) is True
    known.actor_node().set("process_priority", 4)
    assert GuardExpression("process_priority < 1 and visible == true", "here").value(known) is False
    with pytest.raises(RefusedValue, match="'courage' is neither a value of the blackboard nor a property of"):
        GuardExpression("process_priority > 1 and courage > 0.5", "here").value(known)
