"""Taking times: everybody in turns, so that a slow moment of the machine is slow for all."""
from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable

from tools.benchmarking import records
from tools.benchmarking.declarations import Case, Contest, Measurement
from tools.benchmarking.empty_call import empty_call_ns

OURS = "ours"

SAMPLE_NS = 2_000_000
"""Least time of one sample (ns): a thousand times what reading the stopwatch takes.

More makes runs longer; less lets the stopwatch and its interrupts be measured.
"""

ROUNDS = 15
"""Samples of each case in one process. A median of fewer wanders by several per cent."""

Stopwatch = Callable[[], int]


class WrongResultError(Exception):
    """A case gave another result than ours, so its time says nothing."""


def cases_of(contest: Contest) -> tuple[dict[str, Case], list[str]]:
    """Return all cases that can run, ours first, and the names of peers not installed."""
    cases: dict[str, Case] = {OURS: contest.ours, **contest.others}
    absent = []
    for name, make in contest.peers.items():
        try:
            cases[name] = make()
        except ModuleNotFoundError:
            absent.append(name)
    return cases, absent


def check_results(contest: Contest, cases: dict[str, Case]) -> None:
    """Run every case once and compare what comes out.

    Raises:
        WrongResultError: naming the case and both results.
    """
    wanted = contest.ours()
    for name, case in cases.items():
        if name != OURS and not contest.is_same(wanted, got := case()):
            raise WrongResultError(f"ours gives {_short(wanted)}, {name} gives {_short(got)}")
    if complaint := contest.complaint():
        raise WrongResultError(complaint)


def take_samples(
    cases: dict[str, Case], *, rounds: int = ROUNDS, stopwatch: Stopwatch = time.thread_time_ns
) -> tuple[dict[str, list[float]], list[float]]:
    """Time every case once a round, each round beginning with another one.

    The default stopwatch is the time this thread ran on a processor: what other programs
    take of the machine does not count.

    Returns:
        Samples by case (µs for one run), and of the empty method call (ns).
    """
    repeats = {name: _repeats(case, stopwatch) for name, case in cases.items()}
    taken: dict[str, list[float]] = {name: [] for name in cases}
    yardstick = []
    names = list(cases)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for number in range(rounds):
            gc.collect()
            yardstick.append(empty_call_ns(stopwatch))
            begin = number % len(names)
            for name in names[begin:] + names[:begin]:
                taken[name].append(_sample_us(cases[name], repeats[name], stopwatch))
    finally:
        if was_enabled:
            gc.enable()
    return taken, yardstick


def measure(
    measurement: Measurement, tell: Callable[[records.Record], object], *, rounds: int = ROUNDS,
    stopwatch: Stopwatch = time.thread_time_ns,
) -> None:
    """Measure at every size and tell the records, of a wrong result too."""
    if measurement.make is None:
        raise ValueError(f"{measurement.name!r} has no make; only a suite with a scene may leave it out")
    if measurement.by_wall_clock:
        stopwatch = time.perf_counter_ns
    for n in measurement.sizes:
        contest = measurement.make(n)
        cases, absent = cases_of(contest)
        for peer in absent:
            tell(records.missing(peer, measurement.name))
        try:
            check_results(contest, cases)
            taken, yardstick = take_samples(cases, rounds=rounds, stopwatch=stopwatch)
            check_results(contest, cases)  # the thousandth run must be as right as the first
        except WrongResultError as error:
            tell(records.wrong(measurement.name, n, str(error)))
            continue
        tell(records.empty_call(yardstick))
        tell(records.samples(measurement.name, n, taken))


def _repeats(case: Case, stopwatch: Stopwatch) -> int:
    """Return how often a case must run for one sample; warms it up on the way.

    What one run takes is not told by the first, which may take ten times as long.
    """
    repeats = 1
    while True:
        used = _time_ns(case, repeats, stopwatch)
        if SAMPLE_NS * 0.9 <= used < 10 * SAMPLE_NS:
            used = _time_ns(case, repeats, stopwatch)
        if used >= SAMPLE_NS * 0.9:
            return repeats
        repeats = min(4 * repeats, max(repeats + 1, math.ceil(repeats * SAMPLE_NS / max(1, used))))


def _sample_us(case: Case, repeats: int, stopwatch: Stopwatch) -> float:
    return _time_ns(case, repeats, stopwatch) / repeats / 1000


def _time_ns(case: Case, repeats: int, stopwatch: Stopwatch) -> int:
    begun = stopwatch()
    for _ in range(repeats):
        case()
    return stopwatch() - begun


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
