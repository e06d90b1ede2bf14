"""SenseSource2D: something that can be sensed in 2D."""
from __future__ import annotations

from addons.ai_core.bridge.gd import Node2D, gdclass
from addons.ai_core.nodes.drawn_senses import DrawnSource
from addons.ai_core.nodes.sense_sensible import Sensible


@gdclass(icon="res://addons/ai_core/icons/sense_source_2d.svg")
class SenseSource2D(DrawnSource, Sensible, Node2D):
    """Makes what it is placed on visible, and lets it be heard and smelled with emit().

    The nearest physics body at or above it counts as itself: it does not hide it.
    """

    dimensions = 2
