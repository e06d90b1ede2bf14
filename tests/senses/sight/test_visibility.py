"""How clearly something is seen: parts, light, camouflage, silhouettes, size, fog, losing sight."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.sight.camouflage import Backdrop, Camouflage
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.source_table import MOST_PARTS, VisiblePart
from tests.senses.worlds import World

NAN = float("nan")
AHEAD_CONE = SightCone(20, 1.0, 1.0)
MAN = (VisiblePart("head", (0, 1.7, 0), 0.2), VisiblePart("chest", (0, 1.2, 0), 0.5),
       VisiblePart("legs", (0, 0.4, 0), 0.3))


def seen(world):
    """What the last frame's sight was, by sensor and source."""
    world.heard.clear()
    world.tick()
    return {(one.sensor_id, one.source_id): round(one.intensity, 6) for one in world.heard}


def eyes(world, **more):
    return world.eye((0, 1.6, 0), cones=(AHEAD_CONE,), **{"threshold": 0.15, **more})


def below(height_m):
    """A wall that hides what is not above it."""
    return lambda starts, ends, *_: ends[:, 1] >= height_m


def test_visible_share_sets_strength_and_seen_parts_are_listed():
    world = World(line_of_sight=below(1.0), report_every_s=0)
    guard = eyes(world)
    thief = world.thing((0, 0, -5), sight=2.0, parts=MAN)
    assert seen(world) == {(guard, thief): 1.4}
    assert world.manager.seen_parts(guard, thief) == ("head", "chest")
    world.manager.line_of_sight = below(1.5)
    assert seen(world) == {(guard, thief): 0.4}
    assert world.manager.seen_parts(guard, thief) == ("head",)
    world.manager.line_of_sight = below(9)
    assert seen(world) == {}
    assert world.manager.seen_parts(guard, thief) == ()


def test_a_share_too_small_for_the_threshold_is_not_seen():
    world = World(line_of_sight=below(1.5), report_every_s=0)
    guard = eyes(world, threshold=0.3)
    thief = world.thing((0, 0, -5), parts=MAN)
    assert seen(world) == {}
    world.manager.change_source(thief, strengths={"sight": 1.5})
    assert seen(world) == {(guard, thief): 0.3}


def test_memory_and_awareness_take_in_the_share_that_is_seen():
    world = World(line_of_sight=below(1.5))
    guard = eyes(world, memory=SenseMemory())
    thief = world.thing((0, 0, -5), parts=MAN)
    world.tick(frames=3)
    assert world.manager.memory_of(guard).find(thief).strength == pytest.approx(0.2)


def test_without_a_line_of_sight_all_parts_are_seen():
    world = World(report_every_s=0)
    guard, thief = eyes(world), world.thing((0, 0, -5), parts=MAN)
    assert seen(world) == {(guard, thief): 1.0}
    assert world.manager.seen_parts(guard, thief) == ("head", "chest", "legs")


def test_all_lines_to_all_parts_are_one_batch_within_ray_limit():
    batches = []

    def rays(starts, ends, sensor_ids, source_ids):
        batches.append(source_ids.tolist())
        return np.ones(len(starts), np.bool_)

    world = World(line_of_sight=rays, max_rays=7)
    eyes(world)
    for k in range(4):
        world.thing((0.1 * k, 0, -5), parts=MAN[:3] if k % 2 else ())
    world.tick(frames=2)
    assert batches == [[0, 1, 1, 1, 2], [3, 3, 3, 0, 1, 1, 1]]
    assert world.manager.statistics()["rays_asked"] == 7
    assert world.manager.statistics()["advances_until_all_are_asked"] == 2


def test_pair_with_more_parts_than_allowed_rays_is_still_asked():
    world = World(line_of_sight=below(0), max_rays=2)
    guard, thief = eyes(world), world.thing((0, 0, -5), parts=MAN)
    world.tick()
    assert world.manager.sensed_by(guard) == [thief]


def test_seen_target_stays_seen_up_to_the_lose_sight_range():
    world = World(line_of_sight=below(-9), report_every_s=0)
    guard = world.eye((0, 0, 0), cones=(SightCone(10, 1.0, 1.0, lose_range_m=15), SightCone(12, 0.2, 0.2, 0.5)))
    thief = world.thing((0, 0, -14))
    story = []
    for distance in (14, 12.5, 11, 9, 11, 14, 15, 15.1, 14, 10):
        world.manager.move_sources([thief], [[0, 0, -distance]])
        story.append(seen(world).get((guard, thief)))
    # At 11 m the second cone sees, half as sharply: a cone within its range comes first.
    assert story == [None, None, 0.5, 1.0, 0.5, 1.0, 1.0, None, None, 1.0]


