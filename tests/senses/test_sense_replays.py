"""Senses that ran against time run again to the same sensations, whatever was due and could not be heard any more."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.recording.grants import RecordingBudget, ReplayBudget
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.memory import SenseMemory
from tests.senses.worlds import Stopwatch, World, hearing

FRAMES = 12
SPEEDS = {"at once": 0.0, "slow": 0.03}


def life(budgets, speed, moves):
    """What is told in each frame to ears of which some run away from what they were to hear."""
    told = []
    world = World(modalities=[hearing(delay_s_per_m=SPEEDS[speed], range_m=9.0), Modality.sight()])

    def listen(sensation):
        told.append((world.clock.now.frame, *sensation[:3]))

    ears = [world.ear((k, 0, 0), threshold=0.1, memory=SenseMemory(), on_sensed=listen) for k in range(10)]
    eyes = [world.eye((k, 1, 0), memory=SenseMemory(), on_sensed=listen) for k in range(3)]
    source = world.manager.add_source(position=(5, 0, 1), strengths={"hearing": 3.0, "sight": 1.0})
    for frame, (budget, (who, where)) in enumerate(zip(budgets, moves, strict=True)):
        world.manager.emit(source, "hearing", channel="steps" if frame % 2 else "")
        world.manager.move_sensors([ears[who], eyes[who % 3]], [(where, 0, 0), (where, 1, 0)])
        world.clock.advance()
        world.manager.advance(budget)
    return told


@pytest.mark.parametrize("speed", SPEEDS)
@settings(max_examples=60)
@given(
    looks=st.lists(st.integers(10, 900), min_size=1, max_size=7),
    moves=st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0, 4, 7, 40])), min_size=FRAMES, max_size=FRAMES),
)
def test_what_was_told_on_scarce_time_is_told_again(speed, looks, moves):
    stopwatch, noted = Stopwatch(looks), [[] for _ in range(FRAMES)]
    watched = (RecordingBudget(Budget.of_time(2.0, stopwatch), grants) for grants in noted)
    told = life(watched, speed, moves)
    assert life((ReplayBudget(grants) for grants in noted), speed, moves) == told


class SlowCrowd(World):
    """Forty eyes and thirty things, whose rays and listener take time; ``after`` is done with what a frame leaves."""

    def __init__(self):
        super().__init__(
            seconds_per_frame=0.3, modalities=[Modality.sight()], line_of_sight=self.trace, report_every_s=0)
        self.us, self.after = 0, []
        for k in range(40):
            self.eye((0.1 * k, 0, 0), on_sensed=None if k else self.listen)
        for k in range(30):
            self.thing((0.1 * k, 0, 3))

    def trace(self, eyes, *_):
        self.us += 200
        return np.ones(len(eyes), np.bool_)

    def listen(self, sensation):
        self.us += 4
        self.heard.append(sensation)

    def frame(self, budget):
        self.tick(budget=budget)
        self.after.append(0)
        while not budget.is_spent:
            budget.spend()
            self.us += 10
            self.after[-1] += 1


def test_a_pass_without_room_leaves_the_budget_to_others():
    crowd, again, noted = SlowCrowd(), SlowCrowd(), [[] for _ in range(12)]
    for number, grants in enumerate(noted):
        budget_us = 300.0 if number % 4 else 260.0
        crowd.frame(RecordingBudget(Budget.of_time(budget_us, lambda: 1000 * crowd.us), grants))
    assert crowd.after[4] == crowd.after[8] == 6, "the pass had no room after the rays"
    for grants in noted:
        again.frame(ReplayBudget(grants))
    assert (again.after, again.heard) == (crowd.after, crowd.heard)
