"""What SensePortal3D and SensePortal2D share: which senses pass, how much of them, and opening and shutting."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.declarations import dictionary_of
from addons.ai_core.bridge.gd import Node2D, Node3D, NodePath, export, gdclass, method, node_path, signal
from addons.ai_core.nodes.senses.drawn_senses import DrawnPortal
from addons.ai_core.nodes.senses.sense_place import PORTALS, SensePlace, is_baked
from ai_core.senses.graph.sense_graph_parts import Passage, SensePortal


def _carries(
    sense: str, *, shut: float, shut_doc: str = "The same while it is shut.",
    distance_doc: str = "How long the way through is.",
) -> tuple[Any, Any, Any]:
    """Return the exports of how a sense passes: kept per metre, kept while shut, and length."""
    shown: dict[str, Any] = {"on_set": "_set", "shown_when": (f"passes_{sense}", True)}
    return (
        export(float, 1.0, range=(0, 1, 0.001), doc="Share kept per metre of the way through.", **shown),
        export(float, shut, range=(0, 1, 0.001), doc=shut_doc, **shown),
        export(float, 1.0, range=(0, 1000, 0.01), or_greater=True, unit="m", doc=distance_doc, **shown),
    )


class PortalBase(SensePlace):
    """A portal, but for where it leads; a part of those classes."""

    from_region: Any
    to_region: Any
    exit: Any
    get_node_or_null: Any
    global_position: Any
    is_inside_tree: Any
    metres_of: Any
    unit: Any

    one_way = export(bool, False, on_set="_set", doc="On: signals pass from from_region to to_region alone.")
    is_open = export(
        bool, True, on_set="_open_set", doc="Shut, it keeps of each sense what is said below. Change it at any time.")
    passes_sight = export(bool, True, group="Sight", on_set="_set", doc="Whether sight passes at all.")
    is_camera = export(
        bool, False, on_set="_set",
        shown_when=("passes_sight", True),
        doc="Who sees the exit sees what shows from the position of the portal. Off: sight goes straight on.")
    sight_kept_per_meter, sight_kept_per_meter_closed, sight_distance = _carries(
        "sight", shut=0.0, shut_doc="The same while it is shut: 1 for a glass door.",
        distance_doc="How long the way through is; it need not be the distance to the exit.")
    passes_hearing = export(bool, True, group="Hearing", on_set="_set", doc="Whether sounds pass at all.")
    hearing_kept_per_meter, hearing_kept_per_meter_closed, hearing_distance = _carries(
        "hearing", shut=0.1)
    passes_smell = export(bool, True, group="Smell", on_set="_set", doc="Whether smells pass at all.")
    smell_kept_per_meter, smell_kept_per_meter_closed, smell_distance = _carries(
        "smell", shut=0.0)
    smell_area = export(
        float, 2.0, range=(0.001, 1000, 0.001), or_greater=True, unit="m²", on_set="_set",
        shown_when=("passes_smell", True), doc="How wide it is; smells pass in proportion.")

    wind = export(
        float, 0.0, range=(-100, 100, 0.01), or_greater=True, unit="m/s", on_set="_wind_set",
        shown_when=("passes_smell", True),
        doc="How fast the air goes through towards to_region, below 0 against it: smells go so much faster or slower,"
            " and not at all against a stronger wind. Change it at any time; where it is 0, blow() counts.")

    other_senses = export(
        dict, (), hint=dictionary_of(str, float), group="Other senses", on_set="_set",
        doc="Share kept on the way through of modalities of your own, by name, open or shut; others do not pass.")

    open_changed = signal(("is_open", bool), doc="It was opened or shut; not told when a saved game is loaded.")

    group_name = PORTALS

    @method
    def open(self) -> None:
        """Let signals through; the same as is_open = true."""
        self.is_open = True

    @method
    def shut(self) -> None:
        """Keep of signals what passes when it is shut; the same as is_open = false."""
        self.is_open = False

    def end(self, path: NodePath) -> Any:
        """Return the region or other node at a path, or None."""
        return self.get_node_or_null(path) if path else None

    def portals(self, name: str, from_region: str, to_region: str) -> list[SensePortal]:
        """Return it as the library's portals: one for each way, all of one name."""
        unit = self.unit
        start, way_out = self.metres_of(self.global_position), self.end(self.exit)
        end = None if way_out is None else self.metres_of(way_out.global_position)
        passages = {
            sense: Passage(
                start, end,
                kept_per_m=getattr(self, f"{sense}_kept_per_meter"),
                closed_kept_per_m=getattr(self, f"{sense}_kept_per_meter_closed"),
                distance_m=getattr(self, f"{sense}_distance") / unit,
                area_m2=self.smell_area / unit ** 2, is_relayed=sense == "sight" and self.is_camera,
                wind_m_per_s=self.wind / unit if sense == "smell" else 0.0)
            for sense in ("sight", "hearing", "smell") if getattr(self, f"passes_{sense}")
        }
        passages |= {
            sense: Passage(start, end, kept_per_m=kept, closed_kept_per_m=kept, wind_m_per_s=self.wind / unit)
            for sense, kept in self.other_senses.items()}
        there = SensePortal(from_region, to_region, passages, name, self.is_open, is_baked(self))
        return [there] if self.one_way else [there, there.back()]

    def senses_named(self) -> list[str]:
        """Return the names of modalities in its settings."""
        return list(self.other_senses)

    def take_open(self, is_open: bool) -> None:
        """Be as a loaded game says, and tell nobody."""
        self.__dict__[type(self).is_open.slot] = self._was_open = is_open

    def take_wind(self, wind_m_per_s: float | None) -> None:
        """Have the wind of a loaded game; None: that with which the graph was made."""
        self.__dict__[type(self).wind.slot] = self._first_wind if wind_m_per_s is None else wind_m_per_s * self.unit

    def become(self, manager: Any, name: str) -> None:
        super().become(manager, name)
        self._was_open, self._first_wind = self.is_open, self.wind

    def wrong_settings(self) -> list[str]:
        warnings, region_class, node_class = [], f"SenseRegion{self.dimensions}D", f"Node{self.dimensions}D"
        for name in ("from_region", "to_region"):
            path = getattr(self, name)
            found = self.end(path)
            if found is None or not found.is_class(region_class):
                leads = f"'{path}' is no {region_class}" if path else "is not set"
                warnings.append(f"{name} {leads}, so it leads nowhere; choose a {region_class}")
        if not warnings and self.end(self.from_region) == self.end(self.to_region):
            warnings.append(f"leads back into its own region; choose another {region_class} for to_region")
        way_out = self.end(self.exit)
        if self.exit and (way_out is None or not way_out.is_class(node_class)):
            warnings.append(f"exit '{self.exit}' is no {node_class}; choose one, or none")
        if not warnings and self.is_inside_tree():
            try:
                self.portals("checked", "from", "to")
            except (TypeError, ValueError) as error:
                warnings.append(f"leads nowhere: {error}")
        return warnings

    def _wind_set(self) -> None:
        if self._manager is not None:
            wind = self.wind
            self._manager.core.graph.set_wind(self._name, None if wind == self._first_wind else wind / self.unit)

    def _open_set(self) -> None:
        if self._manager is None or self.is_open == self._was_open:
            return
        self._was_open = self.is_open
        self._manager.core.graph.set_open(self._name, self.is_open)
        self.open_changed.emit(self.is_open)


