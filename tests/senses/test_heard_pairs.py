"""Who hears the same again is not visited for it, and nobody can tell it from taking in each signal."""
import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.audience import StimulusBatch
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import Awareness, AwarenessSettings
from ai_core.senses.percepts.followed_pairs import PerceptTable
from ai_core.senses.percepts.heard_pairs import HeardPairs
from ai_core.senses.percepts.in_view import VisibleTarget
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.percepts.perceiver import SensorMind
from ai_core.senses.sensation import Sensation
from ai_core.twins import kernel_of
from tests.senses.conftest import HEARD
from tests.senses.test_followed_pairs import Yard
from tests.senses.worlds import World, hearing


class NoisyYard(Yard):
    """Where somebody steps or shouts in most frames, which all who look hear, too."""

    def guard(self):
        guard = super().guard()
        self.manager.change_sensor(guard, thresholds={"sight": self.chance.choice((0.0, 0.9)), "hearing": 0.01})
        return guard

    def live(self):
        for _ in range(self.chance.choice((0, 1, 3))):
            loudness = self.chance.choice((None, 0.1, 0.4))
            self.manager.emit(self.chance.choice(self.thieves), "hearing", loudness, tag="step")
        super().live()


def play(seed, asks_every):
    """Return what was told, and states in between; asking for them must change nothing."""
    yard, states = NoisyYard(seed), []
    for frame in range(60):
        yard.live()
        if frame % 12 == 11:
            states.append(copy.deepcopy(yard.manager.save_state()["sensors"]))
        elif frame % asks_every == 0:
            yard.manager.save_state()
    return yard.told, states


@pytest.mark.parametrize("seed", range(8))
def test_nobody_can_tell_rows_from_taking_in_each_signal(seed, monkeypatch):
    noted = []
    take_in = HeardPairs.take_in
    monkeypatch.setattr(HeardPairs, "take_in", lambda *row: noted.append(take_in(*row)) or noted[-1])
    in_rows = play(seed, asks_every=99)
    assert any(noted)
    monkeypatch.setattr(HeardPairs, "take_in", lambda *_: False)
    assert play(seed, asks_every=99) == in_rows


def test_asking_changes_nothing():
    assert play(3, asks_every=1) == play(3, asks_every=99)


@pytest.fixture
def hallway():
    """One who hears a thief at arm's length, and the thief."""
    world = World(modalities=[hearing(), Modality.sight()])
    memory = SenseMemory(lose_after_s=0.5, maximum_age_s=5)
    awareness = AwarenessSettings(gain_per_signal=0.001, decay_per_s=0)
    guard = world.ear((0, 0, 0), memory=memory, awareness=awareness)
    thief = world.manager.add_source(position=(0, 0, 4), strengths={"hearing": 1.0})
    return world, guard, thief


def test_signals_that_change_nothing_visit_no_mind(hallway, monkeypatch):
    world, _, thief = hallway
    taken, looks = [], []
    notice, look = SensorMind.notice, SensorMind.look
    monkeypatch.setattr(SensorMind, "notice", lambda self, *rest: taken.append(self) or notice(self, *rest))
    monkeypatch.setattr(SensorMind, "look", lambda self, *rest: looks.append(self) or look(self, *rest))
    for _ in range(100):
        world.manager.emit(thief, "hearing")
        world.tick()
    assert (len(taken), looks) == (1, [])


@pytest.fixture
def gallery():
    """One who sees and hears a thief, is not sure for long, and has noticed him; and the thief."""
    world = World(modalities=[hearing(), Modality.sight()])
    awareness = AwarenessSettings(gain_per_s=0.001, gain_per_signal=0.001)
    guard = world.eye((0, 0, 0), threshold=0.1, memory=SenseMemory(lose_after_s=0.5), awareness=awareness)
    world.manager.change_sensor(guard, thresholds={"sight": 0.1, "hearing": 0.1})
    thief = world.manager.add_source(position=(0, 0, -4), strengths={"hearing": 1.0, "sight": 1.0})
    for _ in range(3):
        world.tick()
    return world, guard, thief


