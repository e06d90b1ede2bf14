"""Results as a table for the terminal."""
from __future__ import annotations

from collections.abc import Sequence

from tools.benchmarking.results import Outcome, Result

_ORDER = {"MISSED": 0, "slower": 1, "unclear": 2, "met": 3, "faster": 4, "": 5}
_HEADINGS = ("measurement", "n", "ours", "spread", "other", "its time", "ratio", "goal", "")


def duration(us: float) -> str:
    """Return a time in the unit that a person would choose: "92 ns", "1.7 µs", "12.3 ms"."""
    for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1.0)):
        if us >= size:
            return f"{us / size:.3g} {unit}" if us / size < 1000 else f"{us / size:.0f} {unit}"
    return f"{us * 1000:.3g} ns"


def table(outcome: Outcome) -> str:
    """Return a suite's results, losses first: one row per other, then what is wrong and what is missing."""
    title = f"{outcome.suite}: {outcome.about}"
    call = f"{outcome.empty_call_ns:.0f} ns"
    how = f"medians of {outcome.runs} runs; an empty Python method call took {call}, which scales the limits"
    rows = [_HEADINGS, *(_row(result) for result in losses_first(outcome.results))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["", title, how, ""]
    for row in rows:
        cells = [
            text.ljust(width) if column in (0, 4, 8) else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines += [f"WRONG: {text}" for text in outcome.wrong]
    if outcome.missing:
        lines.append(f"without {', '.join(outcome.missing)}, not installed: --peers installs what suites compare with")
    return "\n".join(lines)


def losses_first(results: Sequence[Result]) -> list[Result]:
    """Return results with what missed its goal first, then what is slower or unclear; the rest keeps its order."""
    return sorted(results, key=lambda result: _ORDER[result.verdict])


def verdict(results: Sequence[Result]) -> str:
    """Return how many results have each verdict, and name those that missed their goal or lose to a peer."""
    counts = [(name, sum(one.verdict == name for one in results)) for name in _ORDER if name]
    line = ", ".join(f"{count} {name}" for name, count in counts if count)
    lost = dict.fromkeys(
        f"  {one.verdict} beside {one.other}: {one.suite}: {one.name}"
        for one in losses_first(results) if one.verdict in ("MISSED", "slower"))
    return "\n".join([line or "nothing to compare with", *lost])


def _row(result: Result) -> tuple[str, ...]:
    return (
        result.name, f"{result.n:,}", duration(result.ours_us), f"{result.spread:.0%}",
        result.other or "", "" if result.other_us is None else duration(result.other_us),
        "" if result.ratio is None else f"{result.ratio:.2f}",
        "" if result.goal is None else f"{result.goal:.2f}", result.verdict,
    )
