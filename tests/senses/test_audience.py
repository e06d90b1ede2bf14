"""An audience is told of many sensations in one call, and of the same as listeners one by one."""
from __future__ import annotations

import copy

import pytest

from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.sensation import Sensation
from tests.senses.percepts.test_perception import NoisyYard
from tests.senses.worlds import World, hearing


class Crowd:
    """Notes what it is told, and to how many at once."""

    def __init__(self):
        self.told, self.at_once = [], []

    def receive(self, told):
        self.at_once.append(len(told))
        self.told.extend(one[:5] for one in told)


def played(seed, crowd):
    """What each sensor was told, in its order; states in between; and what each was told last."""
    yard, states = NoisyYard(seed), []
    yard.manager._perception._audience = crowd
    by_sensor, seen = {}, 0
    for frame in range(60):
        yard.live()
        told = [one[:5] for one in yard.told[seen:] if isinstance(one, Sensation)]
        seen = len(yard.told)
        if crowd is not None:
            told += crowd.told
            crowd.told = []
        for one in told:
            by_sensor.setdefault(one[0], []).append((frame, *one[1:]))
        if frame % 12 == 11:
            states.append(copy.deepcopy(yard.manager.save_state()["sensors"]))
    return {one: sorted(told) for one, told in by_sensor.items()}, states


@pytest.mark.parametrize("seed", range(6))
def test_nobody_is_told_anything_else_by_way_of_an_audience(seed):
    crowd = Crowd()
    assert played(seed, crowd) == played(seed, None)
    assert max(crowd.at_once) > 1


@pytest.fixture
def hall():
    """Three who hear a bell; an audience; and the bell."""
    crowd = Crowd()
    world = World(modalities=[hearing(), Modality.sight()], audience=crowd)
    ears = [world.ear((k, 0, 0), memory=SenseMemory(), on_sensed=crowd.told.append) for k in range(3)]
    return world, crowd, ears, world.manager.add_source(position=(0, 0, 2), strengths={"hearing": 9.0})


def test_repeated_hearing_is_reported_with_others_as_known(hall):
    world, crowd, ears, bell = hall
    for _ in range(2):
        world.manager.emit(bell, "hearing", tag="ding")
        world.tick()
    assert crowd.at_once == [3, 3]
    last = world.manager.last_sensation(ears[2])
    assert (last.source_id, last.modality, last.tag) == (bell, "hearing", "ding")
    assert world.manager.memory_of(ears[2]).find(bell).last_sensed_s == world.clock.now.seconds


def test_raising_audience_is_quarantined_and_arrivals_are_kept():
    class Raising(Crowd):
        __hash__ = None  # as of what can be compared

        def receive(self, told):
            super().receive(told)
            raise ValueError("on purpose")

    crowd = Raising()
    world = World(modalities=[hearing(), Modality.sight()], audience=crowd, reraise=False)
    ears = [world.ear((k, 0, 0), memory=SenseMemory(), on_sensed=crowd.told.append) for k in range(3)]
    bells = [world.manager.add_source(position=(0, 0, z), strengths={"hearing": 9.0}) for z in (2, 3)]
    for _ in range(6):
        for bell in bells:
            world.manager.emit(bell, "hearing")
        world.tick()
    assert [one.is_quarantined for one in world.reported] == [False, False, True]
    for ear in ears:
        for bell in bells:
            assert world.manager.memory_of(ear).find(bell).last_sensed_s == world.clock.now.seconds
    told = len(crowd.at_once)
    world.manager.release()
    world.manager.emit(bells[0], "hearing")
    world.tick()
    assert len(crowd.at_once) == told + 1


def test_audience_receives_changes_without_a_listener():
    class Noting(Crowd):
        def change(self, change):
            self.told.append((change.sensor_id, getattr(change, "kind", "level")))
            if len(self.told) == 1:
                raise ValueError("on purpose")

    crowd, gained = Noting(), []
    crowd.receive = lambda told: None
    world = World(modalities=[hearing(), Modality.sight()], audience=crowd, reraise=False)
    awareness = AwarenessSettings(gain_per_signal=9.0)
    world.ear((0, 0, 0), memory=SenseMemory(), awareness=awareness, on_gained=gained.append)
    other = world.ear((1, 0, 0), memory=SenseMemory(), awareness=awareness)
    bell = world.manager.add_source(position=(0, 0, 2), strengths={"hearing": 9.0})
    world.manager.emit(bell, "hearing")
    world.tick()
    assert [one.kind for one in gained] == ["gained"]
    assert crowd.told[0] == (other, "gained")
    assert len(world.reported) == 1
    assert "level" in {kind for _, kind in crowd.told}
    assert world.reported[0].name == f"on_gained of sensor {other}"


def test_the_trace_is_told_of_each_sensation_of_a_batch(hall):
    world, crowd, _, bell = hall
    sensed = []

    class Listener:
        def sensed(self, *what):
            sensed.append(what)

    world.manager._perception._trace.listen(Listener())
    for _ in range(2):
        world.manager.emit(bell, "hearing")
        world.tick()
    assert crowd.at_once == [3, 3]
    assert len(sensed) == len(crowd.told) == 6
