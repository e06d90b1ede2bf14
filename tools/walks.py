"""Follows values through the library: files entered, crossings between files, calls.

Run as ``AI_CORE_PURE_PYTHON=1 .venv/bin/python -m tools.walks``; with ``--calls`` it lists where each walk enters
another file. Compiled loops would hide calls, so they must be interpreted.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from ai_core import Budget, ManualClock, snapshot
from ai_core.decisions import Habit, HabitPopulation, HabitTree, Status
from ai_core.events import Narrowcast
from ai_core.loops import is_switched_off
from ai_core.maps.grid import Grid
from ai_core.paths import GridPathProvider, PathService
from ai_core.scheduling import Scheduler
from ai_core.senses import AwarenessSettings, RegionalSenseManager, SenseMemory

FRAME_S = 1 / 60
WARM_UP_FRAMES = 5
LONGEST_WALK_FRAMES = 6


class Walk:
    """The files that a value goes through.

    Attributes:
        files: files of the library, in the order in which they are first entered.
        calls: calls of functions of the library (count).
        crossings: (depth, file, function) of each call that enters another file than its caller's.
    """

    def __init__(self) -> None:
        self.files: list[str] = []
        self.calls = 0
        self.crossings: list[tuple[int, str, str]] = []

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record the calls of a block."""
        stack: list[str | None] = []

        def note(frame: FrameType, event: str, _: Any) -> None:
            if event == "call":
                _, _, file = frame.f_code.co_filename.partition("/ai_core/")
                before = stack[-1] if stack else None
                if file:
                    self.calls += 1
                    if file not in self.files:
                        self.files.append(file)
                    if file != before:
                        self.crossings.append((len(stack), file, frame.f_code.co_name))
                stack.append(file or before)
            elif event == "return" and stack:
                stack.pop()

        sys.setprofile(note)
        try:
            yield
        finally:
            sys.setprofile(None)


class Guard:
    """A sensor and a habit tree: a sound that is noticed begins a chase."""

    def __init__(self) -> None:
        self.clock = ManualClock(seconds_per_frame=FRAME_S)
        self.senses, self.population = RegionalSenseManager(self.clock), HabitPopulation()
        self.chases = 0
        self.tree = HabitTree(Habit("guard", [
            Habit("chase", begins_on=["noise"], tick=self.chase),
            Habit("idle", tick=lambda context: Status.RUNNING)]), clock=self.clock)
        self.population.add(self.tree)
        self.senses.add_sensor(
            position=(0, 0, 0), forward=(0, 0, -1), thresholds={"hearing": 0.1}, memory=SenseMemory(),
            awareness=AwarenessSettings(), on_sensed=lambda sensation: None,
            on_gained=lambda change: self.tree.notify("noise", change.target),
            on_awareness_changed=lambda change: None)
        self.thief = self.senses.add_source(position=(3, 0, 0), strengths={"hearing": 2.0})
        for _ in range(WARM_UP_FRAMES):
            self.live()

    def chase(self, context: Any) -> Status:
        """Note that the habit ticks."""
        self.chases += 1
        return Status.RUNNING

    def live(self) -> None:
        """Let a frame pass."""
        self.senses.advance(Budget.unlimited())
        self.population.tick(FRAME_S)
        self.clock.advance()

    def parts(self) -> dict[str, Any]:
        """Return what is saved."""
        return {"clock": self.clock, "senses": self.senses, "tree": self.tree, "population": self.population}


def event_to_habit(walk: Walk) -> None:
    """An event is sent to a group, and a member's habit ticks."""
    clock = ManualClock(seconds_per_frame=FRAME_S)
    events, population, ticks = Narrowcast(clock), HabitPopulation(), list[int]()
    squad = events.add_group("squad")
    tree = HabitTree(Habit("guard", [
        Habit("alarmed", begins_on=["alarm"], tick=lambda context: ticks.append(1) or Status.RUNNING),
        Habit("idle", tick=lambda context: Status.RUNNING)]), clock=clock)
    population.add(tree)
    events.add_member("bob", squad).listen("alarm", lambda event: tree.notify("alarm", event))
    for _ in range(WARM_UP_FRAMES):
        events.advance(Budget.unlimited())
        population.tick(FRAME_S)
        clock.advance()
    with walk.recorded():
        squad.send("alarm", 1)
        events.advance(Budget.unlimited())
        population.tick(FRAME_S)
    assert ticks


def noise_to_chase(walk: Walk) -> None:
    """A first noise is emitted, and the habit that it begins ticks."""
    guard = Guard()
    with walk.recorded():
        guard.senses.emit(guard.thief, "hearing", 2.0)
        for _ in range(LONGEST_WALK_FRAMES):
            guard.live()
            if guard.chases:
                break
    assert guard.chases


def same_noise_again(walk: Walk) -> None:
    """A target that is heard already is heard again."""
    guard = Guard()
    for _ in range(3):
        guard.senses.emit(guard.thief, "hearing", 0.2)
        guard.live()
    with walk.recorded():
        guard.senses.emit(guard.thief, "hearing", 0.2)
        for _ in range(2):
            guard.senses.advance(Budget.unlimited())
            guard.clock.advance()


def request_to_path(walk: Walk) -> None:
    """A path is requested across an open grid, and found."""
    clock = ManualClock(FRAME_S)
    service = PathService(GridPathProvider(Grid(np.ones((40, 40))).passage()), clock)
    for _ in range(20):
        service.advance(Budget.unlimited())
        clock.advance()
    with walk.recorded():
        ticket = service.request_path(0, 40 * 39 + 39)
        while not ticket.is_done:
            service.advance(Budget.unlimited())
            clock.advance()
    assert ticket.state == "found"


def budget_to_turn(walk: Walk) -> None:
    """A budget reaches one task that is due."""
    clock = ManualClock(seconds_per_frame=FRAME_S)
    scheduler = Scheduler(clock)
    scheduler.add(lambda turn: None, period_frames=1)
    for _ in range(WARM_UP_FRAMES):
        scheduler.advance(Budget.unlimited())
        clock.advance()
    with walk.recorded():
        scheduler.advance(Budget.unlimited())


def save(walk: Walk) -> None:
    """One sensor and one tree are saved."""
    parts = Guard().parts()
    with walk.recorded():
        snapshot.take(parts)


def restore(walk: Walk) -> None:
    """One sensor and one tree are restored."""
    parts = Guard().parts()
    saved = snapshot.take(parts)
    with walk.recorded():
        snapshot.restore(saved, parts)


WALKS: dict[str, Callable[[Walk], None]] = {
    one.__name__.replace("_", " "): one
    for one in (event_to_habit, noise_to_chase, same_noise_again, request_to_path, budget_to_turn, save, restore)}


def main(arguments: list[str]) -> int:
    """Print a row for each walk."""
    if not is_switched_off:
        print("set AI_CORE_PURE_PYTHON=1: compiled loops hide calls", file=sys.stderr)
        return 1
    print(f"{'walk':<20} files crossings calls")
    for name, follow in WALKS.items():
        walk = Walk()
        follow(walk)
        print(f"{name:<20} {len(walk.files):>5} {len(walk.crossings):>9} {walk.calls:>5}")
        for depth, file, function in walk.crossings if "--calls" in arguments else ():
            print(f"  {'  ' * min(depth, 14)}{file}: {function}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
