"""Smells in a sense graph: scents that stay in regions, flow through portals, and fade.

A scent advances in steps of game time. The amount that leaves one region arrives in others. No region gives more than
half of its scent in a step, so no amount becomes negative, however long the step.
"""
from __future__ import annotations

import logging
from collections import deque
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LARGEST_FLOAT32, LATEST_S
from ai_core.saving.kinds import ArrayOf, Flag, ListOf, MapOf, OneOf, Record, Row, Seconds, Text, Whole
from ai_core.senses.graph.sense_graph import NOWHERE, SensedGraph, SenseGraph, expanded, lengths
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensation import Hear, Point, Sensation
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import ALL_AFFILIATIONS

__all__ = ["Scent", "ScentGradient", "ScentKey", "SmellModel", "SmellSpreading"]

MOST_LEAVES = 0.5
"""Largest share of a region's scent that leaves in one step.

With more, two regions oscillate instead of reaching a balance. A region too small for its
portals counts as just large enough, so that it reaches the right intensity.
"""

MOST_SCENTS = 1024
"""Scents that are kept. Where a region dissipates nothing, a scent outlives its source, so many short-lived sources
would take memory and saves without end."""

ROUNDING_S = 1e-9
"""Time by which a step may come early (s): sums of frame times end a little before a round time."""

Floats = NDArray[np.float64]


class ScentGradient(NamedTuple):
    """The direction in which a scent is stronger.

    Attributes:
        region: id of the region that it comes from.
        portal: id of the portal that it comes through.
        position: entry point in the current region (m): go there, and through.
        intensity: its intensity in that region.
    """

    region: int
    portal: int
    position: Point
    intensity: float


class SmellModel:
    """How one modality spreads in a graph in one step; shared by all its scents.

    Attributes:
        table: the passages.
        volume_m3: (regions,) float64, at least as large as the step needs.
        faint: (regions,) float64, a smaller mass does not spread.
        stays: (regions,) float64, share of the mass that is left by dissipation after a step.
    """

    def __init__(self, graph: SenseGraph, modality: Modality, faintest: float, step_s: float) -> None:
        self.table = table = graph.table(modality)
        self.step_s, self.delay_s_per_m = step_s, modality.delay_s_per_m
        flow_m3 = table.area_m2 * (step_s / modality.delay_s_per_m)
        leaving_m3 = np.bincount(table.from_region, flow_m3 * table.kept_open, len(graph.regions))
        volume_m3 = np.array([region.volume_m3 for region in graph.regions], np.float64)
        self.volume_m3 = np.maximum(volume_m3, leaving_m3 / MOST_LEAVES)
        self.faint = faintest * self.volume_m3
        self.stays = np.float_power(1.0 - table.dissipation, step_s)
        self._rate = flow_m3 / self.volume_m3[table.from_region]
        self._flow: tuple[Floats, Floats] | None = None
        self._flow_of = 1, table.changes

    def flow(self, steps: int = 1) -> tuple[Floats, Floats]:
        """Return two columns of all passages, with the present doors and winds, for steps that are made as one.

        These are the share of a region's mass that leaves through each meanwhile, and its length (m) at the modality's
        own speed, so that wind shortens it.

        Cost: O(passages) if a door, a wind or ``steps`` has changed, else O(1).
        """
        if self._flow is None or self._flow_of != (steps, self.table.changes):
            table, region = self.table, self.table.from_region
            self._flow_of = steps, table.changes
            # The wind adds to the speed; together no more than MOST_LEAVES passes.
            faster = np.maximum(0.0, 1.0 + table.wind_m_per_s * self.delay_s_per_m)
            share = self._rate * table.kept * faster * steps
            leaves = np.bincount(region, share, len(self.volume_m3))
            share *= (MOST_LEAVES / np.maximum(leaves, MOST_LEAVES))[region]
            self._flow = share, table.distance_m / np.where(faster > 0, faster, 1.0)
        return self._flow


