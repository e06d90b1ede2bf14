"""Loops give the same bits on every platform, compiled and interpreted: Linux, Windows by wine, ARM by qemu.

No input leads into a function whose last bit depends on the C library: with a share kept of 1 every power is exact.
After a change that is meant to change results, print the new digests: ``python -m tests.test_loop_digests``.
"""
from __future__ import annotations

import random
from collections.abc import Callable
from hashlib import blake2b

import numpy as np
import pytest

from ai_core import Budget, ManualClock
from ai_core.decisions import Habit, HabitTree, Launch, Status
from ai_core.maps import Grid
from ai_core.paths import (
    AStarSearch,
    FlowField,
    GridPathProvider,
    LocalAvoidance,
    PathService,
    RegionGraph,
    RegionSearch,
)
from ai_core.scheduling import PhaseSlot, PhaseTable, Policy, Scheduler
from ai_core.senses import Modality, RegionalSenseManager, SightCone
from ai_core.squads import Formation, Squad, assign


def ground(share: float) -> Grid:
    generator = random.Random(2)
    return Grid([[1.0 + generator.random() if generator.random() > share else np.inf for _ in range(60)]
                 for _ in range(60)])


def free_ends(grid: Grid) -> list[tuple[int, int]]:
    generator, passage = random.Random(3), grid.passage()
    free = [cell for cell in range(3600) if passage.is_free(cell)]
    return [(generator.choice(free), generator.choice(free)) for _ in range(12)]


def searches() -> list[object]:
    grid, found = ground(0.25), []
    for start, goal in free_ends(grid):
        search = AStarSearch(grid.passage(), start, goal)
        search.advance(Budget.unlimited())
        found += [search.result.cells, search.result.cost]
    return found


def jumps() -> list[object]:
    generator = random.Random(4)
    grid = Grid([[generator.random() > 0.1 for _ in range(60)] for _ in range(60)])
    service = PathService(GridPathProvider(grid.passage()), ManualClock())
    service.advance(Budget.unlimited())
    tickets = [service.request_path(*ends) for ends in free_ends(grid)]
    service.advance(Budget.unlimited())
    return [part for ticket in tickets for part in (ticket.path.cells, ticket.path.cost)]


def regions() -> list[object]:
    grid, found = ground(0.15), []
    graph = RegionGraph(grid.passage())
    graph.advance(Budget.unlimited())
    for start, goal in free_ends(grid):
        search = RegionSearch(graph, start, goal)
        search.advance(Budget.unlimited())
        found += [search.result.cells, search.result.cost]
    return found


def flow() -> list[object]:
    grid = ground(0.2)
    (start, goal), *_ = free_ends(grid)
    field = FlowField(grid.passage(), goal)
    field.advance(Budget.unlimited())
    return [field.costs_of(range(3600)), field.next_of([start])]


def avoidance() -> list[object]:
    generator = random.Random(5)
    places = np.array([(generator.uniform(0, 20), generator.uniform(0, 20)) for _ in range(60)], np.float32)
    velocities = np.array([(generator.uniform(-2, 2), generator.uniform(-2, 2)) for _ in range(60)])
    crowd, found = LocalAvoidance(look_ahead_s=1.0), []
    for _ in range(20):
        crowd.set_bodies(places, velocities, np.full(60, 2.0), np.full(60, 0.4))
        for row in crowd.find_near().tolist():
            velocities[row] = crowd.steer(row, *velocities[row], 2.0, 10.0, 10.0)
        places = (places + velocities * 0.05).astype(np.float32)
        found.append(velocities.copy())
    return found


def marching() -> list[object]:
    squad, found = Squad("Alpha", ManualClock(), formation=Formation.wedge(spacing_m=2.0)), []
    for number in range(7):
        squad.add(number, position=(number * 1.25, number * number * 0.25), speed=3.0, radius_m=0.4)
    squad.follow([(9, 20), (30, 25), (31, 60)])
    for frame in range(120):
        if frame % 10 == 0:
            squad.think()
        squad.move_slots(elapsed_s=0.0625)
        squad.set_positions(squad.positions + squad.velocities() * 0.0625)
        found.append(squad.positions.copy())
    return found


