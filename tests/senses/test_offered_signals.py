"""Signals that arrive in the frame in which they were emitted are told together, as if each went by itself."""
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.stimuli.offered_signals import OfferedStimuli
from ai_core.senses.stimuli.signal_queue import Signal
from ai_core.twins import kernel_of
from tests.senses.conftest import ARRIVING
from tests.senses.test_sight_loops import tables
from tests.senses.worlds import World, hearing

AT_ONCE_S = 1e-9
PLACE = st.tuples(*[st.integers(0, 4).map(float)] * 3)
KIND = st.builds(
    hearing, kept_per_m=st.sampled_from([0.5, 0.9, 1.0]), range_m=st.sampled_from([1.0, 3.0, 50.0]),
    delay_s_per_m=st.sampled_from([0.0, 0.1, 0.3]))
MOVE = st.sampled_from([1e-7, 6e-7, 2e-6, 0.5, 1.0])


@st.composite
def offered(draw):
    """Sensors, and signals that reach some of them, of which some have moved since."""
    places = draw(st.lists(PLACE, min_size=1, max_size=6))
    threshold = draw(st.sampled_from([0.0, 0.4]))
    sensors, _ = tables([(one, (1, 0, 0), [], threshold, 1, -1) for one in places], [])
    signals = [
        Signal(order, 0, 1, 1.0, place, sent_at_s, 1, "", channel)
        for order, (place, sent_at_s, channel) in enumerate(draw(st.lists(st.tuples(
            PLACE, st.sampled_from([0.0, 0.5]), st.sampled_from(["", "", "", "steps"])), max_size=5)))]
    slots = [draw(st.lists(st.integers(0, len(places) - 1), unique=True).map(sorted)) for _ in signals]
    distances = [
        sum((a - b) ** 2 for a, b in zip(places[slot], signal.position, strict=True)) ** 0.5
        for signal, some in zip(signals, slots, strict=True) for slot in some]
    if draw(st.booleans()):
        sensors.position[draw(st.integers(0, len(places) - 1))] += draw(MOVE)
    counts, flat = [len(some) for some in slots], [slot for some in slots for slot in some]
    return sensors, signals, (Modality.sight(), draw(KIND)), (
        counts, flat, distances, [1.0 / (2 + place) for place in range(len(flat))])


@pytest.mark.skipif(kernel_of(ARRIVING["heard_now"]) is None, reason="kernels are not built")
@settings(max_examples=150)
@given(offered(), st.sampled_from([0.0, 0.6, 9.0]))
def test_kernel_and_twin_find_the_same_to_have_arrived(some, now_s):
    for name, more in (("arrived_at_once", (now_s,)), ("arrivals_of", ())):
        assert ARRIVING[name](*some, *more) == kernel_of(ARRIVING[name])(*some, *more)


class Rain:
    def level_at(self, number, place):
        return 0.3 + place[0] / 10


@pytest.mark.skipif(kernel_of(ARRIVING["heard_now"]) is None, reason="kernels are not built")
@settings(max_examples=150)
@given(
    offered(), st.integers(0, 3), st.booleans(), st.sampled_from([0.0, 0.6, 9.0]),
    st.lists(st.tuples(st.sampled_from([1.0, 0.5]), st.booleans()), min_size=30, max_size=30),
    st.dictionaries(st.tuples(st.just(0), st.just(1), st.just("steps"), st.integers(0, 5)), st.integers(0, 5)))
def test_kernel_and_twin_hear_the_same_now(some, first, rains, now_s, ends, newest):
    sensors, _, kinds, _ = some
    arrivals = [
        (signal, arrival._replace(kept=kept, is_final=is_final))
        for (signal, all_) in ARRIVING["arrivals_of"](*some)
        for arrival, (kept, is_final) in zip(all_, ends, strict=False)]
    if len(arrivals) > 3:
        sensors.remove(arrivals[3][1].sensor_id)
    given_ = sensors, arrivals, first, kinds, Rain() if rains else None, newest, now_s
    assert ARRIVING["heard_now"](*given_) == kernel_of(ARRIVING["heard_now"])(*given_)


