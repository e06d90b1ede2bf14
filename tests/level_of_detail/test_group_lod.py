"""Groups: many as one, opened into members and closed again."""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.errors import CycleError, UnknownNameError
from ai_core.faults import FaultIsolation
from ai_core.level_of_detail.group_lod import GroupLOD
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.snapshot import SnapshotError, from_json, restore, take, to_json


class World:
    """A city of two blocks with two people each, and a diary of what ran."""

    def __init__(self, clock, **settings):
        self.clock = clock
        self.importance = {"city": 0.0, "north": 0.0, "south": 0.0, "inn": 0.0}
        self.diary = []
        self.faults = FaultIsolation(quarantine_after=2, report=lambda fault: self.diary.append(fault.name))
        self.city = self.group("city", expand=lambda: ["north", "south"], member=self.block, **settings)
        self.scheduler = Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True))
        self.scheduler.add(self.city, name="city")

    def group(self, name, **settings):
        return GroupLOD(
            name, self.clock, importance=lambda: self.importance[name], work=self.work(name), faults=self.faults,
            compress=lambda: self.diary.append(f"compress {name}"), closed_period_frames=3, **settings,
        )

    def block(self, name):
        return self.group(name, expand=lambda: [f"{name} 1", f"{name} 2"], member=self.work)

    def work(self, name):
        return lambda turn: self.diary.append((name, round(turn.elapsed_s, 6)))

    def frames(self, count=1, **importance):
        self.importance |= importance
        self.diary.clear()
        for _ in range(count):
            self.clock.advance()
            self.scheduler.advance(Budget.unlimited())
        return list(self.diary)

    def names(self):
        return {one[0] for one in self.diary if isinstance(one, tuple)}


def test_a_closed_group_runs_as_one(clock):
    assert World(clock).frames(2) == [("city", 0.1), ("city", 0.1)]


def test_open_group_runs_its_members_and_closed_ones_run_less(clock):
    world = World(clock)
    world.frames(city=1.0, north=1.0)
    told = world.frames(6)
    assert [told.count((f"north {n}", 0.1)) for n in (1, 2)] == [6, 6]
    assert [elapsed for name, elapsed in told if name == "south"] == [0.2, 0.3]
    assert "city" not in world.names()
    assert [group.name for group in world.city.groups()] == ["city", "north", "south"]


def test_every_moment_is_lived_once_by_group_or_members(clock):
    world = World(clock)
    lived = world.frames(5)
    lived += world.frames(1, city=1.0)
    assert math.isclose(sum(elapsed for name, elapsed in lived if name == "city"), 0.6)
    members = world.frames(6)
    assert math.isclose(sum(elapsed for name, elapsed in members if name == "north"), 0.6)


@pytest.mark.parametrize("of", ["city", "scheduler"])
def test_skipped_time_is_left_out_once_for_members_of_members(clock, of):
    world = World(clock)
    world.city._member = lambda name: world.group(
        name, expand=lambda: [f"{name} 1"], member=world.work, member_period_frames=10)
    world.frames(2, city=1.0, north=1.0)
    told = world.frames(14)
    clock.advance(seconds=5.0)
    getattr(world, of).skip_time(5.0)
    told += world.frames(50)
    elapsed = [one for name, one in told if name == "north 1"]
    assert elapsed == pytest.approx([1.0] * len(elapsed))
    assert len(elapsed) >= 5
    assert max(one for name, one in told if name == "south") < 0.5


def test_wobbling_between_the_borders_opens_and_closes_nothing(clock):
    world = World(clock)
    world.frames(1, city=0.6)
    for frame in range(300):
        world.frames(1, city=0.5 + 0.049 * math.sin(frame))
        assert world.city.is_open
    world.frames(1, city=0.44)
    for frame in range(300):
        world.frames(1, city=0.5 + 0.049 * math.sin(frame))
        assert not world.city.is_open


def test_inner_groups_are_compressed_before_outer_ones(clock):
    world = World(clock)
    world.frames(4, city=1.0, north=1.0)
    told = world.frames(1, city=0.0)
    assert told[:2] == ["compress north", "compress city"]
    assert world.city.members == {}
    assert world.frames(1) == [("city", 0.1)]


def test_a_closed_group_keeps_no_member(clock):
    world = World(clock)
    world.frames(4, city=1.0, north=1.0)
    assert world.city.task_of("north").period_frames == 1
    world.frames(1, city=0.0)
    with pytest.raises(UnknownNameError):
        world.city.task_of("north")
    assert world.city.scheduler is None


