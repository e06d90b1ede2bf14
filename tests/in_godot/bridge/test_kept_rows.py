"""A row of kept calls: the same as one by one, in one crossing."""
from __future__ import annotations

import time
from array import array
from types import SimpleNamespace

import pytest

from addons.ai_core.bridge.gd import GodotCallError, GodotFreedError, KeptCall, Results

SCRIPT = """
    extends Node
    var heard: Array[float] = []
    var fallback: Callable
    func hear(number: float) -> void: heard.append(number)
    func answer(number: float) -> String:
        heard.append(number)
        return "answer"
    func meddle(number: float) -> void:
        heard.append(number)
        fallback.call()
    func nothing() -> void: pass
"""


@pytest.fixture
def ears(gdscript, node):
    script, parent = gdscript(SCRIPT), node("Node")
    made = [script.new() for _ in range(5)]
    for one in made:
        parent.add_child(one)
    return made


def kept(target, name="hear", results=None, **settings):
    return KeptCall(target, name, "amount", results or Results(), "it is gone", **settings)


def made(calls, number=1.5, limit_ns=1 << 62):
    """Return how many calls of a row were made, and when each of them ended."""
    ended_ns = array("q", bytes(8 * 64))
    now_ns = time.perf_counter_ns()
    count = KeptCall.call_row(calls, SimpleNamespace(amount=number), now_ns, limit_ns, ended_ns)
    ended = ended_ns[:count].tolist()
    assert ended == sorted(ended)
    assert all(now_ns <= one <= time.perf_counter_ns() + 1000 for one in ended)
    return count


def heard(ears):
    return [len(ear.get("heard")) for ear in ears]


def test_a_row_is_called_in_order_with_the_number(ears):
    assert made([kept(ear) for ear in ears]) == 5
    assert [ear.get("heard") for ear in ears] == [[1.5]] * 5


def test_an_empty_row_makes_no_call(ears):
    assert made([]) == 0


def test_a_row_stops_before_a_call_whose_result_is_wanted(ears):
    taken, results = [], Results()
    calls = [kept(ears[0], "answer", results), kept(ears[1])]
    assert made(calls) == 2
    results.take = taken.append
    assert made(calls) == 0
    assert made(calls[1:]) == 1


def test_a_row_stops_before_a_call_that_cannot_be_made(ears):
    freed, refused = kept(ears[1]), kept(ears[2], "nothing")
    ears[1].free()
    assert made([kept(ears[0]), freed, kept(ears[3])]) == 1
    assert made([refused]) == 0
    with pytest.raises(GodotFreedError, match="it is gone"):
        freed(SimpleNamespace(amount=1))
    with pytest.raises(GodotCallError, match="nothing: too many arguments"):
        refused(SimpleNamespace(amount=1))
    assert heard([ears[0], ears[3]]) == [1, 0]


def test_a_row_passes_over_calls_that_are_off_or_paused(ears):
    calls = [kept(ears[0]), kept(ears[1], skips_paused=True), kept(ears[2])]
    calls[0].is_off, ears[1].process_mode = True, 4
    assert made(calls) == 3
    assert heard(ears) == [0, 0, 1, 0, 0]
    calls[0].is_off, ears[1].process_mode = False, 0
    assert made(calls) == 3
    assert heard(ears) == [1, 1, 2, 0, 0]


def test_a_row_stops_after_a_call_that_ran_python(ears):
    calls = [kept(ears[0]), kept(ears[1], "meddle"), kept(ears[2])]
    ears[1].fallback = lambda: ears[2].free()
    assert made(calls) == 2
    assert made(calls[2:]) == 0


def test_a_row_stops_after_a_call_that_ended_late(ears):
    assert made([kept(ear) for ear in ears], limit_ns=0) == 1


def test_a_row_stops_before_a_call_with_another_attribute(ears):
    other = KeptCall(ears[1], "hear", "another", Results(), "it is gone")
    assert made([kept(ears[0]), other, kept(ears[2])]) == 1


def test_a_row_refuses_what_is_no_kept_call_and_too_few_times(ears):
    with pytest.raises(TypeError):
        made([kept(ears[0]), print])
    with pytest.raises(ValueError, match="ended_ns must hold 2 numbers of 8 bytes, got 8 bytes"):
        KeptCall.call_row([kept(ears[0]), kept(ears[1])], SimpleNamespace(amount=1), 0, 0, array("q", [0]))
    assert heard(ears) == [0] * 5
