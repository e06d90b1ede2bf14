"""Saved senses: ids, memories, signals under way and half-done looks go on where they stood."""
from __future__ import annotations

import json

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.saving.fields import StateError
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory, TargetReport
from ai_core.senses.sensation import Sensation
from ai_core.senses.sight.sight_cones import SightCone
from tests.senses.worlds import ALL_ROUND, World, hearing

SETTINGS = AwarenessSettings(gain_per_s=0.7, decay_per_s=0.3)


class Street(World):
    """People who see and hear each other; each is a sensor and a source of the same name."""

    def __init__(self, names, **settings):
        super().__init__(
            reraise=False, max_rays=2, **settings,
            modalities=(Modality.sight(), hearing(delay_s_per_m=0.1)))
        self.sensors, self.sources, self.told = {}, {}, []
        for name in names:
            self.come(name)

    def come(self, name):
        place = (3 * (ord(name) - ord("a")), 0, 0)
        self.sources[name] = self.manager.add_source(position=place, strengths={"sight": 1, "hearing": 4}, name=name)
        self.sensors[name] = self.manager.add_sensor(
            position=place, forward=(1, 0, 0.25), thresholds={"sight": 0.3, "hearing": 0.1}, name=name,
            sight_cones=(SightCone(8.0, 2.0, 2.0), ALL_ROUND), self_source=self.sources[name],
            memory=SenseMemory(lose_after_s=0.3, max_age_s=1.0), awareness=SETTINGS,
            on_sensed=self.told.append, on_gained=self.told.append, on_lost=self.told.append,
            on_forgotten=self.told.append, on_awareness_changed=self.told.append)

    def leave(self, name):
        self.manager.remove_sensor(self.sensors.pop(name))
        self.manager.remove_source(self.sources.pop(name))

    def live(self, frames, steps=99):
        for _ in range(frames):
            self.clock.advance()
            now = self.clock.now.frame
            for name, one in self.sources.items():
                self.manager.move_sources([one], [(3 * (ord(name) - ord("a")), 0, now % 5)])
            if now % 3 == 0:
                self.manager.emit(self.sources["c"], "hearing")
            self.manager.advance(Budget.of_steps(steps))
        told, self.told[:] = list(self.told), []
        return told

    def save(self):
        return json.loads(json.dumps({"clock": self.clock.save_state(), "manager": self.manager.save_state()}))

    def load(self, state):
        changes = [getattr(self, name).prepare_state(one) for name, one in state.items()]
        for change in changes:
            change()
        self.sensors = {name: one for one, name in self.manager.sensor_names.items()}
        self.sources = {name: one for one, name in self.manager.source_names.items()}


def only_even(eyes, targets, sensor_ids, source_ids):
    return (sensor_ids + source_ids) % 2 == 0


@pytest.mark.parametrize("steps", [2, 7, 99])
@pytest.mark.parametrize("frames", [1, 4, 9])
def test_loaded_into_others_they_sense_what_they_would_have(frames, steps):
    first = Street("abcd", line_of_sight=only_even)
    first.live(3, steps)
    first.leave("b")
    first.come("e")
    first.live(frames, steps)
    second = Street("edca", line_of_sight=only_even)
    second.live(2)
    second.load(first.save())
    assert second.save() == first.save()
    assert second.live(12, steps) == first.live(12, steps) != []
    assert second.manager.statistics() == first.manager.statistics()


def test_ids_survive_and_new_ones_never_were():
    first = Street("abc")
    first.leave("a")
    first.come("f")
    second = Street("fcb")
    second.load(first.save())
    assert (second.sensors, second.sources) == (first.sensors, first.sources)
    second.come("g")
    first.come("g")
    assert second.sensors == first.sensors


def test_unsaved_sensor_stays_under_a_new_id_without_memories():
    first, second = Street("bc"), Street("abc")
    second.live(3)
    assert len(second.manager.memory_of(second.sensors["a"])) > 0
    second.load(first.save())
    assert second.sensors == {"b": 0, "c": 1, "a": 2}
    assert len(second.manager.memory_of(2)) == 0
    told = second.live(3)
    assert 2 in {one.sensor_id for one in told}
    assert all(one.source_id != one.sensor_id for one in told if isinstance(one, Sensation))


