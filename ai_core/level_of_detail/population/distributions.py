"""Distributions of a number over many people, stored for a group instead of individual values.

- ``Normal`` for most natural quantities, such as height, skill or health.
- ``PowerLaw`` where few have much and many have little, such as wealth or fame.

``values`` returns numbers with exactly the mean of the distribution, and ``refitted`` recovers exactly the
distribution of those numbers, so that repeated opening and closing of a group causes no drift.
"""
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ai_core.described import Described
from ai_core.errors import as_array, finite_number, shown
from ai_core.level_of_detail.population.chance import Floats, normals, uniforms
from ai_core.saving.fields import LARGEST
from ai_core.saving.kinds import Number, Record

__all__ = ["NORMAL_STATE", "POWER_LAW_STATE", "Distribution", "Normal", "PowerLaw", "checked_values"]

MOST_STEPS = 100
"""Largest number of steps of a search for a mean (count); a dozen are usual, bisection needs 60."""

ROUNDING = 1e-13
"""Difference of a mean that counts as rounding (share of the largest value)."""

LOPSIDED = 1e3
"""Largest ratio of the ends of a search for which linear interpolation is useful (no unit)."""

STEEPEST = 1e6
"""Largest exponent of a power law (no unit); at it all values equal the lower bound."""

MOST_STRETCH = 64.0
"""Largest exponent that bends the shape of a sample to reach a mean (no unit)."""


class Distribution(Described, ABC):
    """Base class of distributions. Immutable; methods that change a distribution return a new one."""

    SHOWN = ("mean",)

    @property
    @abstractmethod
    def mean(self) -> float:
        """Total divided by the number of people."""

    @abstractmethod
    def values(self, count: int, generator: Any) -> Floats:
        """Return numbers for ``count`` people, in any order, with exactly the mean of the distribution.

        Args:
            count: number of people, 0 or more.
            generator: a ``random.Random`` or a NumPy ``Generator``.

        Cost: O(count log count) at most.
        """

    @abstractmethod
    def refitted(self, values: Floats) -> Distribution:
        """Return the distribution of the same kind fitted to ``values``.

        Raises:
            ValueError: if there are no values, or a value is not finite.
        """

    @abstractmethod
    def merged(self, count: int, other: Any, other_count: int) -> Distribution:
        """Return the distribution of ``count`` people with this one and ``other_count`` with the other."""


@dataclass(frozen=True, slots=True)
class Normal(Distribution):
    """Normal distribution.

    Args:
        average: mean.
        deviation: standard deviation, 0 or more.

    Raises:
        TypeError, ValueError: if a number is not finite, or the deviation is negative.
    """

    average: float
    deviation: float

    def __post_init__(self) -> None:
        finite_number("average", self.average)
        finite_number("deviation", self.deviation, minimum=0)

    @property
    def mean(self) -> float:
        """Mean of the distribution."""
        return self.average

    def values(self, count: int, generator: Any) -> Floats:
        """Return drawn numbers, shifted and scaled to exactly this mean and deviation."""
        drawn = normals(generator, count)
        if count:
            drawn -= drawn.mean()
            spread = drawn.std()
            drawn *= self.deviation / spread if spread > 0 else 0.0
        return _with_mean(drawn + self.average, self.average)

    def refitted(self, values: Floats) -> Normal:
        """Return the normal distribution with the mean and deviation of the values."""
        values = checked_values(values)
        return Normal(float(values.mean()), float(values.std()))

    def merged(self, count: int, other: Normal, other_count: int) -> Normal:
        """Return the normal distribution with the exact mean and deviation of all values together."""
        mean = _pooled(self.average, count, other.average, other_count)
        variance = _pooled(
            self.deviation**2 + (self.average - mean) ** 2, count,
            other.deviation**2 + (other.average - mean) ** 2, other_count)
        return Normal(mean, math.sqrt(variance))


NORMAL_STATE = Record(Normal, average=Number(), deviation=Number())
"""How a normal distribution is saved."""


