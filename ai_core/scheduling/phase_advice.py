"""What no choice of phases can change, and which periods would let it.

Two tasks can keep out of each other's way only if their periods share a factor:
by the Chinese remainder theorem, tasks whose periods share none all meet once
in the product of their periods, whatever the phases.
"""
from __future__ import annotations

from collections import Counter
from math import ceil, gcd, lcm, prod

__all__ = ["advice_on", "kinder_periods", "least_peak_of"]

MOST_HINTS = 3
"""Changes of periods named at once; after these the picture is another."""

NEAR = 8
"""A period may be moved by this part of itself, and by 1 frame at least."""


MOST_HINTED = 100
"""Different periods among which hints are looked for; among more, a few changes alter little."""


def least_peak_of(periods: list[int]) -> int:
    """Return a number of runs that the busiest frame reaches whatever the phases.

    It is the mean load rounded up, or how many periods share no factor if
    those are more.

    >>> least_peak_of([2, 3, 5, 7, 11]), least_peak_of([2, 2, 2])
    (5, 2)
    """
    # A sum that should be whole may come out a little above it.
    mean = ceil(sum(1 / period for period in periods) - 1e-9)
    return max(mean, _co_prime(periods))


def advice_on(periods: list[int], peak: int, least_peak: int, *, is_exact: bool) -> tuple[bool, str]:
    """Return whether other phases can help, and in words what could be done."""
    count = len(periods)
    if count < 2:
        return False, "There is nothing to phase: at most one task."
    if _co_prime(periods) == count:
        product = prod(periods)
        often = f"once in {product} frames" if product > 1 else "in every frame"
        fact = (
            f"Phasing cannot help: no two periods share a factor,"
            f" so all {count} tasks meet {often}, whatever the phases."
        )
        return False, fact + _hints(periods)
    if peak > least_peak:
        text = f"Re-phasing may lower the peak of {peak}; no phases go below {least_peak}."
        return True, text + _hints(periods)
    if is_exact:
        return False, f"No phases have a lower peak than {peak}." + _hints(periods)
    return True, "In this sample the peak is as low as phases can make it; elsewhere it may be higher."


def kinder_periods(periods: list[int]) -> list[tuple[int, int]]:
    """Return changes, as pairs of periods, of those that share no factor with any other.

    >>> kinder_periods([2, 3, 5, 7, 11])
    [(11, 10), (7, 6)]
    """
    counts, changes = Counter(periods), []
    for period in sorted(counts, reverse=True):
        others = counts.copy()
        others[period] -= 1
        if period == 1 or _avoidable(period, others) > 0:
            continue
        reach = max(1, period // NEAR)
        near = [n for n in range(max(2, period - reach), period + reach + 1) if n != period]
        best = min(near, key=lambda n: (-_avoidable(n, others), abs(n - period), n))
        if _avoidable(best, others) > 0:
            changes.append((period, best))
            counts = others + Counter([best])
        if len(changes) == MOST_HINTS:
            break
    return changes


def _hints(periods: list[int]) -> str:
    if len(set(periods)) > MOST_HINTED:
        return ""
    changes = kinder_periods(periods)
    if not changes:
        return ""
    named = ", ".join(f"{old} to {new}" for old, new in changes)
    return (
        f" A period that shares a factor with others can keep out of their way: change {named}."
    )


def _avoidable(period: int, others: Counter[int]) -> float:
    """Return how many meetings, per run of it, phases could spare a task."""
    return sum(count * (1 - 1 / gcd(period, other)) for other, count in others.items() if count)


def _co_prime(periods: list[int]) -> int:
    """Return how many periods share no factor with each other, taken as they come by size."""
    product, count = 1, 0
    for period in sorted(periods):
        if gcd(product, period) == 1:
            product = lcm(product, period)
            count += 1
    return count