def test_sensors_keep_what_ends_their_deafness_saved_or_not():
    first, second = Street("b"), Street("ab")
    first.manager.set_sensitivity(first.sensors["b"], "hearing", 0.0, for_s=1.0)
    second.manager.set_sensitivity(second.sensors["a"], "hearing", 0.0, for_s=0.5)
    second.load(first.save())
    for frames, hearing_now in ((3, [0, 0]), (2, [1, 0]), (4, [1, 1])):
        second.tick(frames)
        rows = [second.manager.row_of(second.sensors[name]) for name in "ab"]
        assert second.manager._sensors.sensitivity[rows, 1].tolist() == hearing_now


def test_without_signals_a_loaded_game_has_the_same_turns():
    first, second = Street("abc"), Street("abc")
    first.tick(2)
    second.load(first.save())
    for street in (first, second):
        street.tick(budget=Budget.of_steps(0))
    assert second.save() == first.save()


def test_a_report_too_old_changes_nothing_after_a_load_either():
    first, second = Street("abc"), Street("abc")
    first.live(16)
    second.load(first.save())
    for age_s, kinds in ((1.5, []), (0.5, ["reported"])):
        report = TargetReport(9, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0, 2.0 - age_s)
        told = [street.manager.memory_of(street.sensors["a"]).hear_report(report) for street in (first, second)]
        assert told[0] == told[1]
        assert [one.kind for one in told[1] if one.target == 9] == kinds


def test_what_is_visible_is_that_of_the_loaded_game():
    world = World()
    eye, thing = world.eye((0, 0, 0)), world.thing((0, 0, -3))
    state = world.manager.save_state()
    world.manager.change_source(thing, strengths={})
    world.tick()
    assert world.manager.sensed_by(eye) == []
    world.manager.prepare_state(state)()
    world.tick()
    assert world.manager.sensed_by(eye) == [thing]


def test_a_sensor_that_is_missing_is_named():
    street = Street("bcd")
    street.manager.remove_source(street.sources["d"])
    state = street.save()
    with pytest.raises(StateError, match=r"'sensors\.rows' are inconsistent: unknown sensor 'd'; known: 'b', 'c'"):
        Street("bc").load(state)


def test_the_senses_must_be_the_same():
    first = World(modalities=(Modality.sight(),))
    second = World(modalities=(Modality.sight(), hearing()))
    with pytest.raises(StateError, match=r"'modalities' must be \['sight', 'hearing'\] as in the present object"):
        second.manager.prepare_state(first.manager.save_state())


def test_failing_listeners_and_rays_are_kept_by_name():
    def fail(what):
        calls.append(what)
        raise ValueError("boom")

    calls, worlds = [], []
    for _ in range(2):
        world = World(reraise=False, line_of_sight=lambda *question: fail("ray"), report_every_s=0.0)
        world.ear((1, 0, 0), name="ear", on_sensed=fail)
        world.eye((2, 0, 0), name="eye")
        world.sound = world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 9, "sight": 1}, name="bell")
        worlds.append(world)
    first, second = worlds
    for _ in range(3):
        first.manager.emit(first.sound, "hearing")
        first.tick(2)
    for change in [second.clock.prepare_state(first.clock.save_state()),
                   second.manager.prepare_state(first.manager.save_state())]:
        change()
    calls.clear()
    second.manager.emit(second.sound, "hearing")
    second.tick(3)
    assert calls == []
    second.manager.release()
    second.tick(1)
    assert calls == ["ray"]


def test_a_save_from_a_listener_is_refused():
    world = World()
    world.ear((1, 0, 0), on_sensed=lambda sensation: world.manager.save_state())
    bell = world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 9})
    world.manager.emit(bell, "hearing")
    with pytest.raises(RuntimeError, match="save and load between two frames"):
        world.tick()


