"""A step of a march: as a plain form computes it, and for the arrays that it is given."""
from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.loops import compiled
from ai_core.scheduling.interruptible import finished
from ai_core.squads.formation_march import FREE_M, MarchPath, MarchSettings, MemberTable
from ai_core.squads.marching_loops import MarchStep

STYLE, SPACING_M, ASIDE_M = MarchSettings(), 2.0, 3.0
needs_compiled = pytest.mark.skipif("ai_core.squads.marching_loops" not in compiled(), reason="interpreted")


def places_on_lanes(path, arcs, right_m, low, high):
    """Places beside a path, one after the other."""
    found = []
    for arc, right in zip(arcs, right_m, strict=True):
        at = min(max((arc - path.first_m) / path._step_m, 0), len(path.samples) - 1)
        row = min(int(at), len(path.samples) - 2)
        here = path.samples[row] + (path.samples[row + 1] - path.samples[row]) * (at - row)
        free_left, free_right = here[-2:]
        if high == low:
            aside = min(max(right, -free_left), free_right)
        elif free_left + free_right >= high - low:
            aside = min(max(low, -free_left), free_right - (high - low)) + right - low
        else:
            aside = -free_left + (right - low) * (free_left + free_right) / (high - low)
        d = len(here) // 2 - 1
        found.append(here[:d] + here[d:2 * d] * aside)
    return np.array(found)


def plain_step(path, offsets, own, anchor_m, elapsed_s):
    """The same step over arrays; returns the new arc of the commander's slot."""
    ahead_m, right_m = offsets.T
    flat, is_at_end = [0, own.positions.shape[1] - 1], anchor_m >= path.length_m

    def lanes(arcs):
        return places_on_lanes(path, arcs, right_m, right_m.min(), right_m.max())

    def apart(places):
        return np.hypot(*(places - own.positions)[:, flat].T)

    slots, wanted = lanes(anchor_m + ahead_m), np.maximum(anchor_m + ahead_m, path.first_m)
    flow = (lanes(min(anchor_m + 0.25, path.length_m) + ahead_m) - slots) / 0.25
    gap_m = max(path._step_m, 0.5)
    tries = [own.arcs - 2 + number * gap_m for number in range(math.ceil((6 + path._step_m) / gap_m))]
    tries.append(np.clip(wanted, tries[0], tries[-1]))
    tries = np.clip(tries, path.first_m, path.last_m)
    away = [apart(lanes(arcs)) + 0.05 * np.abs(arcs - wanted) for arcs in tries]
    own.arcs[:] = tries[np.argmin(away, axis=0), range(len(wanted))]
    lag = wanted - own.arcs
    waits = own.is_detached | (anchor_m + ahead_m < path.first_m) | (not is_at_end and lag < -SPACING_M)
    own.away[:] = np.where(waits, 0, apart(slots))
    speed = 0.0
    if own.is_detached.all():
        new_m = max(anchor_m, min(own.arcs.mean(), path.length_m))
    else:
        pace = plain_pace(own, np.sqrt((flow ** 2).sum(axis=1).max()), elapsed_s, is_at_end)
        new_m = min(anchor_m + pace * elapsed_s, path.length_m)
        speed = (new_m - anchor_m) / elapsed_s if elapsed_s else 0.0
    look, response_s = np.maximum(1, 1.2 * STYLE.response_s * own.speeds), max(STYLE.response_s, elapsed_s)
    follows, lane = (np.abs(lag) <= look) & ~waits, lanes(own.arcs)
    is_far = waits & ~own.is_detached & (apart(lane) > ASIDE_M)
    waits, lag = waits & ~is_far, np.where(is_far, 0, lag)
    own.destinations[:] = np.where(waits[:, None], own.positions, lanes(own.arcs + np.clip(lag, -look, look)))
    velocities = np.where(follows[:, None], flow * speed, 0)
    if len(own.positions.T) == 3:
        is_near = ~waits & (np.abs(own.positions - lane)[:, 1] <= 2)
        own.rises[:] = np.where(is_near, (velocities + (own.destinations - lane) / response_s)[:, 1], 0)
    velocities += (own.destinations - own.positions) / response_s
    share = np.minimum(1, own.speeds / np.maximum(np.hypot(*velocities[:, flat].T), 1e-9))
    own.velocities[:], own.rises[:] = velocities * share[:, None], own.rises * share
    return new_m


def plain_pace(own, fastest, elapsed_s, is_at_end):
    """Speed of the slots; who is late is noted."""
    still = STYLE.wait_at - 0.05 * (STYLE.wait_at - STYLE.wait_from)
    limit_m = STYLE.tolerance_m if is_at_end else still * SPACING_M
    is_late, comes_nearer = own.away > limit_m, own.away < own.nearest_m - 0.05 * limit_m
    own.nearest_m[:] = np.where(is_late, np.where(comes_nearer, own.away, own.nearest_m), np.inf)
    own.late_s[:] = np.where(is_late & ~comes_nearer, own.late_s + elapsed_s, 0)
    own.is_straggler[:] = (own.is_straggler | (own.late_s > STYLE.patience_s)) & (own.away > 0.5 * limit_m)
    awaited = ~own.is_straggler
    worst = (own.away[awaited].max() if awaited.any() else 0) / SPACING_M
    slowest = own.speeds[awaited if awaited.any() else slice(None)].min()
    share = np.clip((STYLE.wait_at - worst) / (STYLE.wait_at - STYLE.wait_from), 0, 1)
    return STYLE.pace * slowest / max(1, fastest) * share


