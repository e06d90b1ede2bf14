import numpy as np
from numpy.typing import NDArray

from ai_core.squads.marchers import Marchers
from ai_core.squads.marching_step import MarchStyle, SteeringState

INTERFACE: int

def march_step(
    samples: NDArray[np.float64], course: SteeringState, offsets: NDArray[np.float64], marchers: Marchers,
    manner: MarchStyle,
    anchor_m: float, elapsed_s: float, spacing_m: float,
) -> float: ...
