"""The first, rough test: who may be in reach of whom?"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["may_reach"]


def may_reach(
    eyes: NDArray[np.float32],
    targets: NDArray[np.float32],
    reach_m: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return for each eye and each target whether they may be in reach.

    The test is in float32 with a slack far above its rounding, a part in
    10,000 of the squared reach: it leaves out nothing that an exact test
    afterwards lets through.

    Args:
        eyes: (n, 3) (m).
        targets: (m, 3) (m).
        reach_m: (n,), 0 or more (m).

    Returns:
        Shape (n, m).

    Cost: O(n * m).
    """
    with np.errstate(over="ignore"):  # far beyond any reach is far beyond
        squared = np.zeros((len(eyes), len(targets)), np.float32)
        for axis in range(3):  # axis by axis is three times faster than (n, m, 3) at once
            offset = eyes[:, axis, np.newaxis] - targets[:, axis]
            offset *= offset
            squared += offset
    limit = np.square(reach_m) * 1.0001 + 1e-9
    return np.asarray(squared <= limit[:, np.newaxis])
