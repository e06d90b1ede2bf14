"""Distances between positions on floors."""
from __future__ import annotations

import math
from typing import Any

from addons.ai_core.bridge.gd import STANDS_WITHIN_M


def is_elsewhere(one: Any, other: Any, reach: float) -> bool:
    """Return whether two positions are farther apart than ``reach``, or on different floors."""
    first, second = tuple(one), tuple(other)
    apart = math.hypot(first[0] - second[0], first[-1] - second[-1])
    return apart > reach or (len(first) == 3 and abs(first[1] - second[1]) > STANDS_WITHIN_M)