@dataclass(frozen=True, slots=True)
class PowerLaw(Distribution):
    """Power law, where many have little and few have much: the density falls as value to the -exponent.

    Args:
        exponent: above 1, at most ``STEEPEST``; a smaller exponent gives more to the richest.
        lower: smallest value, above 0.
        average: mean of the people, at least ``lower``; None takes the mean of the law, which exists for
            an exponent above 2.

    Raises:
        ValueError: if a number is out of range, or the law has no mean and ``average`` is None.
    """

    exponent: float
    lower: float
    average: float | None = None

    def __post_init__(self) -> None:
        finite_number("exponent", self.exponent, above=1, maximum=STEEPEST)
        finite_number("lower", self.lower, above=0)
        if self.average is None:
            if self.exponent <= 2:
                raise ValueError(
                    f"a power law with exponent {self.exponent:g} has no mean; give average, or an exponent above 2")
            mean = self.lower * (self.exponent - 1) / (self.exponent - 2)
            object.__setattr__(self, "average", mean)
        finite_number("average", self.average, minimum=self.lower)

    @property
    def mean(self) -> float:
        """Mean of the people."""
        assert self.average is not None
        return self.average

    @property
    def tail(self) -> float:
        """Mean of the logarithm of value over lower bound: 1 / (exponent - 1)."""
        return 1 / (self.exponent - 1)

    def values(self, count: int, generator: Any) -> Floats:
        """Return numbers whose logarithms are scaled to match the exponent, and bent to match the mean."""
        logs = -np.log1p(-uniforms(generator, count))
        if not count or self.tail <= 1 / STEEPEST or not logs.any():
            return np.full(count, self.mean)
        bend = _solved(lambda bend: self._mean_of(self._bent(logs, bend)) - self.mean)
        return _with_mean(self.lower * np.exp(self._bent(logs, bend)), self.mean)

    def refitted(self, values: Floats) -> PowerLaw:
        """Return the power law of maximum likelihood; the lower bound stays unless a value is below it.

        Raises:
            ValueError: if there are no values, or a value is not finite or not above 0.
        """
        values = checked_values(values)
        if values.min() <= 0:
            row = int(np.argmin(values))
            raise ValueError(f"values of a power law must be above 0, got {values[row]:g} in row {row}")
        smallest = float(values.min())
        # Rounding may have put the smallest value slightly below the bound.
        lower = self.lower if smallest >= self.lower * (1 - 1e-9) else smallest
        tail = float(np.log(np.maximum(values / lower, 1)).mean())
        return PowerLaw(_exponent(tail), lower, max(lower, float(values.mean())))

    def merged(self, count: int, other: PowerLaw, other_count: int) -> PowerLaw:
        """Return the exact power law of all values together, above the smaller bound."""
        lower = min(self.lower, other.lower)
        tail = _pooled(
            self.tail + math.log(self.lower / lower), count, other.tail + math.log(other.lower / lower), other_count)
        return PowerLaw(_exponent(tail), lower, _pooled(self.mean, count, other.mean, other_count))

    def _bent(self, logs: Floats, bend: float) -> Floats:
        """Return logarithms raised to a power and scaled to the mean that the exponent requires."""
        with np.errstate(under="ignore"):
            bent = (logs / logs.max()) ** bend
            found: Floats = bent * (self.tail / bent.mean())
        return found

    def _mean_of(self, logs: Floats) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(logs).mean()) * self.lower


POWER_LAW_STATE = Record(PowerLaw, exponent=Number(), lower=Number(), average=Number())
"""How a power law is saved."""


def checked_values(values: Floats) -> Floats:
    """Return ``values`` as finite float64 of shape (n,), n at least 1."""
    array = as_array("values", values)
    if array.dtype.kind not in "iuf":
        row = next((n for n, one in enumerate(array.flat) if not _is_number(one)), 0)
        raise TypeError(f"values must be numbers, got {shown(array.flat[row] if array.size else values)} in row {row}")
    if array.ndim != 1 or not array.size:
        raise ValueError(f"values must have shape (n,), n at least 1, got {array.shape}")
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(f"values must be finite, got {numbers[row]} in row {row}")
    if np.abs(numbers).max() > LARGEST:
        row = int(np.abs(numbers).argmax())
        raise ValueError(f"values must be from -{LARGEST:g} to {LARGEST:g}, got {numbers[row]:g} in row {row}")
    return numbers


def _is_number(value: object) -> bool:
    return isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_)


def _with_mean(values: Floats, mean: float) -> Floats:
    """Return values shifted to a mean; differences by rounding are ignored, so that bounds hold."""
    if len(values):
        off = mean - float(values.mean())
        if abs(off) > ROUNDING * float(np.abs(values).max()):
            return values + off
    return values


def _solved(excess: Callable[[float], float]) -> float:
    """Return the zero of a rising function between 0 and ``MOST_STRETCH``, or the nearer end.

    The search uses false position with the Illinois rule, and bisection where the function is not finite.
    """
    low, high = 0.0, MOST_STRETCH
    below, above = excess(low), excess(high)
    if below >= 0 or above <= 0:
        return low if below >= 0 else high
    side = 0
    for _ in range(MOST_STEPS):
        middle = (low + high) / 2
        # Far from the zero a straight line is useless: bisect until the ends are close.
        if math.isfinite(above) and above < -LOPSIDED * below and below > -LOPSIDED * above:
            middle = (low * above - high * below) / (above - below)
        found = excess(middle)
        if found == 0 or not low < middle < high or high - low <= 4e-16 * high:
            return middle
        if found > 0:
            high, above = middle, found
            below, side = (below / 2, 1) if side == 1 else (below, 1)
        else:
            low, below = middle, found
            above, side = (above / 2, -1) if side == -1 else (above, -1)
    return (low + high) / 2


def _pooled(one: float, count: int, other: float, other_count: int) -> float:
    """Return the weighted mean of two means; exactly their value if they are equal."""
    total = count + other_count
    return one if one == other or not total else one + (other - one) * (other_count / total)


def _exponent(tail: float) -> float:
    return min(STEEPEST, 1 + 1 / max(tail, 1 / STEEPEST))
