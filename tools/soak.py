"""The command soak: a crowd whose senses get more work than their budget pays for, over many frames in Godot."""
from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from typing import Any

from tools import preparation
from tools.engine_output import complaints
from tools.godot_engine import GodotEngine
from tools.progress import StepFailed

ROOT = Path(__file__).resolve().parents[1]

SCENE = "res://tests/soak/crowd.tscn"
OVERLOAD = "signals are emitted faster than the budget of the senses"
"""The warning that is expected, once."""
MARK = "SOAK "
MODULES = {"AI_CORE_MODULES": "tests.benchmarks.in_engine.yardstick"}

FRAMES, SOUNDS = 100_000, (3, 30)

P99_LIMIT_US = 2200.0
"""Largest 99th percentile of the AI's time in a frame, for a budget of 2,000 µs (µs)."""

LIMITED_CALL_NS = 33.0
"""Time of an empty call on the machine for which the limit is stated (ns); tools/benchmarking has the same."""

MOST_GROWTH_KB = 2048
"""Growth of the process's memory after its first quarter that counts as flat (kB)."""

KB_PER_WAITING = 0.7
"""Memory of a signal that waits at a sensor (kB). It is kept for later ones, so that a new maximum of those that wait
is no leak; tests/senses/test_overload.py shows that it is all."""

LONGEST_FRAME_S = 0.05
"""Time per frame after which the run counts as hung (s)."""

ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["--frames"], {"type": int, "default": FRAMES, "metavar": "N", "help": f"frames of each load ({FRAMES})"}),
    (["--sounds"], {"type": int, "nargs": "*", "default": list(SOUNDS), "metavar": "N",
                    "help": "sounds in a frame, of each load (3 30)"}),
]


def start(options: argparse.Namespace) -> int:
    """play 100 people who see and hear more than the budget pays for; fails if one is noticed late or memory grows"""
    if options.frames < 4000:
        raise StepFailed("soak", f"--frames must be at least 4000, got {options.frames}", "leave it out for 100,000")
    prepared = preparation.prepare(ROOT)
    return max((_play(prepared.engine, options.frames, sounds) for sounds in options.sounds), default=0)


def _play(engine: GodotEngine, frames: int, sounds: int) -> int:
    """Play one load; return 0 if everything held."""
    records: list[dict[str, Any]] = []

    def take(line: str) -> None:
        if line.startswith(MARK):
            records.append(json.loads(line.removeprefix(MARK)))
            print(progress(records[-1]), flush=True)

    finished = engine.run(
        ["--headless", "--fixed-fps", "60", "--path", str(ROOT), SCENE, "--", f"--frames={frames}",
         f"--sounds={sounds}"],
        frames * LONGEST_FRAME_S, env=MODULES, on_line=take)
    mistakes = [f"Godot complained: {line}" for line in complaints(finished.output) if OVERLOAD not in line]
    if finished.code or finished.timed_out:
        mistakes.append("the run hung" if finished.timed_out else f"Godot ended with status {finished.code}")
    mistakes += failures(records, frames)
    for one in mistakes:
        print(f"soak, {sounds} sounds in a frame: {one}")
    if not mistakes:
        print(f"soak, {sounds} sounds in a frame: {verdict(records)}")
    return 1 if mistakes else 0


def progress(record: dict[str, Any]) -> str:
    """Return one line about a report of the scene."""
    return (
        f"frame {record['frame']:>7,}  p50 {record['p50_us']:5.0f} us  p99 {record['p99_us']:5.0f} us"
        f"  waiting at most {record['most_waiting']:,}  merged {record['merged']:,.0f}"
        f"  dropped {record['dropped']:,.0f}"
        f"  noticed {record['noticed']:,} in at most {record['longest_s']:.2f} s  {record['resident_kb'] // 1024} MB")


def failures(records: list[dict[str, Any]], frames: int) -> list[str]:
    """Return what did not hold in a run: late notices, growing memory, sounds that were not merged."""
    if not records or records[-1]["frame"] + 1000 <= frames:
        return [f"the last report is of frame {records[-1]['frame'] if records else 0} of {frames}"]
    last, settled = records[-1], records[len(records) // 4]
    found = list(last["failures"])
    growth_kb = last["resident_kb"] - settled["resident_kb"]
    most_kb = MOST_GROWTH_KB + KB_PER_WAITING * (last["most_waiting"] - settled["most_waiting"])
    if growth_kb > most_kb:
        found.append(f"memory grew by {growth_kb} kB after frame {settled['frame']}, more than {most_kb:.0f}")
    if last["objects"] > settled["objects"]:
        found.append(f"objects grew from {settled['objects']:.0f} to {last['objects']:.0f}")
    if last["noticed"] == 0:
        found.append("no sensor noticed the visitor")
    if last["most_waiting"] > 2 * settled["most_waiting"]:
        found.append(f"the queue grew from {settled['most_waiting']} to {last['most_waiting']} signals at sensors")
    if last["merged"] <= settled["merged"]:
        found.append("no sound was merged; the load is no overload on this machine")
    return found


def verdict(records: list[dict[str, Any]]) -> str:
    """Return what held, and how the time compares with its limit."""
    last = records[-1]
    slower = max(1.0, median(one["empty_call_ns"] for one in records) / LIMITED_CALL_NS)
    p99_us, limit_us = median(one["p99_us"] for one in records), P99_LIMIT_US * slower
    return (
        f"held. p99 {p99_us:.0f} us, limit {limit_us:.0f} us {'met' if p99_us <= limit_us else 'MISSED'};"
        f" {last['noticed']:,} noticed in at most {last['longest_s']:.2f} s, all within the stated bound")