@gdclass(icon="res://addons/ai_core/icons/sense_portal_2d.svg")
class SensePortal2D(DrawnPortal, PortalBase, Node2D):
    """A way between two SenseRegion2D for those senses that it lets pass.

    Signals go in at its position, and come out there, or at the node called exit. One-way glass
    passes sight alone, one way; its physics body must not be in the SenseManager's sight mask. An
    air duct passes smell alone. A camera is a portal from what it films to who looks at the screen.
    """

    from_region = export(
        NodePath, NodePath(""), hint=node_path("SenseRegion2D"), on_set="_set", doc="The region it leaves.")
    to_region = export(
        NodePath, NodePath(""), hint=node_path("SenseRegion2D"), on_set="_set", doc="The region it leads into.")
    exit = export(
        NodePath, NodePath(""), hint=node_path("Node2D"), on_set="_set",
        doc="The node where signals come out, such as a screen or the end of a duct; none for its own position.")

    dimensions, is_flat = 2, True


@gdclass(icon="res://addons/ai_core/icons/sense_portal_3d.svg")
class SensePortal3D(DrawnPortal, PortalBase, Node3D):
    """A way between two SenseRegion3D for those senses that it lets pass.

    Signals go in at its position, and come out there, or at the node called exit. One-way glass
    passes sight alone, one way; its physics body must not be in the SenseManager's sight mask. An
    air duct passes smell alone. A camera is a portal from what it films to who looks at the screen.
    """

    from_region = export(
        NodePath, NodePath(""), hint=node_path("SenseRegion3D"), on_set="_set", doc="The region it leaves.")
    to_region = export(
        NodePath, NodePath(""), hint=node_path("SenseRegion3D"), on_set="_set", doc="The region it leads into.")
    exit = export(
        NodePath, NodePath(""), hint=node_path("Node3D"), on_set="_set",
        doc="The node where signals come out, such as a screen or the end of a duct; none for its own position.")

    dimensions = 3
