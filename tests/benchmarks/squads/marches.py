"""A step of the march of a whole squad."""
from __future__ import annotations

from ai_core.clock import ManualClock
from ai_core.squads.formation import Formation
from ai_core.squads.squad import Squad
from tools.benchmarking.declarations import Contest


def step_of_march(n):
    """Slots move on, and everybody is told where to go; all are on their way."""
    squad = Squad("alpha", ManualClock(), formation=Formation.phalanx(2.0))
    for number in range(n):
        squad.add(number, (number % 15 * 2.0, number // 15 * 2.0))
    squad.move_to((100_000, 0))
    for _ in range(60):
        squad.think()
        squad.move_slots(1 / 30)
        squad.set_positions(squad.positions + squad.velocities() / 30)

    def march():
        squad.move_slots(1e-6)                            # so that it never arrives, however often it is asked

    return Contest(march)
