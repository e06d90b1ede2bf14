"""Awareness: a meter from 0 to 1 that fills while a target is perceived."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ai_core.described import Described
from ai_core.errors import checked_name, keep_number, shown
from ai_core.senses.percepts.percept_loops import KnownTarget

__all__ = [
    "SUSPICIOUS_AND_ALERT", "UNAWARE", "Awareness", "AwarenessLevel", "AwarenessReasons", "AwarenessSettings",
    "LevelChange",
]

UNAWARE = "unaware"
"""Name of level 0, which has no threshold."""


@dataclass(frozen=True)
class AwarenessLevel:
    """A level above unaware.

    Args:
        name: its name.
        rises_at: the level is reached at this value; above ``falls_at``, at most 1.
        falls_at: the level is left at this value; 0 or more. The gap between
            the two is hysteresis: without it a level would flicker.
        reaction_s: time from reaching the value to the change of level (s); 0 or
            more. If the meter falls below ``falls_at`` meanwhile, the level does not change.

    Raises:
        TypeError: if a number is of another type, or the name is no string.
        ValueError: if a number is out of range.
    """

    name: str
    rises_at: float
    falls_at: float
    reaction_s: float = 0.0

    def __post_init__(self) -> None:
        checked_name("name", self.name)
        keep_number(self, "falls_at", minimum=0)
        keep_number(self, "rises_at", above=self.falls_at, maximum=1, remedy="use a value above falls_at")
        keep_number(self, "reaction_s", minimum=0)


SUSPICIOUS_AND_ALERT = (
    AwarenessLevel("suspicious", rises_at=0.3, falls_at=0.1),
    AwarenessLevel("alert", rises_at=1.0, falls_at=0.5),
)
"""The default levels."""


@dataclass(frozen=True)
class AwarenessSettings:
    """Rates and levels of an awareness meter.

    Args:
        gain_per_s: rise per second at visibility 1 (1/s); 0 or more.
        decay_per_s: fall per second at visibility 0 (1/s); 0 or more.
        gain_per_signal: immediate rise per unit of intensity of an emitted
            signal, such as a sound; 0 or more.
        levels: levels above unaware, in rising order.

    Raises:
        TypeError: if a number is of another type, or an item of ``levels`` is not a level.
        ValueError: if a number is out of range, or the levels are not in rising order, or two have one name.
    """

    gain_per_s: float = 1.0
    decay_per_s: float = 0.2
    gain_per_signal: float = 0.25
    levels: Sequence[AwarenessLevel] = SUSPICIOUS_AND_ALERT
    level_names: Sequence[str] = field(init=False, repr=False, compare=False, default=())
    """Names of all levels, from level 0, which is unaware."""

    def __post_init__(self) -> None:
        for name in ("gain_per_s", "decay_per_s", "gain_per_signal"):
            keep_number(self, name, minimum=0)
        object.__setattr__(self, "levels", tuple(self.levels))
        lower: AwarenessLevel | None = None
        for level in self.levels:
            if not isinstance(level, AwarenessLevel):
                raise TypeError(f"levels must hold AwarenessLevel, got {shown(level)}")
            if lower is not None and not (
                level.rises_at > lower.rises_at and level.falls_at >= lower.falls_at
            ):
                raise ValueError(
                    f"levels must be in rising order, got {level.name!r} not above {lower.name!r};"
                    " order them by rises_at and falls_at"
                )
            lower = level
        names = (UNAWARE, *(level.name for level in self.levels))
        if len({*names[1:]}) < len(self.levels):
            raise ValueError(f"levels must have unique names, got {shown(list(names))}; rename the repeated one")
        object.__setattr__(self, "level_names", names)


class LevelChange(NamedTuple):
    """A meter reached or left a level.

    Attributes:
        target: id of the target.
        level: the new level; 0 is unaware.
        name: the name of that level.
        at_s: game time of the change (s), even if it is reported later.
    """

    target: int
    level: int
    name: str
    at_s: float


class AwarenessReasons(NamedTuple):
    """The reasons for the value of a meter.

    Attributes:
        target: id of the target.
        value: the value, 0 to 1.
        level_name: the current level.
        rate_per_s: current rise or fall of the value (1/s).
        visibility: current visibility of the target, by modality; the strongest counts.
        stimulus_gain: what stimuli have added, by modality, since the value
            was last 0 (no unit).
        reacts_at_s: when the next level, already reached, is reported (s), or None.
    """

    target: int
    value: float
    level_name: str
    rate_per_s: float
    visibility: Mapping[str, float]
    stimulus_gain: Mapping[str, float]
    reacts_at_s: float | None


class Awareness(Described):
    """The awareness of one sensor of one target, as it is now; ``RegionalSenseManager.awareness_of`` returns it.

    Args:
        row: what its sense manager knows.
        settings: of the sensor.
    """

    SHOWN = ("target", "value", "level_name")

    def __init__(self, row: KnownTarget, settings: AwarenessSettings) -> None:
        self.settings, self._kept = settings, row

    @property
    def _row(self) -> KnownTarget:
        while self._kept.rest is not None:
            self._kept = self._kept.rest
        return self._kept

    @property
    def target(self) -> int:
        """Id of the source."""
        return int(self._kept.target)

    @property
    def value(self) -> float:
        """The meter, 0 to 1."""
        return float(self._row.value)

    @property
    def visibility(self) -> float:
        """Visibility of the target; 0 if it is hidden."""
        return float(self._row.visibility)

    @property
    def level(self) -> int:
        """Current level; 0 is unaware."""
        return int(self._row.level)

    @property
    def level_name(self) -> str:
        """Name of the current level."""
        return self.settings.level_names[self.level]

    def why(self) -> AwarenessReasons:
        """Return the reasons for the value of the meter."""
        visibility, pending_s = self.visibility, self._row.pending_s
        rate = visibility * self.settings.gain_per_s if visibility > 0 else -self.settings.decay_per_s
        senses = self._row.by_modality()
        return AwarenessReasons(
            self.target, self.value, self.level_name, rate, {name: one[2] for name, one in senses.items() if one[2]},
            {name: one[3] for name, one in senses.items() if one[3]}, pending_s[0] if pending_s else None)
