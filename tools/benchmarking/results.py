"""What was measured, put together over several processes and judged by the goals."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from tools.benchmarking import records
from tools.benchmarking.declarations import LIMITED_CALL_NS, Measurement, Suite
from tools.benchmarking.records import Record
from tools.benchmarking.sampling import OURS


@dataclass(frozen=True)
class Result:
    """Ours beside one other, or beside a limit.

    ``ratio`` is other_us / ours_us: above 1 is better for us. ``goal`` is the least ratio
    wanted, None if none is. ``spread`` is how far the medians of single runs lie apart, as
    a share of ours_us.
    """

    suite: str
    name: str
    n: int
    ours_us: float
    other: str | None
    other_us: float | None
    ratio: float | None
    goal: float | None
    spread: float

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is reached; None without one, and where the spread is larger than the distance to it."""
        if self.goal is None or self.ratio is None or self._is_near(self.goal):
            return None
        return self.ratio >= self.goal

    @property
    def verdict(self) -> str:
        """"met" or "MISSED" beside the goal, without one "faster" or "slower"; "unclear" within the spread."""
        if self.ratio is None:
            return ""
        if self._is_near(1.0 if self.goal is None else self.goal):
            return "unclear"
        if self.goal is None:
            return "faster" if self.ratio > 1 else "slower"
        return "met" if self.ratio >= self.goal else "MISSED"

    def _is_near(self, border: float) -> bool:
        assert self.ratio is not None
        return self.spread > 0 and abs(self.ratio / border - 1) <= self.spread / 2

    def as_dict(self) -> dict[str, object]:
        """Return it as plain JSON data."""
        return {**asdict(self), "is_met": self.is_met, "verdict": self.verdict}


@dataclass(frozen=True)
class Outcome:
    """All of one suite: results, what came out wrong, and peers that are not installed."""

    suite: str
    about: str
    results: tuple[Result, ...]
    wrong: tuple[str, ...]
    missing: tuple[str, ...]
    empty_call_ns: float
    runs: int


def outcome_of(
    name: str, suite: Suite, runs: Sequence[Sequence[Record]], *, label: str = ""
) -> Outcome:
    """Put the records of several runs of a suite together: medians of each run's medians.

    Args:
        name: of the suite.
        suite: with the goals.
        runs: records of each process.
        label: put after each name; measurements with a label are not judged, since goals
            are for what is shipped.
    """
    yardstick = median(_numbers(runs, "empty_call") or [LIMITED_CALL_NS])
    results: list[Result] = []
    wrong = [f"{one['name']}, n = {one['n']}: {one['why']}" for run in runs for one in records.of_kind("wrong", run)]
    found = _medians(runs)
    for (what, n), by_case in found.items():
        measurement = suite.measurement(what)
        if measurement is None:
            wrong.append(f"{what}: reported, but suite.py does not declare it")
        else:
            wanted = Measurement(what) if label else measurement
            results += _compare(name, wanted, n, by_case, yardstick, label)
    if not wrong:
        wrong = [
            f"{one.name}, n = {n}: never reported"
            for one in suite.measurements for n in one.sizes if (one.name, n) not in found
        ]
    missing = dict.fromkeys(str(one["peer"]) for run in runs for one in records.of_kind("missing", run))
    return Outcome(name, suite.about, tuple(results), tuple(dict.fromkeys(wrong)), tuple(missing), yardstick, len(runs))


def _compare(
    suite: str, measurement: Measurement, n: int, by_case: Mapping[str, list[float]], yardstick: float, label: str
) -> list[Result]:
    ours_us = median(by_case[OURS])
    spread = (max(by_case[OURS]) - min(by_case[OURS])) / ours_us if ours_us else 0.0
    name = measurement.name + label
    rows: list[tuple[str | None, float | None, float | None]] = [
        (case, median(times), measurement.goal(case, n)) for case, times in by_case.items() if case != OURS
    ]
    if n in measurement.limits_us:
        rows.append(("limit", measurement.limits_us[n] * yardstick / LIMITED_CALL_NS, 1.0))
    return [
        Result(
            suite, name, n, ours_us, other, other_us,
            other_us / ours_us if other_us is not None and ours_us else None, goal, spread,
        )
        for other, other_us, goal in rows or [(None, None, None)]
    ]


def _medians(runs: Sequence[Sequence[Record]]) -> dict[tuple[str, int], dict[str, list[float]]]:
    """Return for each measurement and case the median of each run."""
    found: dict[tuple[str, int], dict[str, list[float]]] = {}
    for run in runs:
        for record in records.of_kind("samples", run):
            by_case = found.setdefault((str(record["name"]), int(str(record["n"]))), {})
            taken = record["samples"]
            assert isinstance(taken, dict)
            for case, times in taken.items():
                by_case.setdefault(case, []).append(median(times))
    return found


def _numbers(runs: Sequence[Sequence[Record]], kind: str) -> list[float]:
    numbers: list[float] = []
    for run in runs:
        for record in records.of_kind(kind, run):
            taken = record["ns"]
            assert isinstance(taken, list)
            numbers.append(median(taken))
    return numbers
