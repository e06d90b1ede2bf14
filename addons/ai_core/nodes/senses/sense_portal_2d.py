"""SensePortal2D: a way from one region into another, for some senses: a door, a glass pane, a duct, a camera."""
from __future__ import annotations

from addons.ai_core.bridge.gd import Node2D, NodePath, export, gdclass, node_path
from addons.ai_core.nodes.senses.drawn_senses import DrawnPortal
from addons.ai_core.nodes.senses.sense_way import Way


@gdclass(icon="res://addons/ai_core/icons/sense_portal_2d.svg")
class SensePortal2D(DrawnPortal, Way, Node2D):
    """A way between two SenseRegion2D for those senses that it lets pass.

    Signals go in at its position, and come out there, or at the node called exit. One-way glass
    passes sight alone, one way; its physics body must not be in the SenseManager's sight mask. An
    air duct passes smell alone. A camera is a portal from what it films to who looks at the screen.
    Its position and the exit are in pixels, distances in metres.
    """

    from_region = export(
        NodePath, NodePath(""), hint=node_path("SenseRegion2D"), on_set="_set", doc="The region it leaves.")
    to_region = export(
        NodePath, NodePath(""), hint=node_path("SenseRegion2D"), on_set="_set", doc="The region it leads into.")
    exit = export(
        NodePath, NodePath(""), hint=node_path("Node2D"), on_set="_set",
        doc="The node where signals come out, such as a screen or the end of a duct; none for its own position.")

    dimensions = 2
