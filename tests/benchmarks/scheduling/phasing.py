"""Choosing phases: one more beside many, and all at once."""
from __future__ import annotations

import random

from ai_core.scheduling.phasing import PhaseSlot, PhaseTable, rephased
from tools.benchmarking.declarations import Contest

LONGEST_PERIOD_FRAMES = 60


def add_one_to(n: int) -> Contest:
    """A phase is chosen for one more task beside n, and it is counted in and out again."""
    table, chance = PhaseTable(), random.Random(7)
    load = [0] * LONGEST_PERIOD_FRAMES
    for _ in range(n):
        slot = PhaseSlot(LONGEST_PERIOD_FRAMES, chance.randrange(LONGEST_PERIOD_FRAMES))
        load[-slot.phase_frames % LONGEST_PERIOD_FRAMES] += 1
        table.add(slot)
    periods = [chance.randint(1, LONGEST_PERIOD_FRAMES) for _ in range(1000)]
    turns = [0]

    def ours() -> int:
        turns[0] = (turns[0] + 1) % len(periods)
        slot = PhaseSlot(periods[turns[0]], table.best_phase(periods[turns[0]]))
        table.add(slot)
        table.remove(slot)
        return 1

    def complaint() -> str:
        best, least = table.best_phase(LONGEST_PERIOD_FRAMES), min(load)
        chosen = load[-best % LONGEST_PERIOD_FRAMES]
        return "" if chosen == least else f"a frame with {chosen} runs was chosen, the best has {least}"

    return Contest(ours, complaint=complaint)


def rephase_of(n: int) -> Contest:
    """All phases of n tasks are chosen together, from all due on the same frame."""
    chance = random.Random(7)
    slots = [PhaseSlot(chance.randint(1, LONGEST_PERIOD_FRAMES), 0) for _ in range(n)]
    mean = sum(1 / slot.period_frames for slot in slots)

    def complaint() -> str:
        table = PhaseTable()
        for slot, phase in zip(slots, rephased(slots), strict=True):
            table.add(slot._replace(phase_frames=phase))
        # Few tasks of odd periods meet now and then, whatever the phases; many even out.
        most, peak = 1.03 * mean + 8, int(table.load.max())
        return "" if peak <= most else f"peak {peak}, wanted at most {most:.0f}"

    return Contest(lambda: rephased(slots), complaint=complaint)
