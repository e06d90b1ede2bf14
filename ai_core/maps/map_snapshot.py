"""Complete snapshots of a decision map, for readers on any thread."""
from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import TimeIndex
from ai_core.described import Described
from ai_core.errors import check_type, finite_number, named
from ai_core.maps.map_area import MapArea

__all__ = ["MapSnapshot", "SnapshotBuffers"]

Floats = NDArray[np.float32]


class MapSnapshot(Described):
    """Read-only snapshot of all layers of a decision map at one time.

    Attributes:
        area: area of the map.
        at: time of the snapshot; frame 0 before the first update.
        names: names of the layers, in order.
    """

    SHOWN = ("at", "names")

    def __init__(self, area: MapArea, names: tuple[str, ...]) -> None:
        self.area = area
        self.at = TimeIndex(0, 0.0)
        self.names = names
        self.drawn = {name: np.zeros(area.shape, np.float32) for name in names}
        self._seen = {name: _read_only(array) for name, array in self.drawn.items()}
        self.readers = 0

    def __getitem__(self, name: str) -> Floats:
        """Return a layer as a read-only (height, width) float32 array.

        Raises:
            UnknownNameError: if no layer has this name.
        """
        return named("layer", name, self._seen)

    def combined(self, weights: Mapping[str, float], *, out: Floats | None = None) -> Floats:
        """Return the weighted sum of layers.

        Args:
            weights: weight by layer name; may be negative.
            out: optional (height, width) float32, overwritten.

        Raises:
            UnknownNameError: if a layer is unknown.
            TypeError: if ``weights`` is no mapping.
            TypeError, ValueError: if a weight is not a finite number, or ``out`` has the wrong shape or type.

        Cost: O(cells × weights); when ``out`` is given, only 256 kB of work space are allocated.
        """
        check_type("weights", weights, Mapping)
        checked = [(self[name], finite_number(f"weight of {name!r}", one)) for name, one in weights.items()]
        if out is None:
            out = np.empty(self.area.shape, np.float32)
        elif out.shape != self.area.shape or out.dtype != np.float32:
            raise ValueError(f"out must be float32 of shape {self.area.shape}, got {out.dtype} {out.shape}")
        rows = max(1, (1 << 16) // self.area.shape[1])
        part = np.empty((min(rows, self.area.shape[0]), self.area.shape[1]), np.float32)
        for first in range(0, self.area.shape[0], rows):
            target = out[first:first + rows]
            target.fill(0.0)
            for layer, weight in checked:
                target += np.multiply(layer[first:first + rows], np.float32(weight), out=part[:len(target)])
        return out


class SnapshotBuffers:
    """Buffers for the current snapshot, the one being drawn, and those still held by readers.

    Attributes:
        front: the current snapshot. It stays unchanged until the update after the next begins;
            use ``reading`` to hold a snapshot longer, or to read on another thread.
    """

    def __init__(self, area: MapArea, names: tuple[str, ...]) -> None:
        self._area, self._names = area, names
        self._lock = threading.Lock()
        self._all = [MapSnapshot(area, names) for _ in range(2)]
        self.front = self._all[0]

    def __len__(self) -> int:
        """Number of buffers: two, and more only while readers hold several snapshots at once."""
        return len(self._all)

    @contextmanager
    def reading(self) -> Iterator[MapSnapshot]:
        """Hold the current snapshot unchanged until the context ends. Works on any thread."""
        with self._lock:
            picture = self.front
            picture.readers += 1
        try:
            yield picture
        finally:
            with self._lock:
                picture.readers -= 1

    def free(self) -> MapSnapshot:
        """Return a buffer to draw into; allocates one only if readers hold all others."""
        with self._lock:
            for picture in self._all:
                if picture is not self.front and picture.readers == 0:
                    return picture
            self._all.append(MapSnapshot(self._area, self._names))
            return self._all[-1]

    def show(self, picture: MapSnapshot, at: TimeIndex) -> None:
        """Make a completely drawn snapshot the current one."""
        picture.at = at
        with self._lock:
            self.front = picture


def _read_only(array: Floats) -> Floats:
    view = array.view()
    view.flags.writeable = False
    return view