def test_sight_is_lost_beyond_its_range_even_without_obstacles():
    world = World(report_every_s=0)
    guard = world.eye((0, 0, 0), cones=(SightCone(10, 1.0, 1.0, lose_range_m=15),))
    thief = world.thing((0, 0, -12))
    assert seen(world) == {}
    world.manager.move_sources([thief], [[0, 0, -9]])
    assert (guard, thief) in seen(world)
    world.manager.move_sources([thief], [[0, 0, -14]])
    assert (guard, thief) in seen(world)


def test_what_is_close_by_is_noticed_behind_the_eyes():
    world = World(report_every_s=0)
    guard = world.eye((0, 0, 0), cones=(AHEAD_CONE, SightCone.close_by(2.0, acuity=0.75)))
    behind, above = world.thing((0, 0, 1.9)), world.thing((0, 1.9, 0))
    world.thing((0, 0, 2.1))
    assert seen(world) == {(guard, behind): 0.75, (guard, above): 0.75}


def test_who_searches_looks_wider():
    world = World(report_every_s=0)
    guard = eyes(world)
    aside = world.thing((10, 1.6, -10))
    assert seen(world) == {}
    world.manager.change_sensor(guard, sight_cones=[AHEAD_CONE.widened(2.0)])
    assert seen(world) == {(guard, aside): 1.0}
    assert SightCone(10, 4.0, 2.0, lose_range_m=12).widened(3.0) == SightCone(
        10, math.tau, math.pi, lose_range_m=12)


def test_strength_follows_the_light_on_the_source():
    world = World(modalities=[Modality.sight(), Modality("aura", range_m=9, is_continuous=True)], report_every_s=0)
    guard = eyes(world)
    thief, other = world.thing((0, 1.6, -5), sight=2.0), world.thing((1, 1.6, -5))
    world.manager.light_sources([thief, other], [0.25, 0.1])
    assert seen(world) == {(guard, thief): 0.5}
    world.manager.change_source(thief, light=0.0)
    world.manager.change_source(other, light=3.0)
    assert seen(world) == {(guard, other): 3.0}
    feels = world.manager.add_sensor(position=(0, 1.6, 0), forward=(0, 0, -1), thresholds={"aura": 0.5})
    ghost = world.manager.add_source(position=(0, 1.6, -1), strengths={"aura": 1.0}, light=0.0)
    world.tick()
    assert world.manager.sensed_by(feels, "aura") == [ghost]


GREEN = Camouflage({("green", "leaves"): 0.1, ("green", "sky"): 1.5, ("brick", "brick"): 0.0})


class Forest:
    """Answers what is behind: a pattern by the height of the line's end; counts its lines."""

    def __init__(self, light=None):
        self.light, self.lines = light, 0

    def __call__(self, starts, ends, sensor_ids, source_ids):
        self.lines += len(starts)
        pattern = np.where(ends[:, 1] >= 1.5, GREEN.number("sky"), GREEN.number("leaves"))
        light = None if self.light is None else np.full(len(starts), self.light)
        return Backdrop(pattern, light)


def test_background_pattern_scales_how_strong_a_pattern_is_seen():
    world = World(line_of_sight=below(-9), background=Forest(), camouflage=GREEN, report_every_s=0)
    guard = world.eye((0, 0, 0), cones=(AHEAD_CONE,), threshold=0.5)
    low, high = (world.thing((k, height, -5), pattern="green") for k, height in ((0, 0), (1, 2)))
    plain = world.thing((2, 0, -5))
    assert seen(world) == {(guard, high): 1.5, (guard, plain): 1.0}
    world.manager.change_sensor(guard, thresholds={"sight": 0.05})
    assert seen(world)[guard, low] == 0.1


def test_contrasting_pattern_is_seen_although_too_weak_by_itself():
    world = World(line_of_sight=below(-9), background=Forest(), camouflage=GREEN)
    guard = world.eye((0, 0, 0), cones=(AHEAD_CONE,), threshold=1.2)
    high = world.thing((1, 2, -5), pattern="green")
    world.thing((1, 2, -5))
    assert seen(world) == {(guard, high): 1.5}


