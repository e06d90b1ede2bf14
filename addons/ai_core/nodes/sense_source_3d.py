"""SenseSource3D: something that can be sensed."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    Node3D,
    RefusedValue,
    export,
    gdclass,
    method,
)
from addons.ai_core.nodes.sense_member import SenseMember


@gdclass(icon="res://addons/ai_core/icons/sense_source_3d.svg")
class SenseSource3D(SenseMember, Node3D):
    """Makes what it is placed on visible, and lets it be heard with emit().

    The nearest physics body at or above it counts as itself: it does not hide it.
    """

    sight_strength = export(
        float, 1.0, range=(0, 100, 0.01), or_greater=True, on_set="_change",
        doc="How well it can be seen; 0 is invisible.")
    sound_strength = export(
        float, 2.0, range=(0, 100, 0.01), or_greater=True, on_set="_change",
        doc="Strength of a sound that is emitted without saying how strong.")
    affiliation = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), on_set="_change",
        doc="What it belongs to; sensors choose what they notice.")

    without_manager = "cannot be sensed"
    saved_names = ("sight_strength", "sound_strength", "affiliation")

    def __init__(self) -> None:
        self.source_id = -1

    def on_exit_tree(self) -> None:
        if self._manager is not None and self._manager.is_valid():
            self._manager.remove_source(self.source_id)
        self._manager, self.source_id = None, -1

    def lose_manager(self) -> None:
        self.source_id = -1
        super().lose_manager()

    @method
    def emit(self, modality: str, strength: float = -1.0) -> None:
        """Send a signal, such as emit("hearing", 2.0); a negative strength takes the source's own."""
        if self._manager is None:
            raise RefusedValue("cannot emit: it is not in a scene with a SenseManager")
        self._manager.core.emit(self.source_id, modality, None if strength < 0 else strength)

    def _enlist(self, manager: Any) -> None:
        self.source_id = manager.add_source(self, **self._settings())
        manager.tell_source_joined()

    def take_id(self, source_id: int) -> None:
        self.source_id = source_id

    def _settings(self) -> dict[str, Any]:
        return {
            "strengths": {"sight": self.sight_strength, "hearing": self.sound_strength},
            "affiliation": self.affiliation & 0xFFFFFFFF,
        }

    def _change(self) -> None:
        if self._manager is not None:
            self._manager.core.change_source(self.source_id, **self._settings())
