import numpy as np
from numpy.typing import NDArray

INTERFACE: int

def best_opinions(
    eyes: NDArray[np.float32], scales: NDArray[np.float32], positions: NDArray[np.float32],
    velocities: NDArray[np.float32] | None, sizes: NDArray[np.float32], total: NDArray[np.float32],
    parts: NDArray[np.float32] | None, workspace: object,
) -> int: ...
