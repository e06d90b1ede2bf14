"""The values of a map's cells as a short text, read back without trust."""
from __future__ import annotations

import zlib
from binascii import a2b_base64, b2a_base64

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import Fields

__all__ = ["pack_cells", "read_cells"]

Floats = NDArray[np.float32]


def pack_cells(values: Floats) -> str:
    """Return float32 values as text: little-endian, compressed, in base64.

    Cost: O(cells); a map of which much is alike takes little room.
    """
    return b2a_base64(zlib.compress(values.astype("<f4").tobytes(), 1), newline=False).decode("ascii")


def read_cells(fields: Fields, name: str, shape: tuple[int, int], most: float, *, is_unwritten: bool = False) -> Floats:
    """Return a field that ``pack_cells`` wrote, 0 to ``most`` in every cell.

    Args:
        fields: what was saved.
        name: of the field.
        shape: (height, width) that it must have.
        most: largest value.
        is_unwritten: whether NaN, which stands for nothing, may be there as well.

    Raises:
        StateError: if it is anything else; time and memory are O(cells and characters).
    """
    wanted = shape[0] * shape[1] * 4
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(a2b_base64(fields.text(name), strict_mode=True), wanted + 1)
    except (ValueError, zlib.error) as error:
        fields.refuse(name, f"must be packed cells: {error}")
    if len(data) != wanted or not unpacker.eof:
        fields.refuse(name, f"must hold {shape[0]} × {shape[1]} cells")
    values = np.frombuffer(data, "<f4").reshape(shape).astype(np.float32)
    is_right = (values >= 0) & (values <= np.float32(most))
    if is_unwritten:
        is_right |= np.isnan(values)
    if not is_right.all():
        fields.refuse(name, f"must hold values of 0 to {most:g}, got {values[~is_right][0]:g}")
    return values