def test_lasting_members_are_scheduled_at_each_opening(clock):
    world = World(clock)
    world.city.add(world.work("bell"), name="bell", period_frames=2)
    world.frames(4, city=1.0)
    assert "bell" in world.names()
    world.frames(2, city=0.0)
    assert world.names() == {"city"}
    world.frames(4, city=1.0)
    assert "bell" in world.names()
    world.city.remove("bell")
    world.frames(4)
    assert "bell" not in world.names()


def test_a_group_inside_itself_is_refused(clock):
    nation, city, block = (
        GroupLOD(name, clock, importance=lambda: 0.0) for name in ("nation", "city", "block")
    )
    nation.add(city)
    city.add(block)
    with pytest.raises(CycleError, match="group 'nation' cannot be inside itself"):
        block.add(nation)
    with pytest.raises(CycleError, match="group 'city' cannot be inside itself"):
        city.add(city)
    with pytest.raises(ValueError, match="group 'block' is in 'city'; remove it there"):
        nation.add(block)
    city.remove("block")
    nation.add(block)


def test_an_open_group_may_leave_an_open_one(clock):
    world = World(clock)
    city = world.city
    lasting = world.group("inn", expand=lambda: ["guest"], member=world.work)
    city.add(lasting)
    world.frames(4, city=1.0, north=1.0, inn=1.0)
    north = city.members["north"]
    assert north.is_open
    assert lasting.is_open
    city.remove("north")
    city.remove("inn")
    assert (north.is_open, lasting.is_open) == (False, False)
    assert world.frames(6) != []
    assert world.names() == {"south"}
    assert "compress north" not in world.diary
    city.add(lasting, period_frames=5)
    world.frames(5)
    assert "guest" in world.names()
    assert city.task_of("inn").period_frames == 1


@pytest.mark.parametrize("end", ["close", "drop_members"])
def test_a_member_may_end_the_group_it_is_in(clock, end):
    world = World(clock)

    def leave(turn):
        world.diary.append(("a", 0.0))
        getattr(group, end)()

    group = world.group(
        "inn", expand=lambda: ["a", "b"], member=lambda name: leave if name == "a" else world.work(name)
    )
    world.city._expand = None
    world.city.add(group)
    told = world.frames(1, city=1.0, inn=1.0) + world.frames(3)
    assert told.count("compress inn") == (end == "close") * told.count(("a", 0.0))
    assert told.count(("a", 0.0)) >= 1
    assert "b" not in {one[0] for one in told if isinstance(one, tuple)}


def test_a_failing_expansion_is_reported_and_the_group_stays_one(clock):
    def fail():
        raise OSError("no people")

    world = World(clock)
    group = world.group("north", expand=fail, member=world.work)
    world.city.add(group)
    world.city._expand = None
    told = world.frames(12, city=1.0, north=1.0)
    assert told.count("north (expand)") == 2
    assert ("north", 0.3) in told
    group.release()
    assert "north (expand)" in world.frames(3)


@pytest.mark.parametrize(("names", "said"), [(7, "got 7"), ("Ann", "got 'Ann'"), (None, "got None")])
def test_expansion_must_return_names(clock, names, said):
    faults = []
    group = GroupLOD(
        "n", clock, importance=lambda: 0.0, expand=lambda: names, member=lambda name: lambda turn: None,
        faults=FaultIsolation(report=faults.append),
    )
    assert not group.open()
    assert f"expand must return names, {said}" in str(faults[0].error)


def test_failing_work_and_compression_stay_where_they_are(clock):
    def fail(*_):
        raise OSError

    told = []
    group = GroupLOD(
        "n", clock, importance=lambda: 0.0, work=fail, compress=fail, expand=lambda: ["a"],
        member=lambda name: fail, faults=FaultIsolation(report=lambda fault: told.append(fault.name)),
    )
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True))
    scheduler.add(group, name="n")
    scheduler.advance(Budget.unlimited())
    assert group.open()
    group.scheduler.advance(Budget.unlimited())
    assert not group.close()
    assert told == ["n (work)", "a", "n (compress)"]
    assert group.is_open


def test_incompressible_member_is_not_lost_nor_are_its_neighbors(clock):
    told, is_broken = [], [True]

    def compress():
        if is_broken:
            raise OSError("no room")
        told.append("compressed")

    def group(name, inner, compress=None):
        return GroupLOD(
            name, clock, importance=lambda: value[0], expand=lambda: ["a", "b"], member=inner, compress=compress,
            faults=FaultIsolation(report=lambda fault: told.append(fault.name)),
        )

    value = [1.0]
    town = group("town", lambda name: group(name, lambda person: lambda turn: None, compress if name == "a" else None))
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    scheduler.add(town, name="town")
    for frame in range(8):
        value[0] = 1.0 if frame < 2 else 0.0
        scheduler.advance(Budget.unlimited())
        clock.advance()
    block, other = town.members["a"], town.members["b"]
    assert (town.is_open, block.is_open, other.is_open) == (True, True, False)
    assert told == ["a (compress)"] * 3, "then it is quarantined"
    assert list(block.members) == ["a", "b"]
    is_broken.clear()
    block.release()
    scheduler.advance(Budget.unlimited())
    assert told[3:] == ["compressed"]
    assert not town.is_open


