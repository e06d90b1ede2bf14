"""Base class of SensePortal3D and SensePortal2D: the senses that pass, their shares, and opening and closing."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from addons.ai_core.bridge.declarations import dictionary_of
from addons.ai_core.bridge.gd import Node2D, Node3D, NodePath, Vector3, export, gdclass, method, node_path, signal
from addons.ai_core.nodes.senses.sense_drawing import DragHandle, DrawnNode, Points, arrow
from addons.ai_core.nodes.senses.sense_place import PORTALS, SensePlace, is_baked
from ai_core.senses.graph.parts import Passage, SensePortal


def _carries(
    sense: str, *, closed: float, closed_doc: str = "Share kept per metre while the portal is closed.",
    distance_doc: str = "Length of the path through the portal.",
) -> tuple[Any, Any, Any]:
    """Return the exports of one sense: share kept per metre, share kept while closed, and length."""
    shown: dict[str, Any] = {"on_set": "_set", "shown_when": (f"passes_{sense}", True)}
    return (
        export(float, 1.0, range=(0, 1, 0.001), doc="Share kept per metre of the path through.", **shown),
        export(float, closed, range=(0, 1, 0.001), doc=closed_doc, **shown),
        export(float, 1.0, range=(0, 1000, 0.01), or_greater=True, unit="m", doc=distance_doc, **shown))


def _ends(dimensions: int) -> tuple[Any, Any, Any]:
    """Return the exports of the regions that a portal connects, and of its exit."""
    region = node_path(f"SenseRegion{dimensions}D")
    return (
        export(NodePath, NodePath(""), hint=region, on_set="_set",
               doc="Region from which signals enter the portal."),
        export(NodePath, NodePath(""), hint=region, on_set="_set", doc="Region into which the portal leads."),
        export(NodePath, NodePath(""), hint=node_path(f"Node{dimensions}D"), on_set="_set",
               doc="Node at which signals leave the portal, such as a screen or the end of a duct. If empty, they leave"
                   " at the position of the portal."),
    )


class PortalBase(DrawnNode, SensePlace):
    """Base class of SensePortal3D and SensePortal2D, which add the regions that they connect."""

    one_way = export(bool, False, on_set="_set", doc="If true, signals pass only from from_region to to_region.")
    is_open = export(
        bool, True, on_set="_open_set",
        doc="If false, each sense keeps only its closed share. Can be changed at any time.")
    passes_sight = export(bool, True, group="Sight", on_set="_set", doc="If true, sight passes through the portal.")
    is_camera = export(
        bool, False, on_set="_set",
        shown_when=("passes_sight", True),
        doc="If true, a sensor that sees the exit sees the view from the position of the portal, as on the screen of a"
            " camera. If false, sight passes in a straight line.")
    mirror_radius = export(
        float, 0.0, range=(0, 100, 0.01), or_greater=True, unit="m", on_set="_set",
        shown_when=("passes_sight", True),
        doc="If above 0, the portal is a round mirror of this radius, which faces forward like a Sensor3D or Sensor2D."
            " A sensor in one region sees the sources in the other whose reflection is in the mirror; from_region and"
            " to_region may be the same. Only sight passes, and exit and is_camera have no effect.")
    sight_kept_per_meter, sight_kept_per_meter_closed, sight_distance = _carries(
        "sight", closed=0.0, closed_doc="Share kept per metre while the portal is closed; 1 for a glass door.",
        distance_doc="Length of the path through the portal; it may differ from the distance to the exit.")
    passes_hearing = export(bool, True, group="Hearing", on_set="_set", doc="If true, sounds pass through the portal.")
    hearing_kept_per_meter, hearing_kept_per_meter_closed, hearing_distance = _carries("hearing", closed=0.1)
    passes_smell = export(
        bool, True, group="Smell", on_set="_set", doc="If true, smells and scent trails pass through the portal.")
    smell_kept_per_meter, smell_kept_per_meter_closed, smell_distance = _carries("smell", closed=0.0)
    smell_area = export(
        float, 2.0, range=(0.001, 1000, 0.001), or_greater=True, unit="m²", on_set="_set",
        doc="Area of the opening; smells, and custom modalities that are slow, pass in proportion to it.")

    wind = export(
        float, 0.0, range=(-100, 100, 0.01), or_greater=True, unit="m/s", on_set="_wind_set",
        doc="Speed of the air through the portal towards to_region; negative towards from_region. It is added to the"
            " speed of smells, which do not pass against a stronger wind. If 0, the wind of the SenseManager is used."
            " Can be changed at any time.")

    other_senses = export(
        dict, (), hint=dictionary_of(str, float), group="Other senses", on_set="_set",
        doc="Share kept on the path through the portal in custom modalities, by name, open or closed; others do not"
            " pass.")

    open_changed = signal(
        ("is_open", bool), doc="Emitted when the portal opens or closes; not emitted when a saved game is loaded.")

    group_name = PORTALS

    @method
    def open(self) -> None:
        """Open the portal; the same as is_open = true."""
        self.is_open = True

    @method
    def close(self) -> None:
        """Close the portal; the same as is_open = false."""
        self.is_open = False

    def end(self, path: NodePath) -> Any:
        """Return the region or other node at a path, or None."""
        return self.get_node_or_null(path) if path else None

    def portals(self, name: str, from_region: str, to_region: str) -> list[SensePortal]:
        """Return the library's portals, one per direction, with the same name."""
        passages = {"sight": self._mirror()} if self.mirror_radius > 0 else self._passages()
        there = SensePortal(from_region, to_region, passages, name, self.is_open, is_baked(self))
        return [there] if self.one_way or from_region == to_region else [there, there.back()]

    def _passages(self) -> dict[str, Passage]:
        unit = self.unit
        start, exit_node = self.metres_of(self.global_position), self.end(self.exit)
        end = None if exit_node is None else self.metres_of(exit_node.global_position)
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
        return passages | {
            sense: Passage(
                start, end, kept_per_m=kept, closed_kept_per_m=kept, area_m2=self.smell_area / unit ** 2,
                wind_m_per_s=self.wind / unit)
            for sense, kept in self.other_senses.items()}

    def _mirror(self) -> Passage:
        unit = self.unit
        ahead = self.point_of((unit, 0.0, 0.0) if self.is_flat else (0.0, 0.0, -unit))
        place, front = self.metres_of(self.global_position), self.metres_of(self.to_global(ahead))
        normal = [b - a for a, b in zip(place, front, strict=True)]
        return replace(
            Passage.mirror(place, normal, self.mirror_radius / unit), kept_per_m=self.sight_kept_per_meter,
            closed_kept_per_m=self.sight_kept_per_meter_closed)

    def senses_named(self) -> list[str]:
        """Return the names of the modalities in its settings."""
        return list(self.other_senses)

    def take_open(self, is_open: bool) -> None:
        """Set is_open from a loaded game without emitting a signal."""
        self.__dict__[type(self).is_open.slot] = self._last_open = is_open

    def take_wind(self, wind_m_per_s: float | None) -> None:
        """Set the wind from a loaded game; None for the wind with which the graph was built."""
        self.__dict__[type(self).wind.slot] = self._first_wind if wind_m_per_s is None else wind_m_per_s * self.unit

    def become(self, manager: Any, name: str) -> None:
        super().become(manager, name)
        self._last_open, self._first_wind = self.is_open, self.wind

    def wrong_settings(self) -> list[str]:
        warnings, region_class, node_class = [], f"SenseRegion{self.dimensions}D", f"Node{self.dimensions}D"
        for name in ("from_region", "to_region"):
            path = getattr(self, name)
            found = self.end(path)
            if found is None or not found.is_class(region_class):
                leads = f"'{path}' is not a {region_class}" if path else "is not set"
                warnings.append(f"{name} {leads}, so the portal leads nowhere; choose a {region_class}")
        if not warnings and self.mirror_radius <= 0 and self.end(self.from_region) == self.end(self.to_region):
            warnings.append(
                f"from_region and to_region are the same region; choose another {region_class} for to_region")
        exit_node = self.end(self.exit)
        if self.exit and (exit_node is None or not exit_node.is_class(node_class)):
            warnings.append(f"exit '{self.exit}' is not a {node_class}; choose a {node_class}, or clear exit")
        if not warnings and self.is_inside_tree():
            try:
                self.portals("checked", "from", "to")
            except (TypeError, ValueError) as error:
                warnings.append(f"leads nowhere: {error}")
        return warnings

    def _wind_set(self) -> None:
        if self._manager is not None:
            wind = self.wind
            self._manager.core.graph.set_portal_wind(self._name, None if wind == self._first_wind else wind / self.unit)

    def _open_set(self) -> None:
        if self._manager is None or self.is_open == self._last_open:
            return
        self._last_open = self.is_open
        self._manager.core.graph.set_open(self._name, self.is_open)
        self.open_changed.emit(self.is_open)

    is_always_drawn = True

    def drawing(self) -> dict[str, Points]:
        ends = [self.end(path) for path in (self.from_region, self.to_region)]
        begin, finish = (np.array(self._place_here(one) if one else (0, 0, 0)) for one in ends)
        out = self._exit_place()
        lines = [arrow((0, 0, 0), out, is_one_way=self.one_way)] if out is not None else []
        offset = finish - begin
        if out is None and np.linalg.norm(offset) > 0:
            half = offset / np.linalg.norm(offset) * 0.75 * self.unit
            lines.append(arrow(-half, half, is_one_way=self.one_way))
        regions = [np.array([begin, (0, 0, 0), finish if out is None else out, finish], np.float32)]
        return {"portal": np.concatenate(lines) if lines else (), "region": np.concatenate(regions)}  # type: ignore[dict-item]

    def handles(self) -> list[DragHandle]:
        out = self._exit_place()
        if out is None:
            return []
        node = self.end(self.exit)

        def drag(origin: Vector3, direction: Vector3) -> None:
            start, ray = np.array(tuple(origin)), np.array(tuple(direction))
            ray = ray / np.linalg.norm(ray)
            met = start + ray * float((np.array(out) - start) @ ray)      # keeps its distance from the camera
            node.global_position = self.to_global(self.point_of(met.tolist()))

        return [DragHandle("exit", out, ((node, "global_position"),), drag)]

    def _exit_place(self) -> tuple[float, ...] | None:
        node = self.end(self.exit)
        return None if node is None or not node.is_class(f"Node{self.dimensions}D") else self._place_here(node)

    def _place_here(self, node: Any) -> tuple[float, float, float]:
        return self.place_of(self.to_local(node.global_position))


@gdclass(icon="res://addons/ai_core/icons/sense_portal_2d.svg")
class SensePortal2D(PortalBase, Node2D):
    """An opening between two SenseRegion2D through which selected senses pass, such as a door or a window.

    Signals enter at its position and leave there, or at the node exit. One-way glass is a one-way portal for sight;
    its physics body must not be in the sight_mask of the SenseManager. An air duct passes smell only. A camera is a
    portal from the region that it films to the region with the screen.
    """

    from_region, to_region, exit = _ends(2)
    dimensions, is_flat = 2, True


@gdclass(icon="res://addons/ai_core/icons/sense_portal_3d.svg")
class SensePortal3D(PortalBase, Node3D):
    """An opening between two SenseRegion3D through which selected senses pass, such as a door or a window.

    Signals enter at its position and leave there, or at the node exit. One-way glass is a one-way portal for sight;
    its physics body must not be in the sight_mask of the SenseManager. An air duct passes smell only. A camera is a
    portal from the region that it films to the region with the screen.
    """

    from_region, to_region, exit = _ends(3)
    dimensions = 3
