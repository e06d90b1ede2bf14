"""A formation on the march: slots move along the commander's path, and wait for who falls behind."""
from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.squads.march_path import Clearance, MarchPath
from ai_core.squads.marchers import Marchers
from ai_core.squads.marching_step import MarchStyle, march_step

Floats = NDArray[np.float64]
ELBOW_ROOM = 1.1
"""Least distance of neighbors that walk abreast, in their widths: less and they push each other."""


class MarchingShape:
    """Slots of members as they are now.

    Args:
        slots: (n,) of each member; one that is not there counts as the nearest that is.
        places: (m, 2) where slots are, ahead and to the right (m); read only.
        radii: (n,) half the widths of members (m).
        spacing_m: of the formation.

    Attributes:
        offsets: (n, 2) of everybody's slot (m).
        is_whole: whether all have a slot that is there.
        body_m: half the width of the widest.
        aside_m: how far lanes reach to each side (m).
        reach_m: how far the path must go beyond its ends (m).
        ahead_m: how far the foremost is ahead of the commander's slot (m), 0 or more.
        behind_m: the offset of the hindmost (m).
    """

    def __init__(self, slots: NDArray[np.int32], places: Floats, radii: Floats, spacing_m: float) -> None:
        self._slots, self.spacing_m = slots.copy(), spacing_m
        self.is_whole = bool(((slots >= 0) & (slots < len(places))).all())
        self.offsets = np.ascontiguousarray(places[np.clip(slots, 0, max(0, len(places) - 1))])
        ahead, right = self.offsets.T
        self.body_m = float(radii.max())
        self.aside_m = float(np.abs(right).max()) + spacing_m
        self.reach_m = max(float(np.abs(ahead).max()), spacing_m * (len(radii) - 1)) + spacing_m
        self.ahead_m, self.behind_m = float(ahead.max(initial=0)), float(ahead.min())

    @cached_property
    def needed_m(self) -> float:
        """How wide the ground must be for those who walk abreast (m), for middles; 0 for a column."""
        elbow_m = 2 * self.body_m * ELBOW_ROOM
        ahead = np.sort(self.offsets[:, 0])
        abreast = np.searchsorted(ahead, ahead + 0.99 * elbow_m) - np.arange(len(ahead))
        return float(abreast.max(initial=1) - 1) * elbow_m

    @cached_property
    def column(self) -> Floats:
        """Offsets in one file: who is ahead goes ahead, of one rank the middle first; the first slot stays."""
        slots, offsets = self._slots, self.offsets
        order = np.lexsort((slots, np.abs(offsets[:, 1]), -np.round(offsets[:, 0], 3)))
        place = np.empty(len(order), np.float64)
        place[order] = np.arange(len(order))
        commander = np.flatnonzero(slots == 0)
        own = place[commander[0]] if len(commander) else 0.0
        return np.stack([(own - place) * self.spacing_m, np.zeros(len(place))], axis=1)


OPENS_AT = 1.2
"""How much wider than it must be the ground has to be for a column to open again."""
LOOKS_AHEAD = 3.0
"""How far before a narrow part a column forms, in spacings; sooner looks timid, later they queue."""


class NarrowPassage:
    """Tells when a formation must go in a column.

    Attributes:
        is_in_column: whether it does now.
    """

    def __init__(self) -> None:
        self.is_in_column = False

    def looks_to(self, anchor_m: float, shape: MarchingShape) -> float:
        """Return up to which arc the width must be known (m)."""
        return anchor_m + shape.ahead_m + (LOOKS_AHEAD + 1) * shape.spacing_m

    def offsets(self, anchor_m: float, path: MarchPath, shape: MarchingShape) -> Floats:
        """Return the offsets to march with: those of the formation, or of a column.

        Cost: O(samples of the path between the hindmost and as far as is looked ahead).
        """
        # Who is still inside when it opens comes out in file all the same: lanes are narrow there.
        ahead_m = self.looks_to(anchor_m, shape) - shape.spacing_m
        width = path.narrowest(anchor_m + shape.behind_m, ahead_m) if path.has_walls else math.inf
        if width == math.inf or shape.needed_m == 0:
            self.is_in_column = False
            return shape.offsets
        self.is_in_column = width < shape.needed_m * (OPENS_AT if self.is_in_column else 1.0)
        return shape.column if self.is_in_column else shape.offsets


MEASURED_AT_ONCE = 24
"""Samples of the path whose width is asked for in one step (count): two clearances each."""
ALL = 1 << 30
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
        self._manner = MarchStyle(
            settings.pace, settings.wait_from, settings.wait_at, settings.patience_s, settings.response_s,
            settings.tolerance_m)
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

    def advance(self, elapsed_s: float, marchers: Marchers, shape: MarchingShape) -> None:
        """Move the slots on, and write where each member is to go, and how fast.

        Args:
            elapsed_s: game time since the last time (s).
            marchers: everybody.
            shape: their slots.

        Cost: O(n), and what clearances cost.
        """
        if not self.is_under_way or not len(marchers):
            marchers.stay()
            return
        path = self._path_for(shape)
        offsets = self.passage.offsets(self.anchor_m, path, shape)
        if not math.isfinite(marchers.arcs.sum()):
            marchers.arcs[:] = path.begun(marchers.positions, marchers.arcs)
        self.anchor_m = march_step(
            path.samples, path.course, offsets, marchers, self._manner, self.anchor_m, elapsed_s, shape.spacing_m)
        self.heading = path.heading(self.anchor_m)

    def places(self, marchers: Marchers, shape: MarchingShape) -> Floats:
        """Return where slots are now, (m, d); about the first member if there is no path.

        Args:
            marchers: everybody.
            shape: the slots that are asked about.
        """
        if not self.is_under_way:
            return marchers.positions[:1] + np.zeros((len(shape.offsets), 1))
        ahead_m, right_m = shape.offsets.T
        span = float(right_m.min()), float(right_m.max())
        return self._path_for(shape).lanes(self.anchor_m + ahead_m, right_m, span)

    def _path_for(self, shape: MarchingShape) -> MarchPath:
        """Return the path, made anew where the formation needs another."""
        wanted = shape.body_m, shape.aside_m, shape.reach_m
        made, looks_to = self.made_for, self.passage.looks_to(self.anchor_m, shape)
        if made is None or any(new > old for new, old in zip(wanted, made, strict=True)):
            self.path, self.made_for = None, wanted
        if self.path is None:
            body, aside, reach = self.made_for or wanted
            self.path = MarchPath(
                self._points, self.heading, step_m=min(LONGEST_STEP_M, STEP_SHARE * shape.spacing_m), turn_m=2 * aside,
                reach_m=reach, body_m=body, aside_m=aside, clearance=self.clearance)
            self.path.measure(looks_to, ALL)
        self.path.measure(looks_to, MEASURED_AT_ONCE)
        return self.path


__all__ = ["FormationMarch", "MarchSettings", "MarchingShape", "NarrowPassage"]
