"""The heart of a march: where slots are on their lanes, who is late, how far they go on, and where everybody is to go.

One function does a whole step, as with the few members of a squad each asking of NumPy costs
more than what is asked. This is the twin in Python of ``_marching_step``, with the same results.
"""
from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ai_core.squads.marchers import Marchers
from ai_core.twins import twin

__all__ = ["INTERFACE", "MarchStyle", "SteeringState", "lanes", "march_step"]

INTERFACE = 2
"""Changes with any change of names, arguments, constants or results, here and in the kernel."""

Floats: TypeAlias = NDArray[np.float64]

PROBE_M = 0.25
"""How far the path is looked along to see how fast slots will move (m)."""

LOOK_M = 1.0
"""How far ahead on its lane a member looks at least for where to go (m); more cuts corners of doors."""

STILL = 0.05
"""Share of their pace at which slots as good as stand: who holds them up is late. At 0 none ever was: slots slow down
the nearer he is to being late, and so never leave him so far behind."""

FLOOR_M = 2.0
"""Who is farther above or below his lane than this is on another floor, and does not rise with it (m)."""

TOWARDS = 0.05
"""How much nearer a place of the path must be (m for each metre of arc) to count for another than the wanted one."""


class SteeringState(NamedTuple):
    """A path as a step takes it: arcs (m), and how many arcs about members are looked at."""

    first_m: float
    last_m: float
    length_m: float
    step_m: float
    search_from_m: float
    search_gap_m: float
    search_count: int


class MarchStyle(NamedTuple):
    """How a squad marches: what of ``MarchSettings`` a step takes."""

    pace: float
    wait_from: float
    wait_at: float
    patience_s: float
    response_s: float
    tolerance_m: float


@twin
def march_step(
    samples: Floats, course: SteeringState, offsets: Floats, marchers: Marchers, manner: MarchStyle, anchor_m: float,
    elapsed_s: float, spacing_m: float,
) -> float:
    """Move the slots on, and write of everybody where he is to go, how fast, and how far he is from his slot.

    Args:
        samples: (m, 2 d + 2) of the path, as ``MarchPath`` has them; m at least 2.
        course: the rest of the path.
        offsets: (n, 2) of everybody's slot, ahead and to the right (m); n at least 1.
        marchers: everybody; all ``arcs`` are known.
        manner: how they march.
        anchor_m: the arc of the commander's slot.
        elapsed_s: game time since the last step (s).
        spacing_m: of the formation.

    Returns:
        The arc of the commander's slot now.

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
        mean = float(np.cumsum(arcs)[-1]) / len(arcs)                        # one after the other, as the kernel adds
        anchor_m = max(anchor_m, min(mean, course.length_m))                 # slots come after them
    else:
        pace = _pace(manner, marchers, away, flow, elapsed_s, spacing_m, is_at_end=is_at_end)
        step = min(pace * elapsed_s, course.length_m - anchor_m)
        anchor_m += step
        speed = step / elapsed_s if elapsed_s > 0 else 0.0
    look = np.maximum(LOOK_M, 1.2 * manner.response_s * marchers.speeds)
    targets = lanes(samples, course, arcs + np.minimum(np.maximum(lag, -look), look), right_m, span)
    targets[waits] = marchers.positions[waits]
    marchers.destinations[:] = targets
    follows = (np.abs(lag) <= look) & ~waits
    velocities = np.where(follows[:, None], flow * speed, 0.0)
    if len(axes) < targets.shape[1]:
        is_near = ~waits & (np.abs(marchers.positions[:, 1] - own[:, 1]) <= FLOOR_M)
        rises = velocities[:, 1] + (targets[:, 1] - own[:, 1]) / max(manner.response_s, elapsed_s)
        marchers.rises[:] = np.where(is_near, rises, 0.0)
    velocities += (targets - marchers.positions) / max(manner.response_s, elapsed_s)
    share = np.minimum(1.0, marchers.speeds / np.maximum(_length(velocities[:, axes]), 1e-9))
    marchers.velocities[:] = velocities * share[:, None]
    marchers.rises *= share
    marchers.away[:] = away
    return anchor_m


def lanes(samples: Floats, course: SteeringState, arcs: Floats, right_m: Floats, span: tuple[float, float]) -> Floats:
    """Return places beside a path, moved together where it is narrow, (n, d).

    Args:
        samples, course: the path.
        arcs: (n,) how far along (m).
        right_m: (n,) how far to the right (m).
        span: least and greatest ``right_m`` of all that march.
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
    samples: Floats, course: SteeringState, marchers: Marchers, wanted: Floats, ahead_m: Floats, right_m: Floats,
    span: tuple[float, float], anchor_m: float,
) -> tuple[Floats, Floats, Floats]:
    """Return where the slots are, how they move for each metre, and places of members' lanes; write how far they came.

    All lanes are asked for at once, as each asking costs more than what is asked.
    """
    count, probe = len(wanted), min(anchor_m + PROBE_M, course.length_m)
    tried = _tried(course, marchers.arcs, wanted)
    arcs = np.concatenate([anchor_m + ahead_m, probe + ahead_m, tried.ravel()])
    aside = np.concatenate([right_m, right_m, np.repeat(right_m, tried.shape[1])])
    places = lanes(samples, course, arcs, aside, span)
    ways = places[2 * count:].reshape(*tried.shape, -1) - marchers.positions[:, None]
    away = _length(ways[..., _axes_of(marchers)])
    # Inside a turn many arcs are in the same place, of which the nearest to the wanted one counts: else who is
    # there would never come around.
    best = (away + TOWARDS * np.abs(tried - wanted[:, None])).argmin(axis=1)
    marchers.arcs[:] = tried[np.arange(count), best]
    own = places[2 * count:].reshape(*tried.shape, -1)[np.arange(count), best]
    return places[:count], (places[count:2 * count] - places[:count]) / PROBE_M, own


