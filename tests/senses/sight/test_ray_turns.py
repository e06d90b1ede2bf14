"""Whose turn it is for a ray: important ones sooner, all of them in time."""
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.sight.continuous_sensing import ANY_SOURCE, PATIENCE_PASSES, RayTurns
from tests.senses.worlds import Rays, World


def importance(world):
    """Return the saved importances: sensor, source, value of each pair."""
    saved = world.manager.save_state()["looking"]["importance"]["importance"]
    return [(*pair, one) for pair, one in saved]


def test_an_important_sensor_is_asked_more_often():
    rays = Rays()
    world = World(line_of_sight=rays, max_rays=1)
    guards = [world.eye((k, 0, 0)) for k in range(4)]
    world.thing((0, 0, -5))
    world.manager.set_importance([guards[2]], [1.0])
    world.tick(frames=40)
    asked = [pair[0] for batch in rays.batches for pair in batch]
    assert asked.count(guards[2]) > 3 * max(asked.count(one) for one in guards if one != guards[2])
    assert set(asked) == set(guards)


def test_modalities_share_rays_by_sensor_then_source():
    rays = Rays()
    heat = Modality("heat", 100.0, is_continuous=True, needs_line_of_sight=True)
    world = World(line_of_sight=rays, max_rays=3, modalities=[Modality.sight(), heat])
    guards = [world.eye((k, 0, 0)) for k in range(2)]
    world.manager.change_sensor(guards[1], thresholds={"sight": 0.5, "heat": 0.5})
    lamp, stove = (world.manager.add_source(position=(k, 0, -5), strengths={"sight": 1.0, "heat": 1.0})
                   for k in range(2))
    world.tick(frames=2)
    assert rays.batches == [
        [(guards[0], lamp), (guards[0], stove), (guards[1], lamp)],
        [(guards[1], lamp), (guards[1], stove), (guards[1], stove)]]
    assert all(world.manager.sensed_by(guards[1], one) == [lamp, stove] for one in ("sight", "heat"))


@settings(max_examples=10)
@given(st.integers(1, 4), st.integers(1, 10), st.sampled_from([None, 1, 3, 10]), st.randoms(use_true_random=False))
def test_visible_target_is_noticed_within_the_bound_at_any_load(max_rays, n, steps, chance):
    rays = Rays()
    world = World(line_of_sight=rays, max_rays=max_rays)
    guards = [world.eye((k / 10, 0, 0)) for k in range(3)]
    others = [world.thing((k, 0, -5)) for k in range(n)]
    world.manager.set_importance(guards[1:], [chance.random(), 1.0])

    def frame():
        world.manager.move_sources(others, [(k, 0, chance.choice((-5, -500))) for k in range(n)])
        world.manager.emit(others[0], "hearing", 1.0)
        world.tick(budget=None if steps is None else Budget.of_steps(steps))

    for _ in range(chance.randrange(30)):
        frame()
    newcomer = world.thing((-1, 0, -5))
    passes = math.ceil(3 * (n + 1) / max_rays) + PATIENCE_PASSES
    steps_a_pass = 2 * len(guards) + max_rays
    bound = passes if steps is None else (passes + 1) * (math.ceil(steps_a_pass / steps) + 1)
    for _ in range(bound):
        frame()
        if newcomer in world.manager.sensed_by(guards[0]):
            break
    assert newcomer in world.manager.sensed_by(guards[0])


def test_the_oldest_query_and_the_bound_are_known():
    world = World(line_of_sight=Rays(), max_rays=2)
    guard = world.eye((0, 0, 0))
    for k in range(5):
        world.thing((k, 0, -5))
    def figures(*names):
        statistics = world.manager.statistics()
        return tuple(statistics[name] for name in names)

    assert figures("oldest_query_passes", "oldest_query_s", "passes") == (0, 0.0, 0)
    world.tick(frames=2)
    assert figures("oldest_query_passes", "oldest_query_s", "passes") == (1, 0.125, 2)
    assert figures("advances_until_all_are_asked", "noticed_within_s") == (3, 0.375)
    world.tick(frames=20)
    assert figures("longest_wait_passes", "longest_wait_s") == (3, 0.375)
    world.manager.set_importance([guard], [0.5])
    assert figures("advances_until_all_are_asked") == (3 + PATIENCE_PASSES,)


