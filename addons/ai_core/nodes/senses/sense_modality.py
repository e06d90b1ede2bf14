"""SenseModality: a custom sense, as a resource in the inspector of a SenseManager."""
from __future__ import annotations

import math

from addons.ai_core.bridge.gd import Resource, export, gdclass
from ai_core.senses.modality import FULL_MOTION_M_PER_S, Modality

DEFAULT_RANGE_M = 20.0


@gdclass(icon="res://addons/ai_core/icons/sense_modality.svg")
class SenseModality(Resource):
    """A sense with its range, its speed and its checks, such as telepathy, an aura or fear.

    Add it to modalities of a SenseManager. It replaces the modality of the same name, or adds a new modality; set
    thresholds in other_thresholds of sensors, and strengths in other_strengths of sources. The SenseManager reads it
    when the first sensor or source enters the scene; afterwards, change range and kept_per_meter with
    SenseManager.change_modality().
    """

    modality_name = export(
        str, "",
        doc="Name of the modality for sensors, sources and signals. sight, hearing, smell or touch replaces the"
            " built-in modality.")
    range = export(
        float, 0.0, range=(0, 10000, 0.01), or_greater=True,
        doc="Distance beyond which nothing is sensed, in m, in 2D in px; 0 is 20 m, or their length in px. A larger"
            " range costs more time, so make it no larger than the most sensitive sensor needs.")
    kept_per_meter = export(
        float, 1.0, range=(0, 1, 0.001), doc="Share of the strength that is kept per metre; 1 loses nothing.")
    is_continuous = export(
        bool, False,
        doc="If true, sources with a strength in this modality are sensed all the time, as in sight. If false, signals"
            " are emitted and travel, as sounds do.")
    speed = export(
        float, 0.0, range=(0, 10000, 0.1), or_greater=True, shown_when=("is_continuous", False),
        doc="Speed at which signals travel, in m/s, in 2D in px/s; 0 arrives at once. The speed of sound in air is"
            " 340 m/s.")
    is_slow = export(
        bool, False, shown_when=("is_continuous", False),
        doc="If true, signals spread like smells. In regional mode the front is simulated, so that moving sensors meet"
            " it, and drifts with the wind. In graph mode an emission is an amount that stays in regions and spreads.")
    needs_cone = export(
        bool, False, group="Checks", shown_when=("is_continuous", True),
        doc="If true, only sources inside the sight cones of a sensor are sensed.")
    needs_line_of_sight = export(
        bool, False, shown_when=("is_continuous", True),
        doc="If true, a source behind an obstacle is not sensed; each pair costs rays.")
    needs_light = export(
        bool, False, shown_when=("is_continuous", True),
        doc="If true, the light on a source is a factor on its strength.")
    still_visibility = export(
        float, 1.0, range=(0, 1, 0.01), shown_when=("is_continuous", True),
        doc="Factor on the strength of a source that stands still. A moving source is stronger, up to its whole"
            " strength at full_motion_speed. With 1, motion makes no difference.")
    full_motion_speed = export(
        float, 0.0, range=(0, 100, 0.01), or_greater=True, shown_when=("is_continuous", True),
        doc="Speed from which a source has its whole strength, in m/s, in 2D in px/s; 0 is 2 m/s, or their length in"
            " px. Counts only if still_visibility is below 1.")

    def modality(self, unit: float) -> Modality:
        """Return the library's modality; ``unit`` is the length of a metre in the scene.

        Raises:
            ValueError: if a setting is invalid, or settings contradict each other.
        """
        if not self.modality_name:
            raise ValueError("modality_name must not be empty; enter a name")
        if self.is_continuous:
            kind = {
                "is_continuous": True, "needs_cone": self.needs_cone, "needs_line_of_sight": self.needs_line_of_sight,
                "needs_light": self.needs_light, "still_share": self.still_visibility,
                "full_motion_m_per_s": self.full_motion_speed / unit or FULL_MOTION_M_PER_S}
        elif self.is_slow and not self.speed:
            raise ValueError("speed must be above 0 while is_slow is on, got 0.0; set a speed, or turn is_slow off")
        else:
            kind = {"speed_m_per_s": self.speed / unit or math.inf, "is_muffled": True, "is_slow": self.is_slow}
        return Modality(self.modality_name, self.range / unit or DEFAULT_RANGE_M, self.kept_per_meter, **kind)