def path_of(dimensions, random):
    """A crooked path of some metres, narrow in places."""
    way = np.zeros((5, dimensions))
    way[:, [0, -1]] = np.cumsum(random.uniform(-1, 6, (5, 2)), axis=0)
    if dimensions == 3:
        way[:, 1] = random.uniform(-3, 3, 5)
    path = MarchPath(reach_m=6.0, body_m=0.4, aside_m=4.0)
    finished(path.lay(way, np.array([1.0, 0.0]), step_m=float(random.uniform(0.2, 1.0)), turn_m=4.0))
    path.samples[:, -2:] = random.choice([0.0, 0.5, 2.0, FREE_M], path.samples[:, -2:].shape)
    return path


def marchers_of(count, path, dimensions, random):
    marchers = MemberTable(dimensions)
    middle = path.samples[:, :dimensions].mean(axis=0)
    for number in range(count):
        marchers.insert(number, middle + random.uniform(-6, 6, dimensions), float(random.uniform(1, 5)), 0.4)
    marchers.arcs[:] = random.uniform(path.first_m, path.last_m, count)
    marchers.nearest_m[:] = random.choice([0.5, 3.0, 9.0, np.inf], count)
    marchers.late_s[:] = random.choice([0.0, 4.99, 6.0], count)
    marchers.is_straggler[:] = random.random(count) < 0.3
    marchers.is_detached[:] = random.random(count) < random.choice([0.0, 0.3, 1.0])
    marchers.rises[:] = 0.5 if dimensions == 3 else 0.0
    return marchers


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 12), dimensions=st.sampled_from([2, 3]),
       is_in_file=st.booleans(), elapsed_s=st.sampled_from([0.0, 1e-6, 1 / 30, 1.0]))
def test_step_is_that_of_the_plain_form(seed, count, dimensions, is_in_file, elapsed_s):
    random = np.random.default_rng(seed)
    path = path_of(dimensions, random)
    marchers = marchers_of(count, path, dimensions, random)
    offsets = np.ascontiguousarray(random.uniform(-5, 3, (count, 2)))
    if is_in_file:
        offsets[:, 1] = 0
    anchor_m, plain = float(random.choice([0.0, path.length_m / 3, path.length_m])), copy.deepcopy(marchers)
    expected_m = plain_step(path, offsets, plain, anchor_m, elapsed_s)
    found_m = MarchStep(STYLE).advance(path.lanes, offsets, marchers, anchor_m, elapsed_s, SPACING_M, ASIDE_M)
    assert found_m == pytest.approx(expected_m)
    for name, column in vars(plain).items():
        np.testing.assert_allclose(getattr(marchers, name), column, rtol=1e-7, atol=1e-7, err_msg=name)


def test_places_are_those_of_the_plain_form():
    random = np.random.default_rng(3)
    path, arcs, right_m = path_of(3, random), random.uniform(-9, 30, 50), random.uniform(-4, 4, 50)
    for low, high in ((-4.0, 4.0), (0.0, 0.0)):
        expected = places_on_lanes(path, arcs, right_m, low, high)
        np.testing.assert_allclose(path.lanes.places(arcs, right_m, low, high), expected)


def test_replaced_arrays_are_used_from_the_next_step_on():
    random = np.random.default_rng(1)
    path = path_of(2, random)
    marchers, offsets, step = marchers_of(3, path, 2, random), random.uniform(-5, 3, (3, 2)), MarchStep(STYLE)
    anchor_m = step.advance(path.lanes, offsets, marchers, 0.0, 0.1, SPACING_M, ASIDE_M)
    marchers.delete(1)
    other = copy.deepcopy(marchers)
    for one, own in ((step, marchers), (MarchStep(STYLE), other)):
        one.advance(path.lanes, offsets[1:], own, anchor_m, 0.1, SPACING_M, ASIDE_M)
    assert all(np.array_equal(getattr(other, name), column) for name, column in vars(marchers).items())


@pytest.mark.parametrize(("name", "array"), [
    ("positions", np.zeros((3, 3))),
    pytest.param("velocities", np.zeros((2, 2), np.float32), marks=needs_compiled),
    ("arcs", np.zeros(3)),
    ("is_detached", np.zeros(3, np.bool_)),
    ("destinations", np.zeros((2, 4))[:, ::2]),
])
def test_arrays_that_do_not_fit_are_refused_at_every_step(name, array):
    random = np.random.default_rng(1)
    path, step = path_of(2, random), MarchStep(STYLE)
    marchers = marchers_of(2, path, 2, random)
    setattr(marchers, name, array)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"columns of members|mismatch"):
            step.advance(path.lanes, np.zeros((2, 2)), marchers, 0.0, 0.1, SPACING_M, ASIDE_M)


def test_samples_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="at least 2 rows of 6 or 8"):
        type(path_of(2, np.random.default_rng(1)).lanes)(np.zeros((2, 5)), 1.0, 0.0, 1.0, 1.0, -2.0, 0.5, 12)
