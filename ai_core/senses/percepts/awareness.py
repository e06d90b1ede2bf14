"""Awareness: a meter from 0 to 1 that fills while a target is perceived.

Between two changes of visibility the meter is a straight line, computed from the start
of that line. Sixty queries a second and one query a minute give the same value and the
same crossing times.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ai_core.clock import moment_s
from ai_core.errors import check_kind, finite_number, shown, whole_number
from ai_core.saving.fields import State
from ai_core.senses.percepts.live import PerceptOwner, SyncedField
from ai_core.senses.percepts.mind_state import prepared_meter, saved_meter

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

    def name_of(self, level: int) -> str:
        """Return the name of a level; 0 is unaware."""
        return self.levels[level - 1].name if level else UNAWARE


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
        startled: what signals have added, by modality, since the value
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


class Awareness:
    """The awareness of one sensor of one target.

    Args:
        settings: rates and levels.
        target: id of the target, for level changes.
        now_s: current game time (s).

    Raises:
        TypeError, ValueError: if an argument is of another type, or out of range.

    Attributes:
        value: the meter, 0 to 1.
        visibility: visibility of the target; 0 if it is hidden.
        level: current level; 0 is unaware.
    """

    value = SyncedField[float]("_value")
    visibility = SyncedField[float]("_visibility")

    def __init__(self, settings: AwarenessSettings, target: int, now_s: float) -> None:
        if not isinstance(settings, AwarenessSettings):
            raise TypeError(f"settings must be AwarenessSettings, got {shown(settings)}")
        self.settings, self.level = settings, 0
        self.target = whole_number("target", target, minimum=0)
        self._value = self._visibility = 0.0
        self._now_s = moment_s("now_s", now_s)
        self._line_from = (self._now_s, 0.0)
        # When each level that was reached will be told.
        self._reacts_at_s: list[float] = []
        self._shown: Mapping[str, float] = {}
        self._startled: dict[str, float] = {}
        self._mind: PerceptOwner | None = None

    @property
    def level_name(self) -> str:
        """Name of the current level."""
        return self.settings.name_of(self.level)

    @property
    def is_shown(self) -> bool:
        """Whether the target showed itself when it was looked at last, as far as it was told; for its mind alone."""
        return self._visibility > 0

    @property
    def is_at_rest(self) -> bool:
        """True if the target is hidden and the value is 0: the meter may be dropped."""
        return self.value == 0 and self._visibility == 0

    def why(self) -> AwarenessReasons:
        """Return the reasons for the value of the meter."""
        return AwarenessReasons(
            self.target, self.value, self.level_name, self._slope, dict(self._shown),
            dict(self._startled), self._reacts_at_s[0] if self._reacts_at_s else None,
        )

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
        changes = self.advance(now_s)
        self._shown = shown or {}
        if visibility != self._visibility:
            self._visibility = visibility
            self._line_from = (now_s, self._value)
            self._was_changed()
        return changes

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
        changes = self.advance(now_s)
        raised = min(1.0, self._value + intensity * self.settings.gain_per_signal)
        self._startled[modality] = self._startled.get(modality, 0.0) + (raised - self._value)
        self._value = raised
        self._line_from = (now_s, raised)
        changes += self._crossed()
        self._was_changed()
        return changes

    def advance(self, now_s: float) -> list[LevelChange]:
        """Advance the meter to ``now_s``; return the levels crossed, in order.

        Raises:
            ValueError: if ``now_s`` decreases.
        """
        now_s = moment_s("now_s", now_s)
        if self._mind is not None:
            self._mind.catch_up()
        if now_s < self._now_s:
            raise ValueError(f"now_s must not decrease, got {now_s} s after {self._now_s} s")
        self.drift(now_s)
        changes = self._crossed()
        if changes:
            self._was_changed()
        return changes

    def drift(self, now_s: float) -> None:
        """Move the meter along its line, if no level is crossed until then."""
        if now_s < self._now_s:
            return
        begun_s, begun = self._line_from
        self._now_s = now_s
        self._value = min(1.0, max(0.0, begun + self._slope * (now_s - begun_s)))
        if not self._value:
            self._startled = {}

    def be_startled(
        self, value: float, now_s: float, modality: str, stimulus_gain: float, *, anew: bool
    ) -> None:
        """Set how signals have raised the meter lately, without crossing a level.

        Args:
            value: the value after the last of them.
            now_s: game time of the last of them (s).
            modality: name of their modality.
            stimulus_gain: sum that these and earlier signals have added.
            anew: whether the value was 0 meanwhile.
        """
        if anew:
            self._startled = {}
        self._startled[modality] = stimulus_gain
        self._value, self._now_s, self._line_from = value, now_s, (now_s, value)

    def move_on(self, visibility: float, line_from: tuple[float, float], modality: str) -> None:
        """Set how visible the target was lately, without crossing a level."""
        self._visibility, self._line_from = visibility, line_from
        self._shown = {modality: visibility}

    def next_reaction_s(self) -> float:
        """Return when the next level, already reached, is reported (s); ``inf`` if none."""
        return self._reacts_at_s[0] if self._reacts_at_s else math.inf

    def next_change_s(self) -> float:
        """Return when a level is crossed or reported, or the meter comes to rest (s).

        Never too late; up to a few nanoseconds too early.
        """
        slope = self._slope
        begun_s, begun = self._line_from
        rise, fall = self.thresholds
        if not begun and not self._visibility:
            return -math.inf
        goal = rise if slope > 0 else max(0.0, fall)
        crossed_s = begun_s + (goal - begun) / slope if slope and goal <= 1 else math.inf
        return min(self.next_reaction_s(), crossed_s) - 1e-9 * max(1.0, abs(begun_s))

    @property
    def line(self) -> tuple[float, float, float]:
        """The line that the meter follows until it changes: start time (s), start value, rate (1/s)."""
        return (*self._line_from, self._slope)

    def startled_by(self, modality: str) -> float:
        """Return how much signals of a modality have added since the value was last 0."""
        return self._startled.get(modality, 0.0)

    @property
    def thresholds(self) -> tuple[float, float]:
        """Values at which the meter next crosses a level: rising to the first, falling to the second.

        ``inf`` and -1 where there is none.
        """
        levels, reached = self.settings.levels, self.level + len(self._reacts_at_s)
        rise = levels[reached].rises_at if reached < len(levels) else math.inf
        return rise, levels[reached - 1].falls_at if reached else -1.0

    def save_state(self) -> State:
        """Return the meter as plain data."""
        return saved_meter(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved meter, and return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        return prepared_meter(self, state)

    @property
    def _slope(self) -> float:
        if self._visibility > 0:
            return self._visibility * self.settings.gain_per_s
        return -self.settings.decay_per_s

    def _was_changed(self) -> None:
        if self._mind is not None:
            self._mind.was_changed()

    def _crossed(self) -> list[LevelChange]:
        changes: list[LevelChange] = []
        waiting, levels = self._reacts_at_s, self.settings.levels
        reached = self.level + len(waiting)
        while reached < len(levels) and self._value >= levels[reached].rises_at:
            reacts_s = self._moment_of(levels[reached].rises_at) + levels[reached].reaction_s
            waiting.append(max(reacts_s, waiting[-1]) if waiting else reacts_s)
            reached += 1
        while reached and self._value <= levels[reached - 1].falls_at:
            fell_s = self._moment_of(levels[reached - 1].falls_at)
            self._react(changes, fell_s)
            if waiting:
                waiting.pop()
            else:
                self.level -= 1
                changes.append(LevelChange(self.target, self.level, self.level_name, fell_s))
            reached -= 1
        self._react(changes, self._now_s)
        return changes

    def _react(self, changes: list[LevelChange], until_s: float) -> None:
        """Note the levels that are told by then."""
        while self._reacts_at_s and self._reacts_at_s[0] <= until_s:
            at_s = self._reacts_at_s.pop(0)
            self.level += 1
            changes.append(LevelChange(self.target, self.level, self.level_name, at_s))

    def _moment_of(self, value: float) -> float:
        """Return when the line passed ``value``: now at the latest."""
        begun_s, begun = self._line_from
        if begun == value or not self._slope:
            return begun_s
        passed_s = (value - begun) / self._slope
        return begun_s + passed_s if 0 <= passed_s <= self._now_s - begun_s else self._now_s