def _tried(course: SteeringState, arcs: Floats, wanted: Floats) -> Floats:
    """Return arcs where members may have come to, (n, m): about where they were, and towards the wanted one."""
    tried = np.empty((len(arcs), course.search_count + 1))
    tried[:, :-1] = arcs[:, None] + (course.search_from_m + np.arange(course.search_count) * course.search_gap_m)
    tried[:, -1] = np.minimum(np.maximum(wanted, tried[:, 0]), tried[:, -2])
    return np.minimum(np.maximum(tried, course.first_m), course.last_m)


def _pace(
    manner: MarchStyle, marchers: Marchers, away: Floats, flow: Floats, elapsed_s: float, spacing_m: float, *,
    is_at_end: bool,
) -> float:
    """Return how fast the commander's slot goes (m/s), so that all can come along; note who is late."""
    still = manner.wait_at - STILL * (manner.wait_at - manner.wait_from)
    limit_m = manner.tolerance_m if is_at_end else still * spacing_m
    late = marchers.note_lateness(away, elapsed_s, limit_m, manner.patience_s)
    worst = float(late.max()) / spacing_m
    share = (manner.wait_at - worst) / (manner.wait_at - manner.wait_from)
    fastest = max(1.0, math.sqrt(float((flow ** 2).sum(axis=1).max())))
    return manner.pace * marchers.slowest / fastest * min(1.0, max(0.0, share))


def _length(flat: Floats) -> Floats:
    """Return lengths in the plane: how high a body's middle is above the path is its own affair."""
    length: Floats = np.sqrt(flat[..., 0] ** 2 + flat[..., 1] ** 2)
    return length


def _axes_of(marchers: Marchers) -> list[int]:
    """Return the two axes formations lie in: x and y of 2, x and z of 3 dimensions."""
    return [0, marchers.positions.shape[1] - 1]
