"""Base classes of viewers and agents: they belong to an ImportanceManager while they are in the tree."""
from __future__ import annotations

from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import Node, export, method
from addons.ai_core.nodes.characters.agent_places import dimensions_of, has_flat_scene, place_of, shares_world
from addons.ai_core.nodes.debugging.edited_scene import is_a_part
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduler_lookup import WAITING, nearest, report_next_frame, wait_for

GROUP = "importance_managers"

WITHOUT_MANAGER = "found no ImportanceManager and {}; add one below the AIScheduler"
OTHER_WORLD = (
    "is in another World{}D than its ImportanceManager '{}', and {}; add an ImportanceManager to its viewport")
WITHOUT_PLACE = "has no Node3D or Node2D above it, and {}; put it below one"


class ImportanceMember:
    """Joins the nearest ImportanceManager on entering the tree; waits for one if there is none yet."""

    _importance: Any = None
    _wants_importance = False
    without_manager = ""
    is_flat = property(has_flat_scene, doc="Whether the scene is in 2D, where distances are in pixels.")

    def join_importance(self: Any) -> None:
        """Join the manager; report once why it cannot."""
        if self._importance is not None:
            return
        self._wants_importance = True
        if not self.is_in_group(GROUP + WAITING) and importance_warnings(self, self.without_manager):
            report_next_frame(self, self._mistakes_of_importance)
        place = place_of(self)
        manager = manager_of(self, place)
        if manager is None:
            wait_for(self, GROUP)
        elif place is not None and manager.enlist(self, place):
            self._importance = manager

    def leave_importance(self: Any) -> None:
        """Leave the manager, if there is one."""
        manager, self._importance = self._importance, None
        self._wants_importance = False
        if manager is not None and manager.is_valid():
            manager.dismiss(self)

    def _mistakes_of_importance(self: Any) -> list[str]:
        return importance_warnings(self, self.without_manager) if self._wants_importance else []

    def lose_importance(self: Any) -> None:
        """Wait for another manager; called when the manager leaves the tree."""
        self._importance = None
        if self.is_valid() and self.is_inside_tree():
            wait_for(self, GROUP)


class ImportanceSource(IntEnum):
    """Source of the importance of an agent."""

    VIEWERS = 0
    SCRIPT = 1


WITH_VIEWERS = ("importance_source", ImportanceSource.VIEWERS)
"""``shown_when`` of settings for viewers."""


class ImportanceAgent(ImportanceMember, SavedState):
    """Base of BehavioralLOD and GroupLOD: a node with an importance, which is saved with the AI of its scene."""

    ImportanceSource = ImportanceSource

    importance_source = export(
        ImportanceSource, ImportanceSource.VIEWERS, live=False,
        doc="Source of the importance. Viewers: ImportanceViewer nodes. Script: a script that sets importance.")
    importance = export(
        float, 0.0, range=(0, 1, 0.001), shown_when=("importance_source", ImportanceSource.SCRIPT), live=True,
        on_set="importance_set",
        doc="Importance by which the node decides; set it only if importance_source is Script.")

    core: Any = None
    agent_id = -1
    _scheduler: Any = None
    _task: Any = None

    @method
    def get_importance_parts(self) -> dict:
        """Return the parts of the importance: distance, view, approach, size, role, noticed and damaged."""
        if self._importance is None:
            return {"value": self.importance}
        return self._importance.core.explain(self.agent_id)

    save_state, load_state = saving(
        "level or members, importance and forces",
        more='A group inside another group is saved with it. Data of scripts is saved by the group "ai_saved".')

    def is_in_use(self) -> bool:
        return self.core is not None

    def importance_set(self) -> None:
        """Called after ``importance`` was set."""

    def read_importance(self) -> bool:
        """Read the importance, if it is that for viewers; return whether it is known."""
        if self.importance_source == ImportanceSource.VIEWERS:
            value = None if self._importance is None else self._importance.values.get(self.agent_id)
            if value is None:
                return False
            self.importance = value
        return True

    def leave_tasks(self) -> None:
        """Leave the AIScheduler, which may be freed."""
        if self._scheduler is not None and self._scheduler.is_valid():
            if self._task is not None:
                self._scheduler.unschedule(self._task)
            self._scheduler.leave(self)


def manager_of(node: Node, place: Any) -> Any:
    """Return the nearest ImportanceManager in the world of a node and the place above it, None if there is none."""
    return nearest(
        node, "ImportanceManager", GROUP,
        lambda manager: place is None or shares_world(node, manager, dimensions_of(place)))


def importance_warnings(node: Node, without: str) -> list[str]:
    """Return the configuration warnings of a node without a manager or a position."""
    warnings, place = [], place_of(node)
    if manager_of(node, place) is None and not is_a_part(node):
        other = nearest(node, "ImportanceManager", GROUP)
        warnings.append(WITHOUT_MANAGER.format(without) if other is None else OTHER_WORLD.format(
            dimensions_of(place), other.get_name(), without))
    if place is None:
        warnings.append(WITHOUT_PLACE.format(without))
    return warnings