def test_one_group_under_two_names_is_refused(clock):
    faults, block = [], GroupLOD("block", clock, importance=lambda: 0.0)
    town = GroupLOD(
        "town", clock, importance=lambda: 1.0, expand=lambda: ["a", "b"], member=lambda name: block,
        faults=FaultIsolation(report=faults.append),
    )
    assert not town.open()
    assert "members 'a' and 'b' are the same group; make one for each" in str(faults[0].error)
    assert block._parent is None


def test_misuse_is_told_at_the_call(clock):
    group = GroupLOD("n", clock, importance=lambda: math.nan)
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True))
    scheduler.add(group, name="n")
    with pytest.raises(ValueError, match="importance must be a finite number, got nan"):
        scheduler.advance(Budget.unlimited())
    with pytest.raises(ValueError, match=r"close_at must be at most 0\.5, got 0\.6; it must not be above open_at"):
        GroupLOD("n", clock, importance=lambda: 0.0, open_at=0.5, close_at=0.6)
    with pytest.raises(TypeError, match="importance must be a callable"):
        GroupLOD("n", clock, importance=0.5)
    with pytest.raises(ValueError, match="give both, or neither"):
        GroupLOD("n", clock, importance=lambda: 0.0, expand=lambda: ["a"])
    with pytest.raises(TypeError, match="name must be a non-empty string"):
        group.add(lambda turn: None)
    group.add(lambda turn: None, name="a")
    with pytest.raises(ValueError, match="already has a member 'a'"):
        group.add(lambda turn: None, name="a")
    with pytest.raises(UnknownNameError, match="unknown member 'c'"):
        group.remove("c")
    with pytest.raises(TypeError, match="work must be"):
        group.add(3, name="c")


@pytest.mark.parametrize("frames", [0, 3, 7, 12])
def test_loaded_anew_it_goes_on_as_if_nothing_had_happened(clock, frames):
    first = World(clock)
    first.frames(frames, city=1.0 if frames > 3 else 0.0, north=1.0)
    text = to_json(take({"clock": clock, "scheduler": first.scheduler}))
    other_clock = type(clock)(0.1)
    second = World(other_clock)
    second.importance = dict(first.importance)
    restore(from_json(text), {"clock": other_clock, "scheduler": second.scheduler})
    assert first.frames(8) == second.frames(8)
    assert first.frames(8, city=0.0) == second.frames(8, city=0.0)
    assert second.scheduler.save_state() == first.scheduler.save_state()


def test_work_of_a_closed_group_is_saved_with_it(clock):
    def town():
        inner = GroupLOD("inner", clock, importance=lambda: 0.0)
        return inner, GroupLOD("town", clock, importance=lambda: 0.0, work=inner)

    (inner, group), (other, loaded) = town(), town()
    inner.open()
    restore(from_json(to_json(take({"group": group}))), {"group": loaded})
    assert inner.is_open
    assert other.is_open


def test_loading_compresses_nobody(clock):
    world = World(clock)
    closed = take({"scheduler": world.scheduler})
    closed_clock = take({"clock": clock})
    world.frames(4, city=1.0, north=1.0)
    opened = take({"clock": clock, "scheduler": world.scheduler})
    world.diary.clear()
    restore({**closed, "parts": {**closed["parts"], **closed_clock["parts"]}},
            {"clock": clock, "scheduler": world.scheduler})
    assert not world.city.is_open
    restore(opened, {"clock": clock, "scheduler": world.scheduler})
    assert world.city.is_open
    assert world.diary == []
    assert take({"clock": clock, "scheduler": world.scheduler}) == opened


def test_a_save_with_members_that_nobody_can_make_is_refused(clock):
    world = World(clock)
    world.frames(4, city=1.0)
    state = take({"scheduler": world.scheduler})
    work = state["parts"]["scheduler"]["tasks"][0]["work"]
    before = take({"scheduler": world.scheduler})
    work["members"][0] = ["north", "north"]
    with pytest.raises(SnapshotError, match="two members are named 'north'"):
        restore(state, {"scheduler": world.scheduler})
    work["members"][0] = ["north"]
    with pytest.raises(SnapshotError, match="unknown task 'south'"):
        restore(state, {"scheduler": world.scheduler})
    assert take({"scheduler": world.scheduler}) == before
