"""A formation on the march: slots move along the commander's path, and wait for who falls behind."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.squads.march_path import Clearance, MarchPath, plane_axes
from ai_core.squads.marchers import Marchers
from ai_core.squads.narrow_passage import NarrowPassage

__all__ = ["FormationMarch", "MarchSettings"]

Floats = NDArray[np.float64]

PROBE_M = 0.25
"""How far the path is looked along to see how fast slots will move (m)."""

LOOK_M = 1.0
"""How far ahead on its lane a member looks at least for where to go (m); more cuts corners of doors."""

MEASURED_AT_ONCE = 24
"""Samples of the path whose width is asked for in one step (count): two clearances each."""

ALL = 1 << 30

STILL = 0.05
"""Share of their pace at which slots as good as stand: who holds them up is late. At 0 none ever was: slots slow down
the nearer he is to being late, and so never leave him so far behind."""

STEP_SHARE = 0.25
"""Distance of the path's samples, in spacings; larger cuts corners, smaller costs more."""

LONGEST_STEP_M = 1.0


@dataclass(frozen=True)
class MarchSettings:
    """How a squad keeps together on the march.

    Attributes:
        pace: share of the slowest member's speed the slots go at; what is left is for catching up.
        wait_from: distance from their slots, in spacings, from which on they are waited for.
        wait_at: distance, in spacings, at which the slots stand still.
        patience_s: how long they wait for somebody who gets no nearer (s); then he is a straggler.
        response_s: time in which a member covers the way to its slot (s); shorter is stiffer.
        tolerance_m: who is this near to his slot is there (m).

    Raises:
        TypeError, ValueError: if a number is out of range.
    """

    pace: float = 0.85
    wait_from: float = 0.5
    wait_at: float = 2.0
    patience_s: float = 5.0
    response_s: float = 0.3
    tolerance_m: float = 0.3

    def __post_init__(self) -> None:
        finite_number("pace", self.pace, above=0, maximum=1)
        finite_number("wait_from", self.wait_from, minimum=0)
        finite_number("wait_at", self.wait_at, above=self.wait_from, remedy="it must be above wait_from")
        for name in ("patience_s", "response_s", "tolerance_m"):
            finite_number(name, getattr(self, name), above=0)


