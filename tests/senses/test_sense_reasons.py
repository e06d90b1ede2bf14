"""Why a sensor senses a target, or does not: every factor can be read."""
import math

import numpy as np
import pytest

from ai_core.errors import UnknownNameError
from ai_core.senses.graph.parts import Passage, SensePortal
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.sight.camouflage import Backdrop, Camouflage
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.source_table import VisiblePart
from tests.senses.graph.graph_worlds import GraphWorld, door, hearing, room, smell
from tests.senses.worlds import AHEAD, Rays, World

SIGHT = Modality.sight(range_m=50, kept_per_m=0.9)
AROUND = SightCone(40.0, math.tau, math.pi, acuity=0.5)


def verdict(world, guard, thief, modality="sight"):
    return world.manager.why(guard, thief).by_modality[modality].verdict


def test_factors_of_a_sighting_multiply_to_reported_intensity():
    greens = Camouflage({("green", "leaves"): 0.5})

    def background(eyes, targets, sensor_ids, source_ids):
        return Backdrop(np.full(len(eyes), greens.number("leaves")))

    rays = Rays()
    rays.__class__ = type("OnlyHeads", (Rays,), {"__call__": lambda self, eyes, ends, *ids: ends[:, 1] > 1})
    world = World(modalities=[SIGHT], line_of_sight=rays, background=background, camouflage=greens)
    guard = world.eye((0, 0, 0), threshold=0.01, cones=[AROUND], awareness=AwarenessSettings())
    parts = [VisiblePart("head", (0, 2, 0), 0.25), VisiblePart("legs", (0, 0, 0), 0.75)]
    thief = world.thing((0, 0, -4), sight=2.0, light=0.8, size=2.0, pattern="green", parts=parts)
    world.manager.set_sensitivity(guard, "sight", 0.5)
    world.manager.set_importance([guard], [0.5])
    world.tick(frames=2)
    why = world.manager.why(guard, thief)
    factors = why.by_modality["sight"]
    assert (factors.verdict, factors.strength, factors.size, factors.acuity) == ("sensed", 2.0, 2.0, 0.5)
    assert (factors.distance_m, factors.kept) == (2.0, pytest.approx(0.81))
    assert (factors.parts, factors.importance, factors.sensitivity) == (("head",), 0.5, 0.5)
    assert factors.threshold == pytest.approx(0.02)
    product = factors.strength * factors.light * factors.kept * factors.acuity * factors.clarity
    assert factors.intensity == pytest.approx(product) == pytest.approx(world.heard[0].intensity)
    assert factors.light * factors.clarity == pytest.approx(0.8 * 0.5 * 0.25)
    assert why.awareness.visibility == {"sight": pytest.approx(product)}


def test_what_stands_against_seeing_is_named():
    rays = Rays()
    world = World(modalities=[SIGHT, hearing()], line_of_sight=rays, max_rays=1)
    thief = world.thing((0, 0, -4))
    guard = world.eye((0, 0, 0), cones=[SightCone(40.0, 1.0, 1.0)])
    assert verdict(world, guard, thief) == "not asked yet"
    world.tick()
    assert verdict(world, guard, thief) == "sensed"
    rays.blocked.add((guard, thief))
    world.tick()
    assert verdict(world, guard, thief) == "hidden"
    assert world.manager.why(guard, thief).by_modality["sight"].waits_passes == 0
    world.manager.move_sensors([guard], [(0, 0, 0)], [(0, 0, 1)])
    assert verdict(world, guard, thief) == "outside every cone"
    world.manager.move_sensors([guard], [(0, 0, 60)], [AHEAD])
    assert verdict(world, guard, thief) == "too far"
    world.manager.move_sensors([guard], [(0, 0, 20)])
    assert verdict(world, guard, thief) == "too weak"
    world.manager.change_sensor(guard, detection_mask=2)
    assert verdict(world, guard, thief) == "is not noticed"
    assert verdict(world, world.ear((0, 0, 0)), thief) == "lacks this sense"
    assert verdict(world, world.ear((0, 0, 0)), thief, "hearing") == "shows nothing"
    assert verdict(world, world.eye((0, 0, 0), self_source=thief), thief) == "is itself"


