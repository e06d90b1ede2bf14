"""Random numbers from a generator of the game."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown, whole_number

__all__ = ["Floats", "checked_generator", "normals", "shuffled", "uniforms"]

Floats = NDArray[np.float64]
"""Array with one number per person."""

SMALLEST = 1e-300
"""Least argument of a logarithm (no unit)."""


def checked_generator(generator: Any) -> Any:
    """Return ``generator`` if it is a ``random.Random`` or a NumPy ``Generator``."""
    if isinstance(generator, type) or not callable(getattr(generator, "random", None)):
        raise TypeError(
            "generator must be a random.Random or a numpy.random.Generator,"
            f" got {shown(generator)}; create one from a seed")
    return generator


def uniforms(generator: Any, count: int) -> Floats:
    """Return ``count`` uniform numbers in [0, 1); uses only ``generator.random()``."""
    checked_generator(generator)
    count = whole_number("count", count, minimum=0)
    if isinstance(generator, np.random.Generator):
        return generator.random(count)
    return np.array([generator.random() for _ in range(count)], np.float64)


def normals(generator: Any, count: int) -> Floats:
    """Return ``count`` normally distributed numbers with mean 0 and standard deviation 1.

    Source: Box and Muller's method.
    """
    radius = np.sqrt(-2 * np.log(np.maximum(1 - uniforms(generator, count), SMALLEST)))
    drawn: Floats = radius * np.cos(2 * np.pi * uniforms(generator, count))
    return drawn


def shuffled(generator: Any, count: int) -> NDArray[np.intp]:
    """Return the integers below ``count`` in random order."""
    return np.argsort(uniforms(generator, count), kind="stable")
