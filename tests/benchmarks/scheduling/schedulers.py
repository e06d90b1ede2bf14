"""A crowd under a scheduler beside a loop that knows in advance what is due."""
from __future__ import annotations

import random
import time
from collections.abc import Callable

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task
from tools.benchmarking.declarations import Case, Contest

FRAMES = 60
LONGEST_PERIOD_FRAMES = 60


class Counter:
    """A behavior that does next to nothing."""

    def __init__(self) -> None:
        self.calls = 0

    def think(self, _turn: object = None) -> None:
        self.calls += 1


def untimed(n: int) -> Contest:
    """60 frames of n behaviors, periods 1 to 60, nothing measured."""
    crowd = _Crowd(n)
    ours = crowd.under(Scheduler(ManualClock(), policy=Policy.FREQUENCY), Budget.unlimited)
    peers = {"mesa": crowd.under_mesa, "simpy": crowd.under_simpy}
    return Contest(ours, {"loop over what is due": crowd.in_a_loop()}, peers, complaint=crowd.complaint)


def timed(n: int) -> Contest:
    """The same with a budget of time, and each run measured."""
    return _under_policy(n, Policy.FREQUENCY, lambda: Budget.of_time(1e6, time.perf_counter_ns))


def balanced(n: int) -> Contest:
    """The same with a share of the time for each."""
    return _under_policy(n, Policy.LOAD_BALANCING, lambda: Budget.of_time(1e6, time.perf_counter_ns))


def balanced_by_steps(n: int) -> Contest:
    """The same with a share of a budget of steps for each."""
    return _under_policy(n, Policy.LOAD_BALANCING, lambda: Budget.of_steps(1_000_000))


def _under_policy(n: int, policy: Policy, budget: Callable[[], Budget]) -> Contest:
    crowd = _Crowd(n)
    ours = crowd.under(Scheduler(ManualClock(), policy=policy), budget)
    return Contest(ours, {"loop over what is due": crowd.in_a_loop()}, complaint=crowd.complaint)


def changing(n: int) -> Contest:
    """The same with one behavior added, one removed and one re-phased before every frame."""
    crowd, chance = _Crowd(n), random.Random(3)
    scheduler = Scheduler(ManualClock(), policy=Policy.FREQUENCY)
    frame = crowd.frame_of(scheduler, Budget.unlimited)
    tasks = list(scheduler.tasks)

    def frames() -> int:
        for _ in range(FRAMES):
            _change(scheduler, tasks, chance)
            frame()
        return n

    def complaint() -> str:
        runs = sum(task.runs for task in scheduler.tasks)
        expected = sum(1 / task.period_frames for task in scheduler.tasks) * scheduler.frame
        found = "" if len(scheduler.tasks) == n else f"{len(scheduler.tasks)} tasks, wanted {n}"
        return found or ("" if runs <= expected + n else f"{runs} runs, at most {expected + n:.0f} were due")

    return Contest(frames, {"loop over what is due": crowd.in_a_loop()}, complaint=complaint)


def _change(scheduler: Scheduler, tasks: list[Task], chance: random.Random) -> None:
    number = chance.randrange(len(tasks))
    scheduler.remove(tasks[number])
    tasks[number] = scheduler.add(Counter().think, period_frames=chance.randint(1, LONGEST_PERIOD_FRAMES))
    moved = chance.choice(tasks)
    scheduler.change(moved, phase_frames=chance.randrange(moved.period_frames))


class _Crowd:
    """n behaviors with periods and phases, as often as somebody wants to run them."""

    def __init__(self, n: int) -> None:
        chance = random.Random(7)
        self._n = n
        self._slots = [(1 + number % 60, chance.randrange(1 + number % 60)) for number in range(n)]
        self._worlds: list[tuple[list[Counter], list[int]]] = []

    def complaint(self) -> str:
        """Return "" if everybody was called on all frames on which it was due."""
        uneven = 0
        for crowd, frames in self._worlds:
            uneven += any(
                one.calls != (frames[0] - (-phase % period) + period - 1) // period
                for one, (period, phase) in zip(crowd, self._slots, strict=True)
            )
        return f"{uneven} of {len(self._worlds)} crowds were not called when due" if uneven else ""

    def frame_of(self, scheduler: Scheduler, budget: Callable[[], Budget]) -> Callable[[], None]:
        """Return what runs one frame of a scheduler that has the crowd."""
        clock: ManualClock = scheduler.clock  # type: ignore[assignment]
        crowd, frames = self._world()
        for one, (period, phase) in zip(crowd, self._slots, strict=True):
            scheduler.add(one.think, period_frames=period, phase_frames=phase)

        def frame() -> None:
            clock.advance()
            scheduler.advance(budget())
            frames[0] += 1

        return frame

    def under(self, scheduler: Scheduler, budget: Callable[[], Budget]) -> Case:
        frame = self.frame_of(scheduler, budget)
        return lambda: self._repeated(frame)

    def in_a_loop(self) -> Case:
        """Call what is due on the first 60 frames, again and again."""
        crowd = [Counter() for _ in range(self._n)]
        order = sorted(range(self._n), key=lambda number: (self._slots[number][0], number))
        due = [
            [
                crowd[number].think for number in order
                if (frame + self._slots[number][1]) % self._slots[number][0] == 0
            ]
            for frame in range(FRAMES)
        ]

        def loop() -> int:
            for calls in due:
                for call in calls:
                    call(None)
            return self._n

        return loop

    def under_simpy(self) -> Case:
        import simpy

        environment = simpy.Environment()
        crowd, frames = self._world()

        def live(one: Counter, period: int, phase: int):  # type: ignore[no-untyped-def]
            yield environment.timeout(-phase % period)
            while True:
                one.think()
                yield environment.timeout(period)

        for one, (period, phase) in zip(crowd, self._slots, strict=True):
            environment.process(live(one, period, phase))

        def run() -> int:
            frames[0] += FRAMES
            environment.run(until=frames[0])
            return self._n

        return run

    def under_mesa(self) -> Case:
        import mesa

        crowd, frames = self._world()
        model = mesa.Model()

        class Agent(mesa.Agent):  # type: ignore[misc]
            def step(self) -> None:
                if (frames[0] + self.phase) % self.period == 0:
                    self.one.think()

        for one, (period, phase) in zip(crowd, self._slots, strict=True):
            agent = Agent(model)
            agent.one, agent.period, agent.phase = one, period, phase

        def frame() -> None:
            model.agents.do("step")
            frames[0] += 1

        return lambda: self._repeated(frame)

    def _repeated(self, frame: Callable[[], None]) -> int:
        for _ in range(FRAMES):
            frame()
        return self._n

    def _world(self) -> tuple[list[Counter], list[int]]:
        world = [Counter() for _ in range(self._n)], [0]
        self._worlds.append(world)
        return world
