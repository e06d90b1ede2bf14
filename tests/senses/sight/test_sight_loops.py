"""Sensors in reach of sources and signals: to the last bit those of a plain loop."""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensation import Signal
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.pair_keys import ids_of, key_of
from ai_core.senses.sight.sight_cones import SightCone, aside_of
from ai_core.senses.sight.sight_loops import BORDER_TOLERANCE, SightLoops
from ai_core.senses.source_table import SourceTable
from tests.senses.sight.plain_cones import cone_towards, in_view

# Whole metres give distances and angles exactly on borders; the rest is far, tiny or between.
COORDINATE = st.one_of(
    st.integers(-6, 6).map(float), st.floats(-50, 50, width=32), st.sampled_from([1e-30, 1e19, -3e38, 0.1]),
)
PLACE = st.tuples(COORDINATE, COORDINATE, COORDINATE)
FORWARD = st.one_of(
    st.sampled_from([(0.0, 1.0, 0.0), (0.0, -1.0, 1e-7), (0.0, 0.0, -1.0)]),
    st.tuples(*[st.floats(-1, 1, width=32)] * 3).filter(lambda f: math.hypot(*f) > 1e-3),
)
CONE = st.builds(
    SightCone, st.sampled_from([3.0, 5.0, 40.0, 1e30]), st.sampled_from([0.5, math.pi / 2, math.tau]),
    st.sampled_from([0.4, math.pi / 2, math.pi]), st.sampled_from([0.0, 0.5, 1.0, 3.0]),
)
SENSOR = st.tuples(PLACE, FORWARD, st.lists(CONE, max_size=3), st.sampled_from([0.0, 0.3, 1.0]),
                   st.integers(0, 3), st.integers(-1, 4))
