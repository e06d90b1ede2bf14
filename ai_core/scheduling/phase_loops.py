# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# mypy: ignore-errors
"""Comparing the first frames that one more task may have; every task with an automatic phase is added through it."""
from __future__ import annotations

import cython

__all__ = ["best_first_frame"]

NO_LOAD_YET = cython.declare(cython.longlong, 1 << 62)


def best_first_frame(
    cells: cython.longlong[::1], rows: cython.Py_ssize_t, period: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return the earliest first frame at which one more task joins the least load.

    First frames are compared by the busiest frame that the task would join, then by the number of frames as busy,
    then by the sum of the loads of all frames.

    Args:
        cells: load of each frame, int64, 0 or more.
        rows: frames that the task would join (count); ``rows * period`` cells are read.
        period: of the task (frames).

    Cost: O(rows * period), about 1 ns each.
    """
    best: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t
    frame: cython.Py_ssize_t
    end: cython.Py_ssize_t = rows * period
    load: cython.longlong
    busiest: cython.longlong
    as_busy: cython.longlong
    total: cython.longlong
    least_busiest: cython.longlong = NO_LOAD_YET
    least_as_busy: cython.longlong = NO_LOAD_YET
    least_total: cython.longlong = NO_LOAD_YET
    for first in range(period):
        busiest = as_busy = total = 0
        frame = first
        while frame < end:      # a range with a step that is not a constant is slow
            load = cells[frame]
            frame += period
            total += load
            if load > busiest:
                busiest, as_busy = load, 1
                if busiest > least_busiest:
                    break
            elif load == busiest:
                as_busy += 1
        if busiest < least_busiest or (busiest == least_busiest and (
                as_busy < least_as_busy or (as_busy == least_as_busy and total < least_total))):
            best, least_busiest, least_as_busy, least_total = first, busiest, as_busy, total
    return best