def test_a_signal_is_saved_once_for_all_ears_that_it_comes_to():
    world = World(modalities=[hearing(delay_s_per_m=0.5)])
    for place in range(1, 40):
        world.ear((place, 0, 0))
    bells = [world.manager.add_source(position=(0, 0, place), strengths={"hearing": 9}) for place in range(2)]
    for bell in bells:
        world.manager.emit(bell, "hearing")
    world.tick()
    saved = world.manager.save_state()["signals"]["arrivals"]
    assert [one["source_id"] for one in saved["signals"]] == bells
    assert sorted(saved["signal"]) == [0] * 39 + [1] * 39
    assert {len(column) for name, column in saved.items() if name != "signals"} == {78}
    world.manager.prepare_state(json.loads(json.dumps(world.manager.save_state())))()
    assert world.manager.save_state()["signals"]["arrivals"] == saved


ROWS = ("sensors", "rows")
PERCEPTS = ("percepts",)
PERCEPT = ("percepts", "rows", 0)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("sensors", "generations"), [0, 0], "'sensors.generations' do not match the sensor id 2"),
        (("sensors", "free"), [0], "'sensors.free' must hold exactly the rows without a sensor"),
        (("sensors", "generations"), [0, 0, 0, 0], "'sensors.free' must hold exactly the rows without a sensor"),
        ((*ROWS, 1, "id"), 0, r"'sensors.rows\[1\]' occurs twice"),
        ((*ROWS, 0, "name"), 3, r"'sensors.rows\[0\].name' must be a string"),
        ((*ROWS, 0, "forward"), [2, 0, 0], r"'sensors.rows\[0\]': forward must be of length 1"),
        ((*ROWS, 0, "position"), [0, 1e39, 0], r"'sensors.rows\[0\].position\[1\]' must be at most 3.40282e\+38"),
        ((*ROWS, 0, "thresholds", "smell"), 1, r"'sensors.rows\[0\].thresholds.smell' is an unknown modality"),
        ((*ROWS, 0, "sensitivity", "sight"), -1, r"'sensors.rows\[0\].sensitivity.sight' must be at least 0"),
        ((*ROWS, 0, "until_s", "sight"), "", r"'sensors.rows\[0\].until_s.sight' must be a finite number"),
        ((*ROWS, 1, "cones", 0), [1, 2, 0, 1, 0], r"'sensors.rows\[1\].cones\[0\]\[1\]' must be at most 1"),
        ((*ROWS, 1, "cones"), [[1, 0, 0, 1, 0]] * 150_000, r"rows\[1\].cones' must be at most 131072 cones"),
        ((*PERCEPT, "meter", 1), 9, r"'percepts.rows\[0\].meter' must reach at most 2 levels, got 9"),
        ((*PERCEPT, "meter", 1), 0.5, r"'percepts.rows\[0\].meter\[1\]' must be an integer"),
        ((*PERCEPT, "meter", 7), [1.0, 2.0, 3.0], r"'percepts.rows\[0\].meter' must reach at most 2 levels"),
        ((*PERCEPT, "meter", 7), [2.0, 1.0], r"'percepts.rows\[0\]': the times of levels must ascend"),
        ((*PERCEPTS, "minds", 0, 1, "failing"), [["on_x", [1, True]]],
         r"failing\[0\]\[0\]' must be 'on_sensed' or"),
        ((*PERCEPT, "memory", 4), 99, r"'percepts.rows\[0\]' must not be later than the save"),
        ((*PERCEPT, "memory", 5), 99, r"'percepts.rows\[0\]': noticed_s must not be later than last_sensed_s"),
        ((*PERCEPT, "memory", 1), 0.5, r"'percepts.rows\[0\].memory\[1\]' must be true or false"),
        ((*PERCEPT, "senses"), {}, r"'percepts.rows\[0\]': senses must hold when the target was sensed"),
        ((*PERCEPT, "memory", 13), None, r"'percepts.rows\[0\]': first_seen_s must be None where last_seen_s is"),
        ((*PERCEPT, "sensor_id"), 7, r"'percepts.rows\[0\].sensor_id' must be a sensor of the save, got 7"),
        ((*PERCEPTS, "now_s"), 99, "'percepts.now_s' must not be later than the save, at 0.75 s"),
        ((*PERCEPTS, "rows", 1, "target"), 0, r"'percepts.rows\[1\]' must be after the row before it"),
        ((*PERCEPTS, "notices"),
         [{"notice": "level", "sensor_id": 0, "target": 0, "level": 9, "name": "", "at_s": 0.0}],
         "percepts.notices' must hold levels of their sensors, that of sensor 0"),
        ((*PERCEPTS, "heard"),
         [{"notice": "sensation", "sensor_id": 0, "source_id": 0, "modality": "taste", "intensity": 1.0,
           "position": [0, 0, 0], "sent_at_s": 0.0, "at_s": 0.0, "tag": ""}], r"heard\[0\].modality' must be"),
        (("signals", "arrivals", "signals", 0, "modality"), "taste", "unknown modality 'taste'; known: 'hearing'"),
        (("signals", "arrivals", "signals", 0, "order"), 9, "'signals.arrivals' must hold signals of orders below 2"),
        (("signals", "arrivals", "signals", 0, "sent_at_s"), 9, "arrivals' must hold no signals sent after"),
        (("signals", "arrivals", "due_s", 0), [], r"arrivals.due_s\[0\]' must be a finite number"),
        (("signals", "arrivals", "sensor_id", 0), -1, r"arrivals.sensor_id\[0\]' must be at least 0"),
        (("signals", "arrivals", "line", 0), 3, r"arrivals.line\[0\]' must be at most 2"),
        (("signals", "arrivals", "signal", 0), 9, "arrivals.signal' must hold all numbers below ., those of its sig"),
        (("signals", "arrivals", "due_s"), [], "arrivals.due_s' must have .* rows as the columns before it, got 0"),
        (("signals", "waves"), [1], r"'signals.waves\[0\]' must be a dict"),
        (("looking", "pairs", "sight", "keys", 1, -1), 77, "'looking.pairs' contain the source id 77, which never"),
        (("looking", "pairs", "sight", "keys", 0, 0), 2, "pairs.sight.keys' must be sorted by ascending sensor, then"),
        (("looking", "pairs", "sight", "is_sensed"), [], "'looking.pairs.sight': columns of pairs must be of one"),
        (("looking", "pairs", "sight", "waiting_since", 0), 99, "'looking.pairs.sight.waiting_since' must be at most"),
        (("looking", "passes"), 0, "'looking.ages.ended_s' must not hold more items than passes"),
        (("looking", "ages", "interrupted_at"), 99, "'looking.ages.interrupted_at' must be at most"),
        (("turns", "first"), 3, "'turns.first' must be at most 2"),
        (("turns", "following"), [0], "'turns.following' must be a list of 3 items"),
        (("failures", "line_of_sight"), [-1, False], r"'failures.line_of_sight\[0\]' must be at least 0"),
    ],
)
def test_a_state_that_cannot_be_is_refused(path, value, message):
    street = Street("abc")
    street.live(6)
    state = street.save()
    box = state["manager"]
    for key in path[:-1]:
        box = box[key]
    box[path[-1]] = value
    before = street.save()
    with pytest.raises(StateError, match=message):
        street.load(state)
    assert street.save() == before
    assert isinstance(street.clock, ManualClock)


def test_what_a_sensor_was_told_last_is_that_of_the_loaded_game():
    world = World(modalities=[hearing()])
    ear, thing = world.ear((0, 0, 0)), world.manager.add_source(position=(0, 0, 3), strengths={})
    fresh = world.manager.save_state()
    world.manager.emit(thing, "hearing", 2.0, tag="crash")
    world.tick()
    first = world.manager.last_sensation(ear)
    state = json.loads(json.dumps(world.manager.save_state()))
    world.manager.emit(thing, "hearing", 1.0, tag="step")
    world.tick()
    world.manager.prepare_state(state)()
    assert world.manager.last_sensation(ear) == first
    assert first.tag == "crash"
    world.manager.prepare_state(fresh)()
    assert world.manager.last_sensation(ear) is None
