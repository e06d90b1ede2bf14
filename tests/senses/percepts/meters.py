"""A meter of awareness for tests: they say when time passes, and how well the target shows itself."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.clock import ManualClock, TimeIndex
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import RegionalSenseManager

SENSES = {"sight": True, "touch": True, "hearing": False}


class Meter:
    """The awareness of one sensor of one target, in a sense manager with a clock of its own."""

    def __init__(self, settings):
        self.clock, self._crossed = ManualClock(), []
        self.manager = RegionalSenseManager(self.clock, modalities=[
            Modality(name, 10.0, is_continuous=is_continuous) for name, is_continuous in SENSES.items()])
        self.sensor = self.manager.add_sensor(
            position=(0, 0, 0), forward=(0, 0, -1), thresholds=dict.fromkeys(SENSES, 0.0), awareness=settings,
            on_awareness_changed=self._crossed.append)
        self.target = self.manager.add_source(position=(0, 0, 0), strengths={})

    def advance(self, at_s):
        """Let time pass; return the changes of levels since the call before."""
        self.clock.now = TimeIndex(self.clock.now.frame + 1, at_s)
        self.manager.advance(Budget.unlimited())
        changes = self._crossed.copy()
        self._crossed.clear()
        return changes

    def expose(self, visibility, at_s, **others):
        """Let time pass, and the target show itself so from then on."""
        shown = {"sight": visibility, **others}
        self.manager.change_source(self.target, strengths={name: one for name, one in shown.items() if one > 0})
        return self.advance(at_s)

    def startle(self, intensity, at_s):
        """Let time pass, and the sensor hear the target then."""
        self.clock.now = TimeIndex(self.clock.now.frame, at_s)
        self.manager.touch(self.sensor, self.target, "hearing", intensity)
        return self.advance(at_s)

    @property
    def now(self):
        """The awareness, None for none."""
        return self.manager.awareness_of(self.sensor, self.target)

    @property
    def value(self):
        """Its value, 0 for none."""
        return 0.0 if self.now is None else self.now.value