def test_signals_of_a_target_in_view_visit_no_mind_even_at_first(gallery, monkeypatch):
    world, _, thief = gallery
    taken, looks = [], []
    notice, look = SensorMind.notice, SensorMind.look
    monkeypatch.setattr(SensorMind, "notice", lambda self, *rest: taken.append(self) or notice(self, *rest))
    monkeypatch.setattr(SensorMind, "look", lambda self, *rest: looks.append(self) or look(self, *rest))
    for _ in range(50):
        world.manager.emit(thief, "hearing")
        world.tick()
    assert (taken, looks) == ([], [])


def test_what_was_heard_of_who_is_in_view_is_there_for_who_asks(gallery):
    world, guard, thief = gallery
    before = world.manager.awareness_of(guard, thief).value
    begun_s = world.clock.now.seconds
    for strength in (1.0, 0.5):
        world.manager.emit(thief, "hearing", strength)
        world.tick()
    record, meter = world.manager.memory_of(guard).find(thief), world.manager.awareness_of(guard, thief)
    sounds = [0.9**4 * strength for strength in (1.0, 0.5)]
    passed_s = world.clock.now.seconds - begun_s
    assert record.strengths["hearing"] == pytest.approx(sounds[-1])
    assert record.sensed_at_s["hearing"] == world.clock.now.seconds
    assert meter.why().stimulus_gain["hearing"] == pytest.approx(0.001 * sum(sounds))
    assert meter.value == pytest.approx(before + 0.001 * sum(sounds) + 0.001 * record.strengths["sight"] * passed_s)


def test_sound_that_makes_an_observer_certain_notifies_at_once(gallery):
    world, guard, thief = gallery
    world.manager.emit(thief, "hearing")
    world.tick()
    assert world.manager.awareness_of(guard, thief).level == 0
    world.manager.emit(thief, "hearing", 900.0)
    world.tick()
    assert world.manager.awareness_of(guard, thief).level == 1


def test_target_forgotten_between_looks_but_heard_stays_seen(gallery):
    world, guard, thief = gallery
    for _ in range(1000):
        world.clock.advance()      # nobody has a turn for two minutes
    world.manager.emit(thief, "hearing")
    for step in range(3):
        world.manager.move_sources([thief], [(0, 0, -4 - step)])
        world.tick()
    record = world.manager.memory_of(guard).find(thief)
    assert record.last_seen_position == (0.0, 0.0, -6.0)
    assert record.last_seen_s == world.clock.now.seconds


def test_what_was_noted_is_there_for_who_asks(hallway):
    world, guard, thief = hallway
    for strength in (1.0, 0.5, 0.25):
        world.manager.emit(thief, "hearing", strength)
        world.tick()
    record = world.manager.memory_of(guard).find(thief)
    meter = world.manager.awareness_of(guard, thief)
    sounds = [0.9**4 * strength for strength in (1.0, 0.5, 0.25)]
    assert record.strength == pytest.approx(sounds[-1])
    assert meter.why().stimulus_gain["hearing"] == pytest.approx(0.001 * sum(sounds))


def test_silent_target_is_lost_a_set_time_after_last_signal(hallway):
    world, guard, thief = hallway
    for _ in range(20):
        world.manager.emit(thief, "hearing")
        world.tick()
    last_s = world.manager.memory_of(guard).find(thief).last_sensed_s
    while world.manager.memory_of(guard).find(thief).is_noticed:
        world.tick()
    assert world.clock.now.seconds == pytest.approx(last_s + 0.5, abs=0.15)


def test_report_after_noted_signals_dates_from_the_last_of_them(hallway):
    world, guard, thief = hallway
    for _ in range(3):
        world.manager.emit(thief, "hearing")
        world.tick()
    other = SenseMemory()
    other.sense(99, "hearing", 1.0, (1.0, 0.0, 0.0), 0.0)
    memory = world.manager.memory_of(guard)
    told, = memory.hear_report(other.report_of(99))
    assert told.at_s == memory.find(thief).last_sensed_s


