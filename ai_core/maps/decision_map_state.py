"""Saving and loading of decision maps."""
from __future__ import annotations

import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import TimeIndex
from ai_core.maps.influence_map import InfluenceMap
from ai_core.maps.map_layer import LARGEST_VALUE
from ai_core.saving.fields import LATEST_S, Fields, State

if TYPE_CHECKING:
    from ai_core.maps.decision_map import DecisionMap


Floats = NDArray[np.float32]


def pack_cells(values: Floats) -> str:
    """Return float32 values as a string: little-endian, compressed, in base64.

    Cost: O(cells); uniform regions compress well.
    """
    return b2a_base64(zlib.compress(values.astype("<f4").tobytes(), 1), newline=False).decode("ascii")


def read_cells(fields: Fields, name: str, shape: tuple[int, int], most: float, *, is_unwritten: bool = False) -> Floats:
    """Return the cells that ``pack_cells`` wrote into a field, with values of 0 to ``most``.

    Args:
        fields: the saved fields.
        name: name of the field.
        shape: required (height, width).
        most: largest value.
        is_unwritten: True if NaN, which marks an unwritten cell, is valid.

    Raises:
        StateError: if the field holds anything else; time and memory are O(cells and characters).
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


VERSION = 1


def saved(whole: DecisionMap) -> State:
    """Return a decision map as plain data. Cost: O(cells × layers)."""
    picture = whole.picture
    return {
        "version": VERSION,
        "shape": list(whole.area.shape),
        "began_at": list(whole.began_at),
        "passed_s": whole.passed_s,
        "slices_done": -1 if whole.is_done else whole.slices_done,
        "is_shown": whole.is_shown,
        "has_begun": whole.has_begun,
        "shown_at": list(picture.at),
        "updates": whole.updates,
        "written": whole.written,
        "layers": [
            {
                "name": name,
                "values": pack_cells(layer.values),
                "written": pack_cells(layer.written),
                "taking": pack_cells(layer.taking),
                "picture": pack_cells(picture[name]),
            }
            for name, layer in whole.layers.items()
        ],
    }


def prepared(whole: DecisionMap, state: object) -> Callable[[], None]:
    """Check a saved decision map; return the function that applies it.

    Raises:
        StateError: if the state is invalid, or belongs to another area or other layers.
    """
    fields = Fields.versioned(state, version=VERSION)
    shape = tuple(fields.wholes("shape", count=2))
    if shape != whole.area.shape:
        fields.refuse("shape", f"must be {whole.area.shape[0]} × {whole.area.shape[1]} for this map, got {shape}")
    began_at = TimeIndex(*fields.moment("began_at"))
    shown_at = TimeIndex(*fields.moment("shown_at", latest_s=began_at.seconds))
    passed_s = fields.number("passed_s", minimum=0, maximum=LATEST_S)
    slices_done = fields.whole("slices_done", minimum=-1, maximum=whole.area.size * 1000)
    is_shown, has_begun = fields.flag("is_shown"), fields.flag("has_begun")
    updates, written = fields.whole("updates"), fields.whole("written")
    groups = list(fields.groups("layers"))
    names = [one.text("name") for one in groups]
    if names != list(whole.layers):
        fields.refuse("layers", f"must be {', '.join(whole.layers)} in this order, got {', '.join(names)}")
    read = [_read_layer(one, whole.layers[name]) for name, one in zip(names, groups, strict=True)]
    fields.end()

    def change() -> None:
        picture = whole.buffers.free()
        for (name, layer), arrays in zip(whole.layers.items(), read, strict=True):
            layer.values, layer.written, layer.taking = (arrays[key].copy() for key in ("values", "written", "taking"))
            picture.drawn[name][:] = arrays["picture"]
        whole.buffers.show(picture, shown_at)
        whole.written = written
        whole.resume(began_at, passed_s, slices_done, is_shown=is_shown, has_begun=has_begun)
        whole.updates = updates

    return change


def _read_layer(fields: Fields, layer: InfluenceMap) -> dict[str, NDArray[np.float32]]:
    shape, may_be_unwritten = layer.area.shape, layer.layer.writes == "latest"
    found: dict[str, NDArray[np.float32]] = {
        name: read_cells(fields, name, shape, most, is_unwritten=is_unwritten)
        for name, most, is_unwritten in (
            ("values", layer.layer.most, False), ("picture", LARGEST_VALUE, False),
            ("written", LARGEST_VALUE * 1000, may_be_unwritten), ("taking", LARGEST_VALUE * 1000, may_be_unwritten),
        )
    }
    fields.end()
    return found


__all__ = ["pack_cells", "prepared", "read_cells", "saved"]
