"""The sense graph manager: signals travel through regions and portals, so that walls stop them."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict, Unpack

from numpy.typing import ArrayLike

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import UnknownNameError, finite_number, several_names
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import Part, Saveable
from ai_core.senses.graph.graph_sight import GraphSight
from ai_core.senses.graph.sense_graph import SensedGraph, SenseGraph
from ai_core.senses.graph.sense_graph_waves import GraphSignals
from ai_core.senses.graph.smell import Scent, ScentGradient, ScentKey, SmellSpreading
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import REPORT_EVERY_S, RegionalSenseManager
from ai_core.senses.scent.scent_trails import ScentTrails
from ai_core.senses.sensation import SensationReceiver
from ai_core.senses.sight.camouflage import Background, Camouflage
from ai_core.senses.sight.continuous_sensing import LineOfSight
from ai_core.senses.stimuli.muffling import Between
from ai_core.senses.turns import Stage
from ai_core.trace import Trace

__all__ = ["SenseGraphManager", "SenseSettings"]

FAINTEST = 1e-3
"""Default of the lowest intensity of waves and smells (no unit), whatever the thresholds.

With smaller values waves and smells spread further, for little gain.
"""

SMELL_STEP_S = 0.25
"""Default of the time between two steps of all smells (s).

Smaller values spread more smoothly and cost more; a smell passes at most one portal in a
step, so regions should be longer than the distance it travels in one.
"""


class SenseSettings(TypedDict, total=False):
    """Settings of a ``RegionalSenseManager``, which says what each means."""

    line_of_sight: LineOfSight | None
    modalities: Iterable[Modality] | None
    max_rays: int
    period_frames: int
    report_every_s: float
    up: Sequence[float]
    occlusion: Between | None
    background: Background | None
    camouflage: Camouflage | None
    scent_trails: ScentTrails | None
    max_clues: int
    audience: SensationReceiver | None
    faults: FaultIsolation | None
    trace: Trace | None


class SenseGraphManager(RegionalSenseManager, Saveable):
    """Reports to sensors the sources that they sense through a sense graph.

    Everything else is as in ``RegionalSenseManager``. A position outside all regions senses
    nothing, and cannot be sensed.

    - **Continuous** modalities (sight, touch) sense sources in the same region, or through
      one portal that leads into it. Intensity falls in the source's region, in the
      portal and in the sensor's region. A camera's line of sight starts at the camera.
    - **Emitted** modalities (sound) are waves, with tags and channels. A wave takes every passage once, the earliest
      arrival first, of equal ones the strongest, then the smallest id. Each sensor is notified once; the reported
      position is that of the last portal, where the signal seems to come from. Waves spread in the advance after
      ``emit``, with the doors and sensors of that time. Echoes are further calls of ``emit``.
    - **Scent trails**: a mark is smelled in its region, and through one portal that is not closed.
    - **Smells** are emitted as an amount: the intensity it would have in one cubic metre (60 in a room of 60 m³ smells
      1 strong). A smell stays, spreads through portals at the modality's speed, dissipates as its regions define, and
      never increases. Sensors are notified at most every ``report_every_s``.

    Args:
        clock: game time.
        graph: regions and portals.
        smells: names of the modalities that are smells; their speed is not 0.
        gradual: names of modalities whose waves are simulated while they travel, so that
            changes of doors and sensors in the meantime have an effect; ``is_slow`` modalities always are.
        faintest: see ``FAINTEST`` (no unit), above 0.
        smell_step_s: see ``SMELL_STEP_S`` (s), above 0.
        settings: arguments of ``RegionalSenseManager``. ``occlusion`` is called for lines inside
            regions: from the source to portals (sensor id -1) or to sensors, and from
            the last portal to sensors; walls between regions belong to the graph.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or a smell is continuous or instant.
        UnknownNameError: if a modality is unknown, also one in the graph.

    Source: 001_world_interfacing, finite element model sense manager.
    """

    STATE = RegionalSenseManager.STATE.extended(graph=Part(), smells=Part(at="_smells"))

    def __init__(
        self, clock: Clock, graph: SenseGraph, *, smells: Iterable[str] = (), gradual: Iterable[str] = (),
        faintest: float = FAINTEST, smell_step_s: float = SMELL_STEP_S, **settings: Unpack[SenseSettings],
    ) -> None:
        super().__init__(clock, **settings)
        faintest = finite_number("faintest", faintest, above=0)
        step_s = finite_number("smell_step_s", smell_step_s, above=0)
        report_every_s = float(settings.get("report_every_s", REPORT_EVERY_S))
        self._graph = SensedGraph(graph, self._modalities, self._sensors, self._sources)
        self._continuous = GraphSight(self._modalities, self._sensors, self._sources, self._graph)
        travelling = self._travelling("smells", smells)
        slow = [n for n in range(len(self._modalities)) if self._modalities[n].is_slow and n not in travelling]
        self._smells = SmellSpreading(
            self._modalities, travelling, self._sensors, self._graph, faintest, step_s, report_every_s,
            clock.now.seconds)
        self._emitted = GraphSignals(
            self._modalities, self._sensors, self._sources, self._kept, self.occlusion, self._graph, self._smells,
            faintest, {*self._travelling("gradual", gradual), *slow})
        if self._smelling is not None:
            self._smelling.path_m = self._graph.path_m
        self._turns = self._made_turns()

    @property
    def graph(self) -> SenseGraph:
        """The graph; opens and closes doors."""
        return self._graph.graph

    def change_modality(self, name: str, *, range_m: float | None = None, kept_per_m: float | None = None) -> None:
        """Change the range of a modality; regions define kept_per_m.

        Raises:
            TypeError, ValueError: as in ``RegionalSenseManager``, and if `kept_per_m` is given.
            UnknownNameError: if the modality is unknown.
        """
        if kept_per_m not in (None, self._modalities[self._modalities.number(name)].kept_per_m):
            raise ValueError(
                "kept_per_m must be None: in a graph, regions define kept_per_m; change the"
                " regions and make a new manager"
            )
        super().change_modality(name, range_m=range_m)

    def set_wind(self, velocity: ArrayLike) -> None:
        """Set the wind in all regions (m/s); for one corridor see ``SenseGraph.set_portal_wind``.

        Raises:
            TypeError, ValueError: if it is not a velocity.
        """
        self._graph.graph.set_wind(velocity)

    def smell_in(self, region: str | int, source_id: int, modality_name: str = "smell") -> float:
        """Return the intensity of the scent of a source in a region, 0 where there is none.

        Raises:
            UnknownNameError: if the region or the smell is unknown.
        """
        region_id, scent = self._scent_near(region, source_id, modality_name)
        return 0.0 if scent is None else float(scent.intensity_in(region_id))

    def uphill_from(self, region: str | int, source_id: int, modality_name: str = "smell") -> ScentGradient | None:
        """Return the neighbouring region in which the scent of a source is stronger than in this region.

        Repeated in that region, it leads to where the scent is strongest. None if that is this
        region, or if there is no scent near.

        Raises:
            UnknownNameError: if the region or the smell is unknown.

        Cost: O(portals into the region).
        """
        region_id, scent = self._scent_near(region, source_id, modality_name)
        return None if scent is None else scent.uphill_from(region_id)

    def statistics(self) -> dict[str, float]:
        """Return the counts of ``RegionalSenseManager``, and of scents, of those dropped as too many linger, of their
        steps merged as the budget did not suffice, and of regions with scents.
        """
        return {
            **super().statistics(), "scents": len(self._smells.scents), "scents_dropped": self._smells.dropped,
            "smell_steps_merged": self._smells.merged,
            "regions_that_smell": sum(len(one.regions) for one in self._smells.scents.values())}

    def _travelling(self, what: str, names: Iterable[str]) -> list[int]:
        """Return the numbers of modalities that take time."""
        numbers = sorted({self._modalities.number(name) for name in several_names(what, names)})
        for number in numbers:
            if self._modalities[number].delay_s_per_m == 0:
                raise ValueError(
                    f"{what} must hold modalities that travel over time, got"
                    f" {self._modalities[number].name!r}, which is continuous or instant; set its speed_m_per_s"
                )
        return numbers

    def _scent_near(self, region: str | int, source_id: int, modality_name: str) -> tuple[int, Scent | None]:
        number = self._modalities.number(modality_name)
        if number not in self._smells.models:
            raise UnknownNameError("smell", modality_name, self._smells.names)
        region_id = self._graph.graph.region_id(region)
        return region_id, self._smells.scents.get(ScentKey(modality_name, int(source_id)))

    def _signal_stages(self) -> tuple[Stage, ...]:
        signal, *others = super()._signal_stages()
        return (signal, self._spread_smells, *others)

    def _spread_smells(self, budget: Budget, now_s: float) -> bool:
        return self._smells.advance(budget, now_s, self._perception.hear)