def test_what_was_measured_of_waiting_is_saved():
    worlds = []
    for _ in range(2):
        world = World(line_of_sight=Rays(), max_rays=2)
        world.eye((0, 0, 0), name="guard")
        for k in range(5):
            world.thing((k, 0, -5), name=str(k))
        worlds.append(world)
    first, second = worlds
    first.tick(frames=7)
    second.clock.advance(7)
    second.manager.prepare_state(first.manager.save_state())()
    assert second.manager.statistics() == first.manager.statistics()
    assert second.manager.save_state()["looking"] == first.manager.save_state()["looking"]


def test_important_pair_is_asked_more_often_than_the_rest():
    rays = Rays()
    world = World(line_of_sight=rays, max_rays=1)
    guard = world.eye((0, 0, 0))
    things = [world.thing((k, 0, -5)) for k in range(4)]
    world.manager.set_importance([guard], [1.0], [things[1]])
    world.tick(frames=40)
    asked = [pair[1] for batch in rays.batches for pair in batch]
    assert asked.count(things[1]) > 3 * max(asked.count(one) for one in things if one != things[1])
    assert set(asked) == set(things)
    world.manager.set_importance([guard], [0.0], [things[1]])
    assert world.manager.statistics()["advances_until_all_are_asked"] == 4


@pytest.mark.parametrize(
    ("ids", "values", "error"),
    [([0], [1.5], ValueError), ([0], [-0.1], ValueError), ([0], [math.nan], ValueError), ([0], [1.0, 1.0], ValueError),
     ([0], ["much"], TypeError), ([0], [True], TypeError), ([7], [1.0], UnknownNameError), ([0.5], [1.0], TypeError)],
)
def test_impossible_importances_are_refused_and_change_nothing(ids, values, error):
    world = World()
    world.eye((0, 0, 0))
    world.manager.set_importance([0], [0.25])
    with pytest.raises(error):
        world.manager.set_importance(ids, values)
    assert importance(world) == [(0, ANY_SOURCE, 0.25)]


def test_setting_one_importance_does_not_pass_over_the_others(monkeypatch):
    world, passed = World(), []
    for k in range(20):
        world.eye((k, 0, 0))
    monkeypatch.setattr(RayTurns, "_knows", lambda self, key: passed.append(key) or True)
    for k in range(20):
        world.manager.set_importance([k], [0.5])
    assert passed == []


def test_importance_is_saved_and_not_inherited_by_a_successor():
    worlds = []
    for _ in range(2):
        world = World()
        world.eye((0, 0, 0), name="guard")
        world.thing((0, 0, -5), name="thief")
        worlds.append(world)
    first, second = worlds
    first.manager.set_importance([0], [0.75], [0])
    first.manager.set_importance(np.array([0], np.int32), np.array([0.5], np.float32))
    second.manager.prepare_state(first.manager.save_state())()
    assert importance(second) == [(0, 0, 0.75), (0, ANY_SOURCE, 0.5)]
    second.manager.remove_sensor(0)
    second.eye((0, 0, 0))
    assert importance(second) == []


def test_sensors_that_are_not_in_a_save_keep_their_importance():
    first, second = World(), World()
    first.eye((0, 0, 0), name="guard")
    for name in ("dog", "guard"):
        second.eye((0, 0, 0), name=name)
    first.manager.set_importance([0], [0.75])
    second.manager.set_importance([0, 1], [0.25, 0.5])
    second.manager.prepare_state(first.manager.save_state())()
    assert second.manager.sensor_names == {0: "guard", 1: "dog"}
    assert importance(second) == [(0, ANY_SOURCE, 0.75), (1, ANY_SOURCE, 0.25)]
