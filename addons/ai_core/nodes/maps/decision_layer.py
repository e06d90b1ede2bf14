"""DecisionLayer: one layer of a DecisionMap, as a resource in the inspector."""
from __future__ import annotations

from enum import IntEnum

from addons.ai_core.bridge.gd import Resource, export, gdclass
from addons.ai_core.nodes.saving.node_settings import core_settings
from ai_core.maps.map_layer import LARGEST_VALUE, MOST_BLUR_PASSES, MapLayer


@gdclass(icon="res://addons/ai_core/icons/decision_layer.svg")
class DecisionLayer(Resource):
    """A layer of a DecisionMap: its name, and how its values fade, grow, spread and blur.

    A DecisionMap reads it when the map is first used; later changes have no effect.
    """

    class Writes(IntEnum):
        SUM = 0
        LATEST = 1

    layer_name = export(str, "", core="name", doc="Name of the layer: \"threat\", \"resources\".")
    writes = export(
        Writes, Writes.SUM, core="writes",
        doc="Sum: written values are added to the value of the cell. Latest: the last written value replaces it.")
    initial = export(
        float, 0.0, range=(0, 1000, 0.01), or_greater=True, core="initial", doc="Initial value of every cell.")
    max_value = export(
        float, LARGEST_VALUE, range=(0.001, LARGEST_VALUE, 0.001), core="max_value", doc="Largest value of a cell.")
    retention = export(
        float, 1.0, range=(0, 1, 0.001), group="Time", core="kept_per_s",
        doc="Share of a value that is kept per second; 1 keeps values, 0 clears them at every update.")
    growth = export(
        float, 0.0, range=(0, 100, 0.01), or_greater=True, core="grows_per_s",
        doc="Increase of every cell per second; 1 measures the time since a cell was last written, in seconds.")
    spread = export(
        float, 0.0, range=(0, 0.999, 0.001), group="Space", core="kept_per_m",
        doc="Share of a value that is kept per metre as it spreads around walls; 0 does not spread. In 2D a metre is"
            " pixels_per_meter of the map.")
    blur_passes = export(
        int, 0, range=(0, MOST_BLUR_PASSES, 1), core="blur_passes",
        doc="Number of blur passes per update; the total is unchanged.")
    blur_stops_at_walls = export(
        bool, False, core="blur_stops_at_walls", doc="If true, values are not blurred across the walls of the map.")

    def layer(self) -> MapLayer:
        """Return the library's layer.

        Raises:
            ValueError, TypeError: if a setting is invalid, or settings contradict each other.
        """
        if not self.layer_name:
            raise ValueError("layer_name must not be empty; enter a name")
        return MapLayer(**core_settings(self))
