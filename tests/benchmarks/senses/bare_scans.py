"""The least that Python and NumPy do to find who senses something: what the goals of the kernels were set by.

Squared distances beside squares of how far each senses, known before, and cones of those who are left.
Nobody has a side, a size, several cones, an intensity or a source of its own, and float32 decides.
"""
from __future__ import annotations

import math

import numpy as np

from tests.benchmarks.senses.worlds import ATTENUATION, CONE, RANGE_M, Place, Sensor
from tools.benchmarking.declarations import Case

FEW = 100
"""Sensors up to which a loop over lists is faster (count)."""

COS_HALF = math.cos(CONE.horizontal_rad / 2)


def bare_scan(all_sensors: list[Sensor], origins: list[Place], *, has_cone: bool) -> Case:
    """Whichever is faster for so many."""
    if len(all_sensors) <= FEW:
        return _in_lists(all_sensors, origins, has_cone=has_cone)
    return _in_arrays(all_sensors, origins, has_cone=has_cone)


def _in_lists(all_sensors: list[Sensor], origins: list[Place], *, has_cone: bool) -> Case:
    written = np.array([one.position for one in all_sensors], np.float32, order="F")
    squares, forwards = _squares(all_sensors).tolist(), [one.forward for one in all_sensors]

    def frame() -> list[list[int]]:
        xs, ys, zs = written.T.tolist()
        found = []
        for ox, oy, oz in origins:
            near = [number for number, (x, y, z, square) in enumerate(zip(xs, ys, zs, squares, strict=True))
                    if (ox - x) * (ox - x) + (oy - y) * (oy - y) + (oz - z) * (oz - z) <= square]
            if has_cone:
                near = [number for number in near if _is_in_cone(
                    (ox - xs[number], oy - ys[number], oz - zs[number]), forwards[number])]
            found.append(near)
        return found

    return frame


def _is_in_cone(offset: Place, forward: Place) -> bool:
    return sum(map(float.__mul__, offset, forward)) >= COS_HALF * math.hypot(*offset)


def _in_arrays(all_sensors: list[Sensor], origins: list[Place], *, has_cone: bool) -> Case:
    written = np.array([one.position for one in all_sensors], np.float32, order="F")
    forward = np.array([one.forward for one in all_sensors], np.float32)
    squares, position = _squares(all_sensors), np.empty_like(written)
    distance, product = np.empty((2, len(written)), np.float32)

    def frame() -> list[list[int]]:
        position[:] = written
        found = []
        for origin in origins:
            for axis, (of_all, of_it) in enumerate(zip(position.T, origin, strict=True)):
                np.subtract(of_all, np.float32(of_it), out=product)
                np.multiply(product, product, out=product if axis else distance)
                if axis:
                    np.add(distance, product, out=distance)
            near = (distance <= squares).nonzero()[0]
            if has_cone:
                offsets = np.float32(origin) - position[near]
                ahead = (offsets * forward[near]).sum(axis=1)
                near = near[ahead >= np.float32(COS_HALF) * np.sqrt(distance[near])]
            found.append(near.tolist())
        return found

    return frame


def _squares(all_sensors: list[Sensor]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    reach_m = [min(RANGE_M, math.log(one.threshold) / math.log(ATTENUATION)) for one in all_sensors]
    return np.square(np.array(reach_m, np.float32))
