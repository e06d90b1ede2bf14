"""Regions and portals of a saved graph found again by name: a level may have changed since."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ai_core.saving.fields import Fields, State

if TYPE_CHECKING:
    from ai_core.senses.graph.sense_graph import SenseGraph
    from ai_core.senses.graph.sense_graph_parts import SensePortal

__all__ = ["SavedLevel", "portals_here", "saved_level", "saved_portals"]

Key = tuple[Any, ...]


def saved_portals(portals: Iterable[SensePortal]) -> list[list[str]]:
    """Return what tells portals apart: name, and the regions they lead from and to."""
    return [[one.name, one.from_region, one.to_region] for one in portals]


def portals_here(fields: Fields, portals: Sequence[SensePortal], count: int) -> list[int | None]:
    """Return for each portal of a save its id here, None if it is gone.

    Args:
        fields: of a save; "portals" are what ``saved_portals`` returned.
        portals: those here.
        count: how many the save speaks of.
    """
    names = _texts(fields, "portals", count, 3)
    here = {key: number for number, key in enumerate(_numbered(saved_portals(portals)))}
    return [here.get(key) for key in _numbered(names)]


def saved_level(graph: SenseGraph) -> State:
    """Return by what is known whether a level is as it was: regions, and portals with what passes."""
    return {
        "regions": [one.name for one in graph.regions],
        "ways": [[*row, ",".join(sorted(one.passages))]
                 for row, one in zip(saved_portals(graph.portals), graph.portals, strict=True)],
    }


class SavedLevel:
    """The level of a save, beside the one here.

    Args:
        graphs: those here.
        fields: of a save; "levels" holds what ``saved_level`` returned for each graph.

    Attributes:
        is_same: True if regions, portals and what passes are as they were: then numbers hold.
    """

    def __init__(self, graphs: Sequence[SenseGraph], fields: Fields) -> None:
        saved = fields.anything("levels")
        self.is_same = saved == [saved_level(one) for one in graphs]
        self._here: list[list[int | None]] = [list(range(len(one.regions))) for one in graphs]
        if self.is_same:
            return
        levels = list(fields.groups("levels"))
        if len(levels) != len(graphs):
            fields.refuse("levels", f"must have {len(graphs)} items, got {len(levels)}")
        for number, (graph, level) in enumerate(zip(graphs, levels, strict=True)):
            ids = {one.name: place for place, one in enumerate(graph.regions)}
            self._here[number] = [ids.get(name) for name in _names(level)]
            level.anything("ways")
            level.end()

    def regions(self, graph_number: int) -> list[int | None]:
        """Return for each region of a saved graph its id here, None if it is gone."""
        return self._here[graph_number]


def _names(level: Fields) -> list[str]:
    names = level.items("regions")
    if not all(type(one) is str for one in names):
        level.refuse("regions", "must hold names")
    return names


def _texts(fields: Fields, name: str, count: int, width: int) -> list[list[str]]:
    rows = fields.items(name, count=count)
    for place, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != width or not all(type(one) is str for one in row):
            fields.refuse(f"{name}[{place}]", f"must hold {width} names")
    return rows


def _numbered(rows: Iterable[Sequence[str]]) -> list[Key]:
    """Return rows as keys, those that are the same told apart by their order."""
    seen: Counter[Key] = Counter()
    found = []
    for row in rows:
        key = tuple(row)
        found.append((*key, seen[key]))
        seen[key] += 1
    return found
