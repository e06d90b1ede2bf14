import numpy as np
from numpy.typing import NDArray

INTERFACE: int

def note_round(table: NDArray[np.int64], row: int, stamps: list[int]) -> None: ...
