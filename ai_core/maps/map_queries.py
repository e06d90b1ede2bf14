"""Queries on map layers: best cells, exploration frontier, danger-weighted costs."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, finite_number, flags, shown, whole_number
from ai_core.maps.grid import LARGEST_COST

__all__ = ["best_cells", "danger_costs", "frontier"]

Floats = NDArray[np.float32]


def best_cells(
    values: ArrayLike, count: int = 1, *, apart_cells: int = 1, where: ArrayLike | None = None,
    above: float | None = None,
) -> NDArray[np.int32]:
    """Return the cells with the largest values, best first; ties go to the smaller cell number.

    Args:
        values: (height, width), a layer or a combination of layers; NaN cells are ignored.
        count: largest number of cells to return, 1 or more.
        apart_cells: smallest distance between two results, in rows or columns (cells), 1 or more.
        where: (height, width) bool, True for cells that may be chosen; None for all.
        above: only values above this count; None for no limit.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or shape, or is out of range.

    Cost: O(cells × count).

    >>> best_cells([[1, 5, 5], [0, 5, 4]], 2, apart_cells=2).tolist()
    [1]
    """
    given = _map("values", values)
    left = np.array(given, np.float32 if given.dtype == np.float32 else np.float64)
    count = whole_number("count", count, minimum=1)
    apart = whole_number("apart_cells", apart_cells, minimum=1) - 1
    least = -np.inf if above is None else finite_number("above", above)
    left[np.isnan(left)] = -np.inf
    if where is not None:
        left[~flags("where", where, left.shape)] = -np.inf
    found: list[int] = []
    width = left.shape[1]
    while len(found) < count:
        cell = int(left.argmax())  # the first of equal ones
        row, column = divmod(cell, width)
        if not left[row, column] > least:
            break
        found.append(cell)
        left[max(0, row - apart):row + apart + 1, max(0, column - apart):column + apart + 1] = -np.inf
    return np.array(found, np.int32)


def frontier(ages_s: ArrayLike, known_below_s: float, *, is_open: ArrayLike | None = None) -> NDArray[np.int32]:
    """Return the known cells beside unknown ones, ascending: the places where scouts continue.

    Args:
        ages_s: (height, width), time since each cell was last seen (s).
        known_below_s: cells seen more recently than this count as known (s), above 0.
        is_open: (height, width) bool; closed cells count as neither known nor unknown. None for all open.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or shape, or is out of range.

    Cost: O(cells).

    >>> frontier([[0, 0, 9, 9]], 5).tolist()
    [1]
    """
    ages = _map("ages_s", ages_s)
    is_known = ages < finite_number("known_below_s", known_below_s, above=0)
    is_unknown = ~is_known
    if is_open is not None:
        open_cells = flags("is_open", is_open, ages.shape)
        is_known, is_unknown = is_known & open_cells, is_unknown & open_cells
    beside = np.zeros_like(is_unknown)
    beside[1:] |= is_unknown[:-1]
    beside[:-1] |= is_unknown[1:]
    beside[:, 1:] |= is_unknown[:, :-1]
    beside[:, :-1] |= is_unknown[:, 1:]
    return np.flatnonzero(is_known & beside).astype(np.int32)


def danger_costs(costs: ArrayLike, danger: ArrayLike, weight: float, *, out: Floats | None = None) -> Floats:
    """Return cell costs that avoid danger: ``costs × (1 + weight × danger)``.

    Pass the result to ``Grid.add_mover`` or ``Grid.set_cells``, and search paths on that mover's passage.

    Args:
        costs: (height, width), cost of entering each cell, ``inf`` for walls.
        danger: (height, width), 0 or more, ``inf`` included, such as the layer "threat".
        weight: share by which one unit of danger raises the cost of a cell, 0 or more.
        out: optional (height, width) float32, overwritten; not the memory of ``costs``.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or shape, or is out of range.

    Cost: O(cells); with ``out`` and float32 maps it allocates only marks of cells.

    >>> danger_costs([[1, 2]], [[0, 3]], 0.5).tolist()
    [[1.0, 5.0]]
    """
    plain, dangers = _map("costs", costs), _map("danger", danger)
    if plain.shape != dangers.shape:
        raise ValueError(f"danger must have the shape of costs {plain.shape}, got {dangers.shape}")
    weight = finite_number("weight", weight, minimum=0)
    if not (dangers >= 0).all():
        raise ValueError("danger must be 0 or more, got less or NaN; clip it first")
    if out is None:
        out = np.empty(plain.shape, np.float32)
    elif not isinstance(out, np.ndarray) or out.dtype != np.float32 or out.shape != plain.shape:
        raise ValueError(f"out must be float32 of shape {plain.shape}, got {shown(out)}")
    elif np.shares_memory(out, plain):
        raise ValueError("out must not share the memory of costs; use another array")
    np.minimum(dangers, np.float32(LARGEST_COST), out=out, casting="same_kind")     # 0 times infinity is NaN
    out *= np.float32(weight)
    out += np.float32(1)
    is_wall = np.isposinf(plain)
    np.multiply(out, plain, out=out, casting="same_kind")
    np.minimum(out, np.float32(LARGEST_COST), out=out)
    out[is_wall] = np.inf
    return out


def _map(name: str, values: ArrayLike) -> NDArray[Any]:
    array = as_array(name, values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, got {shown(values)}")
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{name} must have shape (height, width), got {array.shape}")
    return array