SOURCE = st.tuples(
    PLACE, st.sampled_from([None, 0.0, 0.3, 2.0]), st.integers(0, 3), st.sampled_from([1.0, 0.3, 7.0])
)
RANGE_M = st.sampled_from([1e-3, 5.0, 40.0, 1e17, 1e30])
ATTENUATION = st.sampled_from([0.0, 0.5, 0.97, 1.0])
UP = st.sampled_from([(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def tables(sensors, sources):
    """Tables with everything in them; a first one of each was removed, so ids have generations."""
    modalities = ModalitySet([Modality.sight(), Modality.hearing()])
    sensing, sending = SensorTable(modalities), SourceTable(modalities)
    sensing.remove(sensing.add((0, 0, 0), (1, 0, 0), {"hearing": 0.0}, [], 1, None))
    sending.remove(sending.add((0, 0, 0), {"sight": 1.0}, 1))
    for place, forward, cones, threshold, detection_mask, self_source in sensors:
        thresholds = {"hearing": threshold, **({"sight": threshold} if cones else {})}
        sensing.add(place, forward, thresholds, cones, detection_mask, self_source)
    for place, strength, affiliation, *size in sources:
        strengths = {} if strength is None else {"sight": strength}
        sending.add(place, strengths, affiliation, size=size[0] if size else 1.0)
    return sensing, sending


def pairs(sensors, sources, sense):
    keys, intensity, count = sensors.loops.pairs_in_reach(
        sensors, sensors.ids.ids, sources, sources.ids.ids, sense.number, sense)
    return keys[:count].tolist(), intensity[:count].tolist()


def plain_pairs(sensors, sources, sense):
    """Pairs in reach by a loop over all, one test after the other."""
    found = {}
    for sensor_id in sensors.ids.ids.tolist():
        eye, forward, cones = row_of(sensors, sensor_id), sensors.forward, sensors.cones
        for source_id in sources.ids.ids.tolist():
            target = sources.ids.slot(source_id)
            offset = tuple((to - at) / float(sources.size[target]) for to, at in zip(
                sources.position[target].tolist(), eye.place, strict=True))
            sensed = plainly_sensed(eye, offset, float(sources.strength[target, sense.number]), sense)
            if sense.needs_cone:
                packed = cones[eye.slot].tolist()
                cone = cone_towards(offset, forward[eye.slot].tolist(), sense.up, sense.aside, packed)
                sensed = sensed * packed[cone][3] if cone >= 0 and sensed >= 0 else -math.inf
            if is_noticed(eye, sensed, sense.number, int(sources.affiliation[target]), source_id):
                found[key_of(sensor_id, source_id)] = sensed
    return list(found), list(found.values())


def plain_reached(sensors, waves):
    """Sensors that sense signals by a loop over all."""
    hits = []
    for sense, origin, strength, affiliation, source_id in waves:
        for eye in sorted(row_of(sensors, one) for one in sensors.ids.ids.tolist()):
            offset = tuple(to - at for to, at in zip(eye.place, origin, strict=True))
            sensed = plainly_sensed(eye, offset, strength, sense)
            if is_noticed(eye, sensed, sense.number, affiliation, source_id):
                hits.append((eye.slot, length(offset), sensed))
    return tuple(list(part) for part in (zip(*hits, strict=True) if hits else ((), (), ())))


class Sense(NamedTuple):
    number: int
    range_m: float
    kept_per_m: float
    needs_cone: bool
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)
    aside: tuple[float, float, float] = (0.0, 0.0, 1.0)


class Row(NamedTuple):
    slot: int
    place: tuple[float, ...]
    threshold: list[float]
    detection_mask: int
    self_source: int


class Wave(NamedTuple):
    sense: Sense
    origin: tuple[float, float, float]
    strength: float
    affiliation: int
    source_id: int


def waves_reached(sensing, waves):
    """Those that signals reach, each with a range and a share kept of its own."""
    found = [], [], []
    for sense, origin, strength, affiliation, source_id in waves:
        signal = Signal(0, source_id, sense.number, strength, origin, 0.0, affiliation)
        for all_of_them, some in zip(found, sensing.loops.sensors_reached(sensing, signal, sense), strict=True):
            all_of_them.extend(some)
    return found


def row_of(sensors, sensor_id):
    slot = sensors.ids.slot(sensor_id)
    return Row(slot, tuple(sensors.position[slot].tolist()), sensors.threshold[slot].tolist(),
               int(sensors.detection_mask[slot]), int(sensors.self_source[slot]))


def length(offset):
    x, y, z = offset
    return math.sqrt(x * x + y * y + z * z)


def plainly_sensed(eye, offset, strength, sense):
    """What is left of a strength; -infinity out of range, or where there is none."""
    distance = length(offset)
    if distance > sense.range_m or strength < 0:
        return -math.inf
    return strength * sense.kept_per_m**distance if sense.kept_per_m != 1 else strength


def is_noticed(eye, sensed, number, affiliation, source_id):
    threshold = eye.threshold[number]
    return sensed >= threshold and threshold < math.inf and bool(
        eye.detection_mask & affiliation) and eye.self_source != source_id


@settings(max_examples=25)
@given(st.lists(SENSOR, max_size=9), st.lists(SOURCE, max_size=9), RANGE_M, ATTENUATION, UP, st.booleans())
def test_pairs_in_reach_are_those_of_a_plain_loop(
    sensors, sources, range_m, kept_per_m, up, needs_cone
):
    sense = Sense(0, range_m, kept_per_m, needs_cone, up, tuple(aside_of(np.array(up)).tolist()))
    world = tables(sensors, sources)
    world[0].loops = SightLoops(up)
    assert pairs(*world, sense) == plain_pairs(*world, sense)


@settings(max_examples=25)
@given(st.lists(SENSOR, max_size=12), st.lists(
    st.tuples(PLACE, RANGE_M, ATTENUATION, st.integers(0, 3), st.integers(-1, 3), st.integers(0, 1)), max_size=4,
))
def test_sensors_reached_are_those_of_a_plain_loop(sensors, signals):
    sensing, _ = tables(sensors, [])
    waves = [
        Wave(Sense(number, range_m, kept_per_m, needs_cone=False),
            tuple(np.array(origin, np.float32).tolist()),
             1.5, affiliation, source_id)
        for origin, range_m, kept_per_m, affiliation, source_id, number in signals
    ]
    assert repr(waves_reached(sensing, waves)) == repr(plain_reached(sensing, waves))


def test_powers_are_the_c_library_s():
    distances = np.random.default_rng(5).uniform(0, 60, 3000).astype(np.float32)
    sensors = [((x, 0.0, 0.0), (1.0, 0.0, 0.0), [], 0.0, 1, None) for x in distances.tolist()]
    sensing, _ = tables(sensors, [])
    sense = Sense(1, 100.0, 0.937, needs_cone=False)
    _, far, intensities = waves_reached(sensing, [Wave(sense, (0.0, 0.0, 0.0), 1.0, 1, 7)])
    assert intensities == [0.937**distance for distance in far]


def crowd(count, seed=7):
    """Sensors with all cones and thresholds in a square, and sources among them."""
    chance = np.random.default_rng(seed)
    places, forwards = chance.uniform(-60, 60, (count, 3)) * (1, 0.1, 1), chance.normal(size=(count, 3))
    cones = [[SightCone(50, 2, 2, 0.7)], [SightCone(20, 5, 3, 2.0), SightCone(60, 1, 1)]]
    return [(tuple(place), tuple(forward), cones[k % 2], 0.1 + k % 5 / 10, 1, None)
            for k, (place, forward) in enumerate(zip(places.tolist(), forwards.tolist(), strict=True))]


def test_many_sensors_are_tested_as_exactly_as_few():
    sensing, _ = tables(crowd(5000), [])
    sense = Sense(1, 50.0, 0.96, needs_cone=False)
    wave = Wave(sense, (1.0, 2.0, 3.0), 1.0, 1, 7)
    waves = [wave, wave._replace(origin=(9.0, 0.0, 9.0)), wave._replace(sense=sense._replace(range_m=9.0))]
    found = waves_reached(sensing, waves)
    assert len(found[0]) > 2000
    assert found == plain_reached(sensing, waves)


@pytest.mark.parametrize(("eyes", "targets"), [(2000, 3), (300, 20), (60, 100)])
def test_many_pairs_are_tested_as_exactly_as_few(eyes, targets):
    sources = [(place, 1.0, 1, 1.0 + k % 3) for k, (place, *_) in enumerate(crowd(targets, seed=9))]
    sensing, sending = tables(crowd(eyes), sources)
    sense = Sense(0, 50.0, 0.97, needs_cone=True)
    expected = plain_pairs(sensing, sending, sense)
    assert len(expected[0]) > 100
    assert pairs(sensing, sending, sense) == expected
    # Ids that are no run, some of them twice.
    some = sensing.ids.ids[::-3].copy()
    keys, intensity, count = sensing.loops.pairs_in_reach(sensing, some, sending, sending.ids.ids, sense.number, sense)
    wanted = dict(zip(*expected, strict=True))
    ordered = [key for one in some.tolist() for key in wanted if key >> 31 == one]
    assert keys[:count].tolist() == ordered
    assert intensity[:count].tolist() == [wanted[key] for key in ordered]


def test_pairs_on_a_border_are_exact_to_the_last_bit():
    """A fused product and sum would differ here: half of the ranges end one bit short."""
    chance = np.random.default_rng(11)
    places, forwards = chance.uniform(-20, 20, (120, 3)), chance.normal(size=(120, 3))
    sensing, sending = tables([(tuple(place), tuple(forward), [SightCone(99, math.tau, math.pi)], 0.1, 1, None)
                               for place, forward in zip(places.tolist(), forwards.tolist(), strict=True)],
                              [((1.0, 2.0, 3.0), 1.0, 1)])
    slots = sensing.ids.slots(sensing.ids.ids)
    up, aside = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    offsets = np.array([[1.0, 2.0, 3.0]]) - sensing.position[slots]
    distance = np.array([in_view(*pair, up, aside)[3] for pair in zip(
        offsets.tolist(), sensing.forward[slots].tolist(), strict=True)])
    border = distance - BORDER_TOLERANCE * distance
    sensing.cones[slots, 0, 0] = np.where(slots % 2, border, np.nextafter(border, 0))
    keys, _ = pairs(sensing, sending, Sense(0, 99.0, 1.0, True))
    sees = [one & 0xFFFFF for one in ids_of(np.array(keys))[0].tolist()]
    assert sorted(sees) == sorted(slot for slot in slots.tolist() if slot % 2)


@settings(max_examples=25)
@given(st.lists(SENSOR, min_size=1, max_size=9), st.lists(st.tuples(
    st.sampled_from([0.0, 1e-300, 0.3, 1.0, 2.5, 1e6, 1e308]), st.sampled_from([0.0, 0.1, 3.0]),
    st.sampled_from([0.0, 0.2, 5.0])), min_size=1, max_size=5), ATTENUATION, st.booleans())
def test_answers_follow_strengths_thresholds_and_sensitivity(sensors, changes, kept_per_m, needs_cone):
    """What is viewed for one question must not answer the next."""
    near = [((float(k), 1.0, 2.0), forward, cones, *rest) for k, (_, forward, cones, *rest) in enumerate(sensors)]
    sensing, sending = tables(near, [((4.0, 1.0, 0.5), 1.0, 3)])
    sense = Sense(0, 9.0, kept_per_m, needs_cone)
    sound = Sense(1, 9.0, kept_per_m, needs_cone=False)
    for strength, threshold, sensitivity in changes:
        first = int(sensing.ids.ids[0])
        sensing.change(first, {"hearing": threshold}, [], None, None)
        sensing.put_sensitivity(first, 1, sensitivity)
        sending.strength[sending.ids.slots(sending.ids.ids), 0] = strength
        sensing.add((4.0, 1.0, 1.0), (0, 0, -1), {"hearing": 0.1, "sight": 0.1}, [SightCone(5, 3, 3)] * 2, 1, None)
        assert pairs(sensing, sending, sense) == plain_pairs(sensing, sending, sense)
        waves = [Wave(sound, (4.0, 1.0, 0.5), strength, 3, 99)]
        assert repr(waves_reached(sensing, waves)) == repr(plain_reached(sensing, waves))


def test_pairs_come_by_sensor_then_by_source():
    sensing, sending = tables([((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), [SightCone(9, 2, 2)], 0.1, 1, None)] * 3,
                              [((1.0, 0.0, 0.0), 1.0, 1)] * 3)
    keys, _ = pairs(sensing, sending, Sense(0, 9.0, 0.9, True))
    found = list(zip(*(ids.tolist() for ids in ids_of(np.array(keys))), strict=True))
    assert found == sorted((one, other) for one in sensing.ids.ids.tolist() for other in sending.ids.ids.tolist())


def test_ids_without_a_row_are_refused_before_any_memory_is_read():
    sensing, sending = tables([], [((1.0, 0.0, 0.0), 1.0, 1)])
    with pytest.raises(IndexError):
        sensing.loops.pairs_in_reach(
            sensing, np.array([500], np.int32), sending, sending.ids.ids, 0, Sense(0, 9.0, 0.9, True))


@pytest.mark.parametrize(
    ("attribute", "wrong"),
    [
        ("position", np.zeros((9, 3))), ("position", np.zeros((9, 2), np.float32)),
        ("threshold", np.zeros((9, 1))), ("detection_mask", np.zeros(9, np.int32)),
        ("detection_mask", np.zeros(2, np.int64)),
        ("self_source", np.zeros(9)), ("forward", np.zeros((2, 3), np.float32)), ("cones", np.zeros((9, 1, 3))),
    ],
)
def test_array_of_another_type_or_shape_is_refused(attribute, wrong):
    sensing, sending = tables([((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), [SightCone(9, 2, 2)], 0.1, 1, None)] * 9,
                              [((1.0, 0.0, 0.0), 1.0, 1)])
    setattr(sensing, attribute, wrong)
    sensing.layout = object()
    with pytest.raises((TypeError, ValueError), match=f"{attribute} must"):
        pairs(sensing, sending, Sense(1, 9.0, 0.9, True))


def test_arrays_whose_axes_are_no_runs_of_memory_are_refused():
    sensing, sending = tables(crowd(9), [((1.0, 0.0, 0.0), 1.0, 1)])
    sensing.position, sensing.layout = np.array(sensing.position, order="C"), object()
    with pytest.raises(ValueError, match="position must"):
        pairs(sensing, sending, Sense(0, 9.0, 0.9, True))


def test_signals_of_another_type_or_modality_are_refused():
    sensing, _ = tables(crowd(3), [])
    with pytest.raises(TypeError, match="signal must be a Signal"):
        sensing.loops.sensors_reached(sensing, (1, 2, 3, 4, 5), Modality.sight())
    with pytest.raises(IndexError, match="no modality 2"):
        sensing.loops.sensors_reached(sensing, Signal(0, 7, 2, 1.0, (0.0, 0.0, 0.0), 0.0), Modality.sight())


def test_a_table_knows_in_which_modalities_sources_ever_showed():
    sources = SourceTable(ModalitySet([Modality.sight(), Modality.hearing()]))
    unseen = sources.add((0, 0, 0), {}, 1)
    assert sources.shown == [False, False]
    silent = sources.add((0, 0, 0), {"sight": 0.0}, 1)
    assert sources.shown == [True, False]
    sources.change(unseen, {"hearing": 1.0}, None)
    sources.remove(silent)
    assert sources.shown == [True, True]
