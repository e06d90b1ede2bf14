"""Local avoidance: walkers pass each other, and only those within reach are considered."""
from __future__ import annotations

import math

import numpy as np
import pytest

from ai_core.paths import AvoidanceGroup, LocalAvoidance

SPEED, RADIUS, FRAME_S = 3.0, 0.4, 1 / 60


class Crowd:
    """Discs that walk to their goals, each by the velocity that the avoidance allows; oracle of the engine's part."""

    def __init__(self, starts, goals, *, dimensions=2, standing=()):
        self.goals, self.standing = np.array(goals, float), standing
        self.positions = np.zeros((len(starts), dimensions), np.float32)
        self.positions[:, [0, -1]] = starts
        self.velocities = np.zeros((len(starts), 2))
        self.arrived = [None] * len(starts)
        self.least = np.inf
        self.avoidance = LocalAvoidance()
        self.avoidance.set_bodies(
            self.positions, self.velocities, np.full(len(starts), SPEED), np.full(len(starts), RADIUS))

    def walk(self, frames):
        for frame in range(frames):
            near, velocities = set(self.avoidance.find_near().tolist()), self.velocities.copy()
            for row, goal in enumerate(self.goals):
                offset = goal - self.positions[row, [0, -1]]
                length = np.hypot(*offset)
                if row in self.standing or length < 0.2:
                    self.arrived[row] = frame if self.arrived[row] is None else self.arrived[row]
                    velocities[row] = 0
                    continue
                wanted = offset / length * SPEED
                if row in near:
                    wanted = self.avoidance.steer(row, *wanted, SPEED, *goal)
                velocities[row] = wanted
                self.positions[row, [0, -1]] += np.array(wanted, np.float32) * np.float32(FRAME_S)
            self.velocities[:] = velocities
            at = self.positions[:, [0, -1]].astype(float)
            apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
            self.least = min(self.least, apart[np.triu_indices(len(at), 1)].min())
        return self


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize(
    ("start", "goal"), [((4, 0), (-4, 0)), ((0, -4), (0, 4)), ((4, 0.1), (-4, 0.1)), ((1, 0), (-5, 1))])
def test_two_walkers_pass_without_a_touch_or_a_stop(dimensions, start, goal):
    crowd = Crowd([(-4, 0), start], [(4, 0), goal], dimensions=dimensions).walk(200)
    assert crowd.least > 2 * RADIUS - 0.02
    assert None not in crowd.arrived


def test_a_walker_goes_around_one_that_stands():
    crowd = Crowd([(-4, 0), (0, 0)], [(4, 0), (0, 0)], standing=(1,)).walk(200)
    assert crowd.arrived[0] < 180
    assert crowd.least > 2 * RADIUS - 0.02


def test_a_character_at_the_goal_is_not_avoided():
    assert Crowd([(-4, 0), (4, 0)], [(4, 0), (4, 0)], standing=(1,)).walk(170).arrived[0] is not None


def test_random_pairs_arrive_without_a_touch():
    random = np.random.default_rng(7)
    for _ in range(40):
        starts = random.uniform(-5, 5, (2, 2))
        starts[1] = -starts[0] + random.uniform(-0.3, 0.3, 2)
        crowd = Crowd(starts, -starts).walk(300)
        if np.hypot(*(starts[0] - starts[1])) > 4:       # nearer ones leave each other's goals too late
            assert crowd.least > 2 * RADIUS - 0.05
            assert None not in crowd.arrived


def test_characters_on_different_floors_do_not_meet():
    crowd = Crowd([(-1, 0), (1, 0)], [(1, 0), (-1, 0)], dimensions=3)
    crowd.positions[1, 1] = 3.0
    assert crowd.avoidance.find_near().tolist() == []


