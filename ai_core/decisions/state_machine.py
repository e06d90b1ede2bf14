"""A state machine: one character that is in one state at a time, and changes it by events."""
from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.decisions.callback_faults import CallbackFaults
from ai_core.decisions.state_machine_definition import OWN_EVENTS, StateMachineDefinition
from ai_core.decisions.state_machine_plan import Node, Route, Step, Way
from ai_core.decisions.state_machine_rest import rest_in
from ai_core.decisions.state_machine_state import SaveableMachine
from ai_core.decisions.state_machine_text import live_view
from ai_core.errors import check_callables, check_kind, finite_number, shown
from ai_core.faults import FaultIsolation
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace

__all__ = ["MOST_EVENTS_AT_ONCE", "StateMachine"]

MOST_EVENTS_AT_ONCE = 64
"""Events that callbacks may send before the first of them is settled (count).

A chain of states that pass on at once has under ten; more is a circle.
"""

BUSY: dict[str, tuple[Route, ...]] = {}
"""The table while a transition runs: it knows no event, so each goes the slow way, to wait."""

NOWHERE: dict[str, tuple[Route, ...]] = {}
"""The table before the beginning and after ``stop``."""


class StateMachine(SaveableMachine):
    """Runs one definition for one character.

    - It begins with ``start``, or by itself with the first ``send`` or ``update``.
    - An event sent while a transition runs waits until that is over; ``send``
      returns None then. Events that go on for ever are cut off and reported.
    - A transition calls ``exit`` from the inside out, its ``action``, then
      ``enter`` from the outside in. Callbacks are told the machine.
    - ``update`` calls those of the active states from the outside in, then
      takes at most one transition that has no event.
    - A callback that raises is reported, and the machine goes on: the state is
      entered all the same, a guard says no. One that failed several times in a
      row is left out until ``release_quarantined``.

    Args:
        definition: shared with other characters.
        owner: the character, for its callbacks.
        name: what traces, reports and ``to_text`` call it; else the definition's.
        clock: tells the time; None adds up what ``update`` is told, and an
            event then happens at the moment of the last update.
        trace: ``state_entered`` is called for each state that begins.
        faults: told of callbacks that raise; None makes one that logs.
        parts: what of the character callbacks of a shared definition need to find;
            ``machine.parts``.
        listening: asked with ``parts`` and the time (s) before a change that calls only notices,
            which have a true attribute ``is_notice``; no: they are left out.

    Attributes:
        event, cargo: inside callbacks: the event that led here, and what was
            sent with it; else None.
        elapsed_s: inside ``update``: since the last one (s).

    Cost: O(1); about 250 bytes. A transition is O(states left and entered); an
    event that leads nowhere, and an update that calls nothing, O(1).
    """

    __slots__ = (
        "__weakref__", "_definition", "_faults", "_frame", "_isolation", "_kept_errors", "_leaf", "_left",
        "_listening", "_previous", "_queue", "_reason", "_seconds", "_should_stop", "_since_around", "_since_s",
        "_table", "_trace", "cargo", "elapsed_s", "event", "name", "owner", "parts",
    )

    def __init__(
        self,
        definition: StateMachineDefinition,
        *,
        owner: Any = None,
        name: str = "",
        clock: Clock | None = None,
        trace: Trace | None = None,
        faults: FaultIsolation | None = None,
        parts: Any = None,
        listening: Callable[[Any, float], object] | None = None,
    ) -> None:
        if not isinstance(definition, StateMachineDefinition):
            raise TypeError(f"definition must be a StateMachineDefinition, got {shown(definition)}")
        if clock is not None:
            checked_clock(clock)
        check_kind("trace", trace, Trace)
        check_kind("faults", faults, FaultIsolation)
        check_callables(listening=listening)
        self._definition, self._table = definition, NOWHERE
        self._leaf: Node | None = None
        self._previous: Node | None = None
        self._left: dict[int, int] | None = None
        self._since_around: dict[int, float] | None = None
        self._queue: list[tuple[str, Any]] | None = None
        self._kept_errors: list[Exception] | None = None
        self._faults: CallbackFaults | None = None
        self._clock, self._trace, self._isolation, self._listening = clock, trace, faults, listening
        self._seconds = self._since_s = self.elapsed_s = 0.0
        self._frame, self._should_stop, self._reason = 0, False, ""
        self.event: str | None = None
        self.cargo: Any = None
        self.owner, self.name, self.parts = owner, name or definition.name, parts

    @property
    def definition(self) -> StateMachineDefinition:
        """The states and transitions it lives by."""
        return self._definition

    @property
    def state(self) -> str:
        """Path of the innermost active state; "" while none is."""
        return "" if self._leaf is None else self._leaf.path

    @property
    def previous_state(self) -> str:
        """Path of the state that was active before this one; "" for none."""
        return "" if self._previous is None else self._previous.path

    @property
    def time_in_state_s(self) -> float:
        """Game time since the innermost active state began (s)."""
        return 0.0 if self._leaf is None else self._now_s() - self._since_s

    @property
    def is_busy(self) -> bool:
        """True inside its callbacks: events wait, and it cannot be saved."""
        return self._table is BUSY

    @property
    def needs_update(self) -> bool:
        """False if ``update`` has nothing to do in this state: no callback, and no transition by itself."""
        return self._leaf is None or not self._leaf.is_still

    @property
    def rests_s(self) -> float:
        """For how long ``update`` has nothing to do (s): 0, or until a time is over, or inf for until an event."""
        return 0.0 if self._leaf is None else rest_in(self._leaf, self._since_s, self._since_around, self._now_s())

    def is_in(self, path: str) -> bool:
        """Return True if the state at this path is active, or one inside it.

        Raises:
            UnknownNameError: if there is no such state.
        """
        wanted = self._definition.node(path)
        return self._leaf is not None and wanted in self._leaf.up()

    def send(self, event: str, cargo: Any = None) -> bool | None:
        """Tell the machine that something happened.

        Args:
            event: one that some transition waits for.
            cargo: what callbacks find as ``machine.cargo``.

        Returns:
            Whether a transition was taken; None if the event waits, because
            one is running.

        Raises:
            UnknownNameError: if no transition waits for such an event.
        """
        try:
            routes = self._table[event]
        except (KeyError, TypeError):
            return self._send_otherwise(event, cargo)
        if not routes:
            return False
        self._table = BUSY
        self.event, self.cargo = event, cargo
        try:
            has_changed = self._take_first(routes)
            if self._queue is not None:
                self._settle_queue()
        finally:
            self._come_to_rest()
        return has_changed

    def update(self, elapsed_s: float) -> None:
        """Live on for ``elapsed_s`` of game time.

        Args:
            elapsed_s: since the last update (s), 0 or more.

        Raises:
            ValueError: if the time is negative or not finite.
            RuntimeError: if called from inside a callback of this machine.
        """
        if type(elapsed_s) is not float or not 0.0 <= elapsed_s < inf:
            elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        if self._table is BUSY:
            raise RuntimeError(f"{self.name!r} was updated from inside one of its own callbacks; send an event instead")
        self._seconds += elapsed_s
        self._frame += 1
        leaf = self._leaf
        if leaf is None:
            self.start()
            leaf = self._leaf
        if leaf is None or leaf.is_still:
            return
        self.elapsed_s = elapsed_s
        self._table = BUSY
        try:
            self._run(leaf.updates)
            if self._queue is not None:
                self._settle_queue()
            if self._leaf is not None and self._leaf.automatic:
                self._take_first(self._leaf.automatic)
                if self._queue is not None:
                    self._settle_queue()
        finally:
            self._come_to_rest()

    def advance(self, turn: Turn) -> None:
        """Update as a scheduler's work: ``scheduler.add(machine.advance)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"advance takes a scheduler's Turn, got {shown(turn)}; add machine.advance to the scheduler,"
                " not the machine")
        self.update(turn.elapsed_s)

    def start(self) -> None:
        """Enter the initial state; nothing if a state is active."""
        if self._leaf is None and self._table is not BUSY:
            self._table = BUSY
            try:
                self._move(self._definition.beginning, None, "start")
                if self._queue is not None:
                    self._settle_queue()
            finally:
                self._come_to_rest()

    def stop(self) -> None:
        """Leave all states and forget what was; what comes next begins anew.

        From inside a callback: as soon as events are settled.
        """
        self._should_stop = True
        if self._table is not BUSY:
            self._table = BUSY
            self._come_to_rest()

    def release_quarantined(self) -> None:
        """Let callbacks be called again that were left out because they kept failing."""
        if self._faults is not None:
            self._faults.release()

    def to_text(self) -> str:
        """Return which states are active, since when and why; one state per line."""
        return live_view(self._definition, self.name, self._leaf, self.time_in_state_s, self._reason)

    def _send_otherwise(self, event: str, cargo: Any) -> bool | None:
        """Send what the table does not know: while busy, before the beginning, or by mistake."""
        self._definition.check_event(event)
        if self._table is BUSY:
            if self._queue is None:
                self._queue = []
            self._queue.append((event, cargo))
            return None
        self.start()
        return self.send(event, cargo) if self._leaf is not None else False

    def _take_first(self, routes: tuple[Route, ...]) -> bool:
        for route in routes:
            if route.after_s is not None and not self._has_lasted(route.source, route.after_s):
                continue
            if route.guard is not None and not self._allows(route):
                continue
            way = route.way
            if route.find is not None:
                assert self._leaf is not None
                way = route.find(self._leaf, self._previous, self._left or {})
                if way is None:
                    continue  # there is no previous state to go back to
            if way is None:
                self._run(route.actions)
            else:
                self._move(way, route, route.reason)
            return True
        return False

    def _move(self, way: Way, route: Route | None, reason: str) -> None:
        leaf, clock, listening = self._leaf, self._clock, self._listening
        now_s = self._seconds if clock is None else clock.now.seconds
        only_tells = way.only_tells and (route is None or route.only_tells)
        is_told = listening is None or not only_tells or listening(self.parts, now_s)
        if is_told:
            self._run(way.exits)
            if route is not None:
                self._run(route.actions)
            now_s = self._seconds if clock is None else clock.now.seconds
        if leaf is not None:
            for index in way.remembered:
                self._left = {**(self._left or {}), index: leaf.index}
            if leaf is not way.leaf:
                self._previous = leaf
        self._leaf, self._reason, self._since_s = way.leaf, reason, now_s
        for index in way.timed:
            self._since_around = {**(self._since_around or {}), index: self._since_s}
        if self._trace is not None and self._trace.state_entered:
            self._tell_trace(self._trace, way)
        if is_told:
            self._run(way.enters)

    def _settle_queue(self) -> None:
        """Work off the events that callbacks sent, in their order."""
        assert self._queue is not None
        settled = 0
        while self._queue:
            if settled == MOST_EVENTS_AT_ONCE:
                circle = ", ".join(repr(event) for event, _ in self._queue[:3])
                self._queue.clear()
                self._report(OWN_EVENTS, RuntimeError(
                    f"callbacks in {self.state!r} sent more than {MOST_EVENTS_AT_ONCE} events at once,"
                    f" the last {circle}; they go round in a circle, the rest is dropped"))
                break
            settled += 1
            self.event, self.cargo = self._queue.pop(0)
            if self._leaf is not None:
                self._take_first(self._leaf.table[self.event])
        self._queue = self.event = self.cargo = None

    def _come_to_rest(self) -> None:
        self.event = self.cargo = None
        if self._should_stop:
            self._leave_all()
        leaf = self._leaf
        self._table = NOWHERE if leaf is None else leaf.table
        if self._kept_errors is not None:
            first, self._kept_errors = self._kept_errors[0], None
            raise first

    def _leave_all(self) -> None:
        if self._leaf is not None:
            self._run(tuple(step for node in self._leaf.up() for step in node.exit))
        self._should_stop = False  # an exit that asks for a stop has it
        self._leaf = self._previous = self._left = self._since_around = self._queue = None

    def _run(self, steps: tuple[Step, ...]) -> None:
        for action, name in steps:
            if self._faults is not None and self._faults.is_left_out(name):
                continue
            try:
                action(self)
            except Exception as error:  # the machine stays whole, the frame goes on
                self._report(name, error)
            else:
                if self._faults is not None:
                    self._faults.note_success(name)

    def _allows(self, route: Route) -> bool:
        assert route.guard is not None
        if self._faults is not None and self._faults.is_left_out(route.guard_name):
            return False
        try:
            answer = bool(route.guard(self))
        except Exception as error:  # who cannot say so does not allow it
            self._report(route.guard_name, error)
            return False
        if self._faults is not None:
            self._faults.note_success(route.guard_name)
        return answer

    def _has_lasted(self, source: Node, after_s: float) -> bool:
        since_s = (self._since_around or {}).get(source.index, self._since_s)
        return self._now_s() - since_s >= after_s

    def _now_s(self) -> float:
        return self._seconds if self._clock is None else self._clock.now.seconds

    def _now(self) -> TimeIndex:
        return TimeIndex(self._frame, self._seconds) if self._clock is None else self._clock.now

    def _tell_trace(self, trace: Trace, way: Way) -> None:
        for node in way.entered:
            for hook in trace.state_entered:
                try:
                    hook(self.name, node.path, self._reason, self._now())
                except Exception as error:  # raised when the machine is whole again
                    self._keep(error)

    def _report(self, name: str, error: Exception) -> None:
        try:
            self._callback_faults().report(name, self._now().frame, error)
        except Exception as raised:  # asked to come through: when the machine is whole again
            self._keep(raised)

    def _callback_faults(self) -> CallbackFaults:
        if self._faults is None:
            self._faults = CallbackFaults(self.name, self._isolation or FaultIsolation())
        return self._faults

    def _keep(self, error: Exception) -> None:
        self._kept_errors = [*(self._kept_errors or ()), error]
