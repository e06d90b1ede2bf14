"""What recording adds to the AI of a frame: the same scenario with and without a recorder."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ai_core.budget import Budget
from ai_core.recording import Recorder, digest_of
from demo_project.scenarios import SCENARIOS, Scenario, build
from tools.benchmarking.declarations import Case, Contest, Measurement, Suite

OFF = "without recording"
FRAMES = 60
# Looked at once in these frames; what ran and what was told is written in every one.
LOOK_EVERY_FRAMES = 30

# A recorder may add 5 % to the AI's time.
GOAL = {OFF: 1 / 1.05}


def recorded_scenario(name: str, _n: int, look_every_frames: int) -> Contest:
    """60 frames of a scenario, recorded, beside the same without a recorder."""
    return Contest(
        _recorded(build(name), look_every_frames), {OFF: _plain(build(name))},
        complaint=lambda: _difference(name, look_every_frames),
    )


def _plain(scenario: Scenario) -> Case:
    def frames() -> int:
        for _ in range(FRAMES):
            scenario.step(Budget.of_steps(scenario.budget_steps), scenario.next_inputs())
        return FRAMES

    return frames


def _recorded(scenario: Scenario, look_every_frames: int) -> Case:
    recorder = Recorder(
        _forget, clock=scenario.clock, trace=scenario.trace, parts=scenario.observed,
        look_every_frames=look_every_frames,
    )

    def frames() -> int:
        for _ in range(FRAMES):
            inputs = scenario.next_inputs()
            scenario.step(recorder.begin_frame(Budget.of_steps(scenario.budget_steps), inputs), inputs)
            recorder.end_frame()
        return FRAMES

    return frames


def _forget(_line: str) -> None:
    """A disk is not measured here."""


def _difference(name: str, look_every_frames: int) -> str:
    """Recorded or not, the same happens; "" or which part differs."""
    plain, recorded = build(name), build(name)
    _plain(plain)()
    _recorded(recorded, look_every_frames)()
    differing = [
        part for part in plain.observed
        if digest_of(plain.observed[part].observe()) != digest_of(recorded.observed[part].observe())
    ]
    return f"recording changes {', '.join(differing)} of {name}" if differing else ""


def _measurement(name: str, what: str, look_every_frames: int, goals: dict[str, float]) -> Measurement:
    make: Callable[[int], Contest] = partial(recorded_scenario, name, look_every_frames=look_every_frames)
    return Measurement(f"{name}, {what}", make, sizes=(FRAMES,), goals=goals)


SUITE = Suite(
    "60 frames of a scenario with and without a recorder",
    (
        *(_measurement(name, "parts looked at twice a second", LOOK_EVERY_FRAMES, GOAL) for name in SCENARIOS),
        *(_measurement(name, "parts looked at every frame", 1, {}) for name in SCENARIOS),
    ),
)
