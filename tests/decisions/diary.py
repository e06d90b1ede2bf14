"""What the tests of habits share: habits that write down what happens to them."""
from __future__ import annotations

from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habits import Habit


class Diary(list):
    """What happened, as "enter attack", "tick attack", "exit attack".

    ``wants`` names the habits that can activate (None: all of them);
    ``results`` gives what a habit's tick returns, by name.
    """

    def __init__(self, wants=None):
        super().__init__()
        self.wants = None if wants is None else set(wants.split())
        self.results = {}

    def habit(self, name, *children, launch=Launch.PRIORITIZED, ticks=None, **options):
        """Return a habit that writes here; only leaves tick, unless told otherwise."""
        options.setdefault("can_activate", lambda _: self.wants is None or name in self.wants)
        options.setdefault("enter", lambda _: self.append(f"enter {name}"))
        options.setdefault("exit", lambda _: self.append(f"exit {name}"))
        if (not children) if ticks is None else ticks:
            options.setdefault("tick", lambda context: self._tick(name))
        return Habit(name, children, launch, **options)

    def read(self):
        """Return what was written since the last reading."""
        news = list(self)
        self.clear()
        return news

    def _tick(self, name):
        self.append(f"tick {name}")
        return self.results.get(name, Status.RUNNING)


class FixedNumbers:
    """A generator that hands out the numbers it was given."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def random(self):
        return self.numbers.pop(0)
