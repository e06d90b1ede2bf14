"""Taking times: in turns, compared, and never of something that is wrong. The stopwatch is ours."""
from __future__ import annotations

import time

from tools.benchmarking import records
from tools.benchmarking.declarations import Contest, Measurement
from tools.benchmarking.empty_call import empty_call_ns
from tools.benchmarking.sampling import SAMPLE_NS, cases_of, measure, take_samples


class Bench:
    """Cases that take as long as they say, on a stopwatch that only they move."""

    def __init__(self):
        self.ns = 0
        self.order = []

    def __call__(self):
        return self.ns

    def case(self, name, us, result=1):
        def run():
            self.order.append(name)
            self.ns += us * 1000
            return result
        return run


def told_of(measurement, bench):
    told = []
    measure(measurement, told.append, rounds=3, stopwatch=bench)
    return told


def missing_package():
    import no_package_of_this_name  # noqa: F401


def test_a_sample_is_the_time_of_one_run_however_often_it_ran():
    bench = Bench()
    cases = {"ours": bench.case("ours", 10), "peer": bench.case("peer", 4000)}
    taken, _ = take_samples(cases, rounds=3, stopwatch=bench)
    assert taken == {"ours": [10.0] * 3, "peer": [4000.0] * 3}


def test_a_short_case_runs_until_its_sample_is_long_enough():
    bench = Bench()
    take_samples({"ours": bench.case("ours", 100)}, rounds=1, stopwatch=bench)
    warming_up, enough = 1 + 4 + 16, SAMPLE_NS // 100_000
    assert bench.order.count("ours") == warming_up + 2 * enough + enough


def test_initially_slow_case_runs_as_often_as_later_speed_allows():
    bench = Bench()
    slow, fast = bench.case("slow", SAMPLE_NS // 1000), bench.case("fast", 100)

    def case():
        return (fast if bench.order else slow)()

    take_samples({"ours": case}, rounds=1, stopwatch=bench)
    assert bench.order.count("fast") >= SAMPLE_NS // 100_000


def test_each_round_begins_with_another_case():
    bench = Bench()
    long = SAMPLE_NS // 1000
    cases = {name: bench.case(name, long) for name in "abc"}
    take_samples(cases, rounds=3, stopwatch=bench)
    warming_up = 2 * 3
    assert "".join(bench.order[warming_up:]) == "abc" "bca" "cab"


def test_the_records_hold_the_yardstick_and_the_samples():
    bench = Bench()
    contest = Contest(bench.case("ours", 2000), {"peer": bench.case("peer", 6000)})
    yardstick, samples = told_of(Measurement("work", lambda n: contest, sizes=(7,)), bench)
    assert yardstick == records.empty_call([0.0] * 3)
    assert samples == records.samples("work", 7, {"ours": [2000.0] * 3, "peer": [6000.0] * 3})


def test_every_size_is_measured():
    bench = Bench()
    told = told_of(Measurement("work", lambda n: Contest(bench.case("ours", n * 1000)), sizes=(2, 8)), bench)
    taken = records.of_kind("samples", told)
    assert [(one["n"], one["samples"]["ours"][0]) for one in taken] == [(2, 2000.0), (8, 8000.0)]


def test_work_on_threads_is_timed_by_the_clock_on_the_wall():
    bench = Bench()
    waits = Contest(lambda: time.sleep(0.003))      # as who waits for a thread: it takes no time of this one
    told = told_of(Measurement("work", lambda n: waits, by_wall_clock=True), bench)
    assert min(records.of_kind("samples", told)[0]["samples"]["ours"]) >= 3000
    assert bench.ns == 0


def test_a_case_that_gives_another_result_is_told_and_not_timed():
    bench = Bench()
    contest = Contest(bench.case("ours", 2000, result=3), {"peer": bench.case("peer", 2000, result=4)})
    assert told_of(Measurement("work", lambda n: contest), bench) == [
        records.wrong("work", 1, "ours gives 3, peer gives 4")
    ]


def test_a_case_that_goes_wrong_later_is_found_out_too():
    bench = Bench()
    results = iter([1] * 5)
    slow = bench.case("peer", 2000)
    contest = Contest(bench.case("ours", 2000), {"peer": lambda: (slow(), next(results, 2))[1]})
    assert told_of(Measurement("work", lambda n: contest), bench)[-1]["why"] == "ours gives 1, peer gives 2"


def test_what_runs_leave_behind_is_looked_at():
    bench = Bench()
    contest = Contest(bench.case("ours", 2000), complaint=lambda: "two were told more often than others")
    assert told_of(Measurement("work", lambda n: contest), bench) == [
        records.wrong("work", 1, "two were told more often than others")
    ]


def test_a_peer_that_is_not_installed_is_named_and_left_out():
    bench = Bench()
    peers = {"nobody": missing_package, "there": lambda: bench.case("there", 2000)}
    contest = Contest(bench.case("ours", 2000), peers=peers)
    cases, absent = cases_of(contest)
    assert (list(cases), absent) == (["ours", "there"], ["nobody"])
    assert told_of(Measurement("work", lambda n: contest), bench)[0] == records.missing("nobody", "work")


def test_the_yardstick_is_the_time_of_one_call():
    ticks = iter([1000, 1000 + 50 * 33])
    assert empty_call_ns(lambda: next(ticks), calls=50) == 33.0


def test_records_are_found_among_other_output():
    record = records.samples("work", 1, {"ours": [1.5]})
    output = f"Godot Engine\n{records.line(record)}\nhello\n{records.line(records.end())}\n"
    assert records.read(output) == [record, records.end()]
    assert records.other_lines(output) == "Godot Engine\nhello"


def test_a_record_torn_apart_by_another_stream_is_passed_over():
    torn = records.line(records.empty_call([1.0, 2.0]))
    output = f"{torn[:30]}ERROR: something\n{torn[30:]}\n{records.line(records.end())}\n"
    assert records.read(output) == [records.end()]
