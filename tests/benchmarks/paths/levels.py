"""Levels to find ways in: Moving AI maps where their folder is named, look-alikes otherwise."""
from __future__ import annotations

import functools
import os
from pathlib import Path

import numpy as np

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.maps.moving_ai import read_map, read_scenarios
from ai_core.paths.regions.reachability import Reachability

FOLDER = "MOVING_AI_MAPS"
"""Environment variable: a folder with maps of the Moving AI benchmark and their scenarios."""

SIDE = 512
QUERIES = 3
"""Hard searches a level (count): the package we compare with takes most of a second for each."""
MAPS = {"caves": "AR0011SR", "halls": "brc202d", "noise": "random512-35-0", "corridors": "maze512-32-0"}


@functools.cache
def level(name):
    """Return (grid, queries): the passage of a level, and (start, goal) of its hardest searches."""
    folder = os.environ.get(FOLDER)
    file = Path(folder or ".") / f"{MAPS.get(name)}.map"
    if folder and file.is_file():
        return _moving_ai(file)
    free = {"caves": _caves, "halls": _halls, "noise": _noise, "corridors": _corridors}[name]()
    grid = Grid(free)
    return grid, _far_apart(grid)


@functools.cache
def many_pairs(name, count):
    """Pairs of cells of a level with a path between them, drawn at random, near and far."""
    passage = level(name)[0].passage()
    reachability = Reachability(passage)
    reachability.advance(Budget.unlimited())
    free, random, pairs = np.flatnonzero(np.isfinite(passage.costs)), np.random.default_rng(8), []
    while len(pairs) < count:
        start, goal = (int(cell) for cell in random.choice(free, 2))
        if reachability.are_connected(start, goal):
            pairs.append((start, goal))
    return pairs


def _moving_ai(file):
    grid = Grid(read_map(file.read_text()))
    scenarios = read_scenarios(Path(f"{file}.scen").read_text())
    hardest = sorted(scenarios, key=lambda one: one.length)[-100:: 100 // QUERIES][:QUERIES]
    return grid, [(grid.cell(*one.start), grid.cell(*one.goal)) for one in hardest]


def _far_apart(grid):
    """Pairs of cells of the largest part, from one side to the other."""
    reachability = Reachability(grid.passage())
    reachability.advance(Budget.unlimited())
    free = np.flatnonzero(np.isfinite(grid.passage().costs))
    random = np.random.default_rng(3)
    pairs = []
    while len(pairs) < QUERIES:
        start, goal = (int(random.choice(free)) for _ in range(2))
        if abs(start % SIDE - goal % SIDE) > SIDE // 2 and reachability.are_connected(start, goal):
            pairs.append((start, goal))
    return pairs


def _caves():
    """Noise made smooth: open halls with ragged walls, as in the maps of games."""
    free = np.random.default_rng(2).random((SIDE, SIDE)) > 0.43
    for _ in range(6):
        padded = np.pad(free, 1)
        around = sum(
            padded[1 + down:SIDE + 1 + down, 1 + right:SIDE + 1 + right].astype(int)
            for down in (-1, 0, 1) for right in (-1, 0, 1)
        )
        free = around >= 5
    return free


def _halls():
    """Rooms in a lattice, most joined to those beside them by narrow ways, as under a game's mountains."""
    random = np.random.default_rng(4)
    free = np.zeros((SIDE, SIDE), bool)
    count = 8
    room = SIDE // count
    middles = np.zeros((count, count, 2), int)
    for row in range(count):
        for column in range(count):
            height, width = random.integers(12, room - 8, 2)
            top, left = row * room + random.integers(4, room - height - 2), column * room + random.integers(
                4, room - width - 2)
            free[top:top + height, left:left + width] = True
            middles[row, column] = top + height // 2, left + width // 2
    for row in range(count):
        for column in range(count):
            for other in ((row + 1, column), (row, column + 1)):
                if max(other) < count and random.random() < 0.75:
                    _dig(free, middles[row, column], middles[other], int(random.integers(2, 6)))
    return free


def _dig(free, start, end, width):
    """Dig a way from one place to another, first along rows."""
    (top, left), (bottom, right) = np.minimum(start, end), np.maximum(start, end)
    free[top:bottom + width, start[1]:start[1] + width] = True
    free[end[0]:end[0] + width, left:right + width] = True


def _noise():
    """Every third cell a wall."""
    return np.random.default_rng(6).random((SIDE, SIDE)) > 0.35


def _corridors():
    """Walls every 32 cells, with a gap at alternate ends."""
    free = np.ones((SIDE, SIDE), bool)
    for number, row in enumerate(range(31, SIDE - 1, 32)):
        free[row, :-32] = False
        if number % 2:
            free[row] = False
            free[row, :32] = True
        else:
            free[row, -32:] = True
    return free
