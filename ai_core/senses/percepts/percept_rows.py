"""How percepts are saved: a record for each row of the table."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from ai_core.saving.fields import LARGEST
from ai_core.saving.kinds import Flag, ListOf, MapOf, Number, Optional, Record, Row, Seconds, Whole
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.percepts.percept_loops import (
    MEMORY_NUMBERS,
    METER_NUMBERS,
    NO_SENSE,
    NOT_IN_VIEW,
    KnownTarget,
    PerceptTable,
)
from ai_core.senses.sensation import FARTHEST_M
from ai_core.senses.sight.pair_keys import ID_BITS, key_of

__all__ = ["PERCEPT", "SavedPercept"]

LONG_AGO = 2
"""Stands for at least so many looks ago. The last look may be under way."""


class SavedPercept(NamedTuple):
    """What one sensor knows of one target.

    Attributes:
        memory: ``MEMORY_NUMBERS``, after the number of looks since it was in view; None for no memory.
        meter: ``METER_NUMBERS`` after the same for the meter, and when the levels above its own are reported (s).
        senses: ``KnownTarget.by_modality``.
    """

    sensor_id: int
    target: int
    memory: tuple[Any, ...] | None
    meter: tuple[Any, ...] | None
    senses: dict[str, tuple[float, ...]]

    @classmethod
    def of(cls, row: KnownTarget, looks: float) -> SavedPercept:
        """Return a row at a number of looks."""
        senses = {name: (*(one if row.is_known else NO_SENSE)[:2], *(one if row.has_meter else NO_SENSE)[2:])
                  for name, one in row.by_modality().items()}
        memory = meter = None
        if row.is_known:
            memory = (min(looks - row.looked, LONG_AGO), *row.memory_numbers())
        if row.has_meter:
            meter = (min(looks - row.shown_at, LONG_AGO), *row.meter_numbers(), row.pending_s)
        return cls(row.key >> ID_BITS, row.target, memory, meter,
                   {name: one for name, one in senses.items() if one != NO_SENSE})

    @classmethod
    def checked(cls, **fields: Any) -> SavedPercept:
        """Return a percept of a save."""
        one = cls(**fields)
        memory = dict(zip(MEMORY_NUMBERS, (one.memory or ())[1:], strict=False))
        if memory and math.isnan(memory["first_seen_s"]) != math.isnan(memory["last_seen_s"]):
            raise ValueError("first_seen_s must be None where last_seen_s is, and only there")
        if memory and memory["noticed_s"] > memory["last_sensed_s"]:
            raise ValueError("noticed_s must not be later than last_sensed_s")
        if memory and not any(sense[1] > -math.inf for sense in one.senses.values()):
            raise ValueError("senses must hold when the target was sensed, in one at least")
        if one.meter and one.meter[-1] != sorted(one.meter[-1]):
            raise ValueError("the times of levels must ascend")
        return one

    @property
    def latest_s(self) -> float:
        """The latest of its moments, of which none is after the save (s)."""
        numbers = [*zip(MEMORY_NUMBERS, (self.memory or ())[1:], strict=False),
                   *zip(METER_NUMBERS, (self.meter or ())[1:], strict=False)]
        moments = [at_s for name, at_s in numbers if name.endswith("_s") and not math.isnan(at_s)]
        return max([*moments, *(one[1] for one in self.senses.values())], default=-math.inf)

    @property
    def levels(self) -> int:
        """How many levels are reached."""
        return 0 if self.meter is None else self.meter[1] + len(self.meter[-1])

    def put(self, table: PerceptTable) -> None:
        """Make its row in a table; call ``insert_new`` of that after the last."""
        row = table.row(key_of(self.sensor_id, self.target))
        looked, shown_at = (NOT_IN_VIEW if one is None or one[0] == LONG_AGO else table.looks - one[0]
                            for one in (self.memory, self.meter))
        if self.memory is not None:
            row.put_memory(self.memory[1:], looked)
        if self.meter is not None:
            row.put_meter(self.meter[1:-1], shown_at, self.meter[-1])
        row.put_senses(self.senses)


def _numbers(*numbers: Any) -> tuple[Any, ...]:
    return numbers


ID, AGO, MOMENT, SHARE = Whole(maximum=LARGEST_ID), Whole(maximum=LONG_AGO), Seconds(), Number(0, 1)
SEEN, PLACE, SPEED = Seconds(absent=math.nan), Number(-FARTHEST_M, FARTHEST_M), Number(-LARGEST, LARGEST)
PERCEPT = Record(
    SavedPercept.checked, sensor_id=ID, target=ID,
    memory=Optional(Row(
        _numbers, AGO, Flag(), Flag(), *[MOMENT] * 4, *[PLACE] * 3, *[SPEED] * 3, SEEN, SEEN, *[PLACE] * 3)),
    meter=Optional(Row(_numbers, AGO, Whole(), SHARE, Number(0), MOMENT, SHARE, MOMENT, ListOf(MOMENT))),
    senses=MapOf(Row(_numbers, Number(0), Seconds(absent=-math.inf), Number(0), Number(0))))
"""How a percept is saved."""