def matching() -> list[object]:
    generator = random.Random(6)
    return [assign([[generator.random() for _ in range(25)] for _ in range(20)]) for _ in range(5)]


def phases() -> list[object]:
    generator, table, found = random.Random(7), PhaseTable(), []
    for _ in range(80):
        period = generator.randint(1, 40)
        found.append(table.best_phase(period))
        table.add(PhaseSlot(period, found[-1]))
    return found


def runs() -> list[object]:
    generator, found = random.Random(8), []
    for policy in Policy:
        clock = ManualClock()
        scheduler = Scheduler(clock, policy=policy)
        for number in range(30):
            def work(turn, number=number):
                turn.budget.spend(number % 4)
                found.append((number, turn.elapsed_s))
            scheduler.add(work, period_frames=generator.randint(1, 9), priority=generator.random() + 0.1)
        for _ in range(60):
            scheduler.advance(Budget.of_steps(20))
            clock.advance()
    return found


def senses() -> list[object]:
    generator, clock, found = random.Random(9), ManualClock(), []
    sight = Modality.sight(kept_per_m=1.0, still_share=0.5)
    manager = RegionalSenseManager(clock, modalities=[sight, Modality.hearing(kept_per_m=1.0)])

    def place() -> tuple[float, float, float]:
        return generator.uniform(-20, 20), generator.uniform(0, 2), generator.uniform(-20, 20)

    for _ in range(30):
        manager.add_sensor(
            position=place(), forward=(generator.uniform(-1, 1), 0, 1), thresholds={"sight": 0.3, "hearing": 0.5},
            sight_cones=[SightCone(25.0, 1.5, 1.0)],
            on_sensed=lambda one: found.append((one.sensor_id, one.source_id, one.intensity, tuple(one.position))))
    sources = [manager.add_source(position=place(), strengths={"sight": 1.0, "hearing": 2.0}) for _ in range(30)]
    for frame in range(20):
        manager.move_sources(sources, np.array([place() for _ in sources], np.float32))
        manager.emit(sources[frame], "hearing")
        manager.advance(Budget.unlimited())
        clock.advance()
    return found


def habits() -> list[object]:
    generator, found = random.Random(11), []

    def work(context):
        return Status.SUCCEEDED if context.time_in_habit_s > 0.25 else Status.RUNNING

    children = [
        Habit(f"h{number}", can_activate=lambda context, number=number: context.blackboard["key"] % (number + 2) == 0,
            tick=work, cooldown_s=0.125 * number) for number in range(6)]
    tree = HabitTree(Habit("root", [Habit("some", children), Habit("rest", tick=work)], Launch.FALLBACK), name="one")
    for _ in range(200):
        tree.blackboard["key"] = generator.randrange(60)
        tree.tick(0.0625)
        found.append(tuple(tree.active_paths()))
    return found


DIGESTS: dict[Callable[[], list[object]], str] = {
    searches: "811a954fd0aab1ce",
    jumps: "1d78a503397eff5d",
    regions: "e43588f74323bdb4",
    flow: "1a8573d7ca5de9df",
    avoidance: "7c98fd1c29f2181c",
    marching: "6005d16248f7fa52",
    matching: "93687351d01f45c1",
    phases: "fa06b6464fe861b9",
    runs: "040eae47127b3524",
    senses: "aa3b3f98e9fbc8e0",
    habits: "8e69650d81b5d8ad",
}


def digest(results: list[object]) -> str:
    whole = blake2b(digest_size=8)
    for result in results:
        plain = result.tolist() if isinstance(result, np.ndarray) else result
        whole.update(repr(plain).encode())
    return whole.hexdigest()


@pytest.mark.parametrize("loop", DIGESTS, ids=lambda loop: loop.__name__)
def test_loop_gives_the_committed_bits(loop):
    assert digest(loop()) == DIGESTS[loop], "the bits differ from those of Linux x86-64"


if __name__ == "__main__":
    for each in DIGESTS:
        print(f'    {each.__name__}: "{digest(each())}",')
