"""Every scenario of Moving AI maps: is each way open, and as cheap as the file says?

Run by ``dev.py path-scenarios FOLDER``. What a file says was summed up in single precision and rounded:
ways may differ from it by that and half of its last digit, or, where they have a bound, by that.
"""
from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ai_core.budget import Budget
from ai_core.loops import compiled
from ai_core.maps.grid import Grid
from ai_core.maps.moving_ai import read_map, read_scenarios
from ai_core.paths import AnytimeSearch, AStarSearch, JumpTable, RegionGraph, RegionSearch, SearchMemory
from ai_core.paths.searches.cells_along import costs_along, moves_along

SINGLE = 1e-7
"""Share (no unit) by which a sum in single precision may be off: of two maps, one file is, by 1e-8."""

MOST_TOLD = 5
"""Faults told one by one for each map and way to search (count); the others are counted."""


def searches_on(passage):
    """By name, what finds a way from one cell to another."""
    jumps, regions = JumpTable(passage), RegionGraph(passage)
    for work in (jumps, regions):
        work.advance(Budget.unlimited())
    plain, jumping, better = SearchMemory(passage), SearchMemory(passage, jumps), SearchMemory(passage)

    def over_regions(start, goal):
        return RegionSearch(regions, start, goal)

    return {
        "A*": lambda start, goal: AStarSearch(passage, start, goal, memory=plain),
        "jumps": lambda start, goal: AStarSearch(passage, start, goal, memory=jumping),
        "anytime, at its end": lambda start, goal: AnytimeSearch(passage, start, goal, memory=better),
        "regions, within their bound": over_regions,
    }


def finished(search):
    while not search.is_done:
        search.advance(Budget.unlimited())
    return search.result


def fault(passage, scenario, printed, path, start, goal):
    """What is wrong with a way, or None."""
    if not path.is_found or (int(path.cells[0]), int(path.cells[-1])) != (start, goal):
        return "does not get there"
    if (moves_along(passage, path.cells) < 0).any():
        return "takes a step that is shut"
    if abs(float(costs_along(passage, path.cells)[0]) - path.cost) > 1e-6:
        return f"costs another sum than {path.cost}"
    digits = len(printed.partition(".")[2])
    rounding = 0.5 * 10.0 ** -digits + SINGLE * scenario.length
    if not scenario.length - rounding <= path.cost <= path.bound * (scenario.length + rounding):
        return f"costs {path.cost:.6f}, the file says {printed}, the bound is {path.bound:.3f}"
    return None


def check_map(file, every):
    """Find every way of one map; return how many faults there were."""
    text = Path(f"{file}.scen").read_text()
    scenarios = read_scenarios(text)
    printed = [line.split()[-1] for line in text.splitlines() if line.strip() and not line.startswith("version")]
    grid = Grid(read_map(file.read_text()))
    passage, faults = grid.passage(), 0
    for name, search in searches_on(passage).items():
        begun_s, wrong, count = time.perf_counter(), 0, 0
        for scenario, length in list(zip(scenarios, printed, strict=True))[::every]:
            start, goal = grid.cell(*scenario.start), grid.cell(*scenario.goal)
            found = fault(passage, scenario, length, finished(search(start, goal)), start, goal)
            count += 1
            if found is not None:
                wrong += 1
                if wrong <= MOST_TOLD:
                    print(f"  {name} from {scenario.start} to {scenario.goal} {found}")
        seconds = time.perf_counter() - begun_s
        print(f"{file.stem}: {name}: {count} ways, {wrong} wrong, {1e6 * seconds / count:.0f} us each", flush=True)
        faults += wrong
    return faults


def main(arguments=None):
    """Check every map of a folder; return 1 if a way is wrong, 2 if there is no map."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("folder", type=Path)
    reader.add_argument("--every", type=int, default=1)
    options = reader.parse_args(arguments)
    maps = [file for file in sorted(options.folder.glob("*.map")) if Path(f"{file}.scen").is_file()]
    if not maps or options.every < 1:
        print(f"{options.folder} has no .map with a .map.scen beside it, or --every is below 1;"
              " see docs/library/paths.md")
        return 2
    print("compiled" if "ai_core.paths.searches.grid_search_loops" in compiled() else "interpreted")
    return 1 if sum(check_map(file, options.every) for file in maps) else 0


if __name__ == "__main__":
    sys.exit(main())
