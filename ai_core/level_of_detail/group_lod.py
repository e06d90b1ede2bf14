"""Group level of detail: groups that are simulated as a whole, or opened into members."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ai_core.clock import Clock, checked_clock
from ai_core.errors import CycleError, UnknownNameError, check_callables, checked_name, finite_number, named, shown
from ai_core.faults import FAILURES_STATE, Failures, FaultIsolation, given_faults
from ai_core.level_of_detail.behavior_ranges import checked_importance
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part, Same, Saveable
from ai_core.saving.fields import StateError
from ai_core.saving.kinds import Kind, ListOf, MapOf, Row, Text
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task, Turn, Work, checked_period, checked_priority
from ai_core.scheduling.work import runner_for
from ai_core.trace import Trace, given_trace

__all__ = ["GroupLOD", "GroupMember"]


class GroupMember(NamedTuple):
    """A member that runs while its group is open.

    Attributes:
        work: another group, or any work.
        period_frames: frames from run to run; for a group, while that group is closed.
        priority: weight of its share of the group's budget.
    """

    work: Work | GroupLOD
    period_frames: int
    priority: float


FAULT_KEYS = ("work", "expand", "compress")


class GroupLOD(Saveable):
    """A group such as a nation, a city or a block; callable as work of a scheduler or of an outer group.

    A closed group runs one work for all its members. At a high importance the group opens: ``expand``
    returns the names of members, ``member`` creates the work of each, and a scheduler runs them. At a low
    importance the members are compressed again, inner groups first. A group that opens leaves no gap in simulated
    time: it runs up to the opening, and the elapsed time of members starts there. When it closes, each member stands at
    its last run: the time since, less than its period unless the budget delayed it, is not simulated for it.

    Args:
        name: unique name among the members of the outer group.
        clock: source of the game time.
        work: simulates all members as one while the group is closed; None for nothing.
        importance: called each turn; returns the importance, 0 to 1.
        open_at, close_at: the group opens at or above ``open_at`` and closes below ``close_at``, 0 to 1;
            the difference is the hysteresis, ``close_at`` must not be above ``open_at``.
        closed_period_frames: period inside an outer group while this group is closed, 1 or more; an open group
            runs every frame.
        member_period_frames: period of members named by ``expand``, 1 or more.
        expand: returns the names of members that exist only while the group is open.
        member: creates the work of a member by name, which may be a group; also called when a save is
            loaded, and must not change anything else.
        compress: called when the group closes, while its members still exist; if it raises, the group and
            its outer groups stay open, so that no member is lost.
        faults: handles work that raises; None reports to the log.
        trace: hooks called around each run of a member.

    Raises:
        TypeError, ValueError: if an argument has a wrong type or is out of range, or only one of ``expand``
            and ``member`` is given.

    Source: 000_execution_management, group level of detail.
    """

    STATE = DeclaredState(
        name=Same(), members=Hook(), failing=MapOf(FAILURES_STATE, names=FAULT_KEYS, at="_failures"),
        work=Part(if_saveable=True, at="_work"))

    def __init__(
        self, name: str, clock: Clock, *, importance: Callable[[], float], work: Work | None = None,
        open_at: float = 0.55, close_at: float = 0.45, closed_period_frames: int = 15,
        member_period_frames: int = 1, expand: Callable[[], Iterable[str]] | None = None,
        member: Callable[[str], Work | GroupLOD] | None = None,
        compress: Callable[[], object] | None = None,
        faults: FaultIsolation | None = None,
        trace: Trace | None = None,
    ) -> None:
        checked_name("name", name)
        if not callable(importance):
            raise TypeError(f"importance must be a callable, got {shown(importance)}")
        check_callables(expand=expand, member=member, compress=compress)
        checked_clock(clock)
        given_trace(trace)
        if (expand is None) != (member is None):
            raise ValueError("expand and member must be given together: give both, or neither")
        self.name = name
        self.open_at = finite_number("open_at", open_at, minimum=0, maximum=1)
        self.close_at = finite_number(
            "close_at", close_at, minimum=0, maximum=self.open_at, remedy="it must not be above open_at")
        self._closed_period = checked_period(closed_period_frames, "closed_period_frames")
        self._member_period = checked_period(member_period_frames, "member_period_frames")
        self._importance, self._expand, self._member, self._compress = (importance, expand, member, compress)
        self._faults = given_faults(faults)
        self._clock, self._trace = clock, trace
        self._work, self._runner = work, None if work is None else runner_for(work)
        self._permanent: dict[str, GroupMember] = {}
        self._temporary: dict[str, GroupMember] = {}
        self._tasks: dict[str, Task] = {}
        self._scheduler: Scheduler | None = None
        self._parent: GroupLOD | None = None

    def __repr__(self) -> str:
        state = f"open, {len(self._tasks)} members" if self.is_open else "closed"
        return f"<GroupLOD {shown(self.name)} {state}>"

    @property
    def is_open(self) -> bool:
        """Whether the group is open and its members run individually."""
        return self._scheduler is not None

    @property
    def scheduler(self) -> Scheduler | None:
        """Scheduler of the members; None while the group is closed."""
        return self._scheduler

    @property
    def members(self) -> dict[str, Work | GroupLOD]:
        """Work of each member by name; in a closed group only permanent members."""
        return {name: one.work for name, one in {**self._permanent, **self._temporary}.items()}

    def task_of(self, name: str) -> Task:
        """Return the task of a member of an open group, for ``SchedulingLOD`` or statistics.

        Raises:
            UnknownNameError: if no running member has this name.
        """
        return named("running member", name, self._tasks)

    def groups(self) -> Iterator[GroupLOD]:
        """Yield this group and all groups inside open groups, outer groups first."""
        yield self
        if self.is_open:
            for one in self.members.values():
                if isinstance(one, GroupLOD):
                    yield from one.groups()

    def add(
        self, work: Work | GroupLOD, *, name: str | None = None, period_frames: int | None = None,
        priority: float = 1.0,
    ) -> None:
        """Add a group or any other work as a member, also while the group is open.

        Args:
            work: group or work that runs while this group is open.
            name: unique name in this group; None takes the name of ``work``, which must be a group then.
            period_frames: frames from run to run, 1 or more; None takes ``closed_period_frames`` of a group
                and ``member_period_frames`` of this group for other work.
            priority: weight of its share of the budget.

        Raises:
            CycleError: if this group would be inside itself.
            TypeError: if the name or the work has a wrong type.
            ValueError: if the name is taken, or the added group is in another group.
        """
        one = self._checked_member(work, name, period_frames, priority)
        self._permanent[one[0]] = one[1]
        if isinstance(work, GroupLOD):
            work._parent = self
        if self._scheduler is not None:
            self._tasks[one[0]] = schedule_member(self._scheduler, *one, len(self._tasks))

    def remove(self, name: str) -> None:
        """Remove a member; a removed group is closed without compression.

        Raises:
            UnknownNameError: if no member has this name.
        """
        members = self._permanent if name in self._permanent else self._temporary
        if name not in members:
            raise UnknownNameError("member", name, self.members)
        _detach(members[name].work)  # an open group notifies this one that it closes, while still a member
        del members[name]
        task = self._tasks.pop(name, None)
        if task is not None and self._scheduler is not None:
            self._scheduler.remove(task)

    def __call__(self, turn: Turn) -> int:
        """Open or close by importance, then run; return the number of running members, 0 while closed."""
        value = checked_importance(self._importance())
        if self.is_open and value < self.close_at:
            self.close(turn.now.frame)
        if not self.is_open:
            self._run_as_one(turn)  # also before opening: the time of members starts now
            if value >= self.open_at and (self._expand or self._permanent):
                self.open(turn.now.frame)
        if self._scheduler is None:
            return 0
        self._scheduler.advance(turn.budget)
        return len(self._tasks)

    def skip_time(self, seconds: float) -> None:
        """Leave out a time that has just passed of the ``elapsed_s`` of all members, see ``Scheduler.skip_time``."""
        if self._scheduler is not None:
            self._scheduler.skip_time(seconds)      # which tells the groups among the members

    def open(self, frame: int = 0) -> bool:
        """Open the group, so that members run individually; return False if creating them failed.

        The time since the last run of the closed group is not simulated; a turn simulates it before opening.

        Args:
            frame: number of the frame for the report of a failure.
        """
        if self.is_open:
            return True
        return self._safely("expand", frame, self._open)

    def close(self, frame: int = 0) -> bool:
        """Compress the members, inner groups first, and close the group.

        Args:
            frame: number of the frame for the report of a failure.

        Returns:
            Whether the group is closed; False if ``compress`` of this group or of an inner one raised. The
            next turn tries again, until ``compress`` is quarantined.
        """
        if not self.is_open:
            return True
        if any(one._faults.is_quarantined((one, "compress")) for one in self.groups() if one.is_open):
            return False
        are_closed = [one.close(frame) for one in self.members.values() if isinstance(one, GroupLOD)]
        if not all(are_closed):
            return False
        if self._compress is not None and not self._safely("compress", frame, self._compress):
            return False
        self.drop_members()
        return True

    def release(self) -> None:
        """Release work, expand and compress that were quarantined after repeated errors."""
        for what in ("work", "expand", "compress"):
            self._faults.release((self, what))

    @property
    def _failures(self) -> dict[str, Failures]:
        return {what: self._faults.failures_of((self, what)) for what in FAULT_KEYS}

    @_failures.setter
    def _failures(self, failures: dict[str, Failures]) -> None:
        for what, one in failures.items():
            self._faults.put_failures((self, what), one)

    def _save_members(self) -> list[Any] | None:
        """Return the names of temporary members and the scheduler of all; None for a closed group."""
        return None if self._scheduler is None else [list(self._temporary), self._scheduler.save_state()]

    def _prepare_members(self, plain: Any, place: str) -> Change:
        """Check the members of an open group, made in a new scheduler, which replaces the present one."""
        if plain is None:
            return self.drop_members
        names, saved = Row(lambda names, saved: (names, saved), ListOf(Text()), Kind()).read(plain, place, self)
        here, self._temporary = self._temporary, {}  # names in use now may occur in the save
        try:
            passing = self.make_temporary_members(names)
            scheduler, tasks = self.scheduled(passing)
            load = Part().prepare(scheduler, saved, f"{place}[1]")
        except StateError as error:
            raise StateError(f"group {self.name!r}: {error}") from error
        except (LookupError, TypeError, ValueError) as error:
            raise StateError(f"group {self.name!r}: members cannot be created: {error}") from error
        finally:
            self._temporary = here

        def start() -> None:
            self.drop_members()
            self.start(scheduler, passing, tasks)
            load()

        return start

    def drop_members(self) -> None:
        """Close at once without compression, before a state is loaded."""
        for one in self.members.values():
            if isinstance(one, GroupLOD):
                one.drop_members()
        if self._scheduler is None:
            return
        for task in self._scheduler.tasks:
            self._scheduler.remove(task)
        for member in self._temporary.values():
            _detach(member.work)
        self._scheduler, self._temporary, self._tasks = None, {}, {}
        self._notify_parent()

    def make_temporary_members(self, names: Iterable[str]) -> dict[str, GroupMember]:
        """Create and return a member for each name, without adding them to the group."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TypeError(f"expand must return names, got {shown(names)}")
        made: dict[str, GroupMember] = {}
        for name in names:
            if self._member is None:
                raise UnknownNameError("member", name, self._permanent)
            if name in made:
                raise ValueError(f"two members are named {name!r}; names must differ")
            _, made[name] = self._checked_member(self._member(name), name, None, 1.0)
        groups: dict[GroupLOD, str] = {}
        for name, one in made.items():
            if isinstance(one.work, GroupLOD) and groups.setdefault(one.work, name) != name:
                raise ValueError(f"members {groups[one.work]!r} and {name!r} are the same group; make one for each")
        return made

    def start(self, scheduler: Scheduler, passing: dict[str, GroupMember], tasks: dict[str, Task]) -> None:
        """Open the group with members that are already in a scheduler."""
        self._scheduler, self._temporary, self._tasks = scheduler, passing, tasks
        for one in passing.values():
            if isinstance(one.work, GroupLOD):
                one.work._parent = self
        self._notify_parent()

    def scheduled(self, passing: dict[str, GroupMember]) -> tuple[Scheduler, dict[str, Task]]:
        """Return a new scheduler with the tasks of all members, and the tasks by name."""
        scheduler = Scheduler(self._clock, faults=self._faults, trace=self._trace)
        members = {**self._permanent, **passing}
        return scheduler, {
            name: schedule_member(scheduler, name, one, number) for number, (name, one) in enumerate(members.items())}

    def _run_as_one(self, turn: Turn) -> None:
        runner = self._runner
        if runner is not None:
            self._safely("work", turn.now.frame, lambda: runner.run(turn))

    def _open(self) -> None:
        passing = self.make_temporary_members(() if self._expand is None else self._expand())
        scheduler, tasks = self.scheduled(passing)
        self.start(scheduler, passing, tasks)

    def _notify_parent(self) -> None:
        parent = self._parent
        if parent is None or parent._scheduler is None:
            return
        for name, member in (*parent._permanent.items(), *parent._temporary.items()):
            if member.work is self:
                period_frames = 1 if self.is_open else member.period_frames
                parent._scheduler.change(parent._tasks[name], period_frames=period_frames)

    def _checked_member(
        self, work: Work | GroupLOD, name: str | None, period_frames: int | None, priority: float
    ) -> tuple[str, GroupMember]:
        is_group = isinstance(work, GroupLOD)
        if name is None:
            name = work.name if isinstance(work, GroupLOD) else None
        name = checked_name("name", name)
        if name in self._permanent or name in self._temporary:
            raise ValueError(f"group {self.name!r} already has a member {name!r}; names must differ")
        if isinstance(work, GroupLOD):
            outer: GroupLOD | None = self
            while outer is not None:
                if outer is work:
                    raise CycleError(f"group {work.name!r} cannot be inside itself; create another GroupLOD as member")
                outer = outer._parent
            if work._parent is not None:
                raise ValueError(f"group {work.name!r} is in {work._parent.name!r}; remove it there")
        else:
            runner_for(work)
        if period_frames is None:
            period_frames = work._closed_period if is_group else self._member_period  # type: ignore[union-attr]
        return name, GroupMember(work, checked_period(period_frames), checked_priority(priority))

    def _safely(self, what: str, frame: int, function: Callable[[], object]) -> bool:
        return self._faults.run((self, what), f"{self.name} ({what})", frame, function)


def schedule_member(scheduler: Scheduler, name: str, member: GroupMember, number: int) -> Task:
    """Add a member to a scheduler and return its task; phases rotate, so that equal members are spread."""
    is_open = isinstance(member.work, GroupLOD) and member.work.is_open
    period = 1 if is_open else member.period_frames
    return scheduler.add(
        member.work, name=name, period_frames=period, phase_frames=number % member.period_frames,
        priority=member.priority)


def _detach(work: Work | GroupLOD) -> None:
    if isinstance(work, GroupLOD):
        work.drop_members()
        work._parent = None
