"""Putting runs together, judging them, and the table that shows it."""
from __future__ import annotations

import pytest

from tools.benchmarking import records
from tools.benchmarking.command import as_dict
from tools.benchmarking.declarations import Measurement, Suite
from tools.benchmarking.results import outcome_of
from tools.benchmarking.table import duration, table, verdict

FIELDS = {"suite", "name", "n", "ours_us", "other", "other_us", "ratio", "goal"}


def run_of(*samples, yardstick=33.0):
    taken = [records.samples(name, n, by_case) for name, n, by_case in samples]
    return [records.empty_call([yardstick]), *taken, records.end()]


def outcome(*runs, label="", **settings):
    return outcome_of("demo", Suite("a demo", (Measurement("work", **settings),)), runs, label=label)


def test_the_result_is_the_median_of_the_medians_of_runs():
    runs = [run_of(("work", 1, {"ours": [1.0, us, 99.0], "peer": [8.0]})) for us in (2.0, 4.0, 50.0)]
    [result] = outcome(*runs).results
    assert (result.ours_us, result.other_us, result.ratio) == (4.0, 8.0, 2.0)
    assert result.spread == (50.0 - 2.0) / 4.0


def test_a_ratio_above_one_is_better_for_us():
    [result] = outcome(run_of(("work", 1, {"ours": [2.0], "peer": [6.0]})), goals={"peer": 3.0}).results
    assert result.ratio == 3.0
    assert result.is_met is True


def test_a_goal_below_one_allows_us_more_time_than_the_other():
    slow = run_of(("work", 1, {"ours": [1.7], "peer": [1.0]}))
    assert outcome(slow, goals={"peer": 1 / 1.6}).results[0].is_met is False
    assert outcome(slow, goals={"peer": 1 / 1.8}).results[0].is_met is True


def test_a_goal_may_differ_by_size():
    runs = run_of(("work", 10, {"ours": [1.0], "peer": [2.0]}), ("work", 100, {"ours": [1.0], "peer": [2.0]}))
    results = outcome(runs, sizes=(10, 100), goals={"peer": {100: 5.0}}).results
    assert [(one.n, one.goal, one.is_met) for one in results] == [(10, None, None), (100, 5.0, False)]


def test_a_limit_is_scaled_by_what_an_empty_call_takes_here():
    twice_as_slow = run_of(("work", 1, {"ours": [150.0]}), yardstick=66.0)
    [result] = outcome(twice_as_slow, limits_us={1: 100.0}).results
    assert (result.other, result.other_us, result.goal, result.is_met) == ("limit", 200.0, 1.0, True)


def test_a_measurement_without_another_still_has_its_time():
    [result] = outcome(run_of(("work", 1, {"ours": [5.0]}))).results
    assert (result.other, result.ratio, result.is_met) == (None, None, None)


def test_a_wrong_result_is_told_once_though_every_run_met_it():
    run = [records.wrong("work", 1, "ours gives 3, peer gives 4"), records.end()]
    assert outcome(run, run).wrong == ("work, n = 1: ours gives 3, peer gives 4",)


def test_a_declared_measurement_that_is_never_reported_is_wrong():
    assert outcome([records.end()], sizes=(10,)).wrong == ("work, n = 10: never reported",)


def test_a_reported_measurement_that_is_not_declared_is_wrong():
    run = run_of(("work", 1, {"ours": [1.0]}), ("play", 1, {"ours": [1.0]}))
    assert outcome(run).wrong == ("play: reported, but suite.py does not declare it",)


def test_rows_with_a_label_are_not_judged():
    run = run_of(("work", 1, {"ours": [9.0], "peer": [1.0]}))
    [result] = outcome(run, goals={"peer": 2.0}, label=", native bridge").results
    assert (result.name, result.is_met) == ("work, native bridge", None)


def test_json_has_one_machine_and_promised_fields_per_result():
    done = outcome(run_of(("work", 1, {"ours": [1.0], "peer": [2.0]})))
    written = as_dict({"cores": 2}, {"python": "3.11"}, [done])
    assert written["machine"] == {"cores": 2}
    assert written["versions"] == {"python": "3.11"}
    assert set(written["results"][0]) >= FIELDS


@pytest.mark.parametrize(
    ("us", "text"),
    [(0.0925, "92.5 ns"), (1.7, "1.7 µs"), (304.4, "304 µs"), (12_345, "12.3 ms"), (2_500_000, "2.5 s")],
)
def test_times_are_shown_in_the_unit_a_person_would_choose(us, text):
    assert duration(us) == text


def test_the_table_shows_who_met_and_who_missed():
    runs = run_of(("work", 1000, {"ours": [2.0], "GDScript": [1.0], "peer": [9.0]}))
    shown = table(outcome(runs, sizes=(1000,), goals={"GDScript": 0.6, "peer": 2.0}))
    missed, met = shown.splitlines()[-2:]
    assert missed.split() == ["work", "1,000", "2", "µs", "0%", "GDScript", "1", "µs", "0.50", "0.60", "MISSED"]
    assert met.endswith("4.50  2.00  met")


def test_the_table_names_what_is_wrong_and_what_is_missing():
    run = [records.missing("pyee", "work"), records.wrong("work", 1, "ours gives 3"), records.end()]
    wrong, missing = table(outcome(run)).splitlines()[-2:]
    assert wrong == "WRONG: work, n = 1: ours gives 3"
    assert missing.startswith("without pyee, not installed")


def test_verdict_counts_and_names_losses_first():
    runs = run_of(("work", 1, {"ours": [2.0], "a": [1.0], "b": [9.0], "c": [1.5], "d": [3.0]}))
    assert verdict(outcome(runs, goals={"a": 1.0, "b": 1.0}).results).splitlines() == [
        "1 MISSED, 1 slower, 1 met, 1 faster", "  MISSED beside a: demo: work", "  slower beside c: demo: work"]


def test_verdict_within_the_spread_is_unclear():
    runs = [run_of(("work", 1, {"ours": [us], "peer": [2.1], "other": [9.0]})) for us in (1.0, 2.0, 3.0)]
    near, far = outcome(*runs, goals={"peer": 1.0, "other": 2.0}).results
    assert (near.verdict, near.is_met) == ("unclear", None)
    assert (far.verdict, far.is_met) == ("met", True)
    assert outcome(runs[1], goals={"peer": 1.0}).results[0].verdict == "met", "one run has no spread"


def test_every_row_with_a_peer_has_a_verdict():
    assert [one.verdict for one in outcome(run_of(("work", 1, {"ours": [2.0], "a": [1.0], "b": [9.0]}))).results] == [
        "slower", "faster"]