def test_what_would_be_heard_now_is_told():
    world = World(modalities=[hearing()], occlusion=lambda start, end, ids, name: np.full(len(ids), 0.5))
    muffled = Modality("hearing", 50.0, kept_per_m=0.9, is_muffled=True)
    world = World(modalities=[muffled], occlusion=lambda start, end, ids, name: np.full(len(ids), 0.5))
    ear = world.ear((2, 0, 0), threshold=0.7)
    horn = world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 2.0})
    factors = world.manager.why(ear, horn).by_modality["hearing"]
    assert (factors.verdict, factors.distance_m) == ("would be sensed", 2.0)
    assert (factors.kept, factors.intensity) == (pytest.approx(0.405), pytest.approx(0.81))
    world.manager.add_noise("hearing", 0.9)
    assert verdict(world, ear, horn, "hearing") == "under the noise"
    world.manager.set_sensitivity(ear, "hearing", 0.5)
    assert verdict(world, ear, horn, "hearing") == "too weak"


def test_of_who_has_gone_only_awareness_is_left():
    world = World(modalities=[SIGHT])
    guard = world.eye((0, 0, 0), threshold=0.01, awareness=AwarenessSettings(decay_per_s=0.1))
    thief = world.thing((0, 0, -4))
    world.tick(frames=4)
    world.manager.remove_source(thief)
    why = world.manager.why(guard, thief)
    assert why.by_modality == {}
    assert why.awareness.value > 0
    with pytest.raises(UnknownNameError, match="unknown sensor id"):
        world.manager.why(77, thief)


def test_the_way_through_a_graph_is_explained():
    glass = SensePortal("a", "b", {"sight": Passage((1, 0, 0), kept_per_m=0.9, distance_m=1.0)}, name="glass")
    sounds = door("a", "b", (1, 0, 0), "hearing", "smell", kept_per_m=0.5)
    graph = SenseGraph([room("a", (0, 0, 0)), room("b", (2, 0, 0))], [glass, *sounds])
    world = GraphWorld(graph, modalities=[SIGHT, hearing(1.0), smell()], smells=["smell"])
    guard = world.sensor((2, 0, 0), {"sight": 0.1, "hearing": 0.1, "smell": 1e-6}, sight_cones=[AROUND])
    thief = world.source((0, 0, 0), sight=1.0, hearing=1.0, smell=8.0)
    world.manager.emit(thief, "hearing")
    world.manager.emit(thief, "smell")
    world.tick(frames=40)
    seen, heard, smelled = (
        world.manager.why(guard, thief).by_modality[name] for name in ("sight", "hearing", "smell"))
    assert (seen.verdict, seen.distance_m, seen.kept) == ("sensed", 3.0, pytest.approx(0.9**3))
    assert (heard.verdict, heard.distance_m, heard.kept) == ("would be sensed", 3.0, pytest.approx(0.5))
    told = [one.intensity for one in world.heard if one.modality == "hearing"]
    assert told == pytest.approx([heard.intensity])
    assert smelled.verdict == "sensed"
    assert smelled.intensity == pytest.approx(world.manager.smell_in("b", thief))
    graph.set_open("glass", False)
    assert verdict(world, guard, thief) == "no way between"


def test_reasons_for_what_never_was_are_refused():
    world = World()
    guard, thief = world.eye((0, 0, 0), awareness=AwarenessSettings()), world.thing((0, 0, -4))
    for ask in (world.manager.why, world.manager.awareness_of):
        for wrong in (77, -1):
            with pytest.raises((UnknownNameError, ValueError), match="source id"):
                ask(guard, wrong)
    world.manager.remove_source(thief)
    assert world.manager.why(guard, thief).by_modality == {}
    assert world.manager.awareness_of(guard, thief) is None


def test_the_wait_for_a_look_is_named():
    world = World(modalities=[SIGHT, hearing()], period_frames=4)
    guard = world.eye((0, 0, 0))
    world.tick(8)
    looks_in = world.manager.why(guard, thief := world.thing((0, 0, -4))).by_modality["sight"].looks_in_frames
    for left in range(looks_in, 0, -1):
        factors = world.manager.why(guard, thief).by_modality
        expected = "not asked yet" if left == 4 else "waits for its look"
        assert (factors["sight"].verdict, factors["sight"].looks_in_frames) == (expected, left)
        assert factors["hearing"].looks_in_frames is None
        assert not world.heard
        world.tick()
    assert (verdict(world, guard, thief), len(world.heard)) == ("sensed", 1)
