import numpy as np
from numpy.typing import NDArray

INTERFACE: int

def match_rows(costs: NDArray[np.float64], out: NDArray[np.int32]) -> int: ...
