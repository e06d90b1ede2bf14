"""MapWait: waiting for a navigation map, which the engine builds on a thread."""
from __future__ import annotations

import time

MOST_FRAMES_WITHOUT_MAP = 120
LEAST_S_WITHOUT_MAP = 0.5
"""Time of waiting for a navigation map: frames, and real time (s), because frames may be short."""


class MapWait:
    """Waits for a map for ``MOST_FRAMES_WITHOUT_MAP`` and ``LEAST_S_WITHOUT_MAP``.

    Attributes:
        is_over: whether the time has passed without a map.
    """

    def __init__(self) -> None:
        self.end()

    def end(self) -> None:
        """Begin again at the next frame without a map."""
        self._frames, self._since_s, self.is_over = 0, 0.0, False

    def goes_on(self) -> bool:
        """Count a frame without a map; return whether to wait for another."""
        if self._frames == 0:
            self._since_s = time.perf_counter()
        self._frames += 1
        if self._frames >= MOST_FRAMES_WITHOUT_MAP and not self.is_over:
            self.is_over = time.perf_counter() - self._since_s >= LEAST_S_WITHOUT_MAP
        return not self.is_over
