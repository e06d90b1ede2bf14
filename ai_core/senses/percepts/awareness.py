"""Awareness: a meter from 0 to 1 that fills while a target is perceived."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ai_core.clock import moment_s
from ai_core.errors import check_kind, finite_number, shown, whole_number
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.percepts.percept_loops import KnownTarget, Mind
from ai_core.senses.percepts.percept_rows import ROWS, SavedRows, put_row, saved_rows

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
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.
    """

    name: str
    rises_at: float
    falls_at: float
    reaction_s: float = 0.0

    def __post_init__(self) -> None:
        falls_at = finite_number("falls_at", self.falls_at, minimum=0)
        rises_at = finite_number(
            "rises_at", self.rises_at, above=falls_at, maximum=1,
            remedy="use a value above falls_at",
        )
        object.__setattr__(self, "falls_at", falls_at)
        object.__setattr__(self, "rises_at", rises_at)
        reaction_s = finite_number("reaction_s", self.reaction_s, minimum=0)
        object.__setattr__(self, "reaction_s", reaction_s)


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
        ValueError: if a number is out of range, or the levels are not in rising order.
    """

    gain_per_s: float = 1.0
    decay_per_s: float = 0.2
    gain_per_signal: float = 0.25
    levels: Sequence[AwarenessLevel] = SUSPICIOUS_AND_ALERT
    level_names: Sequence[str] = field(init=False, repr=False, compare=False, default=())
    """Names of all levels, from level 0, which is unaware."""

    def __post_init__(self) -> None:
        for name in ("gain_per_s", "decay_per_s", "gain_per_signal"):
            value = finite_number(name, getattr(self, name), minimum=0)
            object.__setattr__(self, name, value)
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
        object.__setattr__(self, "level_names", (UNAWARE, *(level.name for level in self.levels)))


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



class Awareness(Saveable):
    """The awareness of one sensor of one target.

    Args:
        settings: rates and levels.
        target: id of the target, for level changes.
        now_s: current game time (s).

    Raises:
        TypeError, ValueError: if an argument is of another type, or out of range.
    """

    SHOWN = ("target", "value", "level_name")

    STATE = DeclaredState(rows=ROWS)

    def __init__(self, settings: AwarenessSettings, target: int, now_s: float) -> None:
        if not isinstance(settings, AwarenessSettings):
            raise TypeError(f"settings must be AwarenessSettings, got {shown(settings)}")
        target, now_s = whole_number("target", target, minimum=0, maximum=LARGEST_ID), moment_s("now_s", now_s)
        self.settings = settings
        self._kept = KnownTarget(target, Mind([], -1, None, settings))
        self._kept.begin_meter(now_s)

    @classmethod
    def of_row(cls, row: KnownTarget, settings: AwarenessSettings) -> Awareness:
        """Return the view of a row of a sense manager."""
        found = cls.__new__(cls)
        found.settings, found._kept = settings, row
        return found

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

    def expose(
        self, visibility: float, now_s: float, shown: Mapping[str, float] | None = None
    ) -> list[LevelChange]:
        """Set the visibility of the target from now on; return the levels crossed until now.

        Args:
            visibility: usually 0 to 1; 0 hides the target.
            now_s: game time (s).
            shown: visibility by modality, for ``why``.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if visibility is negative, or ``now_s`` decreases.
        """
        visibility = finite_number("visibility", visibility, minimum=0)
        check_kind("shown", shown, Mapping)
        return self._changes(self._row.expose(visibility, self._checked_moment(now_s), dict(shown or {})))

    def add_stimulus(self, intensity: float, now_s: float, modality: str = "") -> list[LevelChange]:
        """Raise the meter at once, for example by a sound; return the levels crossed.

        Args:
            intensity: strength of the stimulus; 0 or more.
            now_s: game time (s).
            modality: name of the modality, for ``why``.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if intensity is negative, or ``now_s`` decreases.
        """
        intensity = finite_number("intensity", intensity, minimum=0)
        if not isinstance(modality, str):
            raise TypeError(f"modality must be a string, got {shown(modality)}")
        return self._changes(self._row.stimulate(modality, intensity, self._checked_moment(now_s)))

    def advance(self, now_s: float) -> list[LevelChange]:
        """Advance the meter to ``now_s``; return the levels crossed, in order.

        Raises:
            ValueError: if ``now_s`` decreases.
        """
        return self._changes(self._row.advance_meter(self._checked_moment(now_s)))

    @property
    def _saved_rows(self) -> SavedRows:
        return saved_rows([self._row], 0.0, memory=False)

    @_saved_rows.setter
    def _saved_rows(self, saved: SavedRows) -> None:
        self._kept = KnownTarget(int(saved.targets[0]), Mind([], -1, None, self.settings))
        put_row(self._kept, saved, 0, 0.0)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        rows = values.rows
        if rows.meters["has_meter"].tolist() != [1] or rows.memory["is_known"].any():
            refuse("rows", "must hold one target, with a meter and no memory")
        if why := rows.refusal(np.array([len(self.settings.levels)]), LATEST_S):
            refuse("rows", why)

    def _checked_moment(self, now_s: float) -> float:
        now_s, before_s = moment_s("now_s", now_s), self._row.meter_s
        if not self._row.has_meter:
            raise ValueError("the meter has ended; ask the sense manager for the current one")
        if now_s < before_s:
            raise ValueError(f"now_s must not decrease, got {now_s} s after {before_s} s")
        return now_s

    def _changes(self, crossed: list[tuple[int, float, int, int]]) -> list[LevelChange]:
        names = self.settings.level_names
        return [LevelChange(target, level, names[level], at_s) for _, at_s, target, level in crossed]
