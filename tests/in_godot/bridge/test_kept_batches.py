"""A batch of kept calls: what the same calls would do one by one, in one crossing."""
from __future__ import annotations

import time
from array import array
from operator import length_hint
from types import SimpleNamespace

import pytest

from addons.ai_core.bridge.gd import GodotCallError, GodotFreedError, KeptBatch, KeptCall, Results

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


class Calls(list):
    """A row that counts its changes."""

    changes = 0

    @property
    def calls(self):
        return self

    def put(self, place, call):
        self.changes += 1
        self[place] = call


@pytest.fixture
def ears(gdscript, node):
    script, parent = gdscript(SCRIPT), node("Node")
    made = [script.new() for _ in range(5)]
    for one in made:
        parent.add_child(one)
    return made


def kept(target, name="hear", results=None, **settings):
    return KeptCall(target, name, "amount", results or Results(), "it is gone", **settings)


def gone_through(calls, number=1.5):
    """Return what a batch left to be called, and how many were then still to begin."""
    batch = KeptBatch(calls)
    batch.begin(SimpleNamespace(amount=number))
    return [(call, length_hint(batch)) for call in batch]


def heard(ears):
    return [len(ear.get("heard")) for ear in ears]


def test_all_are_called_in_turn_with_the_number(ears):
    assert gone_through(Calls(kept(ear) for ear in ears)) == []
    assert [ear.get("heard") for ear in ears] == [[1.5]] * 5


def test_it_goes_through_again_and_again_with_another_number(ears):
    batch = KeptBatch(Calls([kept(ears[0])]))
    for number in (1, 2, 3):
        batch.begin(SimpleNamespace(amount=number))
        assert list(batch) == []
    assert ears[0].get("heard") == [1, 2, 3]


def test_what_is_no_kept_call_is_handed_out_in_its_turn(ears):
    calls = Calls([kept(ears[0]), print, kept(ears[1]), len])
    assert gone_through(calls) == [(print, 2), (len, 0)]
    assert heard(ears) == [1, 1, 0, 0, 0]


def test_a_call_whose_answer_somebody_wants_is_handed_out(ears):
    taken, results = [], Results()
    calls = Calls([kept(ears[0], "answer", results), kept(ears[1])])
    assert gone_through(calls) == []
    results.take = taken.append
    [(call, _)] = gone_through(calls)
    call(SimpleNamespace(amount=2))
    assert (taken, ears[0].get("heard")) == (["answer"], [1.5, 2])


def test_a_call_that_cannot_be_made_is_handed_out_and_says_why(ears):
    freed, refused = kept(ears[1]), kept(ears[2], "nothing")
    ears[1].free()
    assert gone_through(Calls([kept(ears[0]), freed, refused, kept(ears[3])])) == [(freed, 2), (refused, 1)]
    with pytest.raises(GodotFreedError, match="it is gone"):
        freed(SimpleNamespace(amount=1))
    with pytest.raises(GodotCallError, match="nothing: too many arguments"):
        refused(SimpleNamespace(amount=1))
    assert heard([ears[0], ears[3]]) == [1, 1]


def test_who_is_off_or_paused_is_passed_over(ears):
    calls = Calls([kept(ears[0]), kept(ears[1], skips_paused=True), kept(ears[2])])
    calls[0].is_off, ears[1].process_mode = True, 4
    assert gone_through(calls) == []
    assert heard(ears) == [0, 0, 1, 0, 0]
    calls[0].is_off, ears[1].process_mode = False, 0
    assert gone_through(calls) == []
    assert heard(ears) == [1, 1, 2, 0, 0]


def test_what_is_called_may_change_what_is_still_to_come(ears):
    calls = Calls([kept(ears[0]), kept(ears[1], "meddle"), *(kept(ear) for ear in ears[2:])])
    batch = KeptBatch(calls)
    to_begin = []

    def fallback():
        to_begin.append(length_hint(batch))
        ears[2].free()
        calls.put(2, print)
        calls.put(3, kept(ears[4]))
        calls[4].is_off = True

    ears[1].fallback = fallback
    batch.begin(SimpleNamespace(amount=1))
    assert list(batch) == [print]
    assert to_begin == [3]
    assert heard([ears[0], ears[1], ears[3], ears[4]]) == [1, 1, 0, 1]


@pytest.mark.parametrize("is_timed", [False, True])
def test_what_is_handed_out_may_change_what_is_still_to_come(ears, is_timed):
    def fallback():
        calls.put(2, print)
        calls[3].is_off = True

    calls = Calls([kept(ears[0]), fallback, *(kept(ear) for ear in ears[1:])])
    batch, stamps = KeptBatch(calls), array("q", [1] * 7)
    batch.begin(SimpleNamespace(amount=1))
    for call in iter(lambda: batch.timed(stamps, 1 << 62), None) if is_timed else batch:
        if call is fallback:
            call()
        else:
            assert call is print
    assert heard(ears) == [1, 0, 0, 1, 1]


def test_a_target_that_goes_meanwhile_is_not_called(ears):
    calls = Calls([kept(ears[0], "meddle"), kept(ears[1])])
    ears[0].fallback = ears[1].free
    assert gone_through(calls) == [(calls[1], 0)]


def timed(calls, limit_ns=1 << 62):
    batch, stamps = KeptBatch(calls), array("q", [time.perf_counter_ns(), *[0] * len(calls)])
    batch.begin(SimpleNamespace(amount=1))
    return batch.timed(stamps, limit_ns), stamps, batch


def ended(stamps):
    """Return how many calls have ended, by their stamps."""
    return sum(map(bool, stamps[1:]))


def test_each_is_timed_by_the_stopwatch_of_the_first_stamp(ears):
    call, stamps, _ = timed(Calls(kept(ear) for ear in ears))
    assert call is None
    assert len(stamps) == 6
    assert stamps.tolist() == sorted(stamps)
    assert stamps[-1] <= time.perf_counter_ns()


def test_after_one_that_is_late_it_stops_and_can_go_on(ears):
    calls = Calls([*(kept(ear) for ear in ears[:3]), print])
    call, stamps, batch = timed(calls, limit_ns=0)
    assert (call, ended(stamps), heard(ears)) == (None, 1, [1, 0, 0, 0, 0])
    assert batch.timed(stamps, 1 << 62) is print
    assert (ended(stamps), heard(ears)) == (3, [1, 1, 1, 0, 0])


def test_stamps_of_another_number_of_calls_are_refused(ears):
    batch = KeptBatch(Calls([kept(ears[0])]))
    batch.begin(SimpleNamespace(amount=1))
    with pytest.raises(ValueError, match="stamps must be 2 of 8 bytes, got 8 bytes"):
        batch.timed(array("q", [0]), 1 << 62)


def test_it_lets_go_of_nothing_it_still_calls(ears):
    calls = Calls([kept(ears[0], "meddle"), kept(ears[1])])
    ears[0].fallback = lambda: [calls.put(0, print), calls.put(1, print)]
    assert gone_through(calls) == [(print, 0)]