@pytest.mark.parametrize("begin_anew", [
    lambda manager, guard: manager.prepare_state(manager.save_state())(),
    lambda manager, guard: manager._perceivers[guard].forget_all(),
], ids=["loaded", "all forgotten"])
def test_forgotten_before_first_look_after_load_signal_regains(begin_anew):
    world = World(modalities=[hearing(), Modality.sight()])
    told, gained = [], []

    def forget_at_the_second(sensation):
        told.append(sensation)
        if len(told) == 2:
            world.manager.memory_of(guard).forget(thief)

    guard = world.ear((0, 0, 0), memory=SenseMemory(), on_sensed=forget_at_the_second, on_gained=gained.append)
    thief = world.manager.add_source(position=(0, 0, 4), strengths={"hearing": 1.0})
    begin_anew(world.manager, guard)
    for _ in range(3):
        world.manager.emit(thief, "hearing")
    world.tick()
    assert [one.target for one in gained] == [thief, thief]
    assert world.manager.memory_of(guard).find(thief) is not None


SIGNAL = st.tuples(
    st.sampled_from([0.0, 0.1, 0.5, 3.0]), st.integers(0, 2), st.integers(0, 1), st.sampled_from(["hearing", "smell"]),
    st.sampled_from([0.0, 0.01, 0.2, 2.0]), st.floats(0, 9))


SHOWN = VisibleTarget(0, "sight", 0.5, (0.0, 0.0, 1.0), True, 1, 0, False)


def noted(form, signals, gain, visited, in_view):
    """What one form notes of signals, each (s later, sensor, source, sense, strength, sent at), and what it leaves."""
    memory, meters, rows, fresh, ends, at_s = SenseMemory(lose_after_s=1.0), [], {}, set(), [], 1.0
    followed = PerceptTable()
    for sensor in range(2):
        first = Sensation(sensor, 0, "hearing", 0.25, (0.0, 0.0, 0.0), 1.0, 1.0)
        memory.sense(sensor, "hearing", 0.25, first.position, 1.0)
        meters.append(Awareness(AwarenessSettings(gain_per_signal=gain), sensor, 1.0))
        meters[-1].be_startled(0.25, 1.0, "hearing", 0.25, anew=False)
        meter = None if gain > 1 else meters[-1]
        is_in_view = sensor in in_view
        if is_in_view:
            followed.add(sensor, SHOWN, 1.5, memory.find(sensor), meter)
        rows[sensor] = {0: form["HeardPair"](first, memory.lose_after_s, memory.find(sensor), meter, is_in_view)}
    followed.tidy()
    for later_s, sensor, source, modality, intensity, sent_at in signals:
        at_s += later_s
        what = [(source, modality, (sent_at, 1.0, 2.0), sent_at, "tag")]
        heard = StimulusBatch([sensor, 0], [0, 0], [intensity, 0.125], what, at_s)
        ends.append(form["take_in_all"](rows, heard, 0, visited, fresh, followed.rows))
        if sent_at > 8:      # they are looked at
            followed.rows["at_s"][:] = at_s
            followed.rows["slope"][:] = intensity
    if visited:
        followed.drop(1)
        ends.append(form["take_in_all"](rows, heard, 0, set(), fresh, followed.rows) if signals else 0)
    found = [(row.is_fresh, row.at_s) for some in rows.values() for row in some.values()]
    for some in rows.values():
        if some[0].is_fresh:
            some[0].put_into_record()
    records = [memory.find(sensor) for sensor in range(2)]
    return ends, fresh, found, [meter.save_state() for meter in meters], [
        (one.as_noted, one.strengths, one.sensed_at_s) for one in records], [
        followed.rows[name].tolist() for name in ("begun_s", "begun")]


@pytest.mark.skipif(kernel_of(HEARD["take_in_all"]) is None, reason="kernels are not built")
@settings(max_examples=80)
@given(
    st.lists(SIGNAL, max_size=8), st.sampled_from([0.0, 0.01, 0.5, 2.0]), st.sampled_from([set(), {1}]),
    st.sampled_from([(), (0,), (0, 1)]))
def test_kernel_and_twin_note_the_same_to_the_last_bit(signals, gain, visited, in_view):
    kernels = {name: kernel_of(one) for name, one in HEARD.items()}
    assert noted(HEARD, signals, gain, visited, in_view) == noted(kernels, signals, gain, visited, in_view)
