"""The kernel and its twin make the same step of a march, to the last bit."""
from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ai_core.squads.marching_step as marching_step
from ai_core.squads.march_path import FREE_M, MarchPath
from ai_core.squads.marchers import MemberTable
from ai_core.squads.marching_step import MarchStyle
from ai_core.twins import INTERPRETED, kernel_of

TWIN = INTERPRETED[f"{marching_step.__name__}.march_step"]
KERNEL = kernel_of(TWIN)
MANNER = MarchStyle(0.85, 0.5, 2.0, 5.0, 0.3, 0.3)
needs_kernel = pytest.mark.skipif(KERNEL is None, reason="the kernel is not built")


def path_of(dimensions, random):
    """A crooked way of some metres, here and there narrow."""
    way = np.zeros((5, dimensions))
    way[:, [0, -1]] = np.cumsum(random.uniform(-1, 6, (5, 2)), axis=0)
    if dimensions == 3:
        way[:, 1] = random.uniform(-3, 3, 5)
    path = MarchPath(way, np.array([1.0, 0.0]), step_m=float(random.uniform(0.2, 1.0)), turn_m=4.0, reach_m=6.0,
                     body_m=0.4, aside_m=4.0)
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


def stepped(step, path, offsets, marchers, *terms):
    """What a step answers, and what it leaves behind."""
    own = copy.deepcopy(marchers)
    anchor_m = step(path.samples, path.course, offsets, own, MANNER, *terms)
    return anchor_m, {name: array.tobytes() for name, array in vars(own).items()}


@needs_kernel
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 12), dimensions=st.sampled_from([2, 3]),
       is_in_file=st.booleans(), elapsed_s=st.sampled_from([0.0, 1e-6, 1 / 30, 1.0]))
def test_a_step_of_the_kernel_is_that_of_its_twin(seed, count, dimensions, is_in_file, elapsed_s):
    random = np.random.default_rng(seed)
    path = path_of(dimensions, random)
    marchers = marchers_of(count, path, dimensions, random)
    offsets = np.ascontiguousarray(random.uniform(-5, 3, (count, 2)))
    if is_in_file:
        offsets[:, 1] = 0
    anchor_m = float(random.choice([0.0, path.length_m / 3, path.length_m]))
    terms = path, offsets, marchers, anchor_m, elapsed_s, 2.0
    assert stepped(KERNEL, *terms) == stepped(TWIN, *terms)


@needs_kernel
@pytest.mark.parametrize(("name", "array", "error"), [
    ("positions", np.zeros((3, 3)), ValueError),
    ("velocities", np.zeros((2, 2), np.float32), TypeError),
    ("arcs", np.zeros(3), ValueError),
    ("is_detached", np.zeros(2), TypeError),
    ("destinations", np.zeros((2, 4))[:, ::2], ValueError),
])
def test_the_kernel_refuses_arrays_that_are_not_as_it_reads_them(name, array, error):
    random = np.random.default_rng(1)
    path = path_of(2, random)
    marchers = marchers_of(2, path, 2, random)
    setattr(marchers, name, array)
    with pytest.raises(error):
        KERNEL(path.samples, path.course, np.zeros((2, 2)), marchers, MANNER, 0.0, 0.1, 2.0)
