"""An AIScheduler below another one is part of that one's work."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, report_error
from addons.ai_core.nodes.scheduling.scheduled import named_after
from ai_core.scheduling.task import Task


class SchedulerNesting:
    """How an AIScheduler runs in another; a part of that class."""

    core: Any
    nested_period_frames: Any
    nested_priority: Any
    instance_id: Any
    get_parent: Any
    can_process: Any
    clock: Any
    trace: Any
    results: Any
    _faults: Any
    _core: Any
    _outer: Any
    _nesting: Task | None
    _timekeeper: Any
    _inner: dict[int, Any]

    @property
    def top(self) -> Any:
        """The outermost AIScheduler, in whose frames this one runs; often this one."""
        return self if self._outer is None else self._outer.top

    def need_top(self, what: str) -> None:
        """Raise RefusedValue if this runs in another."""
        if self._outer is not None:
            raise RefusedValue(
                f"{what} is for the AIScheduler above it, '{self.top.get_name()}', in whose frames it runs; call that")

    def enter_outer(self) -> None:
        """Become work of the nearest AIScheduler above, if there is one."""
        outer = self.get_parent()
        while outer is not None and not outer.is_class("AIScheduler"):
            outer = outer.get_parent()
        if outer is None:
            return
        if self._core is not None and self._core.clock is not outer.clock:
            report_error(
                "got behaviors before it came below another AIScheduler, and runs by itself;"
                " add it to the tree first, behaviors after", self)
            return
        self._outer, self._timekeeper = outer, outer.top
        self.clock, self.trace, self.results, self._faults = outer.clock, outer.trace, outer.results, outer.faults
        outer._inner[self.instance_id] = self
        self._nesting = outer.schedule(
            self.core, name=named_after(outer, self), period_frames=self.nested_period_frames,
            priority=self.nested_priority)
        self.pause_nesting()

    def on_paused(self) -> None:
        self.pause_nesting()

    def on_unpaused(self) -> None:
        self.pause_nesting()

    def pause_nesting(self) -> None:
        """Be left out by the other while this is paused or disabled, and run again after."""
        if self._outer is not None and self._nesting is not None and self._outer.is_valid():
            core = self._outer.core
            (core.resume if self.can_process() else core.pause)(self._nesting)

    def pass_time(self, delta_s: float) -> None:
        """Let the clock go on, unless it is of another that is still there: then that one does."""
        if self._timekeeper is not None:
            if self._timekeeper.is_valid():
                return
            self._timekeeper = None
        self.clock.advance(seconds=delta_s)

    def leave_outer(self) -> None:
        """Stop being its work."""
        outer, self._outer = self._outer, None
        if outer is not None and outer.is_valid():
            outer.unschedule(self._nesting)
            outer._inner.pop(self.instance_id, None)

    def nesting_set(self) -> None:
        """Period or priority were changed."""
        if self._outer is not None and self._nesting is not None:
            self._outer.core.change(self._nesting, period_frames=self.nested_period_frames)
            self._outer.change_priority(self._nesting, self.nested_priority)
