import numpy as np
from numpy.typing import NDArray

from ai_core.squads.marchers import MemberTable
from ai_core.squads.marching_step import MarchStyle, PathSampling

INTERFACE: int

def march_step(
    samples: NDArray[np.float64], course: PathSampling, offsets: NDArray[np.float64], marchers: MemberTable,
    style: MarchStyle,
    anchor_m: float, elapsed_s: float, spacing_m: float,
) -> float: ...
