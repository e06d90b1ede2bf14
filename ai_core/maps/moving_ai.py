"""Reader of maps and scenarios in the file formats of the Moving AI benchmark.

Source: Sturtevant, Benchmarks for Grid-Based Pathfinding, 2012.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import check_type, shown

__all__ = ["FREE", "Scenario", "read_map", "read_scenarios"]

FREE = ".GS"
"""Characters of walkable ground: two for ground, one for swamp."""

BLOCKED = "@OTW"
"""Characters of ground that cannot be entered: two for out of bounds, trees, and water."""

TEXT_OF_FILE = "use the text of the file, path.read_text()"

MOST_LINES = 1 << 20
"""Largest number of rows or columns in a map header, so that a corrupt number allocates no memory."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One search of a benchmark.

    Attributes:
        start: (row, column).
        goal: (row, column).
        length: length of the shortest path, with diagonals as the square root of 2 and no corners cut;
            as printed in the file, to six digits or two decimals.
    """

    start: tuple[int, int]
    goal: tuple[int, int]
    length: float


def read_map(text: str) -> NDArray[np.bool_]:
    """Return a map as (height, width) bool, True for walkable cells: ``Grid(read_map(file.read_text()))``.

    Raises:
        TypeError: if ``text`` is not a string.
        ValueError: if the text is not a valid map; the message names the line and the reason.

    >>> read_map("type octile\\nheight 1\\nwidth 2\\nmap\\n.@").tolist()
    [[True, False]]
    """
    check_type("text", text, str, TEXT_OF_FILE)
    lines = text.splitlines()
    if len(lines) == 1 and lines[0].endswith(".map"):
        raise ValueError(f"text must be the text of a map, got the file name {shown(text)}; read the file first")
    for number, begin in enumerate(("type ", "height ", "width ", "map"), start=1):
        if len(lines) < number or not lines[number - 1].startswith(begin):
            found = shown(lines[number - 1]) if len(lines) >= number else "the end"
            raise ValueError(f"line {number} of a map must begin with {begin.strip()!r}, got {found}")
    height, width = _size(lines[1], 2), _size(lines[2], 3)
    rows = lines[4:4 + height]
    if len(rows) < height:
        raise ValueError(f"the map must have {height} rows, but ends after {len(rows)}, at line {len(lines)}")
    is_free = np.zeros((height, width), np.bool_)
    for number, row in enumerate(rows):
        if len(row) < width:
            raise ValueError(f"line {number + 5} of the map must have {width} cells, got {len(row)}")
        unknown = set(row[:width]) - set(FREE + BLOCKED)
        if unknown:
            raise ValueError(
                f"line {number + 5} of the map has unknown character {min(unknown)!r}; use {FREE + BLOCKED}")
        is_free[number] = [letter in FREE for letter in row[:width]]
    return is_free


def read_scenarios(text: str) -> list[Scenario]:
    """Return the scenarios of a file, in file order.

    Raises:
        TypeError: if ``text`` is not a string.
        ValueError: if a line is not a valid scenario; the message names the line and the reason.
    """
    check_type("text", text, str, TEXT_OF_FILE)
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or (number == 1 and line.startswith("version")):
            continue
        fields = line.split()
        if len(fields) < 9:
            raise ValueError(f"line {number} of the scenarios must have 9 fields, got {len(fields)}")
        try:
            # From the end: names of maps may contain spaces.
            start_x, start_y, goal_x, goal_y = map(int, fields[-5:-1])
            length = float(fields[-1])
        except ValueError:
            raise ValueError(f"line {number} of the scenarios must end in 5 numbers, got {shown(line)}") from None
        if min(start_x, start_y, goal_x, goal_y) < 0 or not 0 <= length < math.inf:
            raise ValueError(f"line {number} of the scenarios must have numbers of 0 or more, got {shown(line)}")
        found.append(Scenario((start_y, start_x), (goal_y, goal_x), length))
    return found


def _size(line: str, number: int) -> int:
    words = line.split()
    if len(words) != 2 or not words[1].isdecimal() or not 1 <= int(words[1][:9]) <= MOST_LINES:
        raise ValueError(f"line {number} of a map must give a size of 1 to {MOST_LINES}, got {shown(line)}")
    return int(words[1])
