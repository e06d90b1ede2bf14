"""Rounds of calls, and the times of their tasks, in both forms."""
from __future__ import annotations

import gc
import itertools
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ai_core.scheduling.rounds as rounds
from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.scheduling.rounds import NEVER_NS, FrameMoment
from ai_core.scheduling.statistics import RECENT_RUNS
from ai_core.scheduling.task import Turn
from ai_core.twins import INTERPRETED, kernel_of

NAMES = ("PeriodRings", "Row", "begin_round", "round_times")
TWINS = {name: INTERPRETED[f"{rounds.__name__}.{name}"] for name in NAMES}
KERNELS = {name: kernel for name, one in TWINS.items() if (kernel := kernel_of(one)) is not None}
FORMS = {"interpreted": TWINS, **({"compiled": KERNELS} if KERNELS else {})}

each_form = pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))


@each_form
@pytest.mark.parametrize("count", [1, 2, RECENT_RUNS, RECENT_RUNS + 3, 3 * RECENT_RUNS])
def test_totals_maxima_and_the_latest_rounds_are_kept(form, count):
    times, used = form["round_times"](3), np.random.default_rng(count).integers(0, 1 << 40, (count, 3))
    for row in used:
        times.note([7, *(7 + row.cumsum()).tolist()])
    for column, (runs, total_ns, longest_ns, recent_ns) in zip(used.T, times.columns(), strict=True):
        assert (runs, total_ns, longest_ns) == (count, column.sum(), column.max())
        assert recent_ns == column[-RECENT_RUNS:].tolist()


@each_form
def test_times_of_another_number_of_tasks_are_refused(form):
    with pytest.raises(ValueError, match="stamps must be 4, got 3"):
        form["round_times"](3).note([1, 2, 3])


@each_form
def test_times_of_no_round_are_empty(form):
    assert form["round_times"](2).columns() == [(0, 0, 0, []), (0, 0, 0, [])]


@each_form
def test_rows_are_due_by_the_remainder_of_the_frame(form):
    rings = []
    for period in (2, 3):
        ring = [form["Row"](FrameMoment(TimeIndex(0, 0.0), 0.0)) for _ in range(period)]
        ring[1].insert_call(0, print)
        rings.append((period, ring))
    found = form["PeriodRings"](rings)
    due = [found.due(frame) for frame in range(6)]
    assert due == [[], [rings[0][1][1], rings[1][1][1]], [], [rings[0][1][1]], [rings[1][1][1]], [rings[0][1][1]]]


class Course:
    """A round of a frame, run as a scheduler does; writes down all that can be seen of it."""

    def __init__(self, form, plans, *, is_timed, limit_ns):
        self.ns, self.told, self.kept = 0, [], []
        self.rows = []
        for number, (last_s, deeds) in enumerate(plans):
            row = form["Row"](FrameMoment(TimeIndex(0, last_s), last_s))
            for place, deed in enumerate(deeds):
                assert row.insert_call(place, self.call(number, place, deed)) == place
            self.rows.append(row)
        now = TimeIndex(3, 10.0)
        self.moment = FrameMoment(now, now.seconds)
        stopwatch = self.watch if is_timed else None
        self.one = form["begin_round"](
            list(self.rows), self.moment, Turn(now, 0.0, Budget.unlimited()), stopwatch, limit_ns,
        )

    def watch(self):
        self.ns += 7
        return self.ns

    def call(self, number, place, deed):
        def call(turn):
            bucket = self.rows.index(self.one.bucket)
            self.told.append((number, place, deed, turn.elapsed_s, turn.now, bucket, self.one.place))
            self.ns += place
            if deed == "fail":
                raise LookupError(place)
            if deed == "keep":
                self.kept.append((turn, turn.elapsed_s))
            if deed == "change":
                for other in range(number, len(self.rows)):
                    row = self.rows[other]
                    for at in range(place + 1 if other == number else 0, len(row)):
                        row.put_call(at, self.call(other, at, f"changed {number}"))
                    self.one.call_changed(row)

        return call

    def run(self):
        while self.one.goes_on():
            turn, failure = self.one.turn, None
            try:
                for call in self.one:
                    call(turn)
            except LookupError as error:
                failure = repr(error)
                self.one.end_call()
            self.told.append((self.one.was_late(), self.one.begun_ns, self.one.ended_ns) if failure else ())
            self.told.append((failure, self.one.place) if failure else ())
        return [one for one in self.told if one]

    def outcome(self):
        times = [None if row.times is None else row.times.columns() for row in self.rows]
        return self.run(), [row.last is self.moment for row in self.rows], self.ns, times


