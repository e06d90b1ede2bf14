"""Kernels, twins and the textbook's loops give the same, the first two to the last bit."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ai_core.senses.sight.sight_kernels as sight_kernels
from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.own_reach import OwnReach
from ai_core.senses.sight.pairs_in_view import ids_of
from ai_core.senses.sight.sight_cones import BORDER_TOLERANCE, SightCone, aside_of, bearings
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.waves import ModalityNumbers, StimulusNumbers
from tests.senses.conftest import FORMS

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
WAYS = {"one by one": 10**6, "at once": 0, "as many as there are": None}


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


def pairs(form, sensors, sources, sense):
    room = len(sensors.ids) * len(sources.ids)
    keys, intensity = np.zeros(room, np.int64), np.zeros(room)
    found = form["pairs_in_reach"](sensors, sensors.ids.ids, sources, sources.ids.ids, sense, keys, intensity)
    return keys[:found].tolist(), intensity[:found].tobytes()


def reached(form, sensors, *waves):
    answer = form["sensors_reached"](sensors, waves)
    assert all(type(part) is list and len(part) == sum(answer[0]) for part in answer[1:])
    return answer


def in_every_way(ask):
    """The answers of the kernel and of all ways in which it and its twin may go.

    Each is asked three times, because how far each senses is worth knowing from the second time on.
    """
    answers = {}
    with pytest.MonkeyPatch.context() as patch:
        for number in range(3 if "compiled" in FORMS else 0):
            answers[f"compiled, {number}"] = ask(FORMS["compiled"])
            patch.setattr(OwnReach, "asked_from", 0)
    for way, few in WAYS.items():
        with pytest.MonkeyPatch.context() as patch:
            if few is not None:
                patch.setattr(sight_kernels, "FEW_SENSORS", few)
                patch.setattr(sight_kernels, "FEW_PAIRS", few)
            for number in range(3):
                answers[f"{way}, {number}"] = ask(FORMS["interpreted"])
    answers["at once"] = answers["at once, 0"]
    return answers


@settings(max_examples=25)
@given(st.lists(SENSOR, max_size=9), st.lists(SOURCE, max_size=9), RANGE_M, ATTENUATION, UP, st.booleans())
def test_pairs_in_reach_are_bit_identical_in_every_form(
    sensors, sources, range_m, kept_per_m, up, needs_cone
):
    sense = ModalityNumbers(0, range_m, kept_per_m, needs_cone, up, tuple(aside_of(np.array(up)).tolist()))
    world = tables(sensors, sources)
    answers = in_every_way(lambda form: pairs(form, *world, sense))
    assert all(answer == answers["at once"] for answer in answers.values())


@settings(max_examples=25)
@given(st.lists(SENSOR, max_size=12), st.lists(
    st.tuples(PLACE, RANGE_M, ATTENUATION, st.integers(0, 3), st.integers(-1, 3), st.integers(0, 1)), max_size=4,
))
def test_sensors_reached_are_bit_identical_in_every_form(sensors, signals):
    sensing, _ = tables(sensors, [])
    waves = [
        StimulusNumbers(ModalityNumbers(number, range_m, kept_per_m, needs_cone=False),
            tuple(np.array(origin, np.float32).tolist()),
             1.5, affiliation, source_id)
        for origin, range_m, kept_per_m, affiliation, source_id, number in signals
    ]
    answers = in_every_way(lambda form: reached(form, sensing, *waves))
    assert all(repr(answer) == repr(answers["at once"]) for answer in answers.values())


@settings(max_examples=25)
@given(st.lists(SENSOR, max_size=12), PLACE, st.sampled_from([5.0, 40.0]), ATTENUATION)
def test_a_signal_reaches_whom_the_textbook_s_loop_reaches(sensors, origin, range_m, kept_per_m):
    sensing, _ = tables(sensors, [])
    start = tuple(np.array(origin, np.float32).tolist())
    sense = ModalityNumbers(1, range_m, kept_per_m, needs_cone=False)
    expected, unsure = {}, set()
    for slot, (place, _, _, threshold, detection_mask, self_source) in zip(
        sensing.ids.slots(sensing.ids.ids).tolist(), _by_slot(sensing, sensors), strict=True
    ):
        distance = math.dist(np.array(place, np.float32).tolist(), start)
        intensity = 1.5 * kept_per_m**distance
        if abs(distance - range_m) < 1e-9 or abs(intensity - threshold) < 1e-9:
            unsure.add(slot)
        elif distance <= range_m and intensity >= threshold and detection_mask & 1 and self_source != 7:
            expected[slot] = (pytest.approx(distance), pytest.approx(intensity))
    form = {"sensors_reached": sight_kernels.sensors_reached}
    _, slots, distances, intensities = reached(form, sensing, StimulusNumbers(sense, start, 1.5, 1, 7))
    got = {slot: row for slot, *row in zip(slots, distances, intensities, strict=True) if slot not in unsure}
    assert got == {slot: list(row) for slot, row in expected.items()}


def _by_slot(table, sensors):
    """What was added, in the order of ids; the first took the row of the one removed."""
    order = sorted(range(len(sensors)), key=lambda k: list(table.ids.names)[k])
    return [sensors[k] for k in order]


def test_powers_are_the_c_library_s_in_every_form():
    distances = np.random.default_rng(5).uniform(0, 60, 3000).astype(np.float32)
    sensors = [((x, 0.0, 0.0), (1.0, 0.0, 0.0), [], 0.0, 1, None) for x in distances.tolist()]
    sensing, _ = tables(sensors, [])
    sense = ModalityNumbers(1, 100.0, 0.937, needs_cone=False)
    for form in FORMS.values():
        _, _, far, intensities = reached(form, sensing, StimulusNumbers(sense, (0.0, 0.0, 0.0), 1.0, 1, 7))
        assert intensities == [0.937**distance for distance in far]


def test_many_sensors_are_tested_as_exactly_as_few():
    """Enough for every block of the kernel's loops, and for the GIL to be released."""
    places = np.random.default_rng(7).uniform(-60, 60, (5000, 3))
    sensors = [(tuple(place), (0.0, 0.0, -1.0), [], 0.1, 1, None) for place in places.tolist()]
    sensing, _ = tables(sensors, [])
    sense = ModalityNumbers(1, 50.0, 0.96, needs_cone=False)
    wave = StimulusNumbers(sense, (1.0, 2.0, 3.0), 1.0, 1, 7)
    answers = in_every_way(lambda form: reached(form, sensing, wave, wave._replace(origin=(9.0, 0.0, 9.0))))
    assert len(answers["at once"][1]) > 2000
    assert all(answer == answers["at once"] for answer in answers.values())


