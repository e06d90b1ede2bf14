"""Which graph each sense goes by, and the regions of sensors and sources in it."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, shown
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_lookup import NOWHERE, RegionPlaces
from ai_core.senses.graph.sense_graph_ways import PortalTable, lengths
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable

__all__ = ["GraphBySense"]


class GraphBySense:
    """One graph for all senses, or some with one of their own.

    Args:
        graph: of every sense that has none of its own.
        own: graph by modality name, or None.
        modalities: all senses.
        sensors: who senses.
        sources: what is sensed.

    Attributes:
        graphs: every graph, each once: ``graph`` first, then by modality.
        graph: graph of each modality, by its number.
        ways: passages of each modality, by its number.

    Raises:
        TypeError: if a graph is of another type.
        UnknownNameError: if a graph, or ``own``, speaks of a modality that is not here.
    """

    def __init__(
        self,
        graph: SenseGraph,
        own: Mapping[str, SenseGraph] | None,
        modalities: ModalitySet,
        sensors: SensorTable,
        sources: SourceTable,
    ) -> None:
        by_name = {} if own is None else own
        if not isinstance(by_name, Mapping):
            raise TypeError(f"graphs must map modality names to SenseGraph, got {shown(own)}")
        numbers = {modalities.number(name): name for name in by_name}
        chosen = [by_name[numbers[n]] if n in numbers else graph for n in range(len(modalities))]
        self.graphs: list[SenseGraph] = []
        for one in (graph, *chosen):
            if not isinstance(one, SenseGraph):
                raise TypeError(f"graph and each value of graphs must be a SenseGraph, got {shown(one)}")
            if not any(one is known for known in self.graphs):
                self.graphs.append(one)
        names = [modalities[number].name for number in range(len(modalities))]
        for one in self.graphs:
            for name in one.modalities:
                if name not in names:
                    raise UnknownNameError("modality", name, names)
        self.graph = chosen
        self.ways: list[PortalTable] = [
            one.ways(modalities[number]) for number, one in enumerate(chosen)
        ]
        self._sensors, self._sources = sensors, sources
        self._index = [next(k for k, known in enumerate(self.graphs) if known is one)
                       for one in chosen]
        self._sensor_regions = [RegionPlaces(one.regions_at) for one in self.graphs]
        self._source_regions = [RegionPlaces(one.regions_at) for one in self.graphs]

    def sensor_regions(self, number: int) -> NDArray[np.int32]:
        """Return the region of every row of sensors, in the graph of a modality."""
        return self._sensor_regions[self._index[number]].of(self._sensors.position)

    def way_m(
        self, number: int, sensor: int, places: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Return how far it is from places (n, 3) to a sensor, by its slot (m).

        Within its region straight on, through one portal by way of it; else ``inf``.

        Cost: O(places), for each portal into the region.
        """
        here, ways = int(self.sensor_regions(number)[sensor]), self.ways[number]
        found = np.full(len(places), np.inf)
        if here == NOWHERE or not len(places):
            return found
        nose = self._sensors.position[sensor].astype(np.float64)
        where = self.graph[number].regions_at(places)
        found[where == here] = lengths(places[where == here] - nose)
        for row in ways.into(here):
            there = np.flatnonzero(where == ways.from_region[row])
            if ways.kept[row] > 0 and len(there):
                on_m = float(ways.distance_m[row]) + float(lengths((ways.end[row] - nose)[np.newaxis])[0])
                found[there] = np.minimum(found[there], lengths(places[there] - ways.start[row]) + on_m)
        return found

    def source_regions(self, number: int) -> NDArray[np.int32]:
        """Return the region of every row of sources, in the graph of a modality."""
        return self._source_regions[self._index[number]].of(self._sources.position)
