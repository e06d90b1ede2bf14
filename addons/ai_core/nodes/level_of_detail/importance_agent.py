"""What has an importance: the character of a BehavioralLOD, a GroupLOD."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import method
from addons.ai_core.nodes.level_of_detail.importance_member import ImportanceMember
from addons.ai_core.nodes.saving.scene_saving import saving


class ImportanceAgent(ImportanceMember):
    """Says why it is so important, and is saved with the AI of its scene."""

    core: Any
    importance: float
    agent_id: int

    @method
    def get_importance_parts(self) -> dict:
        """Return why its importance is what it is: what distance, view, role, … add."""
        if self._importance is None:
            return {"value": self.importance}
        return self._importance.core.explain(self.agent_id)

    save_state, load_state = saving(
        "level or members, importance and forces",
        more='A group inside another is saved with that one. What scripts keep is saved by the group "ai_saved".')

    def is_in_use(self) -> bool:
        return self.core is not None
