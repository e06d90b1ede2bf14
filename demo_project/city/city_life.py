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

    def __init__(self) -> None:
        self._city: city.City | None = None
        self._scheduler: Any = None
        self._task: Any = None
        self._plots: dict[str, city.Plot] = {}

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
        return PackedStringArray([one.name for one in self._closed_plots()])

    @method
    def get_plot_centres(self) -> PackedVector2Array:
        """Return their centres (m)."""
        plots = self._closed_plots()
        centres = [(one.west_m + one.side_m / 2, one.north_m + one.side_m / 2) for one in plots]
        return np.array(centres, np.float32).reshape(-1, 2)

    @method
    def get_plot_sides(self) -> PackedFloat32Array:
        """Return how long each is (m)."""
        return np.array([one.side_m for one in self._closed_plots()], np.float32)

    @method
    def get_people(self) -> PackedVector2Array:
        """Return the positions of inhabitants that are simulated individually (m)."""
        found = [np.zeros((0, 2))]
        for plot, living in self._living():
            if living.people is not None:
                spread = np.modf(np.arange(1, len(living.people) + 1)[:, None] * SPREADS)[0]
                found.append((plot.west_m, plot.north_m) + spread * plot.side_m)
        return np.concatenate(found).astype(np.float32)

    def _living(self) -> list[tuple[city.Plot, city.Inhabitants]]:
        return [(self._plot(name), living) for name, living in self._city.here.items()]

    def _plot(self, name: str) -> city.Plot:
        """Return a plot by its name, which begins with that of the plot around it."""
        if name not in self._plots:
            around = self._plot(name.rpartition("/")[0])
            self._plots.update({one.name: one for one in around.parts()})
        return self._plots[name]

    def _closed_plots(self) -> list[city.Plot]:
        return [plot for plot, living in self._living() if living.people is None]

    def _live(self, turn: Turn) -> None:
        if self.can_process():
            self._city.step(turn.budget)