class FormationMarch:
    """Moves slots along a path, and tells each member where to go.

    Args:
        dimensions: 2 or 3.
        settings: how it keeps together.
        clearance: as ``MarchPath`` takes it.

    Attributes:
        anchor_m: how far along the path the commander's slot is.
    """

    def __init__(self, dimensions: int, settings: MarchSettings, clearance: Clearance | None) -> None:
        self.settings, self.clearance = settings, clearance
        self.anchor_m = 0.0
        self.path: MarchPath | None = None
        self.passage = NarrowPassage()
        self.heading = np.array([1.0, 0.0])
        self._dimensions = dimensions
        self._axes = list(plane_axes(dimensions))
        self._points: Floats = np.zeros((0, dimensions))
        self.made_for: tuple[float, float, float] | None = None
        self._was_at_end = False        # as long as the path is not made again

    def begin(self, points: Floats) -> None:
        """Start along another way."""
        self.resume(points, None, is_at_end=False)
        self.anchor_m = 0.0
        self.passage.is_in_column = False

    def resume(self, points: Floats, made_for: tuple[float, float, float] | None, *, is_at_end: bool) -> None:
        """Take back a way that was saved; it is made again as it was."""
        self._points, self.made_for, self.path = points, made_for, None
        self._was_at_end = is_at_end

    def forget_shape(self) -> None:
        """Make the path anew for another formation."""
        self.resume(self._points, None, is_at_end=False)

    def stop(self) -> None:
        """Leave the path; slots are nowhere until the next one."""
        self.begin(np.zeros((0, self._dimensions)))

    @property
    def points(self) -> Floats:
        """The way as it was given, (k, d); empty if there is none."""
        return self._points

    @property
    def is_under_way(self) -> bool:
        """True if there is a way, be it that its end is reached."""
        return len(self._points) > 0

    @property
    def is_at_end(self) -> bool:
        """True if the slots have come to the end of the way, or there is none."""
        if self.path is None:
            return self._was_at_end or not self.is_under_way
        return self.anchor_m >= self.path.length_m

    def advance(self, elapsed_s: float, marchers: Marchers, offsets: Floats, spacing_m: float) -> None:
        """Move the slots on, and write where each member is to go, and how fast.

        Args:
            elapsed_s: game time since the last time (s).
            marchers: everybody, with slots.
            offsets: (n, 2) of their slots, ahead and to the right (m).
            spacing_m: of the formation.

        Cost: O(n), and what clearances cost.
        """
        if not self.is_under_way or not len(marchers):
            marchers.stay()
            return
        path = self._path_for(marchers, offsets, spacing_m)
        offsets = self.passage.offsets(self.anchor_m, path, marchers, offsets, spacing_m)
        ahead_m, right_m = offsets.T
        span = float(right_m.min()), float(right_m.max())
        wanted = np.maximum(self.anchor_m + ahead_m, path.first_m)
        slots, flow, arcs = self._look(path, marchers, wanted, ahead_m, right_m, span)
        lag = wanted - arcs
        waits = marchers.is_detached | (self.anchor_m + ahead_m < path.first_m)      # not on the path yet,
        if not self.is_at_end:
            waits |= lag < -spacing_m                                                # or their slots come to them
        away = self._length(slots - marchers.positions)
        if marchers.is_detached.all():
            self.anchor_m = max(self.anchor_m, min(float(arcs.mean()), path.length_m))   # slots come after them
            speed = 0.0
        else:
            speed = self._move_on(elapsed_s, path, marchers, np.where(waits, 0.0, away), flow, spacing_m)
        look = np.maximum(LOOK_M, 1.2 * self.settings.response_s * marchers.speeds)
        targets = path.lanes(arcs + np.clip(lag, -look, look), right_m, span)
        targets[waits] = marchers.positions[waits]
        marchers.destinations[:] = targets
        follows = (np.abs(lag) <= look) & ~waits
        self._steer(elapsed_s, marchers, targets, np.where(follows[:, None], flow * speed, 0.0))
        self.heading = path.heading(self.anchor_m)
        marchers.away[:] = np.where(waits, 0.0, away)

    def _look(
        self, path: MarchPath, marchers: Marchers, wanted: Floats, ahead_m: Floats, right_m: Floats,
        span: tuple[float, float],
    ) -> tuple[Floats, Floats, Floats]:
        """Return where the slots are, how they move for each metre, and how far members have come.

        All lanes are asked for at once, as each asking costs more than what is asked.
        """
        count, probe = len(wanted), min(self.anchor_m + PROBE_M, path.length_m)
        tried = path.tried(path.begun(marchers.positions, marchers.arcs), wanted)
        arcs = np.concatenate([self.anchor_m + ahead_m, probe + ahead_m, tried.ravel()])
        aside = np.concatenate([right_m, right_m, np.repeat(right_m, tried.shape[1])])
        lanes = path.lanes(arcs, aside, span)
        slots, flow = lanes[:count], (lanes[count:2 * count] - lanes[:count]) / PROBE_M
        come = path.come_to(tried, lanes[2 * count:].reshape(*tried.shape, -1), marchers.positions, wanted)
        marchers.arcs[:] = come
        return slots, flow, come

    def _move_on(
        self, elapsed_s: float, path: MarchPath, marchers: Marchers, away: Floats, flow: Floats, spacing_m: float
    ) -> float:
        """Move the commander's slot; return how fast it goes (m/s)."""
        settings = self.settings
        still = settings.wait_at - STILL * (settings.wait_at - settings.wait_from)
        limit_m = settings.tolerance_m if self.is_at_end else still * spacing_m
        late = marchers.note_lateness(away, elapsed_s, limit_m, settings.patience_s)
        worst = float(late.max()) / spacing_m
        share = (settings.wait_at - worst) / (settings.wait_at - settings.wait_from)
        fastest = max(1.0, math.sqrt(float((flow ** 2).sum(axis=1).max())))
        speed = settings.pace * marchers.slowest / fastest * min(1.0, max(0.0, share))
        left = path.length_m - self.anchor_m
        step = min(speed * elapsed_s, left)
        self.anchor_m += step
        return step / elapsed_s if elapsed_s > 0 else 0.0

    def _length(self, ways: Floats) -> Floats:
        """Return lengths in the plane: how high a body's middle is above the path is its own affair."""
        flat = ways[:, self._axes]
        length: Floats = np.sqrt((flat ** 2).sum(axis=1))
        return length

    def _steer(self, elapsed_s: float, marchers: Marchers, targets: Floats, flow: Floats) -> None:
        """Write velocities: with the slot, and towards it; not beyond it in one step, nor faster than one can."""
        velocities = flow + (targets - marchers.positions) / max(self.settings.response_s, elapsed_s)
        speeds = self._length(velocities)
        share = np.minimum(1.0, marchers.speeds / np.maximum(speeds, 1e-9))
        marchers.velocities[:] = velocities * share[:, None]

    def places(self, marchers: Marchers, offsets: Floats, spacing_m: float) -> Floats:
        """Return where slots are now, (m, d); about the first member if there is no path.

        Args:
            marchers: everybody.
            offsets: (m, 2) of slots, ahead and to the right (m).
            spacing_m: of the formation.
        """
        if not len(offsets):
            return np.zeros((0, self._dimensions))
        if not self.is_under_way:
            return marchers.positions[:1] + np.zeros((len(offsets), 1))
        span = float(offsets[:, 1].min()), float(offsets[:, 1].max())
        return self._path_for(marchers, offsets, spacing_m).lanes(self.anchor_m + offsets[:, 0], offsets[:, 1], span)

    def _path_for(self, marchers: Marchers, offsets: Floats, spacing_m: float) -> MarchPath:
        """Return the path, made anew where the formation needs another."""
        body = float(marchers.radii.max())
        aside = float(np.abs(offsets[:, 1]).max()) + spacing_m
        reach = max(float(np.abs(offsets[:, 0]).max()), spacing_m * (len(marchers) - 1)) + spacing_m
        wanted = body, aside, reach
        made, looks_to = self.made_for, self.passage.looks_to(self.anchor_m, spacing_m, offsets)
        if made is None or any(new > old for new, old in zip(wanted, made, strict=True)):
            self.path, self.made_for = None, wanted
        if self.path is None:
            body, aside, reach = self.made_for or wanted
            self.path = MarchPath(
                self._points, self.heading, step_m=min(LONGEST_STEP_M, STEP_SHARE * spacing_m), turn_m=2 * aside,
                reach_m=reach, body_m=body, aside_m=aside, clearance=self.clearance)
            self.path.measure(looks_to, ALL)
        self.path.measure(looks_to, MEASURED_AT_ONCE)
        return self.path
