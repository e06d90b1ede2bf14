"""AIEventManager: what happened, and who is told."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    PackedStringArray,
    RefusedValue,
    export,
    gdclass,
    method,
    signal,
)
from addons.ai_core.nodes.scene_saving import load_node, save_node
from addons.ai_core.nodes.scene_values import path_of
from addons.ai_core.nodes.scheduled import (
    call_waiting,
    callable_name,
    check_callable,
    scheduler_of,
)
from ai_core.clock import TimeIndex
from ai_core.events.event_manager import EventManager
from ai_core.events.event_registry import Event, Listening
from ai_core.saving.fields import State
from ai_core.scheduling.task import Task, Turn
from ai_core.trace import Trace

GROUP = "ai_event_managers"


@gdclass(icon="res://addons/ai_core/icons/ai_event_manager.svg")
class AIEventManager(Node):
    """Queues events and tells those who listen for their code.

    SignalEvent children turn signals of scene nodes into events.
    """

    codes = export(
        PackedStringArray, (), on_set="_codes_set",
        doc="The codes there are, so that a misspelt one is an error; empty allows any.")

    dispatched = signal(("code", str), ("arguments", list), doc="Every event, as it is sent.")

    def __init__(self) -> None:
        self._core: EventManager | None = None
        self._task: Task | None = None
        self._scheduler: Any = None
        self._listening: dict[tuple[str, Any], Listening] = {}

    def on_enter_tree(self) -> None:
        self.add_to_group(GROUP)

    def on_entered(self) -> None:
        if self._find_scheduler() is not None and self._task is None:
            name = f"{path_of(self._scheduler, self)} dispatch"
            self._task = self._scheduler.schedule(self._frame, name=name)
            self._scheduler.join(self)
            call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
            self._scheduler.leave(self)
        self._task = None

    def on_predelete(self) -> None:
        # Handlers hold scripts: let them go now, not whenever Python tidies up.
        for listening in self._listening.values():
            listening.stop()
        self._listening.clear()
        self._core = None

    def _find_scheduler(self) -> Any:
        """Look the scheduler up; under another one than before, begin anew with the same listeners."""
        found = scheduler_of(self) if self.is_inside_tree() else self._scheduler
        if found != self._scheduler:
            self._scheduler, self._core, listening = found, None, list(self._listening)
            self._listening.clear()
            for code, handler in listening if found is not None else []:
                self.listen(code, handler)
        return self._scheduler

    @property
    def core(self) -> EventManager:
        """The event manager of the library, for behaviors written in Python."""
        if self._core is None:
            if self._scheduler is None and self._find_scheduler() is None:
                raise RefusedValue("needs an AIScheduler; add it to a scene that has one before using it")
            self._core = EventManager(
                self._scheduler.clock, codes=list(self.codes) or None,
                faults=self._scheduler.faults, trace=self._own_trace(), values=self._scheduler.values)
        return self._core

    def _own_trace(self) -> Trace:
        # The scheduler's trace hears of all managers; the signal is for this one's events.
        trace = Trace()
        trace.listen(self)
        return trace

    def event_sent(self, event: Event, now: TimeIndex) -> None:
        for hook in self._scheduler.trace.event_sent:
            hook(event, now)
        if self.dispatched.has_connections():
            self.dispatched.emit(event.code, list(event.arguments))

    @method
    def listen(self, code: str, handler: GDCallable) -> None:
        """Call ``handler(code, arguments)`` for every event of a code."""
        check_callable(handler, "listen")
        if (code, handler) not in self._listening:
            self._listening[code, handler] = self.core.listen(
                code, self._teller(code, handler), name=callable_name(self._scheduler, handler))

    @method
    def unlisten(self, code: str, handler: GDCallable) -> None:
        """Stop calling a handler for a code; harmless if it did not listen."""
        listening = self._listening.pop((code, handler), None)
        if listening is not None:
            listening.stop()

    @method
    def send(self, code: str, arguments: list = (), delay_s: float = 0.0) -> None:
        """Queue an event; it is told in the next frame of AI, or after the delay."""
        self.core.send(code, *arguments, sender=self, delay_s=delay_s)

    @method
    def send_now(self, code: str, arguments: list = ()) -> None:
        """Tell listeners before returning."""
        self.core.send_now(code, *arguments, sender=self)

    @method
    def save_state(self) -> dict:
        """Return events that wait and those half told.

        AIScheduler.save_state() includes it.
        """
        return save_node(self)

    @method
    def load_state(self, state: dict) -> bool:
        """Take back what save_state() returned; checks all of it before it changes anything."""
        return load_node(self, state)

    @method
    def get_stats(self) -> dict:
        """Return how many events were sent, dispatched, delivered, unheard, failed, and wait."""
        return {**self.core.counts._asdict(), "queued": self.core.queue_length}

    def is_in_use(self) -> bool:
        return self._core is not None

    def saved(self) -> State:
        return self.core.save_state()

    def prepared(self, state: object) -> Callable[[], None]:
        return self.core.prepare_state(state)

    def _frame(self, turn: Turn) -> None:
        self.core.advance(turn.budget)

    def _teller(self, code: str, handler: Any) -> Any:
        def tell(event: Event) -> None:
            if isinstance(handler, GDCallable) and not handler.is_live():
                self.unlisten(code, handler)     # dropped with its object, as a signal connection is
                return
            handler(event.code, list(event.arguments))
        return tell

    def _codes_set(self) -> None:
        if self._core is not None:
            raise RefusedValue("codes cannot change once the manager is in use; set them before the scene runs")
