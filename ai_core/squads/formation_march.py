"""A formation on the march: slots move along the commander's path and wait for members that fall behind."""
from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.saving.declared_state import ArrayOf, DeclaredState, Flag, ListOf, Number, Optional, Saveable
from ai_core.squads.march_path import Clearance, MarchPath
from ai_core.squads.marchers import MemberTable
from ai_core.squads.marching_loops import MarchStep

Floats = NDArray[np.float64]
ELBOW_ROOM = 1.1
"""Least distance of neighbors abreast, in their widths; at less they push each other."""


class MarchingShape:
    """Slots and sizes of members, as needed for a march.

    Args:
        slots: slot of each member, shape (n,); a number outside the formation is clamped.
        places: offsets of slots, shape (m, 2), ahead and to the right (m); read only.
        radii: half the widths of members, shape (n,) (m).
        spacing_m: distance between neighbors in the formation (m).

    Attributes:
        offsets: offset of each member's slot, shape (n, 2) (m).
        is_whole: whether all members have a slot inside the formation.
        body_m: half the width of the widest member (m).
        aside_m: how far lanes reach to each side (m).
        reach_m: how far the path must extend beyond its ends (m).
        ahead_m: distance of the foremost slot ahead of the commander's slot (m), 0 or more.
        behind_m: offset of the hindmost slot (m).
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
        """Width of ground needed by the members abreast, between the centers of the outer ones (m); 0 for a column."""
        elbow_m = 2 * self.body_m * ELBOW_ROOM
        ahead = np.sort(self.offsets[:, 0])
        abreast = np.searchsorted(ahead, ahead + 0.99 * elbow_m) - np.arange(len(ahead))
        return float(abreast.max(initial=1) - 1) * elbow_m

    @cached_property
    def column(self) -> Floats:
        """Offsets in one file, ordered from front to rear, in a rank from the middle; slot 0 stays in place."""
        slots, offsets = self._slots, self.offsets
        order = np.lexsort((slots, np.abs(offsets[:, 1]), -np.round(offsets[:, 0], 3)))
        place = np.empty(len(order), np.float64)
        place[order] = np.arange(len(order))
        commander = np.flatnonzero(slots == 0)
        own = place[commander[0]] if len(commander) else 0.0
        return np.stack([(own - place) * self.spacing_m, np.zeros(len(place))], axis=1)


OPENS_AT = 1.2
"""Width, relative to the needed width, at which a column opens again; at 1 it flickers."""
LOOKS_AHEAD = 3.0
"""Distance before a narrow part at which a column forms, in spacings; less causes a queue at the entrance."""


class NarrowPassageDetector:
    """Decides when a formation must march in a column.

    Attributes:
        is_in_column: whether the formation is in a column now.
    """

    def __init__(self) -> None:
        self.is_in_column = False

    def look_ahead_arc(self, anchor_m: float, shape: MarchingShape) -> float:
        """Return the arc up to which the width must be measured (m)."""
        return anchor_m + shape.ahead_m + (LOOKS_AHEAD + 1) * shape.spacing_m

    def offsets(self, anchor_m: float, path: MarchPath, shape: MarchingShape) -> Floats:
        """Return the offsets to march with: those of the formation, or of a column.

        Cost: O(samples of the path between the hindmost slot and the end of the look-ahead).
        """
        # A member still inside the passage when the column opens leaves in file: lanes are narrow there.
        ahead_m = self.look_ahead_arc(anchor_m, shape) - shape.spacing_m
        width = path.narrowest(anchor_m + shape.behind_m, ahead_m) if path.has_walls else math.inf
        if width == math.inf or shape.needed_m == 0:
            self.is_in_column = False
            return shape.offsets
        self.is_in_column = width < shape.needed_m * (OPENS_AT if self.is_in_column else 1.0)
        return shape.column if self.is_in_column else shape.offsets


MEASURED_AT_ONCE = 24
"""Samples of the path whose width is measured in one step (count), with two clearance queries each."""
ALL = 1 << 30
STEP_SHARE = 0.25
"""Distance between samples of the path, in spacings; larger cuts corners, smaller costs more."""
LONGEST_STEP_M = 1.0


@dataclass(frozen=True)
class MarchSettings:
    """Settings for keeping a squad together on the march.

    Attributes:
        pace: speed of the slots as a share of the slowest member's speed, above 0 to 1; the rest is
            reserve for catching up.
        wait_from: distance of a member from its slot, in spacings, at which the slots slow down.
        wait_at: distance, in spacings, at which the slots stop; above ``wait_from``.
        patience_s: time the slots wait for a member that comes no nearer (s); then it is a straggler.
        response_s: time in which a member covers the distance to its slot (s); shorter is stiffer.
        tolerance_m: a member within this distance of its slot has arrived (m).

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