def test_all_forms_agree_on_a_border_to_the_last_bit():
    """A fused product and sum would differ here: half of the ranges end one bit short."""
    chance = np.random.default_rng(11)
    places, forwards = chance.uniform(-20, 20, (120, 3)), chance.normal(size=(120, 3))
    sensing, sending = tables([(tuple(place), tuple(forward), [SightCone(99, math.tau, math.pi)], 0.1, 1, None)
                               for place, forward in zip(places.tolist(), forwards.tolist(), strict=True)],
                              [((1.0, 2.0, 3.0), 1.0, 1)])
    slots = sensing.ids.slots(sensing.ids.ids)
    up, aside = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    offsets = np.array([[1.0, 2.0, 3.0]]) - sensing.position[slots]
    right, above, ahead = bearings(offsets, sensing.forward[slots], up, aside).T
    distance = np.sqrt(right * right + ahead * ahead + above * above)
    border = distance - BORDER_TOLERANCE * distance
    sensing.cones[slots, 0, 0] = np.where(slots % 2, border, np.nextafter(border, 0))
    answers = in_every_way(lambda form: pairs(form, sensing, sending, ModalityNumbers(0, 99.0, 1.0, True)))
    sees = [one & 0xFFFFF for one in ids_of(np.array(answers["at once"][0]))[0].tolist()]
    assert sorted(sees) == sorted(slot for slot in slots.tolist() if slot % 2)
    assert all(answer == answers["at once"] for answer in answers.values())


def test_any_order_of_memory_gives_the_same():
    sensing, sending = tables([((k / 3, 0.0, 0.0), (1.0, 0.0, 0.0), [SightCone(9, 2, 2)], 0.1, 1, None)
                               for k in range(40)], [((4.0, 0.0, 0.5), 1.0, 1)])
    sense = ModalityNumbers(0, 9.0, 0.9, True)
    before = in_every_way(lambda form: pairs(form, sensing, sending, sense))
    sensing.position, sending.position = np.array(sensing.position), np.array(sending.position, order="C")
    sensing.threshold = np.array(sensing.threshold, order="C")
    assert in_every_way(lambda form: pairs(form, sensing, sending, sense)) == before
    assert len(before["at once"][0]) > 10


@settings(max_examples=25)
@given(st.lists(SENSOR, min_size=1, max_size=9), st.lists(st.tuples(
    st.sampled_from([0.0, 1e-300, 0.3, 1.0, 2.5, 1e6, 1e308]), st.sampled_from([0.0, 0.1, 3.0]),
    st.sampled_from([0.0, 0.2, 5.0])), min_size=1, max_size=5), ATTENUATION, st.booleans())
def test_reach_follows_strengths_thresholds_and_acuity(sensors, changes, kept_per_m, needs_cone):
    """What is kept of one question must not answer the next."""
    near = [((x, 1.0, z), forward, cones, *rest) for k, ((_, forward, cones, *rest)) in enumerate(sensors)
            for x, z in [(float(k), 2.0)]]
    sensing, sending = tables(near, [((4.0, 1.0, 0.5), 1.0, 3)])
    sense = ModalityNumbers(0, 9.0, kept_per_m, needs_cone)
    sound = ModalityNumbers(1, 9.0, kept_per_m, needs_cone=False)
    for strength, threshold, sensitivity in changes:
        first = int(sensing.ids.ids[0])
        sensing.change(first, {"hearing": threshold}, [], None, None)
        sensing.put_keenness(first, 1, sensitivity)
        sending.strength[sending.ids.slots(sending.ids.ids), 0] = strength
        answers = in_every_way(lambda form: pairs(form, sensing, sending, sense))
        assert all(answer == answers["at once"] for answer in answers.values())
        wave = StimulusNumbers(sound, (4.0, 1.0, 0.5), strength, 3, 99)
        heard = in_every_way(lambda form, wave=wave: reached(form, sensing, wave))
        assert all(repr(answer) == repr(heard["at once"]) for answer in heard.values())