class Scent:
    """The scent of one source.

    Attributes:
        mass: (all regions,) float64, intensity times volume.
        arrived_s: (all regions,) float64, game time of its first trace there (s).
        entry: (all regions, 3) float64, where it first came in (m).
        tag: of the last emission, for listeners.
        reported_at_s: game time of the last report to each sensor that smells it, by sensor id (s).
    """

    def __init__(self, model: SmellModel, affiliation: int) -> None:
        self.model, self.affiliation, self.tag = model, affiliation, ""
        self.mass, self.arrived_s = np.zeros_like(model.volume_m3), np.zeros_like(model.volume_m3)
        self.entry = np.zeros((len(self.mass), 3))
        self.reported_at_s: dict[int, float] = {}

    @property
    def regions(self) -> NDArray[np.int64]:
        """Ids of the regions that smell of it, ascending."""
        return np.flatnonzero(self.mass)

    def intensity_in(self, regions: NDArray[np.integer] | int) -> Floats:
        """Return the intensity in regions, 0 where there is none."""
        return np.asarray(np.where(regions == NOWHERE, 0.0, self.mass[regions] / self.model.volume_m3[regions]))

    def add(self, region: int, amount: float, entry: Point, now_s: float) -> None:
        """Add an amount to a region: the intensity that it would have in one cubic metre."""
        if not self.mass[region]:
            self.arrived_s[region], self.entry[region] = now_s, entry
        self.mass[region] += amount

    def step(self, begin_s: float, steps: int = 1) -> None:
        """Flow and fade for steps that are made as one; the last of them begins at a game time (s).

        It flows through a passage once it has had the time to get there.

        Cost: O(regions that smell, and their passages): 0.1 ms for 100 regions; 2 ns for each other region.
        """
        model, table, mass = self.model, self.model.table, self.mass
        share, away_m = model.flow(steps)
        strong = np.flatnonzero(mass >= model.faint)
        index, row = expanded(table.out_first, strong)
        here = strong[index]
        moved = mass[here] * share[row]
        arrives_s = np.full(len(row), begin_s - model.step_s)      # or before that, if a door opened since
        most_m = table.across_m[here] + away_m.max(initial=0.0)
        young = np.flatnonzero(self.arrived_s[here] + most_m * model.delay_s_per_m > arrives_s)
        leg_m = lengths(self.entry[here[young]] - table.start[row[young]])
        travel_s = (leg_m + away_m[row[young]]) * model.delay_s_per_m
        arrives_s[young] = np.maximum(arrives_s[young], self.arrived_s[here[young]] + travel_s)
        flows = np.flatnonzero((moved > 0) & (arrives_s <= begin_s))
        row, here, moved = row[flows], here[flows], moved[flows]
        there = table.to_region[row]
        self._enter(there, row, arrives_s[flows])
        before = mass.copy()
        np.subtract.at(mass, here, moved)
        np.add.at(mass, there, moved)
        mass *= model.stays if steps == 1 else np.float_power(model.stays, steps)
        mass[(mass < model.faint) & (mass <= before)] = 0.0

    def uphill_from(self, region: int) -> ScentGradient | None:
        """Return the neighbouring region from which it comes stronger, None if it is strongest here."""
        table, share = self.model.table, self.model.flow()[0]
        best: ScentGradient | None = None
        least = float(self.intensity_in(region))
        for row in table.into(region):
            there = int(table.from_region[row])
            intensity = float(self.intensity_in(there)) if share[row] > 0 else 0.0
            if intensity > least:
                x, y, z = table.end[row].tolist()
                best = ScentGradient(there, int(table.portal[row]), (x, y, z), intensity)
                least = intensity
        return best

    def comes_from(self, region: int) -> Point:
        """Return where it seems to come from in a region (m)."""
        uphill = self.uphill_from(region)
        if uphill is not None:
            return uphill.position
        x, y, z = self.entry[region].tolist()
        return (x, y, z)

    def _enter(self, regions: NDArray[np.int32], row: NDArray[np.int64], arrives_s: Floats) -> None:
        """Note when and where the scent enters regions without it, each by its earliest passage."""
        new = np.flatnonzero(self.mass[regions] == 0)
        if len(new):
            order = new[np.lexsort((row[new], arrives_s[new], regions[new]))]
            entered, first = np.unique(regions[order], return_index=True)
            self.arrived_s[entered] = arrives_s[order[first]]
            self.entry[entered] = self.model.table.end[row[order[first]]]


class ScentKey(NamedTuple):
    """The name of the modality of a scent, and the id of its source."""

    modality: str
    source_id: int


SENSOR_OR_SOURCE = Whole(maximum=LARGEST_ID)
KEY = Row(ScentKey, OneOf(lambda owner: owner.names), SENSOR_OR_SOURCE)


