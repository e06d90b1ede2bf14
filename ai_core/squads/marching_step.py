"""Core of a march: moves slots along their lanes, detects late members, and computes destinations and velocities.

One function does a whole step: with the few members of a squad, a call of NumPy costs more than its work.
This module is the Python twin of ``_marching_step``, with the same results.
"""
from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ai_core.squads.marchers import MemberTable
from ai_core.twins import twin

__all__ = ["INTERFACE", "MarchStyle", "PathSampling", "lanes", "march_step"]

INTERFACE = 2
"""Version of the interface; raised with every change of names, arguments, constants or results, here and in the
kernel."""

Floats: TypeAlias = NDArray[np.float64]

PROBE_M = 0.25
"""Distance along the path over which the speed of the slots is measured (m)."""

LOOK_M = 1.0
"""Least distance ahead on its lane of a member's destination (m); more cuts the corners of doors."""

STILL = 0.05
"""Share of their pace at which slots count as standing; the member that holds them up is late.

At 0 no member would ever be late: slots slow down as a member falls behind, and never leave it that far behind."""

FLOOR_M = 2.0
"""A member farther above or below its lane than this is on another floor and does not rise with the lane (m)."""

TOWARDS = 0.05
"""How much nearer a position of the path must be than the wanted one to be preferred (m per metre of arc)."""


class PathSampling(NamedTuple):
    """Arcs and step of a sampled path (m), and the search window for the arcs of members."""

    first_m: float
    last_m: float
    length_m: float
    step_m: float
    search_from_m: float
    search_gap_m: float
    search_count: int


class MarchStyle(NamedTuple):
    """The values of ``MarchSettings`` that a step needs."""

    pace: float
    wait_from: float
    wait_at: float
    patience_s: float
    response_s: float
    tolerance_m: float


@twin
def march_step(
    samples: Floats, course: PathSampling, offsets: Floats, marchers: MemberTable, style: MarchStyle, anchor_m: float,
    elapsed_s: float, spacing_m: float,
) -> float:
    """Advance the slots; write destinations, velocities and distances from the slots of all members.

    Args:
        samples: samples of the path, shape (m, 2 d + 2), as in ``MarchPath``; m at least 2.
        course: arcs and step of the samples.
        offsets: offset of each member's slot, shape (n, 2), ahead and to the right (m); n at least 1.
        marchers: all members; no ``arcs`` is NaN.
        manner: pace, waiting and response.
        anchor_m: arc of the commander's slot (m).
        elapsed_s: game time since the last step (s).
        spacing_m: distance between neighbors in the formation (m).

    Returns:
        The new arc of the commander's slot (m).

    Raises:
        TypeError, ValueError: if an array has another type or shape (the kernel).

    Cost: O(n).
    """
    ahead_m, right_m = offsets.T
    span, axes = (float(right_m.min()), float(right_m.max())), _axes_of(marchers)
    wanted = np.maximum(anchor_m + ahead_m, course.first_m)
    slots, flow, own = _look(samples, course, marchers, wanted, ahead_m, right_m, span, anchor_m)
    is_at_end, arcs = anchor_m >= course.length_m, marchers.arcs
    lag = wanted - arcs
    waits = marchers.is_detached | (anchor_m + ahead_m < course.first_m)      # not on the path yet,
    if not is_at_end:
        waits |= lag < -spacing_m                                            # or their slots come to them
    away = np.where(waits, 0.0, _length((slots - marchers.positions)[:, axes]))
    speed = 0.0
    if marchers.is_detached.all():
        mean = float(np.cumsum(arcs)[-1]) / len(arcs)                        # summed in the order of the kernel
        anchor_m = max(anchor_m, min(mean, course.length_m))                 # the slots follow the members
    else:
        pace = _pace(style, marchers, away, flow, elapsed_s, spacing_m, is_at_end=is_at_end)
        step = min(pace * elapsed_s, course.length_m - anchor_m)
        anchor_m += step
        speed = step / elapsed_s if elapsed_s > 0 else 0.0
    look = np.maximum(LOOK_M, 1.2 * style.response_s * marchers.speeds)
    targets = lanes(samples, course, arcs + np.minimum(np.maximum(lag, -look), look), right_m, span)
    targets[waits] = marchers.positions[waits]
    marchers.destinations[:] = targets
    follows = (np.abs(lag) <= look) & ~waits
    velocities = np.where(follows[:, None], flow * speed, 0.0)
    if len(axes) < targets.shape[1]:
        is_near = ~waits & (np.abs(marchers.positions[:, 1] - own[:, 1]) <= FLOOR_M)
        rises = velocities[:, 1] + (targets[:, 1] - own[:, 1]) / max(style.response_s, elapsed_s)
        marchers.rises[:] = np.where(is_near, rises, 0.0)
    velocities += (targets - marchers.positions) / max(style.response_s, elapsed_s)
    share = np.minimum(1.0, marchers.speeds / np.maximum(_length(velocities[:, axes]), 1e-9))
    marchers.velocities[:] = velocities * share[:, None]
    marchers.rises *= share
    marchers.away[:] = away
    return anchor_m