def test_high_threshold_sensor_hears_louder_signal_after_quiet():
    sensing, _ = tables([((x / 10, 0.0, 0.0), (1.0, 0.0, 0.0), [], 0.1, 1, None) for x in range(300)], [])
    form, sense = {"sensors_reached": sight_kernels.sensors_reached}, ModalityNumbers(1, 50.0, 0.9, needs_cone=False)
    counts = [len(reached(form, sensing, StimulusNumbers(sense, (0.0, 0.0, 0.0), strength, 1, 7))[1])
              for strength in (0.2, 1.0, 0.2)]
    assert counts == [66, 219, 66]


@pytest.mark.parametrize("acuity", [0.5, 3.0])
def test_who_needs_it_loud_is_left_out_alike_in_every_form(acuity):
    """As near as each may just sense it, and a little farther: a reach too short would lose some."""
    chance = np.random.default_rng(3)
    thresholds = chance.uniform(0.05, 0.45, 90).tolist()
    sensors = [((math.log(one / acuity) / math.log(0.9) * (1 + 1e-6 - 0.02 * (k % 3)), 0.0, float(k % 2)),
                (-1.0, 0.0, 0.0), [SightCone(60, 2, 2, acuity)], one, 1, None) for k, one in enumerate(thresholds)]
    sensing, sending = tables(sensors, [((0.0, 0.0, 0.0), 1.0, 1), ((0.0, 0.0, 1.0), 0.7, 1)])
    answers = in_every_way(lambda form: pairs(form, sensing, sending, ModalityNumbers(0, 60.0, 0.9, True)))
    assert 30 < len(answers["at once"][0]) < 180
    assert all(answer == answers["at once"] for answer in answers.values())


def test_pairs_come_by_sensor_then_by_source():
    sensing, sending = tables([((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), [SightCone(9, 2, 2)], 0.1, 1, None)] * 3,
                              [((1.0, 0.0, 0.0), 1.0, 1)] * 3)
    keys, _ = pairs({"pairs_in_reach": sight_kernels.pairs_in_reach}, sensing, sending,
        ModalityNumbers(0, 9.0, 0.9, True))
    found = list(zip(*(ids.tolist() for ids in ids_of(np.array(keys))), strict=True))
    assert found == sorted((one, other) for one in sensing.ids.ids.tolist() for other in sending.ids.ids.tolist())


@pytest.mark.parametrize("room", [0, 5])
def test_too_little_room_for_the_answer_is_refused(room):
    world = tables([((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), [SightCone(9, 2, 2)], 0.1, 1, None)] * 2,
                   [((1.0, 0.0, 0.0), 1.0, 1)] * 3)
    with pytest.raises(ValueError, match="room for 6 pairs"):
        sight_kernels.pairs_in_reach(world[0], world[0].ids.ids, world[1], world[1].ids.ids,
                                     ModalityNumbers(0, 9.0, 0.9, True), np.zeros(room, np.int64), np.zeros(6))


def test_ids_without_a_row_are_refused_before_any_memory_is_read():
    sensing, sending = tables([], [((1.0, 0.0, 0.0), 1.0, 1)])
    with pytest.raises(IndexError):
        sight_kernels.pairs_in_reach(sensing, np.array([500], np.int32), sending, sending.ids.ids,
                                     ModalityNumbers(0, 9.0, 0.9, True), np.zeros(1, np.int64), np.zeros(1))


@pytest.mark.parametrize(
    ("attribute", "wrong"),
    [
        ("position", np.zeros((9, 3))), ("position", np.zeros((9, 2), np.float32)),
        ("threshold", np.zeros((9, 1))), ("detection_mask", np.zeros(9, np.int32)),
        ("detection_mask", np.zeros(2, np.int64)),
        ("self_source", np.zeros(9)), ("forward", np.zeros((2, 3), np.float32)), ("cones", np.zeros((9, 1, 3))),
    ],
)
def test_the_kernel_reads_no_array_that_is_not_as_it_must_be(attribute, wrong):
    """In C nobody else would notice; the twin leaves this to NumPy."""
    sensing, sending = tables([((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), [SightCone(9, 2, 2)], 0.1, 1, None)] * 9,
                              [((1.0, 0.0, 0.0), 1.0, 1)])
    setattr(sensing, attribute, wrong)
    for name, form in FORMS.items():
        if name == "compiled":
            with pytest.raises((TypeError, ValueError), match=f"{attribute} must"):
                pairs(form, sensing, sending, ModalityNumbers(1, 9.0, 0.9, True))
