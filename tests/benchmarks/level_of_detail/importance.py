"""Importance in one call beside a loop over agents and viewers."""
from __future__ import annotations

import math
import tracemalloc

import numpy as np
from numpy.typing import NDArray

from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.importance_settings import ImportanceSettings
from ai_core.level_of_detail.viewer import Viewer
from tools.benchmarking.declarations import Case, Contest

VIEWERS = 4
SIZE_M = 300.0
# Without smoothing both give the same at every run.
SETTINGS = ImportanceSettings(smoothing_s=0)
MOST_ALLOCATED = 8_000
"""Memory that an update may take for a moment (bytes), whatever the number of agents."""

Floats = NDArray[np.float32]


def importance_of_agents(n: int) -> Contest:
    """Importance of n agents that move, for four viewers that move and look somewhere."""
    chance = np.random.default_rng(n)
    places = (chance.random((n, 3)) * SIZE_M).astype(np.float32)
    velocities = chance.normal(0, 3, (n, 3)).astype(np.float32)
    viewers = [
        Viewer((SIZE_M * number / VIEWERS, 2.0, 150.0), (1.0, 0.0, number - 1.5), (2.0, 0.0, 0.0))
        for number in range(VIEWERS)
    ]
    importance = Importance(SETTINGS)
    importance.add(n, role=0.1)
    out = np.zeros(n, np.float32)

    def ours() -> Floats:
        return importance.update(viewers, places, 1 / 60, velocities=velocities, out=out)

    return Contest(
        ours, {"plain loop": _plain_loop(viewers, places.tolist(), velocities.tolist())},
        is_same=lambda one, other: bool(np.allclose(one, other, atol=1e-4)),  # type: ignore[arg-type]
        complaint=lambda: _allocated(ours),
    )


def _allocated(update: Case) -> str:
    tracemalloc.start()
    try:
        update()
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return f"an update takes {taken} bytes" if taken > MOST_ALLOCATED else ""


def _plain_loop(viewers: list[Viewer], places: list[list[float]], velocities: list[list[float]]) -> Case:
    """The same numbers from plain Python, everything that can be made once made once."""
    near_m, far_m, fastest, largest = (
        SETTINGS.near_m, SETTINGS.far_m, SETTINGS.full_approach_m_s, SETTINGS.full_size_rad
    )
    w_distance, w_view, w_approach, w_size, w_role, _, _ = SETTINGS.weights()
    watching = [
        (*one.position, *one.forward, *one.velocity, 1 / (1 + math.cos(one.field_of_view_rad / 2)))  # type: ignore[misc]
        for one in viewers
    ]
    per_m = 1 / (far_m - near_m)

    def agents() -> list[float]:
        found = []
        sqrt = math.sqrt
        for (x, y, z), (ux, uy, uz) in zip(places, velocities, strict=True):
            best = 0.0
            for px, py, pz, fx, fy, fz, vx, vy, vz, edge in watching:
                dx, dy, dz = x - px, y - py, z - pz
                away_m = sqrt(dx * dx + dy * dy + dz * dz)
                nearness = 1 / away_m if away_m > 1e-6 else 1e6
                distance = (far_m - away_m) * per_m
                distance = 0.0 if distance < 0 else 1.0 if distance > 1 else distance
                view = ((dx * fx + dy * fy + dz * fz) * nearness + 1) * edge
                view = 0.0 if view < 0 else 1.0 if view > 1 else view
                approach = ((vx - ux) * dx + (vy - uy) * dy + (vz - uz) * dz) * nearness / fastest
                approach = 0.0 if approach < 0 else 1.0 if approach > 1 else approach
                size = nearness / largest
                size = 1.0 if size > 1 else size
                total = w_distance * distance + w_view * view + w_approach * approach + w_size * size
                if total > best:
                    best = total
            best += w_role * 0.1
            found.append(1.0 if best > 1 else best)
        return found

    return agents
