"""DecisionLayer: one layer of a DecisionMap as data, in the inspector."""
from __future__ import annotations

from enum import IntEnum

from addons.ai_core.bridge.gd import Resource, export, gdclass
from ai_core.maps.map_layer import LARGEST_VALUE, MOST_BLUR_PASSES, MapLayer


@gdclass(icon="res://addons/ai_core/icons/decision_layer.svg")
class DecisionLayer(Resource):
    """What one layer of a DecisionMap is about, and how its values change by themselves.

    A DecisionMap reads it when it is first used.
    """

    class Writes(IntEnum):
        SUM = 0
        LATEST = 1

    layer_name = export(str, "", doc="What units and strategists call it: \"threat\", \"resources\".")
    writes = export(
        Writes, Writes.SUM,
        doc="Sum: what is written is added to what is there. Latest: it takes its place, and the last one counts.")
    initial = export(float, 0.0, range=(0, 1000, 0.01), or_greater=True, doc="What every cell begins with.")
    most = export(float, LARGEST_VALUE, range=(0.001, LARGEST_VALUE, 0.001), doc="No cell holds more.")
    retention = export(
        float, 1.0, range=(0, 1, 0.001), group="Time",
        doc="Share that is kept per second: 1 stays, 0 forgets all at every update.")
    growth = export(
        float, 0.0, range=(0, 100, 0.01), or_greater=True,
        doc="What every cell gains in a second; 1 makes the time since something was seen.")
    spread = export(
        float, 0.0, range=(0, 0.999, 0.001), group="Space",
        doc="How far it spreads: share kept per metre, round walls; 0 does not spread. In 2D metres are pixels_per_m.")
    blur_passes = export(
        int, 0, range=(0, MOST_BLUR_PASSES, 1), doc="How often the picture is smoothed; its total stays.")
    blur_stops_at_walls = export(bool, False, doc="On: nothing is smoothed through the map's walls.")

    def layer(self) -> MapLayer:
        """Return it as the library's.

        Raises:
            ValueError, TypeError: if its settings do not fit together; says which.
        """
        if not self.layer_name:
            raise ValueError("layer_name must not be empty; say what units call it")
        return MapLayer(
            self.layer_name, "latest" if self.writes == self.Writes.LATEST else "sum", self.initial, self.retention,
            self.growth, self.most, self.spread, self.blur_passes,
            self.blur_stops_at_walls)
