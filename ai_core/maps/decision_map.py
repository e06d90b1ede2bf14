"""Decision map: layers over one area, written at any time, updated in slices, read as complete snapshots."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.errors import check_type, finite_number, flags, named, several
from ai_core.maps.influence_map import InfluenceMap, Scratch
from ai_core.maps.map_area import OUTSIDE, MapArea
from ai_core.maps.map_layer import LARGEST_VALUE, MapLayer
from ai_core.maps.map_snapshot import MapSnapshot, SnapshotBuffers
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part, Refuse, Same, Saveable
from ai_core.saving.kinds import Flag, MapOf, Moment, Optional, PackedArray, Record, Row, Seconds, Whole

__all__ = ["DecisionMap"]


class DrawnLayers(NamedTuple):
    """The current snapshot as it is saved: its time, and the cells of each layer."""

    shown_at: TimeIndex
    cells: dict[str, NDArray[np.float32]]


ROUNDING_S = 1e-9
"""A period ends this much early (s): times are sums of frames, whose rounding would now and then cost a frame."""

PROGRESS_STATE = Optional(Row(lambda is_shown, slices_done: (is_shown, slices_done), Flag(), Whole()))
"""How the progress of an update is saved: whether its snapshot is shown, and the slices done; None if it is done."""


class DecisionMap(Saveable):
    """Layers of knowledge about the ground, for strategic decisions.

    Units write values in batches, at any time. An update applies the values written before
    its start, fades older values, and draws a snapshot of every layer, spread and blurred; it
    pauses when its budget is spent. Readers on any thread see the snapshot of the last complete
    update, never a partial one.

    Args:
        area: position and size of the map.
        layers: at least one, each with a unique name.
        clock: game time; values fade with it.
        is_open: (height, width) bool, False for walls, which stop spreading; None for no walls.
        period_s: game time from the start of one update to the start of the next (s), for ``advance``;
            0 starts an update with the first call after the previous one is done.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or shape, or is out of range.

    Attributes:
        began_at: start time of the last update; its snapshot shows the values at this time.
        passed_s: game time between the starts of the last two updates (s).
        updates: number of complete updates.
        written: number of positions and cells written; positions outside the area are not counted.

    Cost: 16 bytes per cell and layer, and 8 for its two snapshots. An update is O(cells × layers);
        six layers of 512 × 512 cells take about 10 ms.
    Source: 003_designing_ai_for_games, decision maps.
    """

    SHOWN = ("area", "layers", "period_s")

    STATE = DeclaredState(
        shape=Same(at="area.shape"), began_at=Moment(TimeIndex), passed_s=Seconds(0), has_begun=Flag(),
        updates=Whole(), written=Whole(), layers=Part(),
        picture=Record(DrawnLayers, at="_drawn", shown_at=Moment(TimeIndex), cells=MapOf(
            PackedArray(np.float32, shape=lambda map_: map_.area.shape, minimum=0, maximum=LARGEST_VALUE),
            names=lambda map_: map_.layers)),
        progress=Hook())  # after the layers, whose slices are repeated

    def __init__(
        self, area: MapArea, layers: Iterable[MapLayer], clock: Clock, *, is_open: ArrayLike | None = None,
        period_s: float = 0.25,
    ) -> None:
        check_type("area", area, MapArea)
        self.area, self.clock = area, checked_clock(clock)
        self.layers = {layer.name: InfluenceMap(layer, area) for layer in _checked_layers(layers)}
        self.period_s = finite_number("period_s", period_s, minimum=0)
        self.is_open: NDArray[np.bool_] | None = None
        self.set_open(is_open)
        self.buffers = SnapshotBuffers(area, tuple(self.layers))
        for name, layer in self.layers.items():
            self.buffers.front.drawn[name][:] = layer.values
        self._scratch = Scratch(area)
        self.began_at: TimeIndex = clock.now
        self.passed_s = 0.0
        self.has_begun, self.is_shown = False, True
        self.slices_done = 0
        self._work: Iterator[int] | None = None
        self.updates = self.written = 0

    @property
    def picture(self) -> MapSnapshot:
        """All layers as of the last complete update; read them before the next call of ``advance``."""
        return self.buffers.front

    @property
    def is_done(self) -> bool:
        """True if no update is in progress."""
        return self._work is None

    @property
    def is_due(self) -> bool:
        """True if ``advance`` would start or continue an update."""
        if self._work is not None or not self.has_begun:
            return True
        now = self.clock.now
        return now.frame != self.began_at.frame and now.seconds - self.began_at.seconds >= self.period_s - ROUNDING_S

    @property
    def result(self) -> MapSnapshot:
        """Snapshot of the last update.

        Raises:
            RuntimeError: if an update is in progress; ``picture`` returns the previous snapshot.
        """
        if self._work is not None:
            raise RuntimeError("the update is not done; call advance until is_done is True, or read picture")
        return self.picture

    def reading(self) -> AbstractContextManager[MapSnapshot]:
        """Return a context manager that keeps the snapshot unchanged, on any thread; updates use other buffers."""
        return self.buffers.reading()

    def write(self, name: str, cells: ArrayLike, strengths: ArrayLike) -> int:
        """Write values into cells of a layer for the next update; return the number of cells.

        Args:
            name: name of the layer.
            cells: (n,) int, cell numbers.
            strengths: one value or (n,), 0 or more.

        Raises:
            UnknownNameError: if no layer has this name.
            TypeError, ValueError: as ``MapArea.checked_cells``, or if strengths are negative,
                not finite or not of length n; nothing is written then.

        Cost: O(n).
        """
        layer = self.layer(name)
        numbers = self.area.checked_cells(cells)
        layer.write(numbers, layer.checked(strengths, len(numbers)))
        self.written += len(numbers)
        return len(numbers)

    def write_at(self, name: str, places: ArrayLike, strengths: ArrayLike) -> int:
        """Write at positions, as ``write`` does at cells; return the number inside the area. Others are ignored."""
        layer = self.layer(name)
        cells = self.area.cells_of(places)
        checked = layer.checked(strengths, len(cells))
        is_inside = cells != OUTSIDE
        layer.write(cells[is_inside], checked[is_inside])
        count = int(np.count_nonzero(is_inside))
        self.written += count
        return count

    def set_open(self, is_open: ArrayLike | None) -> None:
        """Replace the walls, which count at once in queries, and in snapshots from the next update on.

        Walls are not part of a save: set those of the game before loading, as in the constructor.

        Args:
            is_open: (height, width) bool, False for walls; None for no walls.

        Raises:
            TypeError, ValueError: if ``is_open`` has the wrong type or shape; nothing changes then.

        Cost: O(cells).
        """
        self.is_open = None if is_open is None else flags("is_open", is_open, self.area.shape).copy()

    def layer(self, name: str) -> InfluenceMap:
        """Return the current, changing values of a layer.

        Raises:
            UnknownNameError: if no layer has this name.
        """
        return named("layer", name, self.layers)

    def begin(self) -> None:
        """Start an update with the values written so far.

        Raises:
            RuntimeError: if an update is in progress.
        """
        if self._work is not None:
            raise RuntimeError("an update is in progress; call advance until is_done is True before the next begin")
        now = self.clock.now
        self.passed_s = max(0.0, now.seconds - self.began_at.seconds)
        self.began_at, self.has_begun = now, True
        for layer in self.layers.values():
            layer.take_written()
        self.is_shown, self.slices_done = False, 0
        self._work = self._update(self.is_open)

    def advance(self, budget: Budget, /) -> None:
        """Continue the update, or start one if it is due, until it is done or the budget is spent.

        A step is one slice: some rows of one layer.
        """
        check_budget(budget)
        if self._work is None:
            if not self.is_due:
                return
            self.begin()
        while self._work is not None:
            if next(self._work, None) is None:
                self._work = None
                return
            self.slices_done += 1
            budget.spend()
            if budget.is_spent:
                return

    @property
    def _drawn(self) -> DrawnLayers:
        return DrawnLayers(self.picture.at, self.picture.drawn)

    @_drawn.setter
    def _drawn(self, drawn: DrawnLayers) -> None:
        picture = self.buffers.free()  # readers may hold the current one
        for name, cells in drawn.cells.items():
            picture.drawn[name][:] = cells
        self.buffers.show(picture, drawn.shown_at)

    def _save_progress(self) -> list[Any] | None:
        return None if self.is_done else [self.is_shown, self.slices_done]

    def _prepare_progress(self, plain: Any, place: str) -> Change:
        """Check the progress of an update; return the function that repeats its slices in the loaded layers."""
        progress = PROGRESS_STATE.read(plain, place, self)

        def repeat() -> None:
            self._work, updates = None, self.updates
            self.is_shown, slices_done = progress or (True, 0)
            if progress is not None:
                self._work = self._forget() if self.is_shown else self._update(self.is_open)
                self.slices_done = sum(1 for _ in islice(self._work, slices_done))
                self.updates = updates

        return repeat

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.picture.shown_at.seconds > values.began_at.seconds:
            refuse("picture.shown_at", f"must not be after 'began_at', got {values.picture.shown_at.seconds:g} s")

    def _update(self, is_open: NDArray[np.bool_] | None) -> Iterator[int]:
        picture = self.buffers.free()
        for name, layer in self.layers.items():
            yield from layer.age(self.passed_s, self._scratch)
            yield from layer.draw(picture.drawn[name], is_open, self._scratch)
        for layer in self.layers.values():
            layer.accept()
        self.buffers.show(picture, self.began_at)
        self.updates += 1
        self.is_shown, self.slices_done = True, -1  # the slices of _forget are counted from here
        yield 1
        yield from self._forget()

    def _forget(self) -> Iterator[int]:
        for layer in self.layers.values():
            yield from layer.forget_taken()


def _checked_layers(layers: Iterable[MapLayer]) -> tuple[MapLayer, ...]:
    checked = several("layers", layers, MapLayer)
    names = set()
    for layer in checked:
        if layer.name in names:
            raise ValueError(f"layer name {layer.name!r} is used twice; give each layer a unique name")
        names.add(layer.name)
    if not checked:
        raise ValueError("layers must contain at least one layer, got none")
    return checked
