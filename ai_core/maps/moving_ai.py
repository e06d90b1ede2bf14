"""Maps and scenarios in the file formats of the Moving AI benchmark.

Source: Sturtevant, Benchmarks for Grid-Based Pathfinding, 2012.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown

__all__ = ["FREE", "Scenario", "read_map", "read_scenarios"]

FREE = ".GS"
"""Letters of ground one can walk on: ground, ground again, and swamp."""

SHUT = "@OTW"
"""Letters of what one cannot enter: out of bounds twice, trees, and water."""

MOST_LINES = 1 << 20
"""Most rows or columns a map may announce, so that a corrupt number asks for no memory."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One search of a benchmark.

    Attributes:
        start: row and column.
        goal: row and column.
        length: of the shortest way, diagonals as the square root of 2, no corner cut; as
            the file prints it, which is to six digits or two decimals.
    """

    start: tuple[int, int]
    goal: tuple[int, int]
    length: float


def read_map(text: str) -> NDArray[np.bool_]:
    """Return (height, width) bool, True where one can walk: ``Grid(read_map(file.read_text()))``.

    Raises:
        ValueError: if the text is no such map; says in which line, and why.

    >>> read_map("type octile\\nheight 1\\nwidth 2\\nmap\\n.@").tolist()
    [[True, False]]
    """
    lines = text.splitlines()
    if len(lines) == 1 and lines[0].endswith(".map"):
        raise ValueError(f"a map is read from its text, got what looks like a path, {shown(text)}; read the file first")
    for number, begin in enumerate(("type ", "height ", "width ", "map"), start=1):
        if len(lines) < number or not lines[number - 1].startswith(begin):
            found = shown(lines[number - 1]) if len(lines) >= number else "the end"
            raise ValueError(f"line {number} of a map must begin with {begin.strip()!r}, got {found}")
    height, width = _size(lines[1], 2), _size(lines[2], 3)
    rows = lines[4:4 + height]
    if len(rows) < height:
        raise ValueError(f"the map must have {height} rows, but ends after {len(rows)}, in line {len(lines)}")
    is_free = np.zeros((height, width), np.bool_)
    for number, row in enumerate(rows):
        if len(row) < width:
            raise ValueError(f"line {number + 5} of the map must have {width} cells, got {len(row)}")
        unknown = set(row[:width]) - set(FREE + SHUT)
        if unknown:
            raise ValueError(f"line {number + 5} of the map has {min(unknown)!r}; known are {FREE + SHUT!r}")
        is_free[number] = [letter in FREE for letter in row[:width]]
    return is_free


def read_scenarios(text: str) -> list[Scenario]:
    """Return the scenarios of a file, in its order.

    Raises:
        ValueError: if a line is none; says which, and why.
    """
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or (number == 1 and line.startswith("version")):
            continue
        fields = line.split()
        if len(fields) < 9:
            raise ValueError(f"line {number} of the scenarios must have 9 fields, got {len(fields)}")
        try:
            # From the end: names of maps may hold spaces.
            start_x, start_y, goal_x, goal_y = map(int, fields[-5:-1])
            length = float(fields[-1])
        except ValueError:
            raise ValueError(f"line {number} of the scenarios must end in 5 numbers, got {shown(line)}") from None
        if min(start_x, start_y, goal_x, goal_y) < 0 or not 0 <= length < math.inf:
            raise ValueError(f"line {number} of the scenarios has a number that cannot be, got {shown(line)}")
        found.append(Scenario((start_y, start_x), (goal_y, goal_x), length))
    return found


def _size(line: str, number: int) -> int:
    words = line.split()
    if len(words) != 2 or not words[1].isdecimal() or not 1 <= int(words[1][:9]) <= MOST_LINES:
        raise ValueError(f"line {number} of a map must give a size of 1 to {MOST_LINES}, got {shown(line)}")
    return int(words[1])
