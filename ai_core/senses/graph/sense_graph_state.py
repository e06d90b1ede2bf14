"""The state of what travels through a sense graph: doors, waves, scents and lights."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heapify
from itertools import pairwise

import numpy as np

from ai_core.saving.fields import LATEST_S, Fields, State
from ai_core.senses.graph.sense_graph_by_sense import GraphBySense
from ai_core.senses.graph.sense_graph_names import SavedLevel, saved_level
from ai_core.senses.graph.sense_graph_sight import GraphSight
from ai_core.senses.graph.sense_graph_wave import FirstArrival, SpreadingWave, WaveArrival
from ai_core.senses.graph.sense_graph_waves import GraphWaves
from ai_core.senses.graph.sense_wavefront import FROM_SOURCE, WavefrontLabels
from ai_core.senses.graph.smell_cloud import ScentCloud
from ai_core.senses.graph.smell_flow import Cloud
from ai_core.senses.graph.smell_spreading import ScentKey, SmellSpreading
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Sensation
from ai_core.senses.source_table import ALL_AFFILIATIONS

__all__ = ["Change", "prepared_travel", "saved_travel"]

VERSION = 1

Change = Callable[[], None]
"""Loads what was checked."""


def saved_travel(
    modalities: ModalitySet, graphs: GraphBySense, waves: GraphWaves, smells: SmellSpreading,
    sight: GraphSight,
) -> State:
    """Return all of it as plain data."""
    return {
        "version": VERSION,
        "levels": [saved_level(graph) for graph in graphs.graphs],
        "doors": [graph.save_state() for graph in graphs.graphs],
        "lights": sorted(sight.lights),
        "sent": waves.sent,
        "waves": [_saved_wave(wave, modalities) for wave in waves.waves],
        "turn": [wave.order for wave in waves.turn],
        "queue": [_saved_arrival(one, modalities) for one in sorted(waves.queue)],
        "arrived": [_saved_arrival(one, modalities) for one in waves.arrived],
        "begun_s": smells.begun_s,
        "steps": smells.steps,
        "scents": [
            {"modality": modalities[key.modality].name, "source_id": key.source_id,
             **_saved_scent(scent)}
            for key, scent in sorted(smells.scents.items())
        ],
        "scent_turn": [[modalities[key.modality].name, key.source_id] for key in smells.turn],
        "to_tell": [
            {"sensor_id": one.sensor_id, "source_id": one.source_id, "modality": one.modality,
             "intensity": one.intensity, "position": list(one.position), "at": one.at,
             "tag": one.tag}
            for one in smells.to_tell
        ],
    }


def prepared_travel(
    state: object, modalities: ModalitySet, graphs: GraphBySense, waves: GraphWaves,
    smells: SmellSpreading, sight: GraphSight,
) -> Change:
    """Check all of it; return what loads it.

    In a level that has changed since, doors and smells are found again by the names of portals
    and regions; sounds that were under way between regions are not heard.
    """
    fields = Fields.versioned(
        state, version=VERSION, place="graph")
    reader = _Reader(modalities, graphs, SavedLevel(graphs.graphs, fields))
    changes = [
        *_read_doors(fields, graphs), _read_waves(fields, reader, waves),
        _read_smells(fields, reader, smells),
    ]
    lights = fields.wholes("lights", maximum=LARGEST_ID)
    fields.end()

    def change() -> None:
        for one in changes:
            one()
        sight.lights = set(lights)

    return change


def _read_waves(fields: Fields, reader: _Reader, waves: GraphWaves) -> Change:
    sent = fields.whole("sent")
    if not reader.level.is_same:
        return _without_waves(fields, reader, waves, sent)
    loaded = [reader.wave(one, sent) for one in fields.groups("waves")]
    by_order = {wave.order: wave for wave in loaded}
    if len(by_order) < len(loaded):
        fields.refuse("waves", "must hold each wave once")
    turn = fields.wholes("turn")
    if len(set(turn)) < len(turn) or not set(turn) <= set(by_order):
        fields.refuse("turn", "must name existing waves, each once")
    queue = [reader.arrival(one) for one in fields.groups("queue")]
    arrived = [reader.arrival(one) for one in fields.groups("arrived")]
    heapify(queue)

    def change() -> None:
        waves.sent, waves.waves[:] = sent, loaded
        waves.turn = deque(by_order[order] for order in turn)
        waves.queue, waves.arrived = queue, deque(arrived)

    return change


def _without_waves(fields: Fields, reader: _Reader, waves: GraphWaves, sent: int) -> Change:
    """Return what loads no waves, as their ways may be no more; what has arrived at sensors is told."""
    fields.items("waves")
    fields.items("turn")
    queue = [reader.arrival(one) for one in fields.groups("queue")]
    arrived = [reader.arrival(one) for one in fields.groups("arrived")]
    heapify(queue)

    def change() -> None:
        waves.sent, waves.waves[:], waves.turn = sent, [], deque()
        waves.queue, waves.arrived = queue, deque(arrived)

    return change


def _read_smells(fields: Fields, reader: _Reader, smells: SmellSpreading) -> Change:
    begun_s, steps = fields.seconds("begun_s"), fields.whole("steps")
    scents: dict[ScentKey, ScentCloud] = {}
    for one in fields.groups("scents"):
        key = reader.scent_key(one, smells)
        if key in scents:
            one.refuse("source_id", "comes twice")
        scents[key] = _read_scent(one, smells, key, reader.regions(key.modality))
    turn = _read_scent_turn(fields, reader, scents)
    to_tell = [reader.sensation(one) for one in fields.groups("to_tell")]

    def change() -> None:
        smells.begun_s, smells.steps, smells.scents = begun_s, steps, scents
        smells.turn, smells.to_tell = deque(turn), deque(to_tell)

    return change


def _saved_wave(wave: SpreadingWave, modalities: ModalitySet) -> State:
    return {
        "order": wave.order,
        "source_id": wave.source_id,
        "affiliation": wave.affiliation,
        "modality": modalities[wave.modality].name,
        "strength": wave.strength,
        "position": list(wave.position),
        "region": wave.region,
        "sent_at_s": wave.sent_at_s,
        "tag": wave.tag,
        "channel": wave.channel,
        "waiting": _saved_labels(wave.waiting),
        "passed": _saved_labels(wave.passed),
        "heard": [[sensor_id, *one] for sensor_id, one in sorted(wave.heard.items())],
        "told": sorted(wave.told),
        "is_begun": wave.is_begun,
        "front_m": wave.front_m,
    }


def _saved_labels(labels: WavefrontLabels) -> list[list[float]]:
    return [list(row) for row in zip(*(one.tolist() for one in labels), strict=True)]


def _saved_arrival(arrival: WaveArrival, modalities: ModalitySet) -> State:
    return {
        **arrival._asdict(),
        "modality": modalities[arrival.modality].name,
        "position": list(arrival.position),
    }


def _saved_scent(scent: ScentCloud) -> State:
    return {
        "affiliation": scent.affiliation,
        "tag": scent.tag,
        **{name: column.tolist() for name, column in scent.cloud._asdict().items()},
        "told_at_s": [[sensor_id, at] for sensor_id, at in sorted(scent.told_at_s.items())],
    }


def _read_doors(fields: Fields, graphs: GraphBySense) -> list[Change]:
    saved = fields.items("doors", count=len(graphs.graphs))
    return [graph.prepare_state(one) for graph, one in zip(graphs.graphs, saved, strict=True)]


def _read_scent(
    fields: Fields, smells: SmellSpreading, key: ScentKey, here: list[int | None]
) -> ScentCloud:
    room = smells.rooms[key.modality]
    scent = ScentCloud(room, fields.whole("affiliation", maximum=ALL_AFFILIATIONS))
    scent.tag = fields.text("tag")
    region = fields.wholes("region", maximum=len(here) - 1)
    if any(later <= sooner for sooner, later in pairwise(region)):
        fields.refuse("region", "must be in ascending order, each once")
    count = len(region)
    mass = fields.numbers("mass", count=count, minimum=0)
    arrived_s = fields.numbers("arrived_s", count=count, minimum=-LATEST_S, maximum=LATEST_S)
    free_s = fields.numbers("free_s", count=count)
    entry = [
        Fields({"entry": row}, fields.place_of(f"entry[{index}]")).point("entry")
        for index, row in enumerate(fields.items("entry", count=count))
    ]
    there = sorted((new, row) for row, one in enumerate(region) if (new := here[one]) is not None)
    rows = [row for _, row in there]
    scent.cloud = Cloud(
        np.array([new for new, _ in there], np.int32), np.array(mass, np.float64)[rows],
        np.array(arrived_s, np.float64)[rows], np.array(free_s, np.float64)[rows],
        np.array(entry, np.float64).reshape(-1, 3)[rows],
    )
    for index, row in enumerate(fields.items("told_at_s")):
        one = _row(fields, f"told_at_s[{index}]", row, ("sensor_id", "at"))
        scent.told_at_s[one.whole("sensor_id", maximum=LARGEST_ID)] = one.seconds("at")
    fields.end()
    return scent


def _read_scent_turn(
    fields: Fields, reader: _Reader, scents: dict[ScentKey, ScentCloud]
) -> list[ScentKey]:
    turn = []
    for index, row in enumerate(fields.items("scent_turn")):
        one = _row(fields, f"scent_turn[{index}]", row, ("modality", "source_id"))
        key = ScentKey(reader.modality(one), one.whole("source_id", maximum=LARGEST_ID))
        if key not in scents or key in turn:
            fields.refuse(f"scent_turn[{index}]", "must name an existing scent, each once")
        turn.append(key)
    return turn


def _row(fields: Fields, name: str, row: object, names: tuple[str, ...]) -> Fields:
    if not isinstance(row, list) or len(row) != len(names):
        fields.refuse(name, f"must be [{', '.join(names)}]")
    return Fields(dict(zip(names, row, strict=True)), fields.place_of(name))


class _Reader:
    """Reads what names modalities, regions and passages of these graphs."""

    def __init__(self, modalities: ModalitySet, graphs: GraphBySense, level: SavedLevel) -> None:
        self._graphs, self.level = graphs, level
        self._names = tuple(modalities[number].name for number in range(len(modalities)))

    def regions(self, modality: int) -> list[int | None]:
        """Return for each region of the save its id here, in the graph of a modality."""
        return self.level.regions(next(
            number for number, one in enumerate(self._graphs.graphs) if one is self._graphs.graph[modality]))

    def modality(self, fields: Fields) -> int:
        return self._names.index(fields.one_of("modality", self._names))

    def scent_key(self, fields: Fields, smells: SmellSpreading) -> ScentKey:
        number = self.modality(fields)
        if number not in smells.rooms:
            fields.refuse("modality", f"is not a smell of this manager: {self._names[number]!r}")
        return ScentKey(number, fields.whole("source_id", maximum=LARGEST_ID))

    def wave(self, fields: Fields, sent: int) -> SpreadingWave:
        modality = self.modality(fields)
        regions = len(self._graphs.graph[modality].regions)
        wave = SpreadingWave(
            fields.whole("order", maximum=sent - 1),
            fields.whole("source_id", maximum=LARGEST_ID),
            fields.whole("affiliation", maximum=ALL_AFFILIATIONS), modality,
            fields.number("strength", minimum=0), fields.point("position"),
            fields.whole("region", maximum=regions - 1), fields.seconds("sent_at_s"),
            fields.text("tag"), fields.text("channel"),
        )
        last = len(self._graphs.ways[modality]) - 1
        wave.passed, wave.waiting = (self._labels(fields, name, last) for name in ("passed", "waiting"))
        names = ("sensor_id", *FirstArrival._fields)
        for index, row in enumerate(fields.items("heard")):
            one = _row(fields, f"heard[{index}]", row, names)
            wave.heard[one.whole("sensor_id", maximum=LARGEST_ID)] = FirstArrival(
                one.number("distance_m", minimum=0), one.number("negative", maximum=0),
                one.whole("row", minimum=FROM_SOURCE, maximum=last),
                one.number("leg_m", minimum=0), one.number("before", minimum=0),
            )
        wave.told = set(fields.wholes("told", maximum=LARGEST_ID))
        wave.is_begun = fields.flag("is_begun")
        wave.front_m = fields.number("front_m", minimum=0)
        fields.end()
        return wave

    def arrival(self, fields: Fields) -> WaveArrival:
        arrival = WaveArrival(
            fields.number("due_s", minimum=-LATEST_S, maximum=LATEST_S),
            fields.whole("sensor_id", maximum=LARGEST_ID), fields.whole("order"),
            fields.whole("source_id", maximum=LARGEST_ID), self.modality(fields),
            fields.point("position"), fields.seconds("sent_at_s"),
            fields.number("leg_m", minimum=0), fields.number("before", minimum=0),
            fields.number("intensity", minimum=0), fields.text("tag"), fields.text("channel"),
        )
        fields.end()
        return arrival

    def sensation(self, fields: Fields) -> Sensation:
        sensation = Sensation(
            sensor_id=fields.whole("sensor_id", maximum=LARGEST_ID),
            source_id=fields.whole("source_id", maximum=LARGEST_ID),
            modality=self._names[self.modality(fields)],
            intensity=fields.number("intensity", minimum=0), position=fields.point("position"),
            sent_at=fields.seconds("at"), at=fields.seconds("at"), tag=fields.text("tag"),
        )
        fields.end()
        return sensation

    def _labels(self, fields: Fields, name: str, last: int) -> WavefrontLabels:
        rows = []
        for index, row in enumerate(fields.items(name)):
            one = _row(fields, f"{name}[{index}]", row, WavefrontLabels._fields)
            rows.append((
                one.whole("row", maximum=last), one.number("distance_m", minimum=0),
                one.number("intensity", minimum=0),
                one.whole("previous", minimum=FROM_SOURCE, maximum=last),
            ))
        if not rows:
            return WavefrontLabels.empty(0)
        row_ids, distance_m, intensity, previous = zip(*rows, strict=True)
        return WavefrontLabels(np.array(row_ids, np.int32), np.array(distance_m, np.float64),
                      np.array(intensity, np.float64), np.array(previous, np.int32))
