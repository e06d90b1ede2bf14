"""Games of the skirmish: one with report and pictures, or many to see whether scouting wins."""
from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ai_core.budget import Budget
from demo_project.scenarios.skirmish import FRAMES_PER_S, Skirmish
from tools.benchmarking.declarations import LIMITED_CALL_NS
from tools.benchmarking.empty_call import empty_call_ns
from tools.skirmish_pictures import write_pictures

WANTED_SHARE = 0.7
SIDES = ("blue", "orange")
OVER = 1.1
"""The hundredth frame may be this much over its budget."""


def main() -> int:
    """Play what was asked for; 1 if scouting wins less than it must."""
    parser = argparse.ArgumentParser()
    for name, kind in (("--seeds", int), ("--seed", int), ("--units", int), ("--budget-us", float), ("--out", Path)):
        parser.add_argument(name, type=kind, required=True)
    options = parser.parse_args()
    if options.seeds:
        return _many(options.seeds, options.units)
    return _one(options.seed, options.units, options.budget_us, options.out)


def _many(seeds: int, units: int) -> int:
    won = ended = 0
    with ProcessPoolExecutor() as games:
        for seed, winner, told in games.map(_scouting_game, range(seeds), [units] * seeds):
            ended += 1
            won += winner is True
            print(f"seed {seed:3}: {'scouting' if winner else 'draw' if winner is None else 'not scouting':12}  {told}"
                  f"  ({won} of {ended})", flush=True)
    print(f"scouting won {won} of {seeds}, wanted {WANTED_SHARE:.0%}")
    return 0 if won >= WANTED_SHARE * seeds else 1


def _scouting_game(seed: int, units: int) -> tuple[int, bool | None, str]:
    """Return who won: True for who scouts, whose side changes with the seed."""
    scouts = seed % 2
    score = Skirmish(seed, units=units, scouting=(scouts == 0, scouts == 1)).play()
    return seed, None if score.winner is None else score.winner == scouts, f"{score.seconds:3.0f} s, {score.why}"


def _one(seed: int, units: int, budget_us: float, out: Path) -> int:
    # The time of this thread on a processor: what other programs take does not count.
    game = Skirmish(seed, units=units, stopwatch=time.thread_time_ns)
    influence, pictures, used_us = np.zeros(game.ground.area.shape), 0, []
    # A slower machine gets as much more time: the budget is stated for one.
    slower = max(1.0, float(np.median([empty_call_ns(time.thread_time_ns) for _ in range(9)])) / LIMITED_CALL_NS)
    print(f"{'':7}{SIDES[0]:48}{SIDES[1]}")
    while not game.is_over:
        game.step(Budget.of_time(budget_us * slower, time.thread_time_ns))
        used_us.append(game.ai_us / slower)
        if game.clock.now.frame % (5 * FRAMES_PER_S) == 0:
            first, second = (side.maps.picture["friends"] for side in game.sides)
            influence, pictures = influence + first - second, pictures + 1
            print(_line(game), flush=True)
    score = game.score()
    shares = np.percentile(used_us, (50, 99))
    report: dict[str, Any] = {
        "seed": seed, "units": units, **score._asdict(),
        "ai_us_per_frame": {"median": round(float(shares[0])), "p99": round(float(shares[1])), "budget": budget_us},
        "tactics": [side.strategist.adaptive.values(0.5) for side in game.sides],
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    write_pictures(game, influence / max(1, pictures), out)
    print(f"winner: {'nobody' if score.winner is None else SIDES[score.winner]}, as {score.why}")
    print(f"AI of a frame {shares[0]:.0f} µs, p99 {shares[1]:.0f} of {budget_us:.0f}"
          f" (a machine {slower:.1f} times as slow); {out}/report.json, conflict.svg, influence.svg")
    return 0 if shares[1] <= OVER * budget_us else 1


def _line(game: Skirmish) -> str:
    told = game.observe()
    sides = "   ".join(
        f"{side.strategist.posture:10} {alive:3} units, base {health:4.0f}, {side.stock:4.0f} in store"
        for side, alive, health in zip(game.sides, told["alive"], told["base_health"], strict=True))
    return f"{game.clock.now.seconds:4.0f} s   {sides}"


if __name__ == "__main__":
    raise SystemExit(main())
