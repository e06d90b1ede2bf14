"""A world with nothing in it but a clock and work on threads, and what may happen to it."""
from __future__ import annotations

from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.threaded_work import ThreadedWork


def square(number):
    if number < 0:
        raise ValueError(f"{number} is below 0")
    return number * number


class Yard:
    """A clock, work on threads, and a diary of what was handed over when."""

    def __init__(self, executor, function=square, **settings):
        self.clock = ManualClock()
        self.diary = []
        self.reported = []
        self.executor = executor
        settings.setdefault("then", lambda one: self.diary.append((self.clock.now.frame, one.id, one.result)))
        self.work = ThreadedWork(function, clock=self.clock, executor=executor, **settings)

    def frame(self, *numbers, steps=99):
        """One frame: work is handed over, then new work submitted."""
        self.clock.advance()
        try:
            self.work.advance(Budget.of_steps(steps))
        except (ArithmeticError, ValueError) as error:
            self.reported.append((self.clock.now.frame, str(error)))
        return [self.work.submit(number) for number in numbers]


@st.composite
def lives(draw):
    """Numbers submitted in each frame, steps granted, and what threads do meanwhile."""
    return draw(st.lists(st.tuples(
        st.lists(st.integers(-1, 9), max_size=4), st.integers(0, 4),
        st.lists(st.tuples(st.sampled_from(["begin", "run"]), st.integers(0, 20)), max_size=4),
    ), min_size=1, max_size=12))
