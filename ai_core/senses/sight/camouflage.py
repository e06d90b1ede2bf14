"""Camouflage: how visible a pattern is in front of another one.

The level designer assigns one of a few patterns to each material: brick, leaves, sky. The clothes of a character have a
pattern too. A pair of patterns scales the strength of the source.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.described import Described
from ai_core.errors import finite_number, named, shown

__all__ = ["NO_PATTERN", "Backdrop", "Background", "Camouflage"]

NO_PATTERN = -1
"""Stands for "no pattern, or not known" among numbers of patterns; before it nothing is scaled."""


class Backdrop(NamedTuple):
    """The backgrounds of some targets.

    Attributes:
        pattern: (n,) integers from ``Camouflage.number``, or ``NO_PATTERN``.
        light: (n,) how brightly each is lit, 0 to 1; None if it does not count.
    """

    pattern: NDArray[np.intp]
    light: NDArray[np.float64] | None = None


Background = Callable[
    [NDArray[np.float32], NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]], "Backdrop | None"]
"""Callable that takes many lines (from, to, sensor ids, source ids) and returns what they hit first
beyond ``to``; None for "unknown at present".
"""


class Camouflage(Described):
    """Factors by pattern of the source and pattern behind it.

    Args:
        factors: by (source's pattern, background's pattern), 0 or more: 0.1 hides
            well, 1.5 stands out. Pairs that are not listed count as 1.

    Raises:
        TypeError: if it is not a mapping of pairs of names to numbers.
        ValueError: if a factor is negative or not finite.

    >>> green = Camouflage({("green", "leaves"): 0.1, ("green", "sky"): 1.5})
    >>> list(green.patterns)
    ['green', 'leaves', 'sky']

    Source: 001_world_interfacing, camouflage and shadows.
    """

    SHOWN = ("patterns",)

    def __init__(self, factors: Mapping[tuple[str, str], float]) -> None:
        if not isinstance(factors, Mapping):
            raise TypeError(f"factors must map pairs of pattern names to numbers, got {shown(factors)}")
        self._number: dict[str, int] = {}
        for pair in factors:
            if not isinstance(pair, tuple) or len(pair) != 2 or not all(type(one) is str for one in pair):
                raise TypeError(f"factors must have pairs of pattern names as keys, got {shown(pair)}")
            for name in pair:
                self._number.setdefault(name, len(self._number))
        # The last column, which is also the one at NO_PATTERN, stays 1.
        self._table = np.ones((len(self._number) + 1, len(self._number) + 1))
        for (source, behind), factor in factors.items():
            self._table[self._number[source], self._number[behind]] = finite_number(
                f"factors[{source!r}, {behind!r}]", factor, minimum=0)
        self._highest = self._table.max(axis=1)

    @property
    def patterns(self) -> Iterable[str]:
        """Names of all patterns."""
        return self._number.keys()

    def number(self, name: str) -> int:
        """Return the number of a pattern; "" is ``NO_PATTERN``.

        Raises:
            UnknownNameError: if no factor uses the name.
        """
        if name == "":
            return NO_PATTERN
        return named("pattern", name, self._number)

    def name(self, number: int) -> str:
        """Return the name of a pattern; "" for ``NO_PATTERN``."""
        return "" if number == NO_PATTERN else list(self._number)[number]

    def factors(self, source: NDArray[np.intp], behind: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the factors of many pairs of numbers.

        Raises:
            IndexError: if a number is not the number of a pattern.
        """
        most = len(self._number)
        if len(behind) and (behind.min() < NO_PATTERN or behind.max() >= most):
            raise IndexError(f"patterns of a background must be from -1 to {most - 1}, got {shown(behind)}")
        found: NDArray[np.float64] = self._table[source, behind]
        return found

    def highest(self, source: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the largest factor that each of these patterns may have."""
        found: NDArray[np.float64] = self._highest[source]
        return found
