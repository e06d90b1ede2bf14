"""CityLife: the city of demo_project/scenarios, as work of an AIScheduler; a node written in Python."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import (
    Node,
    PackedFloat32Array,
    PackedStringArray,
    PackedVector2Array,
    Vector2,
    export,
    gdclass,
    method,
)
from addons.ai_core.nodes.scheduling.scheduler_lookup import scheduler_of
from ai_core.scheduling.task import Turn
from demo_project.scenarios import city

SPREADS = np.array([0.754877666, 0.569840291])
"""Steps of a row of points that fills a square evenly, whatever its length."""


@gdclass
class CityLife(Node):
    """Four towns and a traveller; near ones are people, far ones a number."""

    inhabitants = export(int, city.INHABITANTS, range=(1000, 10000000, 1000), doc="Of all towns together.")
    city_seed = export(int, 0, doc="What all its chance comes from.")
    frames_per_step = export(
        int, 1, range=(1, 60, 1), doc="Frames of the engine to a step of the city; 1 is real time, more is slower.")

    def __init__(self) -> None:
        self._city: city.City | None = None
        self._scheduler: Any = None
        self._task: Any = None
        self._plots: dict[str, city.Plot] = {}
        self._frame = 0

    def on_entered(self) -> None:
        self._scheduler = scheduler_of(self)
        if self._scheduler is not None and self._task is None:
            self._city = city.build(
                self.city_seed, inhabitants=self.inhabitants, stopwatch=time.perf_counter_ns)
            self._plots = {one.name: one for one in self._city.towns}
            self._task = self._scheduler.schedule(self._live, name="city")

    def on_exit_tree(self) -> None:
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
        self._city = self._scheduler = self._task = None

    @method
    def get_report(self) -> dict:
        """Return what is simulated as what, totals, and the time of a frame since the last report."""
        return self._city.report()

    @method
    def get_traveller(self) -> Vector2:
        """Return where the traveller is (m)."""
        return Vector2(*self._city.place)

    @method
    def get_plot_names(self) -> PackedStringArray:
        """Return the names of towns, quarters and blocks that are simulated as one."""
        return PackedStringArray([plot.name for plot, _ in self._closed()])

    @method
    def get_plots(self) -> PackedFloat32Array:
        """Return for each of them: west, north and side (m), inhabitants, and the share that has heard the rumour."""
        rows = []
        for plot, living in self._closed():
            count = max(1, living.community.count)
            heard = living.community.population.properties["rumour"].counts.get(city.HEARD, 0)
            rows.append((plot.west_m, plot.north_m, plot.side_m, count, heard / count))
        return np.array(rows, np.float32).reshape(-1)

    @method
    def get_open_blocks(self) -> PackedFloat32Array:
        """Return for each block whose inhabitants are simulated one by one: west, north and side (m)."""
        return np.array([
            (plot.west_m, plot.north_m, plot.side_m) for plot, living in self._living() if living.people is not None
        ], np.float32).reshape(-1)

    @method
    def get_people(self) -> PackedVector2Array:
        """Return the positions of inhabitants that are simulated individually (m)."""
        found = [np.zeros((0, 2))]
        for plot, living in self._living():
            if living.people is not None:
                spread = np.modf(np.arange(1, len(living.people) + 1)[:, None] * SPREADS)[0]
                found.append((plot.west_m, plot.north_m) + spread * plot.side_m)
        return np.concatenate(found).astype(np.float32)

    @method
    def get_facts(self) -> PackedFloat32Array:
        """Return for each of them: age, wealth, and 1 if it has heard the rumour, else 0."""
        found = [np.zeros((0, 3))]
        for _, living in self._living():
            if living.people is not None:
                columns = living.people.columns
                found.append(np.stack(
                    [columns["age"], columns["wealth"], columns["rumour"] == city.HEARD], axis=1, dtype=np.float64))
        return np.concatenate(found).astype(np.float32).reshape(-1)

    def _living(self) -> list[tuple[city.Plot, city.Inhabitants]]:
        return [(self._plot(name), living) for name, living in self._city.here.items()]

    def _plot(self, name: str) -> city.Plot:
        """Return a plot by its name, which begins with that of the plot around it."""
        if name not in self._plots:
            around = self._plot(name.rpartition("/")[0])
            self._plots.update({one.name: one for one in around.parts()})
        return self._plots[name]

    def _closed(self) -> list[tuple[city.Plot, city.Inhabitants]]:
        return [(plot, living) for plot, living in self._living() if living.people is None]

    def _live(self, turn: Turn) -> None:
        self._frame += 1
        if self.can_process() and self._frame >= self.frames_per_step:
            self._frame = 0
            self._city.step(turn.budget)
