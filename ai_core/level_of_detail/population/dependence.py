"""Dependences between properties: rank correlations, reproduced by a Gaussian copula.

Rank correlation is independent of the distribution of a property, so it combines with any distribution:
correlated normal numbers determine the ranks of people.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import check_type, finite_number, several_names, shown
from ai_core.level_of_detail.population.chance import Floats, normals, shuffled

__all__ = ["Dependences", "arranged", "checked_dependences", "measured", "rank_correlation"]

Dependences = dict[tuple[str, str], float]
"""Rank correlation (-1 to 1) by pairs of properties, both in alphabetical order."""

STRONGEST = 0.999
"""Largest correlation of the normal numbers (no unit); at 1 the equations have no solution."""

MEASURABLE_PEOPLE = 30
"""Least number of people whose dependences are measured (count); fewer show mostly chance."""

ROUNDS = 12
"""Largest number of corrections (count); each leaves about a tenth of the error."""

CLOSE_ENOUGH = 0.5
"""Tolerated error of a rank correlation, multiplied by the number of people."""

SAME = 1.0
"""Change of a rank correlation that counts as none, multiplied by the number of people.

It must be more than ``CLOSE_ENOUGH``; otherwise tolerated errors would add up over several openings.
"""


def checked_dependences(pairs: Mapping[tuple[str, str], float], known: Mapping[str, object]) -> Dependences:
    """Return the dependences sorted by pair."""
    found: Dependences = {}
    check_type("dependences", pairs, Mapping)
    for pair, value in pairs.items():
        two = several_names("a pair in dependences", pair)
        if len(two) != 2:
            raise ValueError(f"a pair in dependences must be two names of properties, got {shown(pair)}")
        one, other = sorted(two)
        if one == other or one not in known or other not in known:
            raise ValueError(
                f"a dependence must be between two different numeric properties of"
                f" {', '.join(map(repr, known))}, got {pair}")
        if (one, other) in found:
            raise ValueError(f"the dependence of {one!r} and {other!r} is given twice, in both orders; remove one")
        found[one, other] = finite_number(f"dependence of {pair}", value, minimum=-1, maximum=1)
    if found:
        names = _names(found)
        lowest = float(np.linalg.eigvalsh(_of_normals(names, found)).min())
        if lowest < -1e-9:
            raise ValueError(f"the dependences {found} cannot all hold at once; weaken some")
    return dict(sorted(found.items()))


def arranged(columns: Mapping[str, Floats], pairs: Dependences, generator: Any) -> dict[str, Floats]:
    """Return columns in a random order with the given rank correlations.

    Cost: O(people log people) times a few rounds.
    """
    names = _names(pairs)
    count = len(next(iter(columns.values()), ()))
    found = {name: column[shuffled(generator, count)] for name, column in sorted(columns.items()) if name not in names}
    if not names:
        return found
    raw = _independent(len(names), count, generator)
    ordered = [np.sort(columns[name]) for name in names]
    orders = _orders(names, pairs, raw, [_ranks(one) for one in ordered])
    for name, one, order in zip(names, ordered, orders, strict=True):
        found[name] = _placed(one, order)
    return found


def measured(before: Dependences, columns: Mapping[str, Floats]) -> Dependences:
    """Return the present rank correlations of people.

    An earlier value stays where a property has no variation, the people are too few, or the change is
    negligible.

    Cost: O(people log people).
    """
    count = len(next(iter(columns.values()), ()))
    if count < MEASURABLE_PEOPLE:
        return dict(before)
    found = {}
    for (one, other), value in before.items():
        now = rank_correlation(columns[one], columns[other])
        stays = now is None or abs(now - value) <= SAME / count
        found[one, other] = value if now is None or stays else max(-1.0, min(1.0, now))
    return found


def rank_correlation(one: Floats, other: Floats) -> float | None:
    """Return Spearman's rank correlation; None if a column has no variation."""
    return _correlation(_ranks(one), _ranks(other))


def _orders(names: list[str], pairs: Dependences, raw: Floats, ranks: list[Floats]) -> list[NDArray[np.intp]]:
    """Return the orders that come closest to the wanted correlations."""
    normal = _of_normals(names, pairs)
    enough = CLOSE_ENOUGH / max(1, raw.shape[1])
    best, least = [np.arange(raw.shape[1])] * len(names), math.inf
    for _ in range(ROUNDS):
        orders = [np.argsort(score, kind="stable") for score in _root(normal) @ raw]
        placed = [_placed(one, order) for one, order in zip(ranks, orders, strict=True)]
        off = np.zeros_like(normal)
        for (one, other), wanted in pairs.items():
            row, column = names.index(one), names.index(other)
            have = _correlation(placed[row], placed[column])
            off[row, column] = off[column, row] = 0.0 if have is None else wanted - have
        worst = float(np.abs(off).max())
        if worst < least:
            best, least = orders, worst
        if worst <= enough:
            break
        normal = np.clip(normal + off, -STRONGEST, STRONGEST)
        np.fill_diagonal(normal, 1.0)
    return best


def _names(pairs: Dependences) -> list[str]:
    return sorted({name for pair in pairs for name in pair})


def _of_normals(names: list[str], pairs: Dependences) -> Floats:
    """Return the correlation matrix of normal numbers whose ranks have the correlations of ``pairs``."""
    matrix = np.eye(len(names))
    for (one, other), value in pairs.items():
        row, column = names.index(one), names.index(other)
        matrix[row, column] = matrix[column, row] = 2 * math.sin(math.pi * value / 6)
    return matrix


def _root(matrix: Floats) -> Floats:
    """Return a square root of the nearest valid correlation matrix."""
    sizes, axes = np.linalg.eigh(matrix)
    root: Floats = axes * np.sqrt(np.maximum(sizes, 0))
    return root


def _independent(rows: int, count: int, generator: Any) -> Floats:
    """Return normal numbers with sample correlations of exactly 0, if there are enough people."""
    raw = np.stack([normals(generator, count) for _ in range(rows)])
    if count > rows + 1:
        raw -= raw.mean(axis=1, keepdims=True)
        sizes, axes = np.linalg.eigh(raw @ raw.T / count)
        if sizes.min() > 1e-12:
            raw = (axes / np.sqrt(sizes)) @ axes.T @ raw
    return raw


def _placed(ordered: Floats, order: NDArray[np.intp]) -> Floats:
    placed = np.empty_like(ordered)
    placed[order] = ordered
    return placed


def _correlation(one: Floats, other: Floats) -> float | None:
    spread = float(one @ one) * float(other @ other)
    return None if spread <= 0 else float(one @ other) / math.sqrt(spread)


def _ranks(values: Floats) -> Floats:
    """Return ranks centred on 0; equal values share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[inverse.ravel()]
    return ranks - ranks.mean() if len(ranks) else ranks