deeds = st.lists(st.sampled_from(["", "", "", "fail", "keep", "change"]), min_size=1, max_size=5)
plans = st.lists(st.tuples(st.sampled_from([10.0, 9.9, 9.5]), deeds), max_size=6)


@given(plans=plans, is_timed=st.booleans(), limit_ns=st.one_of(st.just(NEVER_NS), st.integers(0, 99)))
def test_all_forms_make_the_same_calls_and_note_the_same(plans, is_timed, limit_ns):
    outcomes = []
    for form in FORMS.values():
        course = Course(form, plans, is_timed=is_timed, limit_ns=limit_ns)
        outcomes.append(course.outcome())
        assert all(turn.elapsed_s == elapsed_s for turn, elapsed_s in course.kept), "a kept Turn has changed"
    assert all(outcome == outcomes[0] for outcome in outcomes)
    told = [one for one in outcomes[0][0] if len(one) == 7]
    made = [(number, place, 10.0 - last_s) for number, (last_s, row) in enumerate(plans) for place in range(len(row))]
    assert [(*one[:2], one[3]) for one in told] == made
    assert [one[5:] for one in told] == [(number, place + 1) for number, place in (one[:2] for one in told)]


@each_form
def test_a_call_that_ends_late_is_told_once_with_its_times(form):
    course = Course(form, [(9.0, [""] * 4), (9.0, [""] * 4)], is_timed=True, limit_ns=20)
    late = []
    while course.one.goes_on():
        turn = course.one.turn
        for call in course.one:
            call(turn)
        if course.one.was_late():
            late.append((course.one.place, course.one.begun_ns, course.one.ended_ns))
    assert late == [(2, 14, 22)]
    assert len(course.told) == 8


@each_form
def test_one_turn_serves_all_until_somebody_keeps_it(form):
    course = Course(form, [(9.0, [""]), (8.0, ["keep"]), (7.0, [""]), (6.0, [""])], is_timed=False, limit_ns=0)
    turns = set()
    while course.one.goes_on():
        turn = course.one.turn
        turns.add(id(turn))
        for call in course.one:
            call(turn)
    assert len(turns) == 2


@each_form
def test_a_round_that_is_dropped_lets_go_of_its_calls(form):
    def call(turn):
        pass

    before = sys.getrefcount(call)
    row = form["Row"](FrameMoment(TimeIndex(0, 0.0), 0.0))
    for number in range(5):
        row.insert_call(number, call)
    one = form["begin_round"]([row], row.last, Turn(row.last.now, 0.0, Budget.unlimited()), None, 0)
    assert one.goes_on()
    for _ in itertools.islice(one, 2):
        pass
    del one, _
    for _ in range(5):
        row.remove_call(0)
    assert sys.getrefcount(call) == before


@given(changes=st.lists(st.tuples(st.sampled_from(["insert", "remove", "put"]), st.integers(0, 30)), max_size=60))
def test_all_forms_of_a_row_keep_calls_by_ascending_id(changes):
    rows = [form["Row"](FrameMoment(TimeIndex(0, 0.0), 0.0)) for form in FORMS.values()]
    held: dict[int, object] = {}
    for what, number in changes:
        call = Callee().call if number % 2 else Callee()
        if what == "insert" and number not in held:
            held[number] = call
            assert {row.insert_call(number, call) for row in rows} == {sorted(held).index(number)}
        elif number in held:
            places = {row.place_of(number) for row in rows}
            assert places == {sorted(held).index(number)}
            if what == "put":
                held[number] = call
                [row.put_call(*places, call) for row in rows]
            else:
                del held[number]
                [row.remove_call(*places) for row in rows]
        assert all(row.calls == tuple(held[one] for one in sorted(held)) for row in rows)
        assert all(len(row) == len(held) for row in rows)
        assert len({row.place_of(number) for row in rows}) == 1