@pytest.mark.skipif(kernel_of(ARRIVING["heard_now"]) is None, reason="kernels are not built")
def test_the_kernel_refuses_what_does_not_fit_together():
    sensors, _ = tables([((0, 0, 0), (1, 0, 0), [], 0.0, 1, -1)], [])
    signal, kinds = Signal(0, 0, 1, 1.0, (0.0, 0.0, 0.0), 0.0), (hearing(), hearing())
    with pytest.raises(IndexError, match="there is no row 99"):
        kernel_of(ARRIVING["arrived_at_once"])(sensors, [signal], kinds, ([1], [99], [0.0], [1.0]), 1.0)
    with pytest.raises(ValueError, match="one length"):
        kernel_of(ARRIVING["arrived_at_once"])(sensors, [signal, signal], kinds, ([1], [0], [0.0], [1.0]), 1.0)
    with pytest.raises(IndexError, match="there is no modality 7"):
        kernel_of(ARRIVING["arrived_at_once"])(
            sensors, [signal._replace(modality=7)], kinds, ([1], [0], [0.0], [1.0]), 1.0)


def hall(told, on_reported=lambda sensation: None, **kind):
    """Five ears in a row, two sources, sounds as quick as light nearly."""
    def listen(sensation):
        told.append(sensation)
        on_reported(sensation)

    world = World(modalities=[hearing(**{"delay_s_per_m": AT_ONCE_S, **kind}), Modality.sight()])
    ears = [world.ear((k, 0, 0), memory=SenseMemory(), on_sensed=listen) for k in range(5)]
    return world, ears, [world.manager.add_source(position=(k, 0, 1), strengths={"hearing": 9.0}) for k in (1, 3)]


def happen(monkeypatch, at_once, steps, live):
    """What is told of some frames, all that was offered together told so or one by one."""
    if not at_once:
        monkeypatch.setattr(OfferedStimuli, "heard", lambda *_: None)
    told = []
    world, ears, sources = hall(told, lambda sensation: live(world, ears, sources, sensation))
    for frame in range(4):
        for source in sources:
            world.manager.emit(source, "hearing", channel="steps" if frame == 2 else "")
        if frame == 1:
            world.manager.move_sensors([ears[2]], [(2, 0, 0.5)])
        if frame == 3:
            world.manager.remove_sensor(ears[0])
        world.tick(budget=None if steps is None else Budget.of_steps(steps))
        told.append(frame)
    monkeypatch.undo()
    return told, world.manager.save_state()


def nothing(world, ears, sources, sensation):
    """Who hears goes on."""


def run_away(world, ears, sources, sensation):
    """Who hears first moves the next."""
    if sensation.sensor_id == ears[1]:
        world.manager.move_sensors([ears[3]], [(3, sensation.at, 0)])


@pytest.mark.parametrize("live", [nothing, run_away])
@pytest.mark.parametrize("steps", [None, 3, 12])
def test_nobody_can_tell_that_they_were_told_together(monkeypatch, steps, live):
    together = happen(monkeypatch, True, steps, live)
    assert together == happen(monkeypatch, False, steps, live)
    assert len(together[0]) > 8


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 4), PLACE), max_size=3), min_size=2, max_size=4),
    st.sampled_from([AT_ONCE_S, 0.02]), st.sampled_from([None, 2]))
def test_sensor_moving_before_notice_hears_same_batched_or_not(frames, delay_s_per_m, steps):
    stories = []
    for together in (OfferedStimuli.heard, lambda *_: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(OfferedStimuli, "heard", together)
            told = []
            world, ears, sources = hall(told, delay_s_per_m=delay_s_per_m, range_m=4.0)
            for moves in frames:
                for source in sources:
                    world.manager.emit(source, "hearing")
                for ear, place in moves:
                    world.manager.move_sensors([ears[ear]], [place])
                world.tick(budget=None if steps is None else Budget.of_steps(steps))
                told.append(world.manager.save_state())
            stories.append(told)
    assert stories[0] == stories[1]


def test_what_is_saved_before_it_arrives_is_heard_after_loading():
    told = []
    world, ears, sources = hall(told)
    world.manager.emit(sources[0], "hearing")
    world.manager.move_sensors([ears[4]], [(4, 0, 0)])
    load = world.manager.prepare_state(world.manager.save_state())
    world.tick()
    assert len(told) == 5
    load()
    world.tick()
    assert len(told) == 10
