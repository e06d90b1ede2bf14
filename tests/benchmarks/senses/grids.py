"""Lines of sight and fields of view on a grid, beside a plain loop and python-tcod."""
from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

import ai_core.senses.sight.grid_sight as grid_sight
from ai_core.senses.sight.grid_sight import GridSight
from ai_core.twins import INTERPRETED, kernel_of
from tools.benchmarking.declarations import Case, Contest
from tools.progress import StepFailed

SIDE = 256
OPAQUE = 0.144
"""Share of cells that nothing is seen through, as in a level with furniture."""

RADIUS = 16
VIEWS = 40


def lines_compiled(n: int) -> Contest:
    """n lines of at most 32 cells, by the kernel."""
    return _lines(n, is_compiled=True)


def lines_interpreted(n: int) -> Contest:
    """n lines of at most 32 cells, by the kernel's twin."""
    return _lines(n, is_compiled=False)


def views_compiled(radius: int) -> Contest:
    """Fields of view from some cells, by the kernel; python-tcod's symmetric ones beside them."""
    return _views(radius, is_compiled=True)


def views_interpreted(radius: int) -> Contest:
    """The same by the kernel's twin."""
    return _views(radius, is_compiled=False)


def _views(radius: int, *, is_compiled: bool) -> Contest:
    grid, chance = _grid(), random.Random(radius)
    cells = [(chance.randrange(SIDE), chance.randrange(SIDE)) for _ in range(VIEWS)]
    sight = GridSight(grid)
    view = _form("cells_seen", is_compiled=is_compiled)

    def ours() -> int:
        return _with("cells_seen", view, lambda: sum(
            bool(sight.field_of_view(cell, radius)[radius, radius]) for cell in cells))

    def by_tcod() -> Case:
        import tcod.constants
        import tcod.map

        see_through = ~grid
        algorithm = tcod.constants.FOV_SYMMETRIC_SHADOWCAST

        def views() -> int:
            return sum(
                bool(tcod.map.compute_fov(see_through, cell, radius, True, algorithm)[cell]) for cell in cells
            )

        return views

    def complaint() -> str:
        cell, around = cells[0], np.argwhere(np.ones((2 * radius + 1,) * 2)) - radius
        around = around[(around**2).sum(axis=1) <= radius * radius]
        around = around[((around + cell >= 0) & (around + cell < SIDE)).all(axis=1)]
        lines = np.zeros((2 * radius + 1,) * 2, np.bool_)
        lines[tuple((around + radius).T)] = sight.are_free(np.tile(cell, (len(around), 1)), around + cell)
        seen = _with("cells_seen", view, lambda: sight.field_of_view(cell, radius))
        return "" if (seen == lines).all() else "a field of view is not that of its lines"

    return Contest(ours, peers={"tcod": by_tcod}, complaint=complaint)


def _lines(n: int, *, is_compiled: bool) -> Contest:
    grid, chance = _grid(), np.random.default_rng(n)
    starts = chance.integers(0, SIDE, (n, 2))
    ends = np.clip(starts + chance.integers(-32, 33, (n, 2)), 0, SIDE - 1)
    sight, line = GridSight(grid), _form("lines_are_free", is_compiled=is_compiled)

    def ours() -> list[bool]:
        found: list[bool] = _with("lines_are_free", line, lambda: sight.are_free(starts, ends).tolist())
        return found

    return Contest(ours, {"plain loop": _plain(grid, starts.tolist(), ends.tolist())})


def _plain(grid, starts, ends) -> Case:  # type: ignore[no-untyped-def]
    """Bresenham's loop on nested lists, one line after the other; between two cells either will do."""
    rows = grid.tolist()

    def is_free(y: int, x: int, to_y: int, to_x: int) -> bool:
        down, right = abs(to_y - y), abs(to_x - x)
        step_y, step_x = (1 if to_y > y else -1), (1 if to_x > x else -1)
        steps, drift = max(down, right), min(down, right)
        lead, is_steep = steps, down > right
        for _ in range(steps - 1):
            if is_steep:
                y += step_y
            else:
                x += step_x
            lead += 2 * drift
            if lead >= 2 * steps:
                lead -= 2 * steps
                if is_steep:
                    x += step_x
                    if lead == 0 and not rows[y][x - step_x]:
                        continue
                else:
                    y += step_y
                    if lead == 0 and not rows[y - step_y][x]:
                        continue
            if rows[y][x]:
                return False
        return True

    def lines() -> list[bool]:
        return [is_free(*start, *end) for start, end in zip(starts, ends, strict=True)]

    return lines


def _grid():  # type: ignore[no-untyped-def]
    return np.random.default_rng(1).random((SIDE, SIDE)) < OPAQUE


def _form(name: str, *, is_compiled: bool):  # type: ignore[no-untyped-def]
    interpreted = INTERPRETED[f"{grid_sight.__name__}.{name}"]
    form = kernel_of(interpreted) if is_compiled else interpreted
    if form is None:
        raise StepFailed("measuring compiled kernels", "they are not built", "run tools/dev.py build")
    return form


def _with(name: str, form, work: Callable[[], object]):  # type: ignore[no-untyped-def]
    """Do some work with one form of a function."""
    before = getattr(grid_sight, name)
    setattr(grid_sight, name, form)
    try:
        return work()
    finally:
        setattr(grid_sight, name, before)
