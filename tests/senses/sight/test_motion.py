"""Motion as noticeability: a source that stands still shows itself less."""
from __future__ import annotations

import json

import pytest

from ai_core.senses.modality import Modality
from tests.senses.worlds import World

SIGHT = Modality.sight(still_share=0.2, full_motion_m_per_s=2.0)


def walk(world, thief, speed_m_per_s, seconds, *, start=0.0):
    """Move a source along x for a time, and return where it is then."""
    frames = round(seconds / 0.125)
    x = start
    for _ in range(frames):
        x += speed_m_per_s * 0.125
        world.manager.move_sources([thief], [(x, 0, -8)])
        world.tick()
    return x


def factor(world, eye, thief):
    return world.manager.why(eye, thief).by_modality["sight"].motion


def test_who_stands_still_is_overlooked_until_it_moves():
    world = World(modalities=[SIGHT])
    eye, thief = world.eye((0, 0, 0), threshold=0.5), world.thing((0, 0, -8))
    world.tick(frames=10)
    assert (world.heard, world.manager.why(eye, thief).by_modality["sight"].verdict) == ([], "too weak")
    x = walk(world, thief, 2.0, 1.0)
    assert world.sensed()
    assert factor(world, eye, thief) == pytest.approx(1.0, abs=0.01)
    walk(world, thief, 0.0, 2.0, start=x)
    assert factor(world, eye, thief) == pytest.approx(0.2, abs=0.01)
    assert world.manager.why(eye, thief).by_modality["sight"].verdict == "too weak"


@pytest.mark.parametrize(("speed_m_per_s", "share"), [(0.0, 0.2), (0.5, 0.4), (1.0, 0.6), (2.0, 1.0), (50.0, 1.0)])
def test_visibility_grows_with_speed(speed_m_per_s, share):
    world = World(modalities=[SIGHT])
    eye, thief = world.eye((0, 0, 0), threshold=0.1), world.thing((0, 0, -8))
    walk(world, thief, speed_m_per_s, 3.0)
    found = world.manager.why(eye, thief).by_modality["sight"]
    assert found.motion == pytest.approx(share, abs=0.01)
    assert found.intensity == pytest.approx(found.strength * found.light * found.motion * found.acuity * found.clarity)
    assert (found.light, found.strength) == (pytest.approx(1.0), 1.0)


def test_a_body_moved_by_physics_does_not_flicker():
    world = World(modalities=[SIGHT], seconds_per_frame=1 / 144)
    eye, thief = world.eye((0, 0, 0), threshold=0.1), world.thing((0, 0, -8))
    factors = []
    for frame in range(288):        # a body moves 60 times a second, and is looked at 144 times
        world.manager.move_sources([thief], [(1.0 * (frame * 60 // 144) / 60, 0, -8)])
        world.tick()
        factors.append(factor(world, eye, thief))
    assert max(factors[144:]) - min(factors[144:]) < 0.1


def test_light_and_motion_are_factors_of_their_own():
    world = World(modalities=[SIGHT])
    eye, thief = world.eye((0, 0, 0), threshold=0.01), world.thing((0, 0, -8), light=0.5)
    world.tick(frames=2)
    found = world.manager.why(eye, thief).by_modality["sight"]
    assert (found.light, found.motion, found.intensity) == pytest.approx((0.5, 0.2, 0.1))


def test_motion_makes_no_difference_by_default():
    world = World(modalities=[Modality.sight()])
    eye, thief = world.eye((0, 0, 0)), world.thing((0, 0, -8))
    world.tick()
    assert world.sensed() == [(eye, thief)]
    assert factor(world, eye, thief) == 1.0


def test_a_save_goes_on_with_the_same_speed():
    worlds = [World(modalities=[SIGHT]) for _ in range(2)]
    for world in worlds:
        world.eye((0, 0, 0), threshold=0.1)
        world.thing((0, 0, -8))
    x = walk(worlds[0], 0, 1.5, 0.5)
    worlds[0].manager.move_sources([0], [(x + 0.1, 0, -8)])
    worlds[1].clock.advance(frames=4)
    worlds[1].manager.prepare_state(json.loads(json.dumps(worlds[0].manager.save_state())))()
    for world in worlds:
        world.tick()
    assert factor(worlds[1], 0, 0) == factor(worlds[0], 0, 0)


@pytest.mark.parametrize(("settings", "said"), [
    ({"still_share": -0.1}, "still_share"),
    ({"still_share": 1.5}, "still_share"),
    ({"full_motion_m_per_s": 0.0}, "full_motion_m_per_s"),
])
def test_wrong_numbers_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        Modality.sight(**settings)


def test_emitted_signals_have_no_motion():
    with pytest.raises(ValueError, match="still_share must be 1"):
        Modality("hearing", range_m=10.0, still_share=0.5)