class FormationMarch(Saveable):
    """Moves slots along a path and computes each member's destination and velocity.

    Args:
        dimensions: 2 or 3.
        settings: how closely the members keep together.
        clearance: measures the free ground, as in ``MarchPath``; None for open ground.

    Attributes:
        anchor_m: arc of the commander's slot along the path (m).
    """

    STATE = DeclaredState(
        points=ArrayOf(shape=lambda march: (None, march.dimensions), at="_points"), anchor_m=Number(0),
        is_at_end=Flag(), heading=ArrayOf(shape=(2,), minimum=-1.001, maximum=1.001),
        is_in_column=Flag(at="passage.is_in_column"),
        made_for=Optional(ListOf(Number(1e-9), count=3, make=tuple)))

    def __init__(self, dimensions: int, settings: MarchSettings, clearance: Clearance | None) -> None:
        self.settings, self.clearance = settings, clearance
        self.anchor_m = 0.0
        self.path: MarchPath | None = None
        self.passage = NarrowPassageDetector()
        self.heading = np.array([1.0, 0.0])
        self.dimensions = dimensions
        self._step = MarchStep(settings)
        self._points: Floats = np.zeros((0, dimensions))
        self.made_for: tuple[float, float, float] | None = None
        self._was_at_end = False        # valid until the path is built again

    def begin(self, points: Floats) -> None:
        """Start along a new path."""
        self._points = points
        self.forget_shape()
        self.anchor_m = 0.0
        self.passage.is_in_column = False

    def _finish_load(self) -> None:
        self.path = None        # it is built again from its points

    def forget_shape(self) -> None:
        """Build the path again for another formation."""
        self.made_for = self.path = None
        self._was_at_end = False

    def stop(self) -> None:
        """Drop the path; slots have no positions until the next one."""
        self.begin(np.zeros((0, self.dimensions)))

    @property
    def points(self) -> Floats:
        """Points of the path as given, shape (k, d) (m); empty without a path."""
        return self._points

    @property
    def has_path(self) -> bool:
        """True if there is a path, also after its end has been reached."""
        return len(self._points) > 0

    @property
    def is_at_end(self) -> bool:
        """True if the slots are at the end of the path, or there is no path."""
        if self.path is None:
            return self._was_at_end or not self.has_path
        return self.anchor_m >= self.path.length_m

    @is_at_end.setter
    def is_at_end(self, was_at_end: bool) -> None:
        """Set by a load, while there is no path yet."""
        self._was_at_end = was_at_end

    def advance(self, elapsed_s: float, marchers: MemberTable, shape: MarchingShape) -> None:
        """Advance the slots, and write the destination and velocity of each member.

        Args:
            elapsed_s: game time since the last call (s).
            marchers: all members.
            shape: slots of the members.

        Cost: O(n), plus the cost of clearance queries.
        """
        if not self.has_path or not len(marchers):
            marchers.stay()
            return
        path = self._path_for(shape)
        offsets = self.passage.offsets(self.anchor_m, path, shape)
        if not math.isfinite(marchers.arcs.sum()):
            marchers.arcs[:] = path.begun(marchers.positions, marchers.arcs)
        self.anchor_m = self._step.advance(
            path.lanes, offsets, marchers, self.anchor_m, elapsed_s, shape.spacing_m)
        self.heading = path.heading(self.anchor_m)

    def places(self, marchers: MemberTable, shape: MarchingShape) -> Floats:
        """Return the present positions of slots, shape (m, d) (m); without a path the first member's position.

        Args:
            marchers: all members.
            shape: the slots to locate.
        """
        if not self.has_path:
            return marchers.positions[:1] + np.zeros((len(shape.offsets), 1))
        ahead_m, right_m = shape.offsets.T
        places: Floats = self._path_for(shape).lanes.places(
            self.anchor_m + ahead_m, right_m, float(right_m.min()), float(right_m.max()))
        return places

    def _path_for(self, shape: MarchingShape) -> MarchPath:
        """Return the path, built again if the formation needs a wider or longer one."""
        wanted = shape.body_m, shape.aside_m, shape.reach_m
        made, look_ahead_arc = self.made_for, self.passage.look_ahead_arc(self.anchor_m, shape)
        if made is None or any(new > old for new, old in zip(wanted, made, strict=True)):
            self.path, self.made_for = None, wanted
        if self.path is None:
            body, aside, reach = self.made_for or wanted
            self.path = MarchPath(
                self._points, self.heading, step_m=min(LONGEST_STEP_M, STEP_SHARE * shape.spacing_m), turn_m=2 * aside,
                reach_m=reach, body_m=body, aside_m=aside, clearance=self.clearance)
            self.path.measure(look_ahead_arc, ALL)
        self.path.measure(look_ahead_arc, MEASURED_AT_ONCE)
        return self.path


__all__ = ["FormationMarch", "MarchSettings", "MarchingShape", "NarrowPassageDetector"]
