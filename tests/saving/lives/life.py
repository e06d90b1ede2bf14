"""What all lives share: a small world with an object in it that is saved, and what may happen there."""
from __future__ import annotations

import json
import random

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.saving.chance import RandomState


class Life:
    """A small world; its methods ``do_...`` are what may happen, each given a generator and returning what is seen.

    Attributes:
        classes: the classes with state that are tested by this life.
        names_whole_places: whether errors name a place from the field of the saved object on.
        clock: game time; saved, too.
        chance: for what happens in the world by itself; saved, too.
        told: what callbacks wrote down.
    """

    classes: tuple[type, ...] = ()
    names_whole_places = True

    def __init__(self):
        self.clock, self.chance, self.told = ManualClock(0.125), random.Random(7), []
        self.faults = FaultIsolation(report=lambda fault: self.told.append((fault.name, str(fault.error))))
        self.build()

    def build(self):
        """Make the objects of this world; each world is made alike."""

    def subjects(self):
        """Return the objects whose saves are damaged, by name."""
        raise NotImplementedError

    def parts(self):
        """Return everything that is saved."""
        return {"clock": self.clock, "chance": RandomState(self.chance), **self.subjects()}

    def loaded(self):
        """Find again what a load may have replaced."""

    def do_wait(self, chance):
        self.clock.advance(chance.randint(1, 3))

    def live(self, chance, count):
        """Let some things happen; return what was seen of each."""
        doings = sorted(name for name in dir(self) if name.startswith("do_"))
        seen = []
        for _ in range(count):
            name = chance.choice(doings)
            seen.append((name, getattr(self, name)(random.Random(chance.random())), [*self.told]))
            self.told.clear()
        return repr(seen)

    def save(self):
        """Return the states of all parts, as they come out of a file."""
        states = {name: part.save_state() for name, part in self.parts().items()}
        return json.loads(json.dumps(states, allow_nan=False))

    def load(self, states):
        """Load all parts; where one is refused, none is changed."""
        changes = [part.prepare_state(states[name]) for name, part in self.parts().items()]
        for change in changes:
            change()
        self.loaded()
        self.told.clear()


def steps(chance, most=6):
    """Return a small budget."""
    return Budget.of_steps(chance.randint(0, most))


def plain(value):
    """Return arrays inside as lists, whose text has no dots in it."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else value
