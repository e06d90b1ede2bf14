"""Awareness: a meter from 0 to 1 that fills while something shows itself.

Between two changes of visibility the meter is a straight line, and it is
computed from where that line began: asked sixty times a second or once a
minute, it has the same value and crosses its levels at the same moments.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ai_core.errors import finite_number, shown
from ai_core.saving.fields import State
from ai_core.senses.mind_state import prepared_meter, saved_meter

__all__ = ["UNAWARE", "Awareness", "AwarenessLevel", "AwarenessSettings", "LevelChange"]

UNAWARE = "unaware"
"""Name of level 0, which has no threshold."""


@dataclass(frozen=True)
class AwarenessLevel:
    """One level above unaware.

    Args:
        name: what it is called.
        rises_at: the level is reached at this value; above ``falls_at``, at most 1.
        falls_at: the level is left at this value; 0 or more. The gap between
            the two is hysteresis: without it a level would flicker.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.
    """

    name: str
    rises_at: float
    falls_at: float

    def __post_init__(self) -> None:
        falls_at = finite_number("falls_at", self.falls_at, minimum=0)
        rises_at = finite_number(
            "rises_at", self.rises_at, above=falls_at, maximum=1,
            remedy="a level is reached above where it is left",
        )
        object.__setattr__(self, "falls_at", falls_at)
        object.__setattr__(self, "rises_at", rises_at)


SUSPICIOUS_AND_ALERT = (
    AwarenessLevel("suspicious", rises_at=0.3, falls_at=0.1),
    AwarenessLevel("alert", rises_at=1.0, falls_at=0.5),
)


@dataclass(frozen=True)
class AwarenessSettings:
    """How fast a meter fills and empties, and where its levels are.

    Args:
        gain_per_s: rise per second at visibility 1 (1/s); 0 or more.
        decay_per_s: fall per second at visibility 0 (1/s); 0 or more.
        gain_per_signal: rise at once per unit of intensity of what is sensed
            once, such as a sound; 0 or more.
        levels: levels above unaware, rising.

    Raises:
        TypeError: if a number is of another type, or a level is not a level.
        ValueError: if a number is out of range, or levels do not rise.
    """

    gain_per_s: float = 1.0
    decay_per_s: float = 0.2
    gain_per_signal: float = 0.25
    levels: Sequence[AwarenessLevel] = SUSPICIOUS_AND_ALERT

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
                    f"levels must rise, got {level.name!r} not above {lower.name!r};"
                    " order them by rises_at and falls_at"
                )
            lower = level

    def name_of(self, level: int) -> str:
        """Return the name of a level; 0 is unaware."""
        return self.levels[level - 1].name if level else UNAWARE


class LevelChange(NamedTuple):
    """A meter reached or left a level.

    Attributes:
        target: id of what it is about.
        level: the level now; 0 is unaware.
        name: the name of that level.
        at_s: the moment it happened (s), even if it is told later.
    """

    target: int
    level: int
    name: str
    at_s: float


class Awareness:
    """How aware somebody is of one target.

    Args:
        settings: speeds and levels.
        target: id of what it is about, for what it reports.
        now_s: game time now (s).
    """

    def __init__(self, settings: AwarenessSettings, target: int, now_s: float) -> None:
        self.settings = settings
        self.target = target
        self.value = 0.0
        self.level = 0
        self.visibility = 0.0
        self._line_from = (now_s, 0.0)
        self._now_s = now_s

    @property
    def level_name(self) -> str:
        """Name of the level now."""
        return self.settings.name_of(self.level)

    @property
    def is_at_rest(self) -> bool:
        """True if nothing shows and nothing is left: the meter may be dropped."""
        return self.value == 0 and self.visibility == 0

    def expose(self, visibility: float, now_s: float) -> list[LevelChange]:
        """Show the target from now on; return the levels crossed until now.

        Args:
            visibility: how strongly it shows, usually 0 to 1; 0 hides it.
            now_s: game time (s).

        Raises:
            ValueError: if visibility is negative, or time goes back.
        """
        visibility = finite_number("visibility", visibility, minimum=0)
        changes = self.advance(now_s)
        if visibility != self.visibility:
            self.visibility = visibility
            self._line_from = (now_s, self.value)
        return changes

    def startle(self, intensity: float, now_s: float) -> list[LevelChange]:
        """Raise the meter at once, by a sound for instance; return levels crossed.

        Args:
            intensity: how strong it was; 0 or more.
            now_s: game time (s).

        Raises:
            ValueError: if intensity is negative, or time goes back.
        """
        intensity = finite_number("intensity", intensity, minimum=0)
        changes = self.advance(now_s)
        self.value = min(1.0, self.value + intensity * self.settings.gain_per_signal)
        self._line_from = (now_s, self.value)
        return changes + self._crossed()

    def advance(self, now_s: float) -> list[LevelChange]:
        """Let time pass until ``now_s``; return the levels crossed, in order.

        Raises:
            ValueError: if time goes back.
        """
        if not now_s >= self._now_s:
            raise ValueError(f"time must not go back, got {now_s} s after {self._now_s} s")
        begun_s, begun = self._line_from
        self._now_s = now_s
        self.value = min(1.0, max(0.0, begun + self._slope * (now_s - begun_s)))
        return self._crossed()

    def save_state(self) -> State:
        """Return where the meter stands, as plain data."""
        return saved_meter(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved meter; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        return prepared_meter(self, state)

    @property
    def _slope(self) -> float:
        if self.visibility > 0:
            return self.visibility * self.settings.gain_per_s
        return -self.settings.decay_per_s

    def _crossed(self) -> list[LevelChange]:
        changes = []
        levels = self.settings.levels
        while self.level < len(levels) and self.value >= levels[self.level].rises_at:
            at_s = self._moment_of(levels[self.level].rises_at)
            self.level += 1
            changes.append(LevelChange(self.target, self.level, self.level_name, at_s))
        while self.level and self.value <= levels[self.level - 1].falls_at:
            at_s = self._moment_of(levels[self.level - 1].falls_at)
            self.level -= 1
            changes.append(LevelChange(self.target, self.level, self.level_name, at_s))
        return changes

    def _moment_of(self, value: float) -> float:
        """Return when the line passed ``value``: now at the latest."""
        begun_s, begun = self._line_from
        if begun == value or not self._slope:
            return begun_s
        passed_s = (value - begun) / self._slope
        return begun_s + passed_s if 0 <= passed_s <= self._now_s - begun_s else self._now_s
