"""A scheduler beside a loop that knows in advance what is due."""
from __future__ import annotations

from collections.abc import Callable

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.frequency import FrequencyScheduler
from tools.benchmarking.declarations import Case, Contest

FRAMES = 60
# All divide FRAMES, so that every stretch of 60 frames calls equally often.
PERIODS = (6, 10, 12, 15, 20, 30, 60)


class Counter:
    """A behavior that does next to nothing."""

    def __init__(self) -> None:
        self.calls = 0

    def think(self, _turn: object = None) -> None:
        self.calls += 1


def frames_of_behaviors(n: int) -> Contest:
    """60 frames in which each of n behaviors runs every 6 to 60 frames."""
    crowds: list[list[Counter]] = []

    def crowd() -> list[Counter]:
        crowds.append([Counter() for _ in range(n)])
        return crowds[-1]

    def complaint() -> str:
        uneven = [one for one in crowds if not _keep_their_rates(one)]
        return f"{len(uneven)} of {len(crowds)} crowds were not called at their rates" if uneven else ""

    return Contest(
        _scheduler(crowd()), {"loop over what is due": _bare_loop(crowd())},
        peers={"simpy": lambda: _simpy(crowd())}, complaint=complaint,
    )


def period(number: int) -> int:
    return PERIODS[number % len(PERIODS)]


def _scheduler(crowd: list[Counter]) -> Case:
    clock = ManualClock()
    scheduler = FrequencyScheduler(clock)
    for number, one in enumerate(crowd):
        scheduler.add(one.think, period_frames=period(number), phase_frames=number % period(number))

    def frames() -> int:
        for _ in range(FRAMES):
            clock.advance()
            scheduler.advance(Budget.unlimited())
        return _calls_of_first(crowd)

    return frames


def _bare_loop(crowd: list[Counter]) -> Case:
    due: list[list[Callable[[object], None]]] = [
        [one.think for number, one in enumerate(crowd) if (frame + number) % period(number) == 0]
        for frame in range(FRAMES)
    ]

    def frames() -> int:
        for calls in due:
            for call in calls:
                call(None)
        return _calls_of_first(crowd)

    return frames


def _simpy(crowd: list[Counter]) -> Case:
    import simpy

    environment = simpy.Environment()

    def live(number: int, one: Counter):  # type: ignore[no-untyped-def]
        yield environment.timeout(number % period(number))
        while True:
            one.think()
            yield environment.timeout(period(number))

    for number, one in enumerate(crowd):
        environment.process(live(number, one))

    def frames() -> int:
        environment.run(until=environment.now + FRAMES)
        return _calls_of_first(crowd)

    return frames


def _calls_of_first(crowd: list[Counter]) -> int:
    """Return how often the first one was called in the 60 frames just past."""
    first = crowd[0]
    calls, first_before = first.calls, getattr(first, "before", 0)
    first.before = calls  # type: ignore[attr-defined]
    return calls - first_before


def _keep_their_rates(crowd: list[Counter]) -> bool:
    stretches = crowd[0].calls * period(0) // FRAMES
    return all(one.calls == stretches * FRAMES // period(number) for number, one in enumerate(crowd))
