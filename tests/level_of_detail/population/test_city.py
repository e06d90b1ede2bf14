"""The demo city: what is far is a number, what is near is people, and nobody is lost."""
from __future__ import annotations

import gc
import random
import tracemalloc

import pytest

from ai_core.budget import Budget
from ai_core.recording import Recorder, Replay, read_recording
from ai_core.snapshot import from_json, restore, take, to_json
from demo_project.scenarios.city import build

pytestmark = pytest.mark.slow


def middle_of(plot):
    """A place in the middle of a block of a plot, inside the plot around it."""
    while plot.blocks > 1:
        plot = next(one for one in plot.parts() if one.blocks)
    return [plot.west_m + plot.side_m / 2, plot.north_m + plot.side_m / 2]


def stay(city, frames, place=None):
    for _ in range(frames):
        if place is not None:
            city.place = list(place)
        city.step()


def test_far_towns_are_one_work_item_and_near_ones_expand():
    city = build(1)
    stay(city, 2, (-5000.0, 0.0))
    assert city.observe() | {"heard": 0} == {
        "place": city.place, "people": 0, "blocks": 0, "quarters": 0, "towns": 4, "inhabitants": 100_001, "heard": 0,
    }
    stay(city, 30, middle_of(city.towns[2]))
    seen = city.observe()
    assert seen["towns"] == 3
    assert 200 <= seen["people"] <= 1_000
    assert seen["inhabitants"] == 100_001
    stay(city, 30, (-5000.0, 0.0))
    assert city.observe()["towns"] == 4


def test_totals_never_drift_on_a_wild_journey():
    city, chance = build(2), random.Random(2)
    wealth = city.total("wealth")
    opened = set()
    for _ in range(60):
        stay(city, 17, middle_of(chance.choice(city.towns[chance.randrange(4)].parts())))
        seen = city.observe()
        assert seen["inhabitants"] == 100_001
        opened.add(seen["people"])
        assert city.total("wealth") == pytest.approx(wealth, rel=1e-9)
    assert max(opened) > 0


def test_the_mayor_is_found_at_home_as_she_was_left():
    city = build(3)
    home = (city.towns[0].west_m + 1, city.towns[0].north_m + 1)
    for _ in range(2):
        stay(city, 30, home)
        (living,) = [one for one in city.here.values() if one.people is not None and one.people.known]
        assert living.people.facts_of("Mayor Ilse")["age"] == 61.0
        stay(city, 30, (-5000.0, 0.0))
    assert list(city.here["Ash"].community.known) == ["Mayor Ilse"]


def test_a_rumour_spreads_alike_among_people_and_by_the_formula():
    heard = []
    for place in ((-5000.0, 0.0), None):
        city = build(4, inhabitants=1_000)
        stay(city, 2, (-5000.0, 0.0))
        stay(city, 150, place or middle_of(city.towns[0]))
        heard.append(city.observe()["heard"])
    assert 100 < heard[0] <= 250
    assert heard[1] == pytest.approx(heard[0], rel=0.25)


def test_a_closed_town_takes_no_more_memory_for_more_inhabitants():
    def size_of(inhabitants):
        tracemalloc.start()
        try:
            city = build(9, inhabitants=inhabitants)
            stay(city, 20, middle_of(city.towns[0]))
            stay(city, 20, (-50_000.0, 0.0))
            assert city.observe()["towns"] == 4
            gc.collect()
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    size_of(10_000)  # what is made once only
    small, large = size_of(10_000), size_of(1_000_000)
    assert large - small < 10_000


def test_the_same_seed_makes_the_same_journey():
    def journey(seed):
        city, seen = build(seed, inhabitants=8_000), []
        city.place = middle_of(city.towns[0])
        for _ in range(90):
            city.step()
            seen.append(repr(city.observe()))
        return seen

    assert journey(5) == journey(5)
    assert journey(5) != journey(6)


@pytest.mark.parametrize("frames", [1, 40])
def test_loaded_anew_it_goes_on_as_if_nothing_had_happened(frames):
    first, second = build(6, inhabitants=4_000), build(7, inhabitants=4_000)
    first.place = middle_of(first.towns[0])
    stay(first, frames)
    restore(from_json(to_json(take(first.parts))), second.parts)
    for _ in range(60):
        first.step()
        second.step()
        assert first.observe() == second.observe()
    assert take(first.parts) == take(second.parts)


def test_a_report_tells_the_time_of_a_frame():
    ticks = iter(range(0, 10**9, 5_000))
    city = build(8, stopwatch=lambda: next(ticks))
    stay(city, 10)
    assert city.report()["ai_us_per_frame"] >= 5
    assert city.report()["ai_us_per_frame"] == 0


def a_busy_machine(seed):
    """A stopwatch that at times stands still while another program runs, for up to 3 ms."""
    chance, passed_ns = random.Random(seed), 0

    def now_ns():
        nonlocal passed_ns
        passed_ns += chance.randrange(10_000, 3_000_000) if chance.random() < 0.02 else chance.randrange(1_000)
        return passed_ns

    return now_ns


@pytest.mark.parametrize(
    "busy", [None, *range(4)], ids=["steps", "time", "time again", "little time", "hardly any time"]
)
def test_a_recorded_journey_replays_to_the_last_bit(busy):
    first, lines = build(10, inhabitants=8_000), []
    stopwatch, budget_us = a_busy_machine(busy), (150.0, 150.0, 20.0, 1.0)[busy or 0]
    with Recorder(
        lines.append, clock=first.clock, trace=first.trace, parts=first.observed, seed=10, exact=True,
        is_timed=busy is not None,
    ) as recorder:
        for _ in range(40):
            inputs = first.next_inputs()
            budget = Budget.of_steps(first.budget_steps) if busy is None else Budget.of_time(budget_us, stopwatch)
            first.step(recorder.begin_frame(budget, inputs), inputs)
            recorder.end_frame()
    assert first.observe()["people"] > 0

    def difference(seed):
        again = build(seed, inhabitants=8_000)
        return Replay(
            read_recording(lines), clock=again.clock, trace=again.trace, parts=again.observed
        ).run(again.step)

    assert difference(10) is None
    assert difference(11) is not None