def lanes(samples: Floats, course: PathSampling, arcs: Floats, right_m: Floats, span: tuple[float, float]) -> Floats:
    """Return positions beside a path, compressed where it is narrow, shape (n, d) (m).

    Args:
        samples, course: the path.
        arcs: distances along the path, shape (n,) (m).
        right_m: distances to the right, shape (n,) (m).
        span: smallest and largest ``right_m`` of all members.
    """
    place = np.minimum(np.maximum((arcs - course.first_m) / course.step_m, 0), len(samples) - 1)
    row = np.minimum(place.astype(np.intp), len(samples) - 2)
    at = samples[row]
    here = at + (samples[row + 1] - at) * (place - row)[:, None]
    left, right = here[:, -2], here[:, -1]
    low, high = span
    wide = high - low
    if wide == 0:
        aside = np.minimum(np.maximum(right_m, -left), right)
    else:
        room = left + right
        fits = room >= wide
        least = np.where(fits, np.minimum(np.maximum(low, -left), right - wide), -left)  # moved aside if need be
        aside = least + (right_m - low) * np.where(fits, 1.0, room / wide)
    dimensions = samples.shape[1] // 2 - 1
    places: Floats = here[:, :dimensions] + here[:, dimensions:-2] * aside[:, None]
    return places


def _look(
    samples: Floats, course: PathSampling, marchers: MemberTable, wanted: Floats, ahead_m: Floats, right_m: Floats,
    span: tuple[float, float], anchor_m: float,
) -> tuple[Floats, Floats, Floats]:
    """Return positions of slots, their movement per metre of arc, and members' positions on lanes; write ``arcs``.

    All lanes are computed in one call, as a call costs more than its work.
    """
    count, probe = len(wanted), min(anchor_m + PROBE_M, course.length_m)
    tried = _tried(course, marchers.arcs, wanted)
    arcs = np.concatenate([anchor_m + ahead_m, probe + ahead_m, tried.ravel()])
    aside = np.concatenate([right_m, right_m, np.repeat(right_m, tried.shape[1])])
    places = lanes(samples, course, arcs, aside, span)
    ways = places[2 * count:].reshape(*tried.shape, -1) - marchers.positions[:, None]
    away = _length(ways[..., _axes_of(marchers)])
    # Inside a turn many arcs share a position; the arc nearest to the wanted one counts, or else a member there
    # would never get around the turn.
    best = (away + TOWARDS * np.abs(tried - wanted[:, None])).argmin(axis=1)
    marchers.arcs[:] = tried[np.arange(count), best]
    own = places[2 * count:].reshape(*tried.shape, -1)[np.arange(count), best]
    return places[:count], (places[count:2 * count] - places[:count]) / PROBE_M, own


def _tried(course: PathSampling, arcs: Floats, wanted: Floats) -> Floats:
    """Return candidate arcs of members, shape (n, m): around their last arc, and towards the wanted arc."""
    tried = np.empty((len(arcs), course.search_count + 1))
    tried[:, :-1] = arcs[:, None] + (course.search_from_m + np.arange(course.search_count) * course.search_gap_m)
    tried[:, -1] = np.minimum(np.maximum(wanted, tried[:, 0]), tried[:, -2])
    return np.minimum(np.maximum(tried, course.first_m), course.last_m)


def _pace(
    style: MarchStyle, marchers: MemberTable, away: Floats, flow: Floats, elapsed_s: float, spacing_m: float, *,
    is_at_end: bool,
) -> float:
    """Return the speed of the commander's slot (m/s) that all members can follow; update late members."""
    still = style.wait_at - STILL * (style.wait_at - style.wait_from)
    limit_m = style.tolerance_m if is_at_end else still * spacing_m
    late = marchers.note_lateness(away, elapsed_s, limit_m, style.patience_s)
    worst = float(late.max()) / spacing_m
    share = (style.wait_at - worst) / (style.wait_at - style.wait_from)
    fastest = max(1.0, math.sqrt(float((flow ** 2).sum(axis=1).max())))
    return style.pace * marchers.slowest / fastest * min(1.0, max(0.0, share))


def _length(flat: Floats) -> Floats:
    """Return lengths in the plane; a member's height above the path does not count."""
    length: Floats = np.sqrt(flat[..., 0] ** 2 + flat[..., 1] ** 2)
    return length


def _axes_of(marchers: MemberTable) -> list[int]:
    """Return the two axes of the plane of formations: x and y in 2D, x and z in 3D."""
    return [0, marchers.positions.shape[1] - 1]
