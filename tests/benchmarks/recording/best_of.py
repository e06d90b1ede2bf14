"""Differences below a hundredth: the best of many tries at every single frame."""
from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

Step = Callable[[], object]


def best_of(worlds: Sequence[Callable[[], Step]], *, frames: int, tries: int) -> list[float]:
    """Return the time of a frame (µs) for each kind of world, disturbances left out.

    Every try builds the world anew and runs the same frames; of each frame the
    quickest try counts. What else the machine does hits a frame now and then,
    but hardly the same one in every try, so two worlds that are the same come
    out equal to some tenths of a per cent: run one beside itself to see.
    """
    best = [[1 << 62] * frames for _ in worlds]
    was_enabled = gc.isenabled()
    try:
        for _ in range(tries):
            for make, quickest in zip(worlds, best, strict=True):
                step = make()
                gc.collect()
                gc.disable()
                for frame in range(frames):
                    begun_ns = time.perf_counter_ns()
                    step()
                    quickest[frame] = min(quickest[frame], time.perf_counter_ns() - begun_ns)
    finally:
        if was_enabled:
            gc.enable()
    return [sum(quickest) / frames / 1000 for quickest in best]
