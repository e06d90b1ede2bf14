"""Base class of nodes with an importance: BehavioralLOD and GroupLOD."""
from __future__ import annotations

from addons.ai_core.bridge.gd import method
from addons.ai_core.nodes.level_of_detail.importance_member import ImportanceMember
from addons.ai_core.nodes.saving.scene_saving import saving


class ImportanceAgent(ImportanceMember):
    """A node with an importance, which is saved with the AI of its scene."""

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
