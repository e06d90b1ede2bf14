"""Importance as one would write it first: a loop over agents, and in it over viewers."""
from __future__ import annotations

import math

from ai_core.level_of_detail.importance_settings import ImportanceSettings
from ai_core.level_of_detail.viewer import Viewer


def clamped(value: float) -> float:
    return min(1.0, max(0.0, value))


def seen_by(viewer: Viewer, place, velocity, size_m: float, settings: ImportanceSettings) -> list[float]:
    """Return distance, view, approach and size as one viewer sees them."""
    x, y, z = (here - there for here, there in zip(place, viewer.position, strict=True))
    away_m = math.sqrt(x * x + y * y + z * z)
    nearness = 1 / max(away_m, 1e-6)
    view = 1.0
    if viewer.forward is not None:
        fx, fy, fz = viewer.forward
        edge = math.cos(viewer.field_of_view_rad / 2)
        view = clamped(((x * fx + y * fy + z * fz) * nearness + 1) / max(edge + 1, 1e-6))
    vx, vy, vz = viewer.velocity or (0.0, 0.0, 0.0)
    ux, uy, uz = velocity
    closing = ((vx - ux) * x + (vy - uy) * y + (vz - uz) * z) * nearness
    near_m = settings.near_m if viewer.near_m is None else viewer.near_m
    far_m = settings.far_m if viewer.far_m is None else viewer.far_m
    return [
        clamped((far_m - away_m) / (far_m - near_m)), view,
        clamped(closing / settings.full_approach_m_s),
        min(1.0, size_m * nearness / settings.full_size_rad),
    ]


def plain_importance(
    viewers, places, velocities, sizes, own, settings: ImportanceSettings
) -> list[float]:
    """Return the unsmoothed importance of each agent.

    Args:
        places, velocities: three numbers for each agent.
        sizes: diameters.
        own: (role, noticed, damaged) of each.
    """
    distance, view, approach, size, *own_weights = settings.weights()
    found = []
    for place, velocity, size_m, mine in zip(places, velocities, sizes, own, strict=True):
        best = 0.0
        for viewer in viewers:
            a, b, c, d = seen_by(viewer, place, velocity, size_m, settings)
            best = max(best, (distance * a + view * b + approach * c + size * d) * viewer.weight)
        best += sum(weight * part for weight, part in zip(own_weights, mine, strict=True))
        found.append(min(1.0, best))
    return found
