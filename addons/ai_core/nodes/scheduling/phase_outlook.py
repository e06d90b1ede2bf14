"""How evenly the nodes of an edited scene will be spread over frames, before the game runs."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import editor_method
from addons.ai_core.nodes.debugging.edited_scene import nodes_of
from addons.ai_core.nodes.scheduling.scheduled import SCHEDULERS, nearest
from ai_core.budget import Budget
from ai_core.scheduling.phase_quality import phase_quality
from ai_core.scheduling.phasing import DryRun, PhaseTable, Slot
from ai_core.scheduling.rephasing import Rephasing

RUN_BY_PERIOD = (
    "AIBehavior", "BehavioralLOD", "HabitTree", "ImportanceManager", "Timeslicer",
)
"""Classes whose nodes run every ``period_frames``."""


class PhaseOutlook:
    """What the inspector tells of an AIScheduler in the editor; a part of that class."""

    automatic_phasing: bool
    look_ahead_frames: int

    @editor_method
    def get_phase_outlook(self) -> str:
        """Return in words how the nodes below it will meet, and what rephase() would make of it."""
        nodes = self._periodic_nodes()
        if not nodes:
            return "No node of this scene runs by a period under this AIScheduler."
        slots, movable = self._slots(nodes)
        quality = phase_quality(slots, names=[str(one.get_name()) for one in nodes])
        search = Rephasing(slots, movable=movable)
        search.advance(Budget.unlimited())
        better = phase_quality([
            Slot(slot.period_frames, phase) for slot, phase in zip(slots, search.result, strict=True)])
        runs = quality.runs
        return (
            f"{len(nodes)} nodes run by a period: {runs.minimum:g} to {runs.maximum:g} in a frame,"
            f" {runs.mean:.2f} on average; after rephase() at most {better.runs.maximum:g}.\n{quality.advice}")

    def _periodic_nodes(self) -> list[Any]:
        found = [one for name in RUN_BY_PERIOD for one in nodes_of(self, name)]  # type: ignore[arg-type]
        return [one for one in found if nearest(one, "AIScheduler", SCHEDULERS) == self]

    def _slots(self, nodes: list[Any]) -> tuple[list[Slot], list[bool]]:
        """Return the slots that nodes get as they are added, and which have automatic phases."""
        table: Any = DryRun(self.look_ahead_frames) if self.look_ahead_frames else PhaseTable()
        slots, movable = [], []
        for node in nodes:
            is_automatic = self.automatic_phasing and getattr(node, "automatic_phase", True)
            period = node.period_frames
            phase = table.best_phase(period) if is_automatic else getattr(node, "phase_frames", 0)
            slots.append(Slot(period, phase % period))
            movable.append(is_automatic)
            table.add(slots[-1])
        return slots, movable
