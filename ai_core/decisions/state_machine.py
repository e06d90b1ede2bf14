"""The state machine of each character."""
from __future__ import annotations

from collections.abc import Callable
from math import inf
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.decisions.callback_faults import CallbackFaults, failing_state
from ai_core.decisions.state_machine_definition import (
    OWN_EVENTS,
    Route,
    StateMachineDefinition,
    StateNode,
    Step,
    TransitionPath,
)
from ai_core.errors import check_callables, check_kind, check_type, finite_number
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import MapOf, Named, Optional, Seconds, Text, Whole
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace

__all__ = ["MOST_EVENTS_AT_ONCE", "StateMachine"]

ROUNDING_S = 1e-9
"""Tolerance of sums of times (s): a machine that sleeps for a time wakes this much earlier, not a frame late."""

NODE_STATE = Named(lambda machine: machine.definition.by_path, "state", name=attrgetter("path"))
"""How saves refer to a state: by its path."""

MOST_EVENTS_AT_ONCE = 64
"""Events that callbacks may send during an event (count): a chain of states sends under ten, an endless chain more."""
BUSY: dict[str, tuple[Route, ...]] = {}
"""The table while a transition runs: it is empty, so that each event is queued."""
NOWHERE: dict[str, tuple[Route, ...]] = {}
"""The table before ``start`` and after ``stop``."""


