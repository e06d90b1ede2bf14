"""The sense graph manager: signals go by regions and portals, so that walls count.

The same sensors, sources, memories and listeners as in the regional manager. What is
different is the road: sight goes through one portal, sounds spread as waves from portal
to portal, smells stay and creep.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Unpack

import numpy as np

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import UnknownNameError, finite_number, point, shown
from ai_core.saving.fields import State
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_by_sense import GraphBySense
from ai_core.senses.graph.sense_graph_sight import GraphSight
from ai_core.senses.graph.sense_graph_signals import GraphSignals
from ai_core.senses.graph.sense_graph_state import Change, prepared_travel, saved_travel
from ai_core.senses.graph.sense_graph_waves import GraphWaves
from ai_core.senses.graph.smell_cloud import ScentGradient
from ai_core.senses.graph.smell_spreading import ScentKey, SmellSpreading
from ai_core.senses.regional_sense_manager import TELL_EVERY_S, RegionalSenseManager
from ai_core.senses.sense_settings import SenseSettings

__all__ = ["SenseGraphManager"]

FAINTEST = 1e-3
"""An intensity below this is nothing unless told (no unit), whatever the thresholds.

Smaller lets waves run, and smells creep, further for little.
"""

SMELL_STEP_S = 0.25
"""Time between two steps of all smells unless told (s).

