"""Digests that all scenarios must give on every machine, and recordings that must replay; made anew by

    python -m tests.scenarios.expected_digests

after a change that is meant to change what is decided. Read the difference first.
"""
from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

from ai_core.budget import Budget
from ai_core.recording import Recorder, Recording, read_recording
from demo_project.scenarios import SCENARIOS, Scenario, build

FILE = Path(__file__).with_name("expected_digests.json")
RECORDINGS = Path(__file__).with_name("recordings")
SEED = 0
FRAMES = 150
RECORDED_FRAMES = 60
EVERY_FRAMES = 30
"""Digests are kept this often, each over all frames before it, so none of them is left out."""


def lines_of(scenario: Scenario, frames: int, *, exact: bool = False, budget=None) -> list[str]:
    """Run a scenario and return its recording."""
    lines: list[str] = []
    with Recorder(
        lines.append, clock=scenario.clock, trace=scenario.trace, parts=scenario.observed,
        name=scenario.name, seed=scenario.seed, exact=exact, is_timed=budget is not None,
        digest_every_frames=1,
    ) as recorder:
        for _ in range(frames):
            inputs = scenario.next_inputs()
            allowed = Budget.of_steps(scenario.budget_steps) if budget is None else budget()
            scenario.step(recorder.begin_frame(allowed, inputs), inputs)
            recorder.end_frame()
    return lines


def chained(recording: Recording) -> dict[str, dict[str, str]]:
    """Return the digest of everything up to a frame, by part, for every so many frames."""
    chains: dict[str, str] = {}
    kept = {}
    for number, frame in enumerate(recording.frames, 1):
        happened = {
            **(frame.parts or {}), **frame.reports, "inputs": json.dumps(frame.inputs, sort_keys=True),
            "work": json.dumps([(run.name, run.depth, run.steps, run.result) for run in frame.runs]),
        }
        for part, what in happened.items():
            text = f"{chains.get(part, '')} {frame.frame} {what}"
            chains[part] = blake2b(text.encode(), digest_size=8).hexdigest()
        if number % EVERY_FRAMES == 0:
            kept[str(frame.frame)] = dict(sorted(chains.items()))
    return kept


def digests_of(name: str) -> dict[str, dict[str, str]]:
    """Run a scenario and return its digests."""
    return chained(read_recording(lines_of(build(name, SEED), FRAMES)))


if __name__ == "__main__":
    RECORDINGS.mkdir(exist_ok=True)
    for each in SCENARIOS:
        lines = lines_of(build(each, SEED), RECORDED_FRAMES)
        (RECORDINGS / f"{each}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    FILE.write_text(json.dumps({name: digests_of(name) for name in SCENARIOS}, indent=1) + "\n")
