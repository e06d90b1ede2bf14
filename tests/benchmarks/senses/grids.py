"""Lines of sight and fields of view on a grid, beside a plain loop and python-tcod."""
from __future__ import annotations

import random

import numpy as np

from ai_core.senses.sight.grid_sight import GridSight
from tools.benchmarking.declarations import Case, Contest

SIDE = 256
OPAQUE = 0.144
"""Share of cells that nothing is seen through, as in a level with furniture."""

RADIUS = 16
VIEWS = 40


def views(radius: int) -> Contest:
    """Fields of view from some cells; python-tcod's symmetric ones beside them."""
    grid, chance = _grid(), random.Random(radius)
    cells = [(chance.randrange(SIDE), chance.randrange(SIDE)) for _ in range(VIEWS)]
    sight = GridSight(grid)

    def ours() -> int:
        return sum(bool(sight.field_of_view(cell, radius)[radius, radius]) for cell in cells)

    def by_tcod() -> Case:
        import tcod.constants
        import tcod.map

        see_through = ~grid
        algorithm = tcod.constants.FOV_SYMMETRIC_SHADOWCAST

        def fields() -> int:
            return sum(
                bool(tcod.map.compute_fov(see_through, cell, radius, True, algorithm)[cell]) for cell in cells
            )

        return fields

    def complaint() -> str:
        cell, around = cells[0], np.argwhere(np.ones((2 * radius + 1,) * 2)) - radius
        around = around[(around**2).sum(axis=1) <= radius * radius]
        around = around[((around + cell >= 0) & (around + cell < SIDE)).all(axis=1)]
        free = np.zeros((2 * radius + 1,) * 2, np.bool_)
        free[tuple((around + radius).T)] = sight.are_free(np.tile(cell, (len(around), 1)), around + cell)
        return "" if (sight.field_of_view(cell, radius) == free).all() else "a field of view is not that of its lines"

    return Contest(ours, peers={"tcod": by_tcod}, complaint=complaint)


def lines(n: int) -> Contest:
    """n lines of at most 32 cells."""
    grid, chance = _grid(), np.random.default_rng(n)
    starts = chance.integers(0, SIDE, (n, 2))
    ends = np.clip(starts + chance.integers(-32, 33, (n, 2)), 0, SIDE - 1)
    sight = GridSight(grid)

    def ours() -> list[bool]:
        found: list[bool] = sight.are_free(starts, ends).tolist()
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