@pytest.mark.parametrize("seed", range(4))
def test_near_rows_are_those_of_a_plain_search(seed):
    random = np.random.default_rng(seed)
    positions = random.uniform(0, 60, (80, 2)).astype(np.float32)
    speeds, radii = random.uniform(0.5, 4, 80), random.uniform(0.2, 1, 80)
    avoidance = LocalAvoidance()
    avoidance.set_bodies(positions, np.zeros((80, 2)), speeds, radii)
    at = positions.astype(float)
    apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    reach = speeds + radii
    is_near = (apart < reach[:, None] + reach[None]) & ~np.eye(80, dtype=bool)
    assert avoidance.find_near().tolist() == np.flatnonzero(is_near.any(axis=1)).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_the_eight_nearest_within_reach_are_avoided(seed):
    random = np.random.default_rng(seed)
    positions = random.uniform(0, 9, (30, 2)).astype(np.float32)
    speeds, radii, velocities = random.uniform(0.5, 4, 30), random.uniform(0.2, 0.5, 30), random.uniform(-2, 2, (30, 2))
    wanted = random.uniform(-3, 3, (30, 2))
    avoidance = LocalAvoidance()
    avoidance.set_bodies(positions, velocities, speeds, radii)
    avoidance.find_near()
    at = positions.astype(float)
    for row in range(30):
        apart = np.hypot(*(at - at[row]).T)
        rows = np.flatnonzero((apart < speeds[row] + radii[row] + speeds + radii) & (np.arange(30) != row))
        some = [row, *rows[np.argsort(apart[rows], kind="stable")][:8].tolist()]
        few = LocalAvoidance()
        few.set_bodies(positions[some], velocities[some], speeds[some], radii[some])
        few.find_near()
        assert avoidance.steer(row, *wanted[row], speeds[row]) == few.steer(0, *wanted[row], speeds[row])


def test_a_group_is_steered_as_its_members_one_by_one():
    random = np.random.default_rng(3)
    positions = random.uniform(0, 8, (20, 3)).astype(np.float32)
    positions[:, 1] = 0
    wanted, speeds = random.uniform(-2, 2, (12, 3)), np.full(12, SPEED)
    velocities = random.uniform(-2, 2, (20, 2))
    avoidance, rows, out = LocalAvoidance(), np.arange(3, 15), np.zeros((12, 3))
    avoidance.set_bodies(positions, velocities, np.full(20, SPEED), np.full(20, RADIUS))
    avoidance.find_near()
    assert AvoidanceGroup(avoidance, rows, wanted, speeds, out).steer(1.0) is out
    assert (velocities[rows] == wanted[:, [0, 2]]).all()
    for number, row in enumerate(rows.tolist()):
        x, y = avoidance.steer(row, *wanted[number, [0, 2]], SPEED)
        assert out[number].tolist() == [x, wanted[number, 1], y]
    assert np.hypot(out[:, 0], out[:, 2]).max() <= SPEED + 1e-6


def test_a_wrong_argument_is_an_error():
    avoidance = LocalAvoidance()
    with pytest.raises(ValueError, match="look_ahead_s must be above 0, got 0"):
        LocalAvoidance(0)
    with pytest.raises(ValueError, match="positions must be rows of 2 or 3"):
        avoidance.set_bodies(np.zeros((2, 4), np.float32), np.zeros((2, 2)), np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match=r"velocities must have shape \(2, 2\) for 2 positions, got \(3, 2\)"):
        avoidance.set_bodies(np.zeros((2, 2), np.float32), np.zeros((3, 2)), np.ones(2), np.ones(2))
    with pytest.raises(TypeError, match=r"positions must be an array of float32, got \[\]; use np.array"):
        avoidance.set_bodies([], np.zeros((2, 2)), np.ones(2), np.ones(2))
    with pytest.raises(TypeError, match="speeds must be an array of float64, got array"):
        avoidance.set_bodies(np.zeros((2, 2), np.float32), np.zeros((2, 2)), np.ones(2, int), np.ones(2))
    with pytest.raises(ValueError, match=r"velocities must be contiguous; use np\.ascontiguousarray"):
        avoidance.set_bodies(np.zeros((2, 2), np.float32), np.zeros((2, 2)).T[:, ::-1], np.ones(2), np.ones(2))
    avoidance.set_bodies(np.zeros((2, 2), np.float32), np.zeros((2, 2)), np.ones(2), np.ones(2))
    for numbers in ((math.nan, 0, 1), (0, math.inf, 1), (0, 0, -1), (0, 0, math.nan)):
        with pytest.raises(ValueError, match="wanted velocity and speed must be finite, the speed 0 or more, got"):
            avoidance.steer(0, *numbers)
    with pytest.raises(IndexError, match="row must be from 0 to 1, got 2"):
        avoidance.steer(2, 0, 0, 1)
    with pytest.raises(IndexError, match="rows must be from -1 to 1, got 0 to 2"):
        AvoidanceGroup(avoidance, np.array([0, 2]), np.zeros((2, 2)), np.ones(2), np.zeros((2, 2)))
    group = AvoidanceGroup(avoidance, np.array([0, -1]), np.zeros((2, 2)), np.ones(2), np.zeros((2, 2)))
    avoidance.set_bodies(np.zeros((2, 2), np.float32), np.zeros((2, 2)), np.ones(2), np.ones(2))
    with pytest.raises(RuntimeError, match="create the group again"):
        group.steer(1.0)