def test_each_visible_part_has_its_own_backdrop():
    forest = Forest()
    world = World(line_of_sight=below(1.0), background=forest, camouflage=GREEN)
    guard = eyes(world, threshold=0.01)
    thief = world.thing((0, 0, -5), pattern="green", parts=MAN)
    assert seen(world) == {(guard, thief): round(0.2 * 1.5 + 0.5 * 0.1, 6)}
    assert forest.lines == 2
    assert world.manager.statistics()["rays_asked"] == 6


def test_a_dark_figure_before_a_bright_wall_is_a_silhouette():
    world = World(line_of_sight=below(-9), background=Forest(light=1.0), camouflage=GREEN, report_every_s=0)
    guard = world.eye((0, 0, 0), cones=(AHEAD_CONE,))
    shadow, lit = world.thing((0, 0, -5), light=0.1), world.thing((1, 0, -5), light=1.0)
    assert seen(world) == {(guard, shadow): 0.9, (guard, lit): 1.0}
    world = World(line_of_sight=below(-9), background=Forest(light=0.1), camouflage=GREEN)
    world.eye((0, 0, 0), cones=(AHEAD_CONE,))
    world.thing((0, 0, -5), light=0.1)
    assert seen(world) == {}


def test_when_it_cannot_be_said_what_is_behind_only_light_counts():
    world = World(line_of_sight=below(-9), background=lambda *_: None, camouflage=GREEN)
    guard = world.eye((0, 0, 0), cones=(AHEAD_CONE,))
    thief = world.thing((0, 0, -5), pattern="green", light=0.75)
    assert seen(world) == {(guard, thief): 0.75}


@pytest.mark.parametrize("answer", [
    3, Backdrop(np.array([9])), Backdrop(np.array([0.5])), Backdrop(np.array([0, 0])), Backdrop(np.array([-2])),
    Backdrop(np.array([0]), np.array([NAN])), Backdrop(np.array([0]), np.array([1.0, 1.0])),
])
def test_a_background_that_answers_nonsense_is_reported(answer):
    world = World(line_of_sight=below(-9), background=lambda *_: answer, camouflage=GREEN, reraise=False)
    world.eye((0, 0, 0), cones=(AHEAD_CONE,))
    world.thing((0, 0, -5), pattern="green")
    world.tick()
    assert [fault.name for fault in world.reported] == ["line_of_sight"]
    assert "background" in str(world.reported[0].error)
    assert world.heard == []


def test_large_objects_are_seen_from_farther_and_small_only_near():
    world = World(modalities=[Modality.sight(range_m=30, kept_per_m=0.9)], report_every_s=0)
    guard = world.eye((0, 0, 0), cones=(SightCone(10, 1.0, 1.0),), threshold=0.01)
    tower = world.thing((0, 0, -40), size=5.0)
    mouse = world.thing((0, 0, -5), size=0.25)
    assert seen(world) == {(guard, tower): round(0.9**8, 6)}
    world.manager.move_sources([mouse], [[0, 0, -2.5]])
    assert (guard, mouse) in seen(world)
    world.manager.change_source(tower, size=1.0)
    assert (guard, tower) not in seen(world)


def test_fog_shortens_sight_and_lifts_again():
    world = World(report_every_s=0)
    guard = eyes(world, threshold=0.5)
    thief = world.thing((0, 1.6, -10))
    assert seen(world) == {(guard, thief): 1.0}
    world.manager.change_modality("sight", kept_per_m=0.9)
    assert seen(world) == {}
    world.manager.change_modality("sight", kept_per_m=0.95)
    assert seen(world) == {(guard, thief): round(0.95**10, 6)}
    world.manager.change_modality("sight", kept_per_m=1.0, range_m=9.0)
    assert seen(world) == {}


def forest_world():
    world = World(
        line_of_sight=lambda starts, ends, sensors, sources: (sensors + sources) % 3 > 0,
        background=Forest(light=0.5), camouflage=GREEN, max_rays=9, report_every_s=0)
    for k in range(4):
        world.eye((3.0 * k, 0, 0), cones=(SightCone(20, 1.5, 1.5, lose_range_m=25),), threshold=0.1, name=f"g{k}",
                  memory=SenseMemory(lose_after_s=0.3, max_age_s=1))
        world.thing((2.0 * k, 1.0, -8 - k), parts=MAN[: k % 4], pattern="green", light=0.3 * k, name=f"t{k}",
                    tag="thief", size=1.0 + k)
    return world


def live(world, frames):
    for frame in range(frames):
        world.manager.move_sources([0, 1], [[frame % 7, 0, -18 - frame % 9], [frame % 3, 1, -22]])
        world.manager.change_source(2, light=(frame % 5) / 4)
        world.tick(budget=Budget.of_steps(40))
    told, world.heard[:] = list(world.heard), []
    return told


