"""A formation on the march: around corners, through a door, and everybody in his slot at the end."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.squads.formation import Formation
from ai_core.squads.formation_march import MOST_SAMPLES, MarchSettings
from ai_core.squads.free_cells import GridClearance
from tests.squads.marching import FRAME_S, march, marched, squad_of

WALL_X, DOOR = 30, slice(20, 22)
WAY = [(10, 8), (10, 21), (45, 21), (45, 32)]      # two right angles, and a door of 2 m between them


def ground():
    free = np.ones((60, 80), bool)
    free[:, WALL_X] = False
    free[DOOR, WALL_X] = True
    return free


FREE = ground()


class Watch:
    """What is seen of a squad while it marches."""

    def __init__(self, squad):
        self.squad, self.away, self.places, self.columns = squad, [], [], []

    def __call__(self):
        self.away.append(self.squad.marchers.away.copy())
        self.places.append(self.squad.positions)
        self.columns.append(self.squad.is_in_column)

    def turned_back(self):
        """How often each member reversed its direction."""
        steps = np.diff(np.array(self.places), axis=0)
        moves = np.sqrt((steps ** 2).sum(axis=2)) > 0.02
        reverses = ((steps[1:] * steps[:-1]).sum(axis=2) < 0) & moves[1:] & moves[:-1]
        return reverses.sum(axis=0)

    def frames_in_walls(self):
        places = np.floor(np.array(self.places)).astype(int)
        return int((~FREE[places[..., 1], places[..., 0]]).sum())


def watched(formation, count, **settings):
    clock = ManualClock()
    squad = squad_of(count, clock, at=(6, 4), formation=formation, clearance=GridClearance(FREE), **settings)
    order, watch = squad.follow(WAY), Watch(squad)
    marched(squad, clock, seen=watch)
    assert order.state == "done"
    return squad, watch


def test_a_wedge_follows_two_right_angles_and_a_door():
    _squad, watch = watched(Formation.wedge(2.0), 9)
    away = np.array(watch.away)
    formed = int(np.argmax(away.max(axis=1) < 0.3))
    assert away[formed:].max() < 0.5               # from when it is formed on, the door included
    assert away[-1].max() < 0.3
    assert watch.frames_in_walls() == 0
    assert not any(watch.columns)                  # ranks of two get through a door of 2 m
    assert watch.turned_back().max() <= 1


@pytest.mark.parametrize(("formation", "count"), [(Formation.line(2.0), 7), (Formation.circle(2.0), 9)], ids=str)
def test_too_wide_formation_passes_a_door_in_column_and_reopens(formation, count):
    _squad, watch = watched(formation, count)
    changes = np.flatnonzero(np.diff(np.array(watch.columns)))
    assert len(changes) == 2                       # narrowed once, widened once: no back and forth
    narrowed, widened = (np.array(watch.places)[one + 1] for one in changes)
    assert narrowed[:, 0].max() < WALL_X
    assert widened[:, 0].max() > WALL_X + 1
    assert watch.frames_in_walls() <= 2 * count    # a shoulder may graze the frame of the door
    assert watch.away[-1].max() < 0.3


def test_the_slots_are_where_the_formation_says_at_the_end():
    squad, _ = watched(Formation.wedge(2.0), 5)
    ends = [squad.positions[np.flatnonzero(squad.marchers.slots == slot)[0]].tolist() for slot in range(5)]
    # It looks along y: behind is less y, and right of that is less x.
    assert np.array(ends) == pytest.approx(
        np.array([[45, 32], [43, 30], [47, 30], [41, 28], [49, 28]]), abs=0.35)


def test_nobody_oscillates_around_a_slot_however_long_it_stands():
    clock = ManualClock()
    squad = squad_of(7, clock)
    squad.move_to((20, 0))
    marched(squad, clock)
    watch = Watch(squad)
    march(squad, clock, seconds=5, seen=watch)
    assert watch.turned_back().max() == 0
    assert watch.away[-1].max() < 0.01


def test_all_arrive_together():
    clock = ManualClock()
    squad = squad_of(9, clock, formation=Formation.line(2.0))
    squad.add(20, (-12, 3))                        # far behind
    squad.move_to((30, 0))
    arrived = {}

    def seen():
        near = np.sqrt(((squad.positions - squad.destinations) ** 2).sum(axis=1)) < 0.3
        for number, place in zip(squad.member_ids.tolist(), squad.positions, strict=True):
            if place[0] > 29.5:
                arrived.setdefault(number, clock.now.seconds)
        return near

    marched(squad, clock, seen=seen)
    assert len(arrived) == 10
    assert max(arrived.values()) - min(arrived.values()) < 1.0


def test_a_member_far_beside_its_lane_comes_before_its_slot():
    clock = ManualClock()
    squad = squad_of(4, clock)
    order = squad.move_to((40, 0))
    march(squad, clock, seconds=3)
    places = squad.positions
    places[1] = 25, 14                              # where a task has led it
    squad.set_positions(places)
    march(squad, clock, seconds=4)
    assert squad.marchers.away[1] == 0              # the slots do not wait for it
    assert squad.positions[1, 1] < 7
    marched(squad, clock)
    assert order.state == "done"
    assert clock.now.frame * FRAME_S < 18           # 20 s, if it stands until its slot is there


@pytest.mark.parametrize("from_frame", [0, 40, 75, 120])
def test_who_is_stuck_is_waited_for_and_then_left_behind(from_frame):
    clock = ManualClock()
    squad = squad_of(4, clock, settings=MarchSettings(patience_s=2.0))
    order = squad.move_to((30, 0))
    for frame in range(900):
        if frame == from_frame:
            stuck = squad.positions[0].copy()
        if frame % 3 == 0:
            squad.think()
        squad.move_slots(FRAME_S)
        squad.set_positions(squad.positions + squad.velocities() * np.float32(FRAME_S))
        if frame >= from_frame:
            squad.set_positions([stuck, *squad.positions[1:]])
        clock.advance()
        if squad.is_idle:
            break
    assert order.state == "done"
    assert squad.stragglers == (0,)
    assert frame * FRAME_S > 2.0


@pytest.mark.parametrize("way_m", [0.0, 1e-7, 1e-3, 0.2])
def test_a_way_of_next_to_nothing_is_no_endless_work(way_m):
    clock = ManualClock()
    squad = squad_of(4, clock, clearance=GridClearance(FREE), at=(6, 4))
    order = squad.follow([(6, 4), (6 + way_m, 4)])
    marched(squad, clock, seconds=20)
    assert order.state == "done"
    assert len(squad._march.path._points) < 200
    assert squad.positions[squad.row_of(squad.commander)].tolist() == pytest.approx([6 + way_m, 4], abs=0.3)


@pytest.mark.parametrize("far", [2e9, 1e30, 3e38])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_path_from_a_fall_of_hours_keeps_memory_bounded(far, dimensions):
    clock = ManualClock()
    squad = squad_of(4, clock, dimensions=dimensions)
    places = squad.positions.copy()
    places[:, 1] = -far
    squad.set_positions(places.astype(np.float32))
    squad.move_to((8.0,) * dimensions)
    march(squad, clock, seconds=1)
    assert len(squad._march.path._points) < 3 * MOST_SAMPLES
    squad.prepare_state(squad.save_state())()
    march(squad, clock, seconds=1)
    assert np.isfinite(squad.positions).all()


def test_the_slowest_sets_the_pace():
    clock = ManualClock()
    squad = squad_of(4, clock)
    squad.add(9, (0, 1), speed=1.0)
    squad.move_to((60, 0))
    march(squad, clock, seconds=5)
    before = squad.slot_positions()[0]
    march(squad, clock, seconds=5)
    moved = np.sqrt(((squad.slot_positions()[0] - before) ** 2).sum())
    assert moved == pytest.approx(5 * 0.85 * 1.0, rel=0.1)


def test_closed_door_is_noticed_on_report_of_changed_ground():
    clock, free = ManualClock(), np.ones((20, 60), bool)
    squad = squad_of(5, clock, at=(4, 10), formation=Formation.line(2.0), clearance=GridClearance(free))
    squad.follow([(8, 10.5), (50, 10.5)])
    march(squad, clock, seconds=6)
    assert not squad.is_in_column
    free[:, 30] = False
    free[10, 30] = True
    squad.ground_changed()
    columns = []
    march(squad, clock, seconds=14, seen=lambda: columns.append(squad.is_in_column))
    assert any(columns)


def test_column_stays_one_while_changed_ground_is_measured_again():
    clock, free, events = ManualClock(), np.ones((20, 60), bool), []
    free[:9, 8:] = free[12:, 8:] = False
    squad = squad_of(
        9, clock, at=(2, 10), formation=Formation.line(2.0), clearance=GridClearance(free),
        on_event=lambda kind, *_: events.append(kind))
    squad.follow([(8, 10.5), (55, 10.5)])
    march(squad, clock, seconds=12)
    assert squad.is_in_column
    for _ in range(5):
        squad.ground_changed()
        march(squad, clock, seconds=0.5)
    assert [kind for kind in events if kind in ("narrowed", "widened")] == ["narrowed"]


def test_in_3d_it_lies_in_x_and_z_and_follows_the_path_height():
    clock = ManualClock()
    squad = squad_of(3, clock, dimensions=3)
    squad.follow([(5, 0, 0), (15, 0, 0), (25, 4, 0)])
    marched(squad, clock)
    ends = squad.positions[np.argsort(squad.marchers.slots)]
    # Height is that of the path beside the slot: a metre up for two and a half along.
    assert ends == pytest.approx(np.array([[25, 4, 0], [23.1, 3.2, 2], [23.1, 3.2, -2]]), abs=0.5)


@pytest.mark.parametrize(("arguments", "complaint"), [
    ({"pace": 0}, "pace must be above 0"), ({"pace": 2}, "pace must be at most 1"),
    ({"wait_at": 0.1}, "wait_at must be above 0.5, got 0.1; it must be above wait_from"),
    ({"patience_s": -1}, "patience_s must be above 0"), ({"tolerance_m": float("nan")}, "tolerance_m must be a finite"),
])
def test_settings_out_of_range_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        MarchSettings(**arguments)


@pytest.mark.parametrize("bad", [1, 5, 20])
@pytest.mark.parametrize("answer", [lambda points: points[:, 0] * np.nan, lambda points: None, lambda points: 3.0])
def test_a_wrong_clearance_is_reported_and_marched_past(bad, answer):
    calls, reported, clock = [], [], ManualClock(FRAME_S)

    def clearance(points, directions, most_m):
        calls.append(points)
        return answer(points) if len(calls) == bad else np.full(len(points), most_m)

    squad = squad_of(
        5, clock, clearance=clearance, faults=FaultIsolation(report=lambda fault: reported.append(str(fault.error))))
    squad.follow([(0, 0), (9, 9)])
    march(squad, clock, seconds=4)
    assert np.isfinite(squad.velocities()).all()
    assert len(calls) >= bad
    assert [error.split(", got")[0] for error in reported] == [
        f"clearance must return distances of shape ({len(calls[bad - 1])},)"]
    order = squad.follow([(0, 0), (9, 9)])
    marched(squad, clock, seconds=20)
    assert order.state == "done"
