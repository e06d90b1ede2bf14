"""Many as one, and back: groups that are simulated as a whole or opened into members."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ai_core.clock import Clock, checked_clock
from ai_core.errors import CycleError, UnknownNameError, check_callables, finite_number, named, shown
from ai_core.faults import FaultIsolation, given_faults
from ai_core.level_of_detail.behavior_ranges import checked_importance
from ai_core.level_of_detail.group_state import prepared_group, saved_group
from ai_core.saving.fields import State
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task, Turn, Work
from ai_core.scheduling.task_limits import checked_period, checked_priority
from ai_core.scheduling.work import runner_for
from ai_core.trace import Trace, given_trace

__all__ = ["GroupLOD", "GroupMember"]


class GroupMember(NamedTuple):
    """What a group runs while it is open.

    Attributes:
        work: a group, or any work.
        period_frames: how often it runs; of a group, while that one is closed.
        priority: weight of its share of the group's budget.
    """

    work: Work | GroupLOD
    period_frames: int
    priority: float


class GroupLOD:
    """A nation, a city, a block: itself work, for a scheduler or for the group around it.

    Closed, it runs one work for all. When it becomes important enough it
    opens: ``expand`` names members, ``member`` makes each, and they are
    scheduled in turn; when it is no longer important they are compressed into
    one again, inner groups first. Both count the time they stand for: elapsed
    time of a member begins with the opening.

    Args:
        name: unique among the members of its group.
        clock: where ``now`` comes from.
        work: simulates all as one while closed; None does nothing.
        importance: asked each turn, 0 to 1.
        open_at, close_at: opens at the one or more, closes below the other;
            the distance is the hysteresis, ``close_at`` not above ``open_at``.
        closed_period_frames: how often it runs inside another group while it
            is closed; an open one runs every frame.
        member_period_frames: how often a member that ``expand`` named runs.
        expand: returns the names of those who are members only while it is open.
        member: makes the work of a member of that name, which may be a group; it
            is also asked when a save is loaded, and must change nothing else.
        compress: called when it closes, while the members are still known; if it
            raises, the group and those around it stay open, so that nobody is lost.
        make_scheduler: makes what runs the members; None shares the budget out.
        faults: what happens to work that raises; None reports to the log.
        trace: hooks called around each run of a member, unless ``make_scheduler`` is given.

    Source: 000_execution_management, group level of detail.
    """

    def __init__(
        self, name: str, clock: Clock, *, importance: Callable[[], float], work: Work | None = None,
        open_at: float = 0.55, close_at: float = 0.45, closed_period_frames: int = 15,
        member_period_frames: int = 1, expand: Callable[[], Iterable[str]] | None = None,
        member: Callable[[str], Work | GroupLOD] | None = None,
        compress: Callable[[], object] | None = None,
        make_scheduler: Callable[[], Scheduler] | None = None, faults: FaultIsolation | None = None,
        trace: Trace | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a text that is not empty, got {shown(name)}")
        if not callable(importance):
            raise TypeError(f"importance must be a callable, got {shown(importance)}")
        check_callables(expand=expand, member=member, compress=compress, make_scheduler=make_scheduler)
        checked_clock(clock)
        given_trace(trace)
        if (expand is None) != (member is None):
            raise ValueError("expand and member belong together: give both, or neither")
        self.name = name
        self.open_at = finite_number("open_at", open_at, minimum=0, maximum=1)
        self.close_at = finite_number(
            "close_at", close_at, minimum=0, maximum=self.open_at, remedy="it must not be above open_at"
        )
        self._closed_period = checked_period(closed_period_frames, "closed_period_frames")
        self._member_period = checked_period(member_period_frames, "member_period_frames")
        self._importance, self._expand, self._member, self._compress = (
            importance, expand, member, compress
        )
        self._faults = given_faults(faults)
        self._make_scheduler = make_scheduler or (
            lambda: LoadBalancingScheduler(clock, faults=self._faults, trace=trace)
        )
        self._work, self._runner = work, None if work is None else runner_for(work)
        self._lasting: dict[str, GroupMember] = {}
        self._passing: dict[str, GroupMember] = {}
        self._tasks: dict[str, Task] = {}
        self._scheduler: Scheduler | None = None
        self._parent: GroupLOD | None = None

    def __repr__(self) -> str:
        state = f"open, {len(self._tasks)} members" if self.is_open else "closed"
        return f"<GroupLOD {shown(self.name)} {state}>"

    @property
    def is_open(self) -> bool:
        """Whether its members run, each for itself."""
        return self._scheduler is not None

    @property
    def scheduler(self) -> Scheduler | None:
        """What runs the members; None while it is closed."""
        return self._scheduler

    @property
    def members(self) -> dict[str, Work | GroupLOD]:
        """The work of each member by name; of a closed group the lasting ones."""
        return {name: one.work for name, one in {**self._lasting, **self._passing}.items()}

    def task_of(self, name: str) -> Task:
        """Return the task of a member of an open group: for ``SchedulingLOD``, statistics.

        Raises:
            UnknownNameError: if no such member runs.
        """
        return named("member that runs", name, self._tasks)

    def groups(self) -> Iterator[GroupLOD]:
        """Yield itself and the groups inside, as far as they are open, outer ones first."""
        yield self
        if self.is_open:
            for one in self.members.values():
                if isinstance(one, GroupLOD):
                    yield from one.groups()

    def add(
        self, work: Work | GroupLOD, *, name: str | None = None, period_frames: int | None = None,
        priority: float = 1.0, is_lasting: bool = True,
    ) -> None:
        """Make a group, or any work, a member.

        Args:
            work: what runs while this group is open.
            name: unique here; None takes the group's own.
            period_frames: None takes the closed period of a group, else the
                member period.
            priority: weight of its share of the budget.
            is_lasting: whether it is still a member after closing.

        Raises:
            CycleError: if this group would be inside itself.
            ValueError: if the name is taken, the group is inside another, or
                somebody passing is to join a group that is closed.
        """
        if not is_lasting and not self.is_open:
            raise ValueError(f"group {self.name!r} is closed; only lasting members can be added")
        one = self._checked_member(work, name, period_frames, priority)
        members = self._lasting if is_lasting else self._passing
        members[one[0]] = one[1]
        if isinstance(work, GroupLOD):
            work._parent = self
        if self._scheduler is not None:
            self._tasks[one[0]] = schedule_member(self._scheduler, *one, len(self._tasks))

    def remove(self, name: str) -> None:
        """Let a member go; a group that goes is not compressed.

        Raises:
            UnknownNameError: if there is no member of that name.
        """
        members = self._lasting if name in self._lasting else self._passing
        if name not in members:
            raise UnknownNameError("member", name, self.members)
        _part_with(members[name].work)  # an open group tells that it is closed, while it is a member
        del members[name]
        task = self._tasks.pop(name, None)
        if task is not None and self._scheduler is not None:
            self._scheduler.remove(task)

    def __call__(self, turn: Turn) -> int:
        """Open or close as importance asks, then run; return how many members it has open."""
        value = checked_importance(self._importance())
        if self.is_open and value < self.close_at:
            self.close(turn.now.frame)
        if not self.is_open:
            self._run_as_one(turn)  # before opening too: members begin at this moment
            if value >= self.open_at and (self._expand or self._lasting):
                self.open(turn.now.frame)
        if self._scheduler is None:
            return 0
        self._scheduler.advance(turn.budget)
        return len(self._tasks)

    def open(self, frame: int = 0) -> bool:
        """Run the members each for itself; return False if making them failed.

        Args:
            frame: told in the report of a failure.
        """
        if self.is_open:
            return True
        if self._faults.is_quarantined((self, "expand")):
            return False
        return self._safely("expand", frame, self._open)

    def close(self, frame: int = 0) -> bool:
        """Compress the members, inner groups first, and run as one again.

        Args:
            frame: told in the report of a failure.

        Returns:
            Whether it is closed; not if compressing it, or a group inside, failed.
            It is tried again at the next turn, until it is quarantined.
        """
        if not self.is_open:
            return True
        if not self._can_close():
            return False
        are_closed = [one.close(frame) for one in self.members.values() if isinstance(one, GroupLOD)]
        if not all(are_closed):
            return False
        if self._compress is not None and not self._safely("compress", frame, self._compress):
            return False
        self.drop_members()
        return True

    def release(self) -> None:
        """Try again what had failed too often."""
        for what in ("work", "expand", "compress"):
            self._faults.release((self, what))

    def save_state(self) -> State:
        """Return whether it is open, who is in it, and the state of each, as plain data."""
        return saved_group(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. Calls neither expand nor compress.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        return prepared_group(self, state)

    def drop_members(self) -> None:
        """Be closed at once, without compressing anybody; for what is loaded anew."""
        for one in self.members.values():
            if isinstance(one, GroupLOD):
                one.drop_members()
        if self._scheduler is None:
            return
        for task in self._scheduler.tasks:
            self._scheduler.remove(task)
        for member in self._passing.values():
            _part_with(member.work)
        self._scheduler, self._passing, self._tasks = None, {}, {}
        self._tell_parent()

    def make_passing(self, names: Iterable[str]) -> dict[str, GroupMember]:
        """Return a member made for each name; nothing is changed."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TypeError(f"expand must return names, got {shown(names)}")
        made: dict[str, GroupMember] = {}
        for name in names:
            if self._member is None:
                raise UnknownNameError("member", name, self._lasting)
            if name in made:
                raise ValueError(f"two members are named {name!r}; names must differ")
            _, made[name] = self._checked_member(self._member(name), name, None, 1.0)
        groups: dict[GroupLOD, str] = {}
        for name, one in made.items():
            if isinstance(one.work, GroupLOD) and groups.setdefault(one.work, name) != name:
                raise ValueError(
                    f"members {groups[one.work]!r} and {name!r} are the same group; make one for each"
                )
        return made

    def start(self, scheduler: Scheduler, passing: dict[str, GroupMember], tasks: dict[str, Task]) -> None:
        """Be open with members that a scheduler has already."""
        self._scheduler, self._passing, self._tasks = scheduler, passing, tasks
        for one in passing.values():
            if isinstance(one.work, GroupLOD):
                one.work._parent = self
        self._tell_parent()

    def scheduled(self, passing: dict[str, GroupMember]) -> tuple[Scheduler, dict[str, Task]]:
        """Return a new scheduler that has all members."""
        scheduler = self._make_scheduler()
        members = {**self._lasting, **passing}
        return scheduler, {
            name: schedule_member(scheduler, name, one, number)
            for number, (name, one) in enumerate(members.items())
        }

    def _run_as_one(self, turn: Turn) -> None:
        runner = self._runner
        if runner is not None and not self._faults.is_quarantined((self, "work")):
            self._safely("work", turn.now.frame, lambda: runner.run(turn))

    def _open(self) -> None:
        passing = self.make_passing(() if self._expand is None else self._expand())
        scheduler, tasks = self.scheduled(passing)
        self.start(scheduler, passing, tasks)

    def _can_close(self) -> bool:
        """Return False if this group, or an open one inside, failed to be compressed too often."""
        return not any(one._faults.is_quarantined((one, "compress")) for one in self.groups() if one.is_open)

    def _tell_parent(self) -> None:
        parent = self._parent
        if parent is None or parent._scheduler is None:
            return
        for name, member in (*parent._lasting.items(), *parent._passing.items()):
            if member.work is self:
                period_frames = 1 if self.is_open else member.period_frames
                parent._scheduler.change(parent._tasks[name], period_frames=period_frames)

    def _checked_member(
        self, work: Work | GroupLOD, name: str | None, period_frames: int | None, priority: float
    ) -> tuple[str, GroupMember]:
        is_group = isinstance(work, GroupLOD)
        if name is None:
            name = work.name if isinstance(work, GroupLOD) else None
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a text that is not empty, got {shown(name)}")
        if name in self._lasting or name in self._passing:
            raise ValueError(f"group {self.name!r} has a member {name!r}; names must differ")
        if isinstance(work, GroupLOD):
            outer: GroupLOD | None = self
            while outer is not None:
                if outer is work:
                    raise CycleError(f"group {work.name!r} cannot be inside itself")
                outer = outer._parent
            if work._parent is not None:
                raise ValueError(f"group {work.name!r} is in {work._parent.name!r}; remove it there")
        else:
            runner_for(work)
        if period_frames is None:
            period_frames = work._closed_period if is_group else self._member_period  # type: ignore[union-attr]
        return name, GroupMember(work, checked_period(period_frames), checked_priority(priority))

    def _safely(self, what: str, frame: int, function: Callable[[], object]) -> bool:
        key = (self, what)
        try:
            function()
        except Exception as error:  # whatever it raises stays with this group
            self._faults.failed(key, f"{self.name} ({what})", frame, error)
            return False
        self._faults.succeeded(key)
        return True


def schedule_member(scheduler: Scheduler, name: str, member: GroupMember, number: int) -> Task:
    """Return the task of a member; phases go round, so that members of a kind are spread."""
    is_open = isinstance(member.work, GroupLOD) and member.work.is_open
    period = 1 if is_open else member.period_frames
    return scheduler.add(
        member.work, name=name, period_frames=period, phase_frames=number % member.period_frames,
        priority=member.priority,
    )


def _part_with(work: Work | GroupLOD) -> None:
    if isinstance(work, GroupLOD):
        work.drop_members()
        work._parent = None
