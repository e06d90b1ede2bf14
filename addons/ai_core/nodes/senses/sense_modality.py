"""SenseModality: one sense as data, in the inspector of a SenseManager."""
from __future__ import annotations

import math

from addons.ai_core.bridge.gd import Resource, export, gdclass
from ai_core.senses.modality import Modality

DEFAULT_RANGE_M = 20.0


@gdclass(icon="res://addons/ai_core/icons/sense_modality.svg")
class SenseModality(Resource):
    """A sense: how far and how fast it carries, and what is checked on the way; telepathy, an aura and fear, too.

    It belongs into modalities of a SenseManager. There it takes the place of the sense of the same name, or
    is a new one; thresholds of sensors and strengths of sources name it in their other_thresholds and
    other_strengths. The SenseManager reads it when the first sensor or source joins; change_modality() of the
    manager changes range and kept_per_meter later.
    """

    modality_name = export(
        str, "", doc="What sensors, sources and signals call it. sight, hearing, smell and touch replace those.")
    range = export(
        float, 0.0, range=(0, 10000, 0.01), or_greater=True,
        doc="Distance beyond which nothing is sensed (m, in 2D px); 0: 20 m, or as many pixels. It limits the work, so"
            " make it large enough for the most sensitive sensor, and no larger.")
    kept_per_meter = export(
        float, 1.0, range=(0, 1, 0.001), doc="Share of the strength that is kept per metre; 1 loses nothing.")
    is_continuous = export(
        bool, False,
        doc="On: whatever has a strength in it is looked for all the time, as in sight. Off: signals are emitted"
            " and travel, as sounds do.")
    speed = export(
        float, 0.0, range=(0, 10000, 0.1), or_greater=True, shown_when=("is_continuous", False),
        doc="Speed at which signals travel (m/s, in 2D px/s); 0: they arrive at once. Sound in air has 340 m/s.")
    is_slow = export(
        bool, False, shown_when=("is_continuous", False),
        doc="On: as smells. Regional: its front is followed, so that sensors run into it, and drifts with the wind."
            " Graph: what is emitted is an amount that stays in regions and spreads.")
    needs_cone = export(
        bool, False, group="Checks", shown_when=("is_continuous", True),
        doc="On: only what is inside a sensor's cones of sight counts.")
    needs_line_of_sight = export(
        bool, False, shown_when=("is_continuous", True), doc="On: nothing may stand between; each pair costs rays.")
    needs_light = export(
        bool, False, shown_when=("is_continuous", True), doc="On: a source shows as strongly as it is lit.")

    def modality(self, unit: float) -> Modality:
        """Return it as the library's; ``unit`` is how long a metre is in the scene.

        Raises:
            ValueError: if its settings do not fit together; says which.
        """
        if not self.modality_name:
            raise ValueError("modality_name must not be empty; say what sensors and sources call it")
        range_m = self.range / unit or DEFAULT_RANGE_M
        if self.is_continuous:
            return Modality(
                self.modality_name, range_m, self.kept_per_meter, is_continuous=True, needs_cone=self.needs_cone,
                needs_line_of_sight=self.needs_line_of_sight, needs_light=self.needs_light)
        if self.is_slow and not self.speed:
            raise ValueError("speed must be above 0 where is_slow is on, got 0.0; or switch that off")
        return Modality(
            self.modality_name, range_m, self.kept_per_meter, self.speed / unit or math.inf,
            is_muffled=True, is_slow=self.is_slow)