class StateMachine(Saveable):
    """Runs a definition for one character.

    - The machine begins with ``start``, or automatically with the first ``send`` or
      ``update``.
    - An event sent while a transition runs is queued until the transition ends;
      ``send`` returns None then. An endless chain of events is cut off and reported.
    - A transition calls ``exit`` from the inside out, its ``action``, then ``enter``
      from the outside in. Callbacks are called with the machine.
    - A state is active (``state``, ``is_in``) from its own ``enter`` to its own
      ``exit``, both included, as in SCXML: not while an enclosing state is entered or
      left.
    - ``update`` calls the update callbacks of the active states from the outside in,
      then takes at most one transition without an event.
    - A callback that raises an exception is reported, and the machine continues: the
      state is entered anyway, a guard counts as false. After several failures in a
      row the callback is quarantined until ``release_quarantined``.
    - Saves refer to states by their paths. Loading calls no callback; the states active
      before are dropped without their ``exit``.

    Args:
        definition: the definition, shared with other characters.
        owner: the character, for its callbacks.
        name: name in traces, reports and ``to_text``; the default is that of the definition.
        clock: the game clock; None adds up the times of ``update``, and an event then counts
            at the time of the last update.
        trace: its ``state_entered`` hook is called for each state that begins.
        faults: receives the exceptions of callbacks; None makes one that logs.
        parts: objects of the character for callbacks of a shared definition; ``machine.parts``.
        listening: called with ``parts`` and the time (s) before a change that calls only notices,
            callbacks with a true attribute ``is_notice``; a false result skips them.

    Attributes:
        event, payload: inside callbacks: the event that caused the call, and its payload; else None.
        elapsed_s: inside ``update``: time since the last update (s).

    Cost: O(1); about 250 bytes. A transition is O(states left and entered); any other event or update O(1).
    """

    SHOWN = ("definition", "state")

    STATE = DeclaredState(
        state=Optional(NODE_STATE, at="_leaf"), previous=Optional(NODE_STATE, at="_previous"),
        reason=Text(at="_reason"), updates=Whole(at="_frame"), seconds=Seconds(0, at="_seconds"),
        since_s=Seconds(at="_since_s"), since_around=MapOf(Seconds(), key=NODE_STATE, at="_since_by_node"),
        left=MapOf(NODE_STATE, key=NODE_STATE, at="_left_by_node"),
        failing=failing_state(lambda machine: machine.definition.callback_names()))

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    __slots__ = (
        "__weakref__", "_at", "_clock", "_definition", "_faults", "_frame", "_leaf", "_left", "_listening",
        "_previous", "_queue", "_reason", "_seconds", "_should_stop", "_since_around", "_since_s", "_table", "_trace",
        "elapsed_s", "event", "name", "owner", "parts", "payload")

    def __init__(
        self, definition: StateMachineDefinition, *, owner: Any = None, name: str = "", clock: Clock | None = None,
        trace: Trace | None = None, faults: FaultIsolation | None = None, parts: Any = None,
        listening: Callable[[Any, float], object] | None = None,
    ) -> None:
        check_type("definition", definition, StateMachineDefinition)
        if clock is not None:
            checked_clock(clock)
        check_kind("trace", trace, Trace)
        check_kind("faults", faults, FaultIsolation)
        check_callables(listening=listening)
        check_type("name", name, str)
        self._definition, self._table = definition, NOWHERE
        self._leaf: StateNode | None = None
        self._at: StateNode | None = None     # the innermost active state while some are left and entered; else None
        self._previous: StateNode | None = None
        self._left: dict[int, int] | None = None
        self._since_around: dict[int, float] | None = None
        self._queue: list[tuple[str, Any]] | None = None
        self._clock, self._trace, self._listening = clock, trace, listening
        self._seconds = self._since_s = self.elapsed_s = 0.0
        self._frame, self._should_stop, self._reason = 0, False, ""
        self.event: str | None = None
        self.payload: Any = None
        self.owner, self.name, self.parts = owner, name or definition.name, parts
        self._faults = CallbackFaults(self.name, faults)

    @property
    def definition(self) -> StateMachineDefinition:
        """The definition of its states and transitions."""
        return self._definition

    @property
    def state(self) -> str:
        """Path of the innermost active state; "" while none is active, as between two outermost states."""
        active = self._at or self._leaf
        return "" if active is None else active.path

    @property
    def previous_state(self) -> str:
        """Path of the previously active state; "" for none."""
        return "" if self._previous is None else self._previous.path

    @property
    def time_in_state_s(self) -> float:
        """Game time since the innermost active state began (s); until ``enter``, that of the state being left."""
        return 0.0 if self._leaf is None else self._now_s() - self._since_s

    @property
    def is_busy(self) -> bool:
        """True inside its callbacks: events are queued, and the machine cannot be saved."""
        return self._table is BUSY

    @property
    def sleep_s(self) -> float:
        """How long ``update`` has nothing to do (s): 0, the time left until ``after_s``, or inf until an event."""
        leaf, now_s = self._leaf, self._now_s()
        if leaf is None or leaf.updates:
            return 0.0
        times_s = [
            0.0 if one.after_s is None else self._began_s(one.source.index) + one.after_s - now_s - ROUNDING_S
            for one in leaf.automatic]
        return max(0.0, min(times_s, default=inf))

    def is_in(self, path: str) -> bool:
        """Return True if the state at this path, or one of its child states, is active.

        Raises:
            UnknownNameError: if no state has this path.
        """
        wanted, active = self._definition.node(path), self._at or self._leaf
        return active is not None and wanted in active.ancestors()

    @property
    def reason(self) -> str:
        """Cause of the last change of state: an event, "after 3 s", "by itself", "start"."""
        return self._reason

    def waited_s(self, path: str) -> float:
        """Return for how long a transition out of an active state has waited (s).

        Args:
            path: the source of a transition with ``after_s``, or the innermost active state.

        Raises:
            UnknownNameError: if no state has this path.
        """
        return self._now_s() - self._began_s(self._definition.node(path).index)

    def send(self, event: str, payload: Any = None) -> bool | None:
        """Send an event to the machine.

        Args:
            event: an event of at least one transition.
            payload: available to callbacks as ``machine.payload``.

        Returns:
            Whether a transition was taken; None if the event is queued, because a
            transition is running.

        Raises:
            UnknownNameError: if no transition has this event.
        """
        try:
            routes = self._table[event]
        except (KeyError, TypeError):
            return self._send_otherwise(event, payload)
        if not routes:
            return False
        self._table = BUSY
        self.event, self.payload = event, payload
        try:
            has_changed = self._take_first(routes)
            if self._queue is not None:
                self._settle_queue()
        finally:
            self._come_to_rest()
        return has_changed

    def update(self, elapsed_s: float) -> None:
        """Advance the machine by ``elapsed_s`` of game time.

        Args:
            elapsed_s: time since the last update (s), 0 or more.

        Raises:
            ValueError: if the time is negative, or the sum of all exceeds 1e12 s.
            RuntimeError: if called from inside a callback of this machine.
        """
        if type(elapsed_s) is not float or not 0.0 <= elapsed_s <= LATEST_S - self._seconds:
            elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0, maximum=LATEST_S - self._seconds)
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
        """Update as a task of a scheduler: ``scheduler.add(machine)``."""
        check_type("turn", turn, Turn, "without one, call update(elapsed_s)")
        self.update(turn.elapsed_s)

    def start(self) -> None:
        """Enter the initial state; does nothing if a state is active."""
        if self._leaf is None and self._table is not BUSY:
            self._table = BUSY
            try:
                self._move(self._definition.beginning, None, "start")
                if self._queue is not None:
                    self._settle_queue()
            finally:
                self._come_to_rest()

    def stop(self) -> None:
        """Leave all states and clear the history; the next ``send`` or ``update`` begins again.

        Inside a callback, this takes effect after all queued events.
        """
        self._should_stop = True
        if self._table is not BUSY:
            self._table = BUSY
            self._come_to_rest()

    def release_quarantined(self) -> None:
        """Release all quarantined callbacks."""
        self._faults.release()

    def to_text(self) -> str:
        """Return one line per state, with marks at active states, and the events for which the innermost one waits.

        Cost: O(states).
        """
        leaf = self._at or self._leaf
        active = [] if leaf is None else leaf.ancestors()
        lines = [self.name if leaf is not None else f"{self.name}: in no state; it begins with start, send or update"]
        for node in self._definition.nodes:
            line = f"{'  ' * (node.depth - 1)}{'*' if node in active else ' '} {node.name}"
            if node is leaf:
                waits = ", ".join(event for event, routes in node.table.items() if routes) or "nothing"
                line += f": for {self.time_in_state_s:.2f} s, {self._reason}; waits for {waits}"
            lines.append(line)
        return "\n".join(lines)

    def _send_otherwise(self, event: str, payload: Any) -> bool | None:
        """Send an event that is not in the table: while busy, before ``start``, or unknown."""
        self._definition.check_event(event)
        if self._table is BUSY:
            if self._queue is None:
                self._queue = []
            self._queue.append((event, payload))
            return None
        self.start()
        return self.send(event, payload) if self._leaf is not None else False

    def _take_first(self, routes: tuple[Route, ...]) -> bool:
        for route in routes:
            if route.after_s is not None and self._now_s() - self._began_s(route.source.index) < route.after_s:
                continue
            if route.guard is not None and not self._allows(route):
                continue
            path = route.path
            if route.find is not None:
                assert self._leaf is not None
                path = route.find(self._leaf, self._previous, self._left or {})
                if path is None:
                    continue  # there is no previous state
            if path is None:
                self._run(route.actions)
            else:
                self._move(path, route, route.reason)
            return True
        return False

    def _move(self, path: TransitionPath, route: Route | None, reason: str) -> None:
        leaf, clock, listening = self._leaf, self._clock, self._listening
        now_s = self._seconds if clock is None else clock.now.seconds
        only_notifies = path.only_notifies and (route is None or route.only_notifies)
        is_heard = listening is None or not only_notifies or listening(self.parts, now_s)
        if is_heard:
            self._run(path.exits)
            if route is not None:
                self._at = path.domain
                self._run(route.actions)
            now_s = self._seconds if clock is None else clock.now.seconds
        if leaf is not None:
            for index in path.remembered:
                self._left = {**(self._left or {}), index: leaf.index}
            if leaf is not path.leaf:
                self._previous = leaf
        self._leaf, self._reason, self._since_s, self._at = path.leaf, reason, now_s, None
        for index in path.timed:
            self._since_around = {**(self._since_around or {}), index: self._since_s}
        if self._trace is not None and self._trace.state_entered:
            self._trace_entered(self._trace, path)
        if is_heard:
            self._run(path.enters)
        self._at = None

    def _settle_queue(self) -> None:
        assert self._queue is not None
        settled = 0
        while self._queue:
            if settled == MOST_EVENTS_AT_ONCE:
                circle = ", ".join(repr(event) for event, _ in self._queue[:3])
                self._queue.clear()
                self._faults.report(OWN_EVENTS, self._now().frame, RuntimeError(
                    f"callbacks in {self.state!r} sent more than {MOST_EVENTS_AT_ONCE} events at once,"
                    f" the last {circle}; the chain has no end, the rest is dropped"))
                break
            settled += 1
            self.event, self.payload = self._queue.pop(0)
            if self._leaf is not None:
                self._take_first(self._leaf.table[self.event])
        self._queue = self.event = self.payload = None

    def _come_to_rest(self) -> None:
        self.event = self.payload = self._at = None
        if self._should_stop:
            if self._leaf is not None:
                self._run(tuple(step for node in self._leaf.ancestors() for step in node.exit))
            self._should_stop = False  # a stop requested by an exit callback is done
            self._leaf = self._at = self._previous = self._left = self._since_around = self._queue = None
        leaf = self._leaf
        self._table = NOWHERE if leaf is None else leaf.table
        if self._faults.kept is not None:
            self._faults.raise_kept()

    def _run(self, steps: tuple[Step, ...]) -> None:
        for action, name, active in steps:
            if active is not None:
                self._at = active
            if self._faults.failing and self._faults.is_quarantined(name):
                continue
            try:
                action(self)
            except Exception as error:  # the machine stays consistent, the frame continues
                self._faults.report(name, self._now().frame, error)
            else:
                if self._faults.failing:
                    self._faults.note_success(name)

    def _allows(self, route: Route) -> bool:
        assert route.guard is not None
        if self._faults.failing and self._faults.is_quarantined(route.guard_name):
            return False
        try:
            answer = bool(route.guard(self))
        except Exception as error:  # a failed guard counts as false
            self._faults.report(route.guard_name, self._now().frame, error)
            return False
        if self._faults.failing:
            self._faults.note_success(route.guard_name)
        return answer

    def _began_s(self, index: int) -> float:
        """Return the time at which an active state began that is the source of a transition with ``after_s`` (s)."""
        return (self._since_around or {}).get(index, self._since_s)

    def _now_s(self) -> float:
        return self._seconds if self._clock is None else self._clock.now.seconds

    def _now(self) -> TimeIndex:
        return TimeIndex(self._frame, self._seconds) if self._clock is None else self._clock.now

    def _trace_entered(self, trace: Trace, path: TransitionPath) -> None:
        for node in path.entered:
            for hook in trace.state_entered:
                try:
                    hook(self.name, node.path, self._reason, self._now())
                except Exception as error:  # raised when the machine is consistent again
                    self._faults.keep(error)

    @property
    def clock(self) -> Clock | None:
        """The game clock, or None."""
        return self._clock

    def skip_time(self, seconds: float) -> None:
        """Exclude a pause of the character from all times: active states count as begun that much later.

        Without ``clock`` nothing changes, because a pause is in no ``elapsed_s``.

        Args:
            seconds: game time (s), 0 or more; the beginning of a state is never later than now.

        Raises:
            ValueError: if it is negative or not finite.

        Cost: O(depth of the active state).
        """
        finite_number("seconds", seconds, minimum=0, remedy="pass the duration of the pause")
        if self._clock is None:
            return
        now_s = self._now_s()
        self._since_s = min(self._since_s + seconds, now_s)
        if self._since_around:
            self._since_around = {
                index: min(since_s + seconds, now_s) for index, since_s in self._since_around.items()}

    @property
    def _since_by_node(self) -> dict[StateNode, float]:
        nodes = self._definition.nodes
        return {nodes[index]: since_s for index, since_s in (self._since_around or {}).items()}

    @_since_by_node.setter
    def _since_by_node(self, since: dict[StateNode, float]) -> None:
        self._since_around = {node.index: since_s for node, since_s in since.items()} or None

    @property
    def _left_by_node(self) -> dict[StateNode, StateNode]:
        nodes = self._definition.nodes
        return {nodes[index]: nodes[leaf] for index, leaf in (self._left or {}).items()}

    @_left_by_node.setter
    def _left_by_node(self, left: dict[StateNode, StateNode]) -> None:
        self._left = {node.index: leaf.index for node, leaf in left.items()} or None

    def _check_at_rest(self) -> None:
        if self.is_busy:
            raise RuntimeError(f"{self.name!r} is in the middle of a transition; save and load between two frames")

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        for name, node in (("state", values.state), ("previous", values.previous)):
            if node is not None and node.children:
                refuse(name, f"must be a state without child states, got {node.path!r}")
        for index, (node, leaf) in enumerate(values.left.items()):
            if leaf.children or node is leaf or node not in leaf.ancestors():
                refuse(f"left[{index}][1]",
                       f"must be a state inside {node.path!r} without child states, got {leaf.path!r}")

    def _finish_load(self) -> None:
        self._come_to_rest()

