import numpy as np
from numpy.typing import NDArray

INTERFACE: int

def add_to_residue(
    cells: NDArray[np.int64], frames: int, first_frame: int, period_frames: int, weight: int
) -> None: ...
def best_of_residues(cells: NDArray[np.int64], rows: int, period_frames: int, choice: int) -> int: ...