Smaller creeps more smoothly and costs more; a smell comes through at most one portal in a
step, so regions should be longer than it creeps in one.
"""


UP = (0.0, 1.0, 0.0)


class SenseGraphManager(RegionalSenseManager):
    """Tells sensors what they sense, by way of a sense graph.

    What is not said here is as in ``RegionalSenseManager``. A position that lies in no
    region senses nothing, and nothing is sensed there.

    - **Continuous** modalities (sight, touch) show what is in the same region, or comes
      through one portal that leads into it. Intensity falls in the source's region, in the
      portal and in the sensor's region. A camera's line of sight is asked from the camera.
    - **Emitted** ones (sound) are waves, tags and channels included. They go through every passage once, the earliest
      arrival first, of equal ones the strongest, then the smallest id; each sensor is told
      once, and the position told is the last portal's: that is where it seems to come from.
      They spread in the advance after ``emit``, as doors and sensors are then. Echoes are
      further calls of ``emit``.
    - **Scent trails**: a mark is smelled in its region, and through one portal that is not shut.
    - **Smells** are emitted as an amount: the intensity it would have in one cubic metre (60
      in a room of 60 m³ smells 1 strong). It stays, spreads through portals at the
      modality's speed, fades as its regions say, and never becomes more. Sensors are told
      at most every ``tell_every_s``.

    Args:
        clock: game time.
        graph: regions and portals of all senses.
        graphs: graph by modality, for senses that have one of their own.
        smells: names of the modalities that are smells; their speed is not 0.
        gradual: names of those whose waves are followed as they travel, so that a door shut,
            or a sensor that moves, meanwhile counts; beside those that are ``is_slow``.
        faintest: see ``FAINTEST`` (no unit), above 0.
        smell_step_s: see ``SMELL_STEP_S`` (s), above 0.
        settings: all that ``RegionalSenseManager`` takes. ``occlusion`` is asked for what stands
            within regions: from the source to portals (sensor id -1) or to sensors, and from
            the last portal to sensors; walls between regions belong to the graph.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or a smell is continuous or instant.
        UnknownNameError: if a modality is unknown, also one in the graph.

    Source: 001_world_interfacing, finite element model sense manager.
    """

    def __init__(
        self,
        clock: Clock,
        graph: SenseGraph,
        *,
        graphs: Mapping[str, SenseGraph] | None = None,
        smells: Iterable[str] = (),
        gradual: Iterable[str] = (),
        faintest: float = FAINTEST,
        smell_step_s: float = SMELL_STEP_S,
        **settings: Unpack[SenseSettings],
    ) -> None:
        super().__init__(clock, **settings)
        faintest = finite_number("faintest", faintest, above=0)
        step_s = finite_number("smell_step_s", smell_step_s, above=0)
        tell_every_s = float(settings.get("tell_every_s", TELL_EVERY_S))
        self._graphs = GraphBySense(graph, graphs, self._modalities, self._sensors, self._sources)
        upward = point("up", settings.get("up", UP)).astype(np.float64)
        self._continuous = self._sight = GraphSight(
            self._modalities, self._sensors, self._sources, upward / np.linalg.norm(upward),
            self._graphs,
        )
        self._emitted = signals = GraphSignals(
            self._modalities, self._sensors, self._sources, self._muffle, self._is_muffled)
        creeping = self._travelling("smells", smells)
        slow = [n for n in range(len(self._modalities)) if self._modalities[n].is_slow and n not in creeping]
        self._waves = GraphWaves(self._modalities, self._sensors, self._graphs, faintest,
                                 {*self._travelling("gradual", gradual), *slow}, signals.noise, self._kept)
        self._smells = SmellSpreading(
            self._modalities, creeping, self._sensors, self._graphs, faintest, step_s, tell_every_s,
            clock.now.seconds,
        )
        signals.go_by(self._waves, self._smells)
        if self._smelling is not None:
            self._smelling.go_by(self._graphs.way_m)
        self._stages = (
            self._spread, self._deliver, self._creep, *self._stages[1:])

    @property
    def graph(self) -> SenseGraph:
        """The graph of all senses that have none of their own; open and shut doors there."""
        return self._graphs.graphs[0]

    def change_modality(
        self, name: str, *, range_m: float | None = None, attenuation: float | None = None
    ) -> None:
        """Let signals of a modality carry further or less far; regions say how they weaken.

        Raises:
            TypeError, ValueError: as there, and if another attenuation is given.
            UnknownNameError: if the modality is unknown.
        """
        if attenuation not in (None, self._modalities[self._modalities.number(name)].attenuation):
            raise ValueError(
                "attenuation must be None: that of a graph belongs to its regions; make the"
                " manager with another graph"
            )
        super().change_modality(name, range_m=range_m)

    def blow(self, velocity: object) -> None:
        """Let a wind blow through all regions (m/s); for one corridor see ``SenseGraph.set_wind``.

        Raises:
            TypeError, ValueError: if it is no velocity.
        """
        for graph in self._graphs.graphs:
            graph.blow(velocity)

    def set_light_emitter(self, source_id: int, gives_light: bool) -> None:
        """Say whether a source gives light, and so shows through two portals.

        Raises:
            TypeError: if ``gives_light`` is no bool.
            UnknownNameError: if the source is unknown.
        """
        self._sources.ids.slot(source_id)
        if not isinstance(gives_light, bool):
            raise TypeError(f"gives_light must be True or False, got {shown(gives_light)}")
        lights = self._sight.lights
        (lights.add if gives_light else lights.discard)(int(source_id))

    def remove_source(self, source_id: int) -> None:
        """Remove a source; its sounds and smells go on, memories of it remain.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        super().remove_source(source_id)
        self._sight.lights.discard(int(source_id))

    def smell_in(self, region: str | int, source_id: int, modality_name: str = "smell") -> float:
        """Return how strong the scent of a source is in a region, 0 where there is none.

        Raises:
            UnknownNameError: if the region or the smell is unknown.
        """
        number = self._smell_number(modality_name)
        scent = self._smells.scents.get(ScentKey(number, int(source_id)))
        region_id = self._graphs.graph[number].region_id(region)
        return 0.0 if scent is None else scent.intensity_in(region_id)

    def uphill_from(
        self, region: str | int, source_id: int, modality_name: str = "smell"
    ) -> ScentGradient | None:
        """Return where the scent of a source comes from stronger than it is in a region.

        Going there, and asking again, leads to where it is strongest. None if that is here,
        or it smells of it nowhere near.

        Raises:
            UnknownNameError: if the region or the smell is unknown.

        Cost: O(portals into the region).
        """
        number = self._smell_number(modality_name)
        region_id = self._graphs.graph[number].region_id(region)
        scent = self._smells.scents.get(ScentKey(number, int(source_id)))
        return None if scent is None else scent.uphill_from(region_id)

    def statistics(self) -> dict[str, float]:
        """Return counts as there, and of waves that spread, scents, and regions they are in."""
        return {
            **super().statistics(),
            "arrivals_under_way": len(self._emitted) + len(self._waves),
            "waves_spreading": len(self._waves.waves),
            "scents": len(self._smells.scents),
            "regions_that_smell": sum(len(one) for one in self._smells.scents.values()),
        }

    def save_state(self) -> State:
        """Return all that lives across frames, doors included, as plain data.

        Raises:
            RuntimeError: if called from a listener.
        """
        return {**super().save_state(), "graph": saved_travel(
            self._modalities, self._graphs, self._waves, self._smells, self._sight)}

    def prepare_state(self, state: object) -> Change:
        """Check a save against what is here, as there; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called from a listener.
        """
        rest = dict(state) if isinstance(state, dict) else state
        travel = rest.pop("graph", None) if isinstance(rest, dict) else None
        load_rest = super().prepare_state(rest)
        load_travel = prepared_travel(
            travel, self._modalities, self._graphs, self._waves, self._smells, self._sight)

        def change() -> None:
            load_rest()
            load_travel()

        return change

    def _travelling(self, what: str, names: Iterable[str]) -> list[int]:
        """Return the numbers of modalities that take time."""
        if isinstance(names, str):
            raise TypeError(f"{what} must be several names, got {shown(names)}; use [{names!r}]")
        numbers = sorted({self._modalities.number(name) for name in names})
        for number in numbers:
            if self._modalities[number].inverse_speed_s_per_m == 0:
                raise ValueError(
                    f"{what} must take time, got {self._modalities[number].name!r}, which is"
                    " continuous or instant; give it an inverse_speed_s_per_m"
                )
        return numbers

    def _smell_number(self, modality_name: str) -> int:
        number = self._modalities.number(modality_name)
        if number not in self._smells.rooms:
            known = [self._modalities[one].name for one in self._smells.rooms]
            raise UnknownNameError("smell", modality_name, known)
        return number

    def _spread(self, budget: Budget) -> bool:
        return self._waves.spread(budget, self.clock.now.seconds)

    def _deliver(self, budget: Budget) -> bool:
        return super()._deliver(budget) and self._waves.deliver(
            budget, self.clock.now.seconds, self._perceivers.notice)

    def _creep(self, budget: Budget) -> bool:
        return self._smells.advance(budget, self.clock.now.seconds, self._perceivers.notice)
