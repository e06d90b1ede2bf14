"""Whole pictures of one moment, for readers on any thread."""
from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import TimeIndex
from ai_core.errors import finite_number, named
from ai_core.maps.map_area import MapArea

__all__ = ["MapPicture", "PictureBuffers"]

Floats = NDArray[np.float32]


class MapPicture:
    """All layers of a decision map as they were at one moment, for reading.

    Attributes:
        area: where the map lies.
        at: the moment; frame 0 before the first update.
        names: of the layers, in their order.
    """

    def __init__(self, area: MapArea, names: tuple[str, ...]) -> None:
        self.area = area
        self.at = TimeIndex(0, 0.0)
        self.names = names
        self.drawn = {name: np.zeros(area.shape, np.float32) for name in names}
        self._seen = {name: _read_only(array) for name, array in self.drawn.items()}
        self.readers = 0

    def __getitem__(self, name: str) -> Floats:
        """Return a layer, (height, width) float32, which cannot be written.

        Raises:
            UnknownNameError: if there is none of this name.
        """
        return named("layer", name, self._seen)

    def combined(self, weights: Mapping[str, float], *, out: Floats | None = None) -> Floats:
        """Return the sum of layers times weights, which may be negative.

        Args:
            weights: by name of a layer.
            out: optional (height, width) float32, overwritten.

        Raises:
            UnknownNameError: if a layer is unknown.
            TypeError, ValueError: if a weight is no finite number, or ``out`` of another shape or type.

        Cost: O(cells × weights), no allocation when ``out`` is given but 256 kB to work in.
        """
        checked = [(self[name], finite_number(f"weight of {name!r}", one)) for name, one in weights.items()]
        if out is None:
            out = np.empty(self.area.shape, np.float32)
        elif out.shape != self.area.shape or out.dtype != np.float32:
            raise ValueError(f"out must be {self.area.shape} float32, got {out.shape} {out.dtype}")
        rows = max(1, (1 << 16) // self.area.shape[1])
        part = np.empty((min(rows, self.area.shape[0]), self.area.shape[1]), np.float32)
        for first in range(0, self.area.shape[0], rows):
            target = out[first:first + rows]
            target.fill(0.0)
            for layer, weight in checked:
                target += np.multiply(layer[first:first + rows], np.float32(weight), out=part[:len(target)])
        return out


class PictureBuffers:
    """The picture in view, the one being drawn, and those that somebody still reads.

    Args:
        area: where the map lies.
        names: of the layers.

    Attributes:
        front: the picture in view. It stays as it is until the update after the next
            begins; who keeps one longer, or reads on a thread, holds it by ``reading``.
    """

    def __init__(self, area: MapArea, names: tuple[str, ...]) -> None:
        self._area, self._names = area, names
        self._lock = threading.Lock()
        self._all = [MapPicture(area, names) for _ in range(2)]
        self.front = self._all[0]

    def __len__(self) -> int:
        """Number of pictures: two, and more only where readers held as many at once."""
        return len(self._all)

    @contextmanager
    def reading(self) -> Iterator[MapPicture]:
        """Hold the picture in view: nobody draws into it until it is let go. From any thread."""
        with self._lock:
            picture = self.front
            picture.readers += 1
        try:
            yield picture
        finally:
            with self._lock:
                picture.readers -= 1

    def free(self) -> MapPicture:
        """Return a picture that may be drawn into; a new one only if all others are being read."""
        with self._lock:
            for picture in self._all:
                if picture is not self.front and picture.readers == 0:
                    return picture
            self._all.append(MapPicture(self._area, self._names))
            return self._all[-1]

    def show(self, picture: MapPicture, at: TimeIndex) -> None:
        """Put a drawn picture in view, whole."""
        picture.at = at
        with self._lock:
            self.front = picture


def _read_only(array: Floats) -> Floats:
    view = array.view()
    view.flags.writeable = False
    return view
