"""Which lines of the engine's output are complaints, and which of them a test declared."""
from __future__ import annotations

import pytest
from pytest_godot_headless.engine_errors import EngineOutput, ExpectedErrors, complaints

OUTPUT = """Godot Engine v4.6.3
hello
ERROR: [ai_core] Probe._ready raised KeyError: 'x'
Traceback (most recent call last):
  File "probe.py", line 3, in _ready
KeyError: 'x'
   at: Probe._ready (probe.py:3)
   GDScript backtrace (most recent call first):
       [0] _init (res://a.gd:1)
bye
USER WARNING: careful
   at: push_warning (core/variant/variant_utility.cpp:1118)
SCRIPT ERROR: Invalid call
          at: _process (res://a.gd:9)
no ERROR: here
"""


def test_error_has_its_traceback_and_ends_at_other_output():
    first, second, third = complaints(OUTPUT)
    assert first.startswith("ERROR: [ai_core]")
    assert first.endswith("[0] _init (res://a.gd:1)")
    assert second == "USER WARNING: careful\n   at: push_warning (core/variant/variant_utility.cpp:1118)"
    assert third.startswith("SCRIPT ERROR: Invalid call")


def test_an_undeclared_complaint_is_a_problem():
    assert ExpectedErrors().problems(["ERROR: a"]) == ["The engine complained:\nERROR: a"]


def test_a_declared_complaint_is_none():
    expected = ExpectedErrors()
    expected.expect("KeyError")
    assert expected.problems(complaints(OUTPUT)[:1]) == []


def test_a_declared_complaint_must_come():
    expected = ExpectedErrors()
    expected.expect("KeyError")
    assert expected.problems([]) == [
        "The engine was expected to complain at least 1 times with 'KeyError', it did so 0 times"
    ]


def test_a_complaint_declared_once_must_not_come_twice():
    expected = ExpectedErrors()
    expected.expect("a", times=1)
    assert expected.problems(["ERROR: a"]) == []
    assert expected.problems(["ERROR: a", "ERROR: a"]) == [
        "The engine was expected to complain 1 times with 'a', it did so 2 times"
    ]


def test_a_complaint_that_may_come_need_not():
    expected = ExpectedErrors()
    expected.expect("a", at_least=0)
    assert expected.problems([]) == expected.problems(["ERROR: a", "ERROR: a"]) == []


@pytest.mark.parametrize(("text", "times"), [("", None), ("a", 0)])
def test_an_expectation_that_says_nothing_is_refused(text, times):
    with pytest.raises(ValueError, match=r"needs a text|at least 1"):
        ExpectedErrors().expect(text, times)


def test_output_is_read_once(tmp_path):
    file = tmp_path / "output"
    file.write_text("one ")
    output = EngineOutput(file)
    assert output.read_new() == "one "
    with file.open("a") as stream:
        stream.write("two")
    assert output.read_new() == "two"
    assert output.read_new() == ""
