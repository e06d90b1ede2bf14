"""Recording scenarios, running recordings again, drawing them; started by the command line tool."""
from __future__ import annotations

import json
import platform
import sys
import time
from pathlib import Path

import numpy as np

from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.plots import timeline as timeline_of
from ai_core.recording import Recorder, Recording, RecordingError, Replay, read_recording
from demo_project.scenarios import Scenario, build
from tools.drawing_png import png_of
from tools.progress import StepFailed


def made_with() -> dict[str, str]:
    """Return what an exact replay has to have in common with its recording."""
    return {
        "python": platform.python_version(), "numpy": np.__version__,
        "machine": platform.machine(), "system": platform.system(),
    }


def lines_of(
    name: str, *, frames: int, seed: int = 0, budget_us: float | None = None, exact: bool = False
) -> list[str]:
    """Run a scenario and return its recording, line by line.

    Args:
        name: of the scenario.
        frames: how many to run.
        seed: what its chance comes from.
        budget_us: run each frame on so much time (µs); None for the scenario's steps.
        exact: digests tell numbers apart by every bit.

    Raises:
        UnknownNameError: if there is no such scenario.
    """
    scenario = build(name, seed)
    lines: list[str] = []
    with Recorder(
        lines.append, clock=scenario.clock, trace=scenario.trace, parts=scenario.observed, name=name,
        seed=seed, exact=exact, is_timed=budget_us is not None, made_with=made_with(),
        digest_every_frames=1,  # nobody plays this: each change is found in its frame
    ) as recorder:
        for _ in range(frames):
            inputs = scenario.next_inputs()
            if budget_us is None:
                budget = Budget.of_steps(scenario.budget_steps)
            else:
                budget = Budget.of_time(budget_us, time.perf_counter_ns)
            scenario.step(recorder.begin_frame(budget, inputs), inputs)
            recorder.end_frame()
    return lines


def replay_of(recording: Recording) -> tuple[Scenario, Replay]:
    """Return the scenario of a recording, built anew, and the replay that watches it.

    Raises:
        UnknownNameError: if there is no such scenario.
    """
    scenario = build(recording.header.name, recording.header.seed)
    replay = Replay(recording, clock=scenario.clock, trace=scenario.trace, parts=scenario.observed)
    return scenario, replay


def record(*, scenario: str, out: str, frames: int, seed: int, budget_us: float | None, exact: bool) -> int:
    """Write a recording; return the exit status."""
    lines = lines_of(scenario, frames=frames, seed=seed, budget_us=budget_us, exact=exact)
    file = Path(out)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{frames} frames of {scenario!r}, seed {seed}: {out}")
    return 0


def replay(*, file: str, cut: bool) -> int:
    """Run a recording again; return 0 if nothing differs, else 1."""
    recording = _read(Path(file), cut)
    if recording.header.name.startswith("res://"):
        raise StepFailed(
            "building the scenario", f"{recording.header.name} is a scene: its rays, ways and bodies are the engine's",
            "run that scene in Godot, and call start_replay() of its AIScheduler at the moment when recording began")
    scenario, running = replay_of(recording)
    difference = running.run(scenario.step)
    if difference is None:
        kind = "every bit" if recording.header.exact else "all that was decided, to 0.0001"
        print(f"{len(recording.frames)} frames of {recording.header.name!r} as recorded: {kind}")
        return 0
    print(difference, file=sys.stderr)
    if difference.part in scenario.observed:
        print(f"now: {scenario.observed[difference.part].observe()}", file=sys.stderr)
    for name, here in made_with().items():
        then = recording.header.made_with.get(name, here)
        if then != here:
            print(f"recorded with {name} {then}, this is {here}; see docs/concepts/determinism.md", file=sys.stderr)
    return 1


def timeline(*, what: str, out: str, frames: int, seed: int, budget_us: float | None, cut: bool) -> int:
    """Draw a recording, or a scenario recorded for it; return the exit status."""
    if Path(what).is_file():
        recording = _read(Path(what), cut)
    else:
        recording = read_recording(lines_of(what, frames=frames, seed=seed, budget_us=budget_us))
    drawing = timeline_of(recording)
    file = Path(out)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".png":
        file.write_bytes(png_of(drawing))
    elif file.suffix == ".svg":
        file.write_text(drawing.svg(), encoding="utf-8")
    else:
        raise StepFailed("drawing a timeline", f"{out} is neither .svg nor .png", "name one of them with --out")
    print(out)
    return 0


def _read(file: Path, allow_cut: bool) -> Recording:
    try:
        with file.open(encoding="utf-8") as lines:
            return read_recording(lines, allow_cut=allow_cut)
    except UnicodeDecodeError as error:
        raise StepFailed("reading the recording", f"{file}: {error}", "is it a recording?") from None
    except OSError as error:
        raise StepFailed("reading the recording", str(error), "name a file that `record` wrote") from None
    except RecordingError as error:
        remedy = "record it again; if a crash has cut it short, use --cut"
        raise StepFailed("reading the recording", f"{file}: {error}", remedy) from None


def main(arguments: list[str]) -> int:
    command, settings = arguments
    try:
        return {"record": record, "replay": replay, "timeline": timeline}[command](**json.loads(settings))
    except UnknownNameError as error:
        failure = StepFailed("building the scenario", str(error), "name one of those")
    except StepFailed as error:
        failure = error
    print(f"\n{failure}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