class Callee:
    """Something to call, itself or by a method."""

    def __call__(self, turn):
        pass

    def call(self, turn):
        pass


@each_form
def test_a_row_is_collected_with_what_is_called_through_it(form):
    row, callee = form["Row"](FrameMoment(TimeIndex(0, 0.0), 0.0)), Callee()
    callee.row = row
    row.insert_call(0, callee.call)
    known = weakref.ref(callee)
    del row, callee
    gc.collect()
    assert known() is None


@each_form
def test_rings_of_another_size_than_their_period_are_refused(form):
    rows = [form["Row"](FrameMoment(TimeIndex(0, 0.0), 0.0)) for _ in range(2)]
    for rings in ([(3, rows)], [(0, [])], [(1, rows)]):
        with pytest.raises(ValueError, match="as many rows as its period"):
            form["PeriodRings"](rings)


@pytest.mark.skipif(not KERNELS, reason="kernels are not built here")
def test_the_kernel_refuses_what_it_cannot_read():
    moment = FrameMoment(TimeIndex(0, 0.0), 0.0)
    with pytest.raises(TypeError):
        KERNELS["PeriodRings"]([(1, [[]])])
    with pytest.raises(TypeError):
        KERNELS["begin_round"]([[]], moment, Turn(moment.now, 0.0, Budget.unlimited()), None, 0)
    row = KERNELS["Row"](moment)
    for change in (lambda: row.put_call(0, print), lambda: row.remove_call(0), lambda: row.remove_call(-1)):
        with pytest.raises(IndexError, match="place must be"):
            change()


@pytest.mark.skipif(not KERNELS, reason="kernels are not built here")
@pytest.mark.parametrize("change", ["grows", "shrinks", "is other"])
def test_kernel_refuses_a_bucket_changed_silently_during_a_frame(change):
    moment = FrameMoment(TimeIndex(0, 0.0), 0.0)
    rows = [KERNELS["Row"](moment) for _ in range(2)]
    for row in rows:
        row.insert_call(0, lambda turn: None)
    one = KERNELS["begin_round"](rows, moment, Turn(moment.now, 0.0, Budget.unlimited()), None, 0)
    if change == "grows":
        rows[1].insert_call(1, lambda turn: None)
    elif change == "shrinks":
        rows[1].remove_call(0)
    else:
        rows[1].put_call(0, lambda turn: None)
    if change != "is other":
        with pytest.raises(IndexError, match="must not change"):
            one.call_changed(rows[1])
    assert one.goes_on()
    with pytest.raises(IndexError, match="must not change"):
        list(one)


@each_form
def test_replaced_call_lives_only_while_a_round_may_make_it(form):
    row, callee = form["Row"](FrameMoment(TimeIndex(0, 0.0), 0.0)), Callee()
    known = weakref.ref(callee)
    row.insert_call(0, callee)
    one = form["begin_round"]([row], row.last, Turn(row.last.now, 0.0, Budget.unlimited()), None, 0)
    assert one.goes_on()
    row.put_call(0, print)
    one.call_changed(row)
    del callee
    assert list(one) == [print]
    assert not one.goes_on()
    assert known() is None


@pytest.mark.skipif(not KERNELS, reason="kernels are not built here")
def test_kernel_makes_no_call_of_a_round_superseded_by_another():
    moment = FrameMoment(TimeIndex(0, 0.0), 0.0)
    row = KERNELS["Row"](moment)
    for number in range(3):
        row.insert_call(number, print)
    first, _ = (
        KERNELS["begin_round"]([row], moment, Turn(moment.now, 0.0, Budget.unlimited()), None, 0) for _ in range(2)
    )
    with pytest.raises(IndexError, match="must not change"):
        first.goes_on()