@pytest.mark.parametrize("frames", [1, 6, 11])
def test_saved_sight_goes_on_as_it_would_have(frames):
    first, second = forest_world(), forest_world()
    live(first, frames)
    first.manager.change_modality("sight", kept_per_m=0.99)
    live(first, 2)
    live(second, 3)
    state = json.loads(json.dumps({"clock": first.clock.save_state(), "manager": first.manager.save_state()}))
    for change in [second.clock.prepare_state(state["clock"]), second.manager.prepare_state(state["manager"])]:
        change()
    assert second.manager.save_state() == first.manager.save_state()
    second.heard.clear()
    assert live(second, 12) == live(first, 12) != []
    assert second.manager.seen_parts(1, 1) == first.manager.seen_parts(1, 1)


CELL = st.tuples(st.integers(-6, 6), st.integers(-6, 6)).map(lambda one: (float(one[0]), 0.0, float(one[1])))


@settings(max_examples=15)
@given(st.lists(CELL, min_size=2, max_size=6), st.sampled_from([3.0, 5.0, 40.0]), st.sampled_from([1.0, 0.9]))
def test_without_cones_a_sees_b_as_strongly_as_b_sees_a(places, range_m, kept_per_m):
    world = World(modalities=[Modality.sight(range_m=range_m, kept_per_m=kept_per_m)])
    bodies = [world.thing(place) for place in places]
    for place, body in zip(places, bodies, strict=True):
        world.eye(place, cones=[SightCone.close_by(50)], self_source=body, threshold=0.4)
    world.tick()
    strengths = {(one.sensor_id, one.source_id): one.intensity for one in world.heard}
    assert strengths == {(b, a): strength for (a, b), strength in strengths.items()}


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"light": -1}, ValueError, "light must be at least 0"),
        ({"light": NAN}, ValueError, "light must be a finite number"),
        ({"size": 0}, ValueError, "size must be at least 0.001"),
        ({"size": True}, TypeError, "size must be a number"),
        ({"pattern": "grean"}, UnknownNameError, "did you mean 'green'"),
        ({"tag": 3}, TypeError, "tag must be a string"),
        ({"parts": [(0, 0, 0)]}, TypeError, "parts must hold VisiblePart"),
        ({"parts": [MAN[0], MAN[0]]}, ValueError, "must have unique names"),
        ({"parts": [VisiblePart(str(k), (0, k, 0)) for k in range(MOST_PARTS + 1)]}, ValueError, "most 16 parts"),
    ],
)
def test_impossible_sources_are_refused_and_nothing_changes(wrong, error, message):
    world = World(camouflage=GREEN)
    guard, thief = eyes(world), world.thing((0, 1.6, -5), pattern="green")
    with pytest.raises(error, match=message):
        world.thing((0, 0, 0), **wrong)
    with pytest.raises(error, match=message):
        world.manager.change_source(thief, strengths={"sight": 9.0}, **wrong)
    assert seen(world) == {(guard, thief): 1.0}
    assert world.manager.statistics()["sources"] == 1


@pytest.mark.parametrize(
    ("light", "message"), [([1.0], "one element per id"), ([1.0, -1.0], "0 or more"), ([1.0, NAN], "0 or more")])
def test_impossible_light_changes_no_source(light, message):
    world = World(report_every_s=0)
    guard = eyes(world)
    things = [world.thing((0, 1.6, -5)), world.thing((1, 1.6, -5))]
    with pytest.raises(ValueError, match=message):
        world.manager.light_sources(things, light)
    assert seen(world) == {(guard, thing): 1.0 for thing in things}


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: SightCone(10, 1, 1, lose_range_m=9), ValueError),
        (lambda: SightCone(10, 1, 1).widened(0), ValueError),
        (lambda: VisiblePart("head", (0, NAN, 0)), ValueError),
        (lambda: VisiblePart("head", (0, 0, 0), 0), ValueError),
        (lambda: Camouflage({("a", "b"): -1}), ValueError),
        (lambda: Camouflage({"ab": 1}), TypeError),
        (lambda: Modality("glow", range_m=1, needs_light=True), ValueError),
        (lambda: Modality("goo", range_m=1, is_slow=True), ValueError),
        (lambda: Modality("goo", range_m=1, is_continuous=True, is_muffled=True), ValueError),
    ],
)
def test_impossible_parts_of_sight_are_refused(make, error):
    with pytest.raises(error):
        make()