def bodies(places, moving=(), radius=RADIUS):
    """Characters that stand, but for those in ``moving``."""
    positions = np.array(places, np.float32)
    velocities = np.zeros((len(places), 2))
    velocities[list(moving)] = 1.0
    avoidance = LocalAvoidance()
    avoidance.set_bodies(positions, velocities, np.full(len(places), SPEED), np.full(len(places), radius))
    avoidance.find_near()
    return avoidance


@pytest.mark.parametrize(("places", "moving", "within", "expected"), [
    ([(1, 0), (0, 0)], [0], 0.0, 1),
    ([(1, 0), (0.3, 0)], [0], 0.0, 1),
    ([(1.5, 0), (0.5, 0)], [0], 0.0, 0),
    ([(1.5, 0), (0.5, 0)], [0], 0.6, 1),
    ([(1.3, 0), (0, 0)], [0], 0.0, 0),
    ([(1, 0), (0, 0)], [0, 1], 0.0, 0),
    ([(1.8, 0), (0, 0), (0.9, 0)], [0], 0.0, 1),
    ([(1.8, 0), (0, 0), (0.9, 0)], [0, 2], 0.0, 0),
    ([(1, 0), (0, 0), (0, 0.9), (-0.2, -0.8)], [0], 1.0, 3),
    ([(0, 0), (1, 0)], [0], 0.0, 0),
    ([(1, 0, 0), (0, 0, 0)], [0], 0.0, 1),
    ([(1, 0, 0), (0, 3, 0)], [0], 0.0, 0),
], ids=["at it", "near it", "not at it", "within", "apart", "walking", "behind a row", "behind a gap", "three",
        "past it", "in space", "on another floor"])
def test_who_stands_at_a_goal_leaves_no_room(places, moving, within, expected):
    for order in (places, places[:1] + places[:0:-1]):
        walking = [order.index(places[number]) for number in moving]
        assert bodies(order, walking).standing_at(0, 0.0, 0.0, within) == expected


def test_who_stands_at_a_goal_matches_a_plain_form():
    chance = np.random.default_rng(7)
    for _ in range(200):
        places = chance.uniform(-3, 3, (30, 2)).astype(np.float32)
        stands = chance.random(30) < 0.7
        away = np.hypot(*places.astype(float).T)
        apart = np.hypot(*(places[:, None].astype(float) - places[None]).transpose(2, 0, 1))
        at, ahead = 0, 0
        while at == 0 or away[at] > 0.6:
            touched = [one for one in range(30)
                       if stands[one] and one != at and apart[at, one] <= 1.5 * 0.8 and away[one] < away[at]]
            if not touched:
                break
            at = min(touched, key=lambda one: away[one])
        else:
            ahead = int((stands & (away <= 0.6)).sum())
        assert bodies(places, np.flatnonzero(~stands)).standing_at(0, 0.0, 0.0, 0.6) == ahead


def test_who_stands_at_a_goal_of_an_unknown_row_is_refused():
    with pytest.raises(IndexError, match="row must be from 0 to 1, got 2"):
        bodies([(0, 0), (1, 0)]).standing_at(2, 0.0, 0.0)
