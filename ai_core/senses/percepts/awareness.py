"""Awareness: a meter from 0 to 1 that fills while a target is perceived."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ai_core.errors import checked_name, keep_number, shown

__all__ = ["SUSPICIOUS_AND_ALERT", "UNAWARE", "AwarenessLevel", "AwarenessReasons", "AwarenessSettings"]

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
    AwarenessLevel("suspicious", rises_at=0.3, falls_at=0.1), AwarenessLevel("alert", rises_at=1.0, falls_at=0.5))
"""The default levels."""


@dataclass(frozen=True)
class AwarenessSettings:
    """Rates and levels of an awareness meter.

    Args:
        gain_per_s: rise per second at visibility 1 (1/s); 0 or more.
        decay_per_s: fall per second at visibility 0 (1/s); 0 or more.
        gain_per_signal: immediate rise per unit of intensity of an emitted signal, such as a sound; 0 or more.
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
            if lower is not None and not (level.rises_at > lower.rises_at and level.falls_at >= lower.falls_at):
                raise ValueError(
                    f"levels must be in rising order, got {level.name!r} not above {lower.name!r};"
                    " order them by rises_at and falls_at"
                )
            lower = level
        names = (UNAWARE, *(level.name for level in self.levels))
        if len({*names[1:]}) < len(self.levels):
            raise ValueError(f"levels must have unique names, got {shown(list(names))}; rename the repeated one")
        object.__setattr__(self, "level_names", names)


class AwarenessReasons(NamedTuple):
    """The reasons for the value of a meter.

    Attributes:
        target: id of the target.
        value: the value, 0 to 1.
        level_name: the current level.
        rate_per_s: current rise or fall of the value (1/s).
        visibility: current visibility of the target, by modality; the strongest counts.
        stimulus_gain: what stimuli have added, by modality, since the value was last 0 (no unit).
        reacts_at_s: when the next level, already reached, is reported (s), or None.
    """

    target: int
    value: float
    level_name: str
    rate_per_s: float
    visibility: Mapping[str, float]
    stimulus_gain: Mapping[str, float]
    reacts_at_s: float | None
