"""SenseSource3D: something that can be sensed."""
from __future__ import annotations

from addons.ai_core.bridge.declarations import dictionary_of
from addons.ai_core.bridge.gd import Node3D, Vector3, export, gdclass
from addons.ai_core.nodes.senses.drawn_senses import DrawnSource
from addons.ai_core.nodes.senses.sense_sensible import Sensible


@gdclass(icon="res://addons/ai_core/icons/sense_source_3d.svg")
class SenseSource3D(DrawnSource, Sensible, Node3D):
    """Makes what it is placed on visible, and lets it be heard and smelled with emit().

    The nearest physics body at or above it counts as itself: it does not hide it.
    """

    visible_parts = export(
        dict, (), hint=dictionary_of(str, Vector3), group="Sight", on_set="_change",
        doc="Points of it that are looked for, by name, from its position in the world's directions (m):"
            " \"head\", \"feet\". The share that is seen is how well it is seen; each costs a ray. None: its position.")

    dimensions = 3