class SmellSpreading(Saveable):
    """All scents of a world, by modality and source, at most ``MOST_SCENTS``.

    Steps have one length, whatever the frame rate; between them only emissions change a
    scent. A step of one scent is not interrupted. If the budget does not suffice for all scents in the
    time of a step, those that are due by then are made as one.

    Attributes:
        models, names: how each smell spreads, by the number of its modality, and their names.
        scents: every scent, in the order of their last emissions: one too many drops the first.
        dropped: total of scents that were dropped so.
        at_once: steps that the round under way, or the last, makes as one (count).
        merged: total of steps that were not made by themselves.
    """

    STATE = DeclaredState(
        begun_s=Seconds(),
        steps=Whole(),
        dropped=Whole(),
        scents=MapOf(Record(
            SimpleNamespace, affiliation=Whole(maximum=ALL_AFFILIATIONS), tag=Text(), regions=ListOf(Text()),
            mass=ArrayOf(minimum=0), arrived_s=ArrayOf(minimum=-LATEST_S, maximum=LATEST_S),
            entry=ArrayOf(shape=(None, 3), minimum=-LARGEST_FLOAT32, maximum=LARGEST_FLOAT32),
            reported_at_s=MapOf(Seconds(), key=SENSOR_OR_SOURCE)), key=KEY, at="_scent_states"),
        turn=ListOf(KEY, make=deque, at="_turn"),
        at_once=Whole(1),
        merged=Whole(),
        is_late=Flag(at="_is_late"),
    )

    def __init__(
        self, modalities: ModalitySet, numbers: Collection[int], sensors: SensorTable, graph: SensedGraph,
        faintest: float, step_s: float, report_every_s: float, begun_s: float,
    ) -> None:
        self._modalities, self._sensors, self._graph = modalities, sensors, graph
        self._step_s, self._report_every_s = step_s, report_every_s
        self.models = {number: SmellModel(graph.graph, modalities[number], faintest, step_s) for number in numbers}
        self.names = [modalities[number].name for number in numbers]
        self.begun_s, self.steps, self.dropped = begun_s, 0, 0
        self.scents: dict[ScentKey, Scent] = {}
        self._turn: deque[ScentKey] = deque()
        self.at_once, self.merged = 1, 0
        self._is_late = False       # whether the budget ended in the round under way, or the last

    def emit(
        self, source_id: int, affiliation: int, modality: int, strength: float,
        position: Point, now_s: float, tag: str = "",
    ) -> None:
        """Add an amount at a position: the intensity that it would have in one cubic metre."""
        region = self._graph.graph.region_at(position)
        if region == NOWHERE or strength == 0:
            return
        if not self.scents:
            self._skip_to(now_s)  # steps before this scent do not age it
        key = ScentKey(self._modalities[modality].name, source_id)
        scent = self.scents.pop(key, None) or Scent(self.models[modality], affiliation)
        if len(self.scents) >= MOST_SCENTS:
            self._drop_first()
        self.scents[key] = scent
        scent.affiliation, scent.tag = affiliation, tag
        scent.add(region, strength, position, now_s)

    def _drop_first(self) -> None:
        oldest = next(iter(self.scents))
        del self.scents[oldest]
        if oldest in self._turn:
            self._turn.remove(oldest)
        if not self.dropped:
            logging.getLogger("ai_core").warning(
                "more than %d scents linger in the sense graph; those emitted longest ago are dropped, statistics()"
                " counts scents_dropped; let regions dissipate the smell, so that scents end", MOST_SCENTS)
        self.dropped += 1

    def advance(self, budget: Budget, now_s: float, hear: Hear) -> bool:
        """Make the steps that are due; return False if the budget ended first.

        A step of the budget is one step of one scent, with its reports to sensors.
        """
        while self._turn or self._is_due(self.steps + 1, now_s):
            if not self._turn:
                if not self.scents:
                    self._skip_to(now_s)
                    return True
                self._begin_round(now_s)
            while self._turn:
                if budget.is_spent:
                    self._is_late = True
                    return False
                budget.spend()
                key = self._turn.popleft()
                scent = self.scents[key]
                last = self.steps + self.at_once - 1
                scent.step(self.begun_s + last * self._step_s, self.at_once)
                if not len(scent.regions):
                    del self.scents[key]
                elif self._is_late or not self._is_due(last + 2, now_s):
                    hear(self._reports(key, scent, now_s), budget)
            self.steps += self.at_once
        return True

    def _begin_round(self, now_s: float) -> None:
        """Let all scents make a step, or as one all that are due if the budget ended in the last round."""
        self._turn.extend(sorted(self.scents))
        self.at_once = max(1, self._steps_until(now_s) - self.steps) if self._is_late else 1
        self._is_late = False
        if self.at_once > 1:
            if not self.merged:
                logging.getLogger("ai_core").warning(
                    "the budget of the senses does not suffice for %d scents, whose steps are merged, statistics()"
                    " counts smell_steps_merged; emit fewer smells, or let regions dissipate them", len(self.scents))
            self.merged += self.at_once - 1

    def intensity_at(self, number: int, source_id: int, slot: int) -> float:
        """Return the intensity of the scent of a source at a sensor, by its slot; 0 if there is none."""
        scent = self.scents.get(ScentKey(self._modalities[number].name, source_id))
        return 0.0 if scent is None else float(scent.intensity_in(self._graph.sensor_regions[slot]))

    def _is_due(self, steps: int, now_s: float) -> bool:
        return self.begun_s + steps * self._step_s <= now_s + ROUNDING_S

    def _skip_to(self, now_s: float) -> None:
        """Count the steps without any scent."""
        self.steps = max(self.steps, self._steps_until(now_s))

    def _steps_until(self, now_s: float) -> int:
        return int((now_s + ROUNDING_S - self.begun_s) / self._step_s)

    def _reports(self, key: ScentKey, scent: Scent, now_s: float) -> list[Sensation]:
        """Return the reports of a scent to sensors that smell it, by id, and had no report of it lately."""
        sensors, number = self._sensors, self._modalities.number(key.modality)
        regions = self._graph.sensor_regions
        intensity = scent.intensity_in(regions)
        smells = (intensity > 0) & (intensity >= sensors.threshold[:, number])
        smells &= (sensors.detection_mask & scent.affiliation) != 0
        smells &= sensors.self_source != key.source_id
        slots = np.flatnonzero(smells)
        columns = (sensors.ids.by_slot[slots], intensity[slots], regions[slots])
        before, scent.reported_at_s = scent.reported_at_s, {}
        heard: list[Sensation] = []
        places: dict[int, Point] = {}
        for sensor_id, strength, region in sorted(zip(*(one.tolist() for one in columns), strict=True)):
            scent.reported_at_s[sensor_id] = reported_at_s = before.get(sensor_id, -np.inf)
            if now_s >= reported_at_s + self._report_every_s:
                scent.reported_at_s[sensor_id] = now_s
                if region not in places:
                    places[region] = scent.comes_from(region)
                heard.append(Sensation(
                    sensor_id, key.source_id, key.modality, strength, places[region], now_s, now_s, scent.tag))
        return heard

    @property
    def _scent_states(self) -> dict[ScentKey, SimpleNamespace]:
        """All scents as they are saved, regions by name; setting it makes them, without the regions that are gone."""
        states = {}
        for key, scent in self.scents.items():
            at = scent.regions
            known = self._graph.graph.regions
            states[key] = SimpleNamespace(
                affiliation=scent.affiliation, tag=scent.tag, regions=[known[region].name for region in at.tolist()],
                mass=scent.mass[at], arrived_s=scent.arrived_s[at], entry=scent.entry[at],
                reported_at_s=scent.reported_at_s)
        return states

    @_scent_states.setter
    def _scent_states(self, states: dict[ScentKey, SimpleNamespace]) -> None:
        self.scents = {}
        for key, state in states.items():
            number = self._modalities.number(key.modality)
            here = {region.name: place for place, region in enumerate(self._graph.graph.regions)}
            rows = [row for row, name in enumerate(state.regions) if name in here]
            at = np.array([here[state.regions[row]] for row in rows], np.int64)
            scent = self.scents[key] = Scent(self.models[number], state.affiliation)
            scent.tag, scent.reported_at_s = state.tag, state.reported_at_s
            scent.mass[at], scent.arrived_s[at] = state.mass[rows], state.arrived_s[rows]
            scent.entry[at] = state.entry[rows]

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        for index, (_, state) in enumerate(values.scents.items()):
            columns: tuple[Any, ...] = ({*state.regions}, state.mass, state.arrived_s, state.entry)
            if any(len(column) != len(state.regions) for column in columns):
                refuse(f"scents[{index}][1]", "must hold each region once, and as many numbers in each column")
        if len({*values.turn}) < len(values.turn) or not {*values.turn} <= values.scents.keys():
            refuse("turn", "must hold scents that are saved, each once")
