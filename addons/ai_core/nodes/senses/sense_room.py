"""What SenseRegion3D and SenseRegion2D share: what signals keep in it, and what it smells of."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.declarations import dictionary_of
from addons.ai_core.bridge.gd import Node, RefusedValue, export, method
from addons.ai_core.nodes.senses.sense_place import REGIONS, SensePlace, is_baked
from ai_core.senses.sense_graph_parts import SenseRegion
from ai_core.senses.sense_graph_shapes import Shape


class Room(SensePlace):
    """A region, but for its shape; a part of those classes."""

    sight_attenuation = export(
        float, 1.0, range=(0, 1, 0.001), group="Senses", on_set="_set",
        doc="Share of what is seen that is kept per metre: less in fog or smoke.")
    hearing_attenuation = export(
        float, -1.0, range=(-1, 1, 0.001), on_set="_set",
        doc="Share of a sound that is kept per metre; a negative one takes the SenseManager's.")
    smell_dissipation = export(
        float, 0.0, range=(0, 1, 0.001), on_set="_set",
        doc="Share of a smell that is lost per second, as through an open window.")
    other_attenuations = export(
        dict, (), hint=dictionary_of(str, float), on_set="_set",
        doc="Share kept per metre of modalities of your own, by name; else it is the modality's.")

    group_name = REGIONS

    @method
    def get_smell_of(self, source: Node, modality: str = "smell") -> float:
        """Return how strong the scent of a source is in here; 0 where there is none."""
        core, region = self._place()
        return core.smell_in(region, self._id_of(source), modality)

    @method
    def get_smelliest_neighbor(self, source: Node, modality: str = "smell") -> Node:
        """Return the region from where the scent of a source comes stronger than it is here; else null.

        Going there, and asking that one, leads to where it is strongest.
        """
        core, region = self._place()
        found = core.uphill_from(region, self._id_of(source), modality)
        return None if found is None else self._manager.region_node(core.graph.regions[found.region].name)

    def region(self, name: str) -> SenseRegion:
        """Return it as the library's region; its configuration warnings are none."""
        attenuation = {"sight": self.sight_attenuation, **self.other_attenuations}
        if self.hearing_attenuation >= 0:
            attenuation["hearing"] = self.hearing_attenuation
        return SenseRegion(
            name, self._shape(), attenuation=attenuation, dissipation={"smell": self.smell_dissipation},
            is_baked=is_baked(self))

    def senses_named(self) -> list[str]:
        """Return the names of modalities in its settings."""
        return list(self.other_attenuations)

    def wrong_settings(self) -> list[str]:
        try:
            self._shape()
        except ValueError as error:
            return [str(error)]
        return []

    def _shape(self) -> Shape:
        """Return its shape (m), or raise ValueError that says what is wrong with it."""
        raise NotImplementedError

    def _id_of(self, source: Any) -> int:
        """Return the id of a source; -1, which smells nowhere, if it has left or is another manager's."""
        wanted = f"SenseSource{self.dimensions}D"
        if source is None or not source.is_class(wanted):
            raise RefusedValue(f"source must be a {wanted}, got {source!r}")
        return int(source.source_id) if source.belongs_to(self._manager) else -1
