"""What recording adds to the AI of a frame: the same world with and without a recorder."""
from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from ai_core.budget import Budget
from ai_core.recording import Recorder, Replay, digest_of, read_recording
from demo_project.scenarios import SCENARIOS, Scenario
from tests.benchmarks.recording.best_of import best_of
from tools.benchmarking.declarations import Case, Contest, Measurement, Suite

OFF = "without recording"
NEVER = "never recorded"
FRAMES = 30  # as many as are written at once

# More than any share of a frame needs, even while the machine does something else: who pauses
# once lives on differently, and then two worlds no longer do the same work.
PLENTY_US = 1e9

# A recorder may add 5 % to the AI's time, writing included.
GOAL = {OFF: 1 / 1.05}

MEASURABLE = 0.015
"""What a closed recorder would have to add to be found out (share of the AI's time).

A world beside itself differs by up to 0.005, see ``best_of``; by more on a machine
that is busy, so three times what it differs by is allowed too.
"""


class World:
    """A scenario of so many, on steps or on time."""

    def __init__(self, name: str, count: int, *, is_timed: bool) -> None:
        self.scenario: Scenario = SCENARIOS[name](0, **({"count": count} if count else {}))  # type: ignore[call-arg]
        self.is_timed = is_timed
        self.lines: list[str] = []

    def budget(self) -> Budget:
        if self.is_timed:
            return Budget.of_time(PLENTY_US, time.perf_counter_ns)
        return Budget.of_steps(self.scenario.budget_steps)

    def recorder(self, **settings: int) -> Recorder:
        scenario = self.scenario
        return Recorder(
            self.lines.append, clock=scenario.clock, trace=scenario.trace, parts=scenario.observed,
            is_timed=self.is_timed, **settings,
        )

    def plain(self) -> Case:
        scenario = self.scenario

        def frames() -> int:
            for _ in range(FRAMES):
                scenario.step(self.budget(), scenario.next_inputs())
            return FRAMES

        return frames

    def run(self, recorder: Recorder) -> None:
        scenario = self.scenario
        for _ in range(FRAMES):
            inputs = scenario.next_inputs()
            scenario.step(recorder.begin_frame(self.budget(), inputs), inputs)
            recorder.end_frame()

    def recorded(self, recorder: Recorder) -> Case:
        def frames() -> int:
            self.run(recorder)
            self.lines.clear()  # a disk is not measured here
            return FRAMES

        return frames


def recorded_world(_n: int, name: str, count: int, *, is_timed: bool = False, **settings: int) -> Contest:
    """30 frames of a world, recorded and written, beside the same without a recorder."""
    make = partial(World, name, count, is_timed=is_timed)
    ours = make()
    return Contest(
        ours.recorded(ours.recorder(**settings)), {OFF: make().plain()},
        complaint=lambda: _complaint(make(), make(), make()),
    )


def closed_recorder(_n: int, name: str, count: int) -> Contest:
    """30 frames of a world whose recorder is closed, beside one that never had any."""
    make = partial(World, name, count, is_timed=False)
    ours = make()
    ours.recorder().close()
    return Contest(ours.plain(), {NEVER: make().plain()}, complaint=lambda: _complaint_of_closed(make))


def _complaint_of_closed(make: Callable[[], World]) -> str:
    """Return what a closed recorder adds, if it is more than a world differs from itself; else ""."""

    def never() -> Callable[[], None]:
        return make().scenario.step

    def closed() -> Callable[[], None]:
        world = make()
        world.recorder().close()
        return world.scenario.step

    plain_us, again_us, closed_us = best_of([never, never, closed], frames=60, tries=10)
    noise = abs(again_us - plain_us) / plain_us
    added = closed_us / max(plain_us, again_us) - 1
    if added <= max(MEASURABLE, 3 * noise):
        return ""
    return f"a closed recorder adds {added:.1%}, while a world beside itself differs by {noise:.1%}"


def _complaint(plain: World, recorded: World, again: World) -> str:
    """Recorded or not, the same happens, and happens again in a replay; "" or what differs."""
    plain.plain()()
    with recorded.recorder() as recorder:
        recorded.run(recorder)
    one, other = plain.scenario.observed, recorded.scenario.observed
    differing = [part for part in one if digest_of(one[part].observe()) != digest_of(other[part].observe())]
    if differing:
        return f"recording changes {', '.join(differing)}"
    scenario = again.scenario
    replay = Replay(
        read_recording(recorded.lines), clock=scenario.clock, trace=scenario.trace, parts=scenario.observed
    )
    return str(replay.run(scenario.step) or "")


SUITE = Suite(
    "30 frames of a world with and without a recorder",
    (
        Measurement("1,000 visitors", partial(recorded_world, name="crowd", count=1000), goals=GOAL),
        Measurement("100 guards", partial(recorded_world, name="guards", count=100), goals=GOAL),
        Measurement(
            "1,000 visitors, on time", partial(recorded_world, name="crowd", count=1000, is_timed=True), goals=GOAL
        ),
        Measurement(
            "100 guards, on time", partial(recorded_world, name="guards", count=100, is_timed=True), goals=GOAL
        ),
        # Next to no AI: what a frame costs whatever happens in it shows here.
        Measurement("a house of 12", partial(recorded_world, name="alarm", count=0)),
        Measurement(
            "100 guards, parts looked at every frame",
            partial(recorded_world, name="guards", count=100, digest_every_frames=1),
        ),
        # No goal: medians wander by more than what is asked for. The complaint judges it.
        Measurement("100 visitors, recorder closed", partial(closed_recorder, name="crowd", count=100)),
    ),
)
