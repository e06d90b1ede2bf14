"""ImportanceViewer: a camera or player for which agents are important."""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import Node, export, gdclass, report_error
from addons.ai_core.nodes.level_of_detail.importance_member import ImportanceMember, importance_warnings
from ai_core.level_of_detail.viewer import Viewer

Floats = NDArray[np.float32]


@gdclass(icon="res://addons/ai_core/icons/importance_viewer.svg")
class ImportanceViewer(ImportanceMember, Node):
    """Makes agents near it and in its view important. Add it below a camera or the player.

    There can be any number of viewers. The importance of an agent is the highest that it has to any of them.
    """

    enabled = export(bool, True, live=True, doc="If false, the viewer is ignored.")
    weight = export(
        float, 1.0, range=(0, 1, 0.01), live=True,
        doc="Factor on the importance for this viewer: 1 for the player, less for a mirror.")
    field_of_view = export(
        float, math.pi / 2, range=(math.radians(0.5), math.tau, math.radians(0.5)), as_degrees=True, live=True,
        doc="Full angle in which agents count as in view, around -z of the Node3D above. 360 degrees includes all"
            " directions. In 2D all agents are in view.")
    near_distance = export(
        float, 0.0, range=(0, 1000, 0.5), or_greater=True, unit="m", group="Range", on_set="_check_range", live=True,
        doc="Distance up to which nearness counts in full for this viewer; 0 uses near_distance of the"
            " ImportanceManager.")
    far_distance = export(
        float, 0.0, range=(0, 10000, 0.5), or_greater=True, unit="m", on_set="_check_range", live=True,
        doc="Distance beyond which nearness does not count for this viewer: more for a scope, less for a mirror; 0"
            " uses far_distance of the ImportanceManager.")

    without_manager = "sees nothing"
    is_viewer = True

    def on_entered(self) -> None:
        self.join_importance()
        self._check_range()

    def on_exit_tree(self) -> None:
        self.leave_importance()

    def core_viewer(self, position: Floats, forward: Floats, velocity: Floats) -> Viewer:
        """Return the library's viewer at a position."""
        # An invalid range was reported when it was set, so the frame continues with the defaults.
        unit = math.inf if self._range_refusal() else self._importance.unit
        looks = len(position) == 3 and self.field_of_view < math.tau - 1e-6 and bool(forward.any())
        return Viewer(
            tuple(position.tolist()), forward=tuple(forward.tolist()) if looks else None,
            velocity=tuple(velocity.tolist()), field_of_view_rad=min(self.field_of_view, math.tau),
            weight=self.weight, near_m=self.near_distance / unit or None, far_m=self.far_distance / unit or None)

    def _range_refusal(self) -> str:
        """Return why its range is invalid, "" if it is valid."""
        if self._importance is None or not (self.near_distance or self.far_distance):
            return ""
        settings, unit = self._importance.core.settings, self._importance.unit
        near, far = self.near_distance or settings.near_m * unit, self.far_distance or settings.far_m * unit
        if far > near:
            return ""
        return (f"far_distance must be above near_distance, got {far:g} and {near:g};"
                " those of the ImportanceManager are used")

    def _check_range(self) -> None:
        refusal = self._range_refusal()
        if refusal:
            report_error(refusal, self)

    def _get_configuration_warnings(self) -> list[str]:
        return importance_warnings(self, self.without_manager)
