"""AIEventManager: what happened, and who is told."""
from __future__ import annotations

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
from addons.ai_core.nodes.scheduled import scheduler_of
from ai_core.events.event_manager import EventManager
from ai_core.events.event_registry import Event, Listening
from ai_core.scheduling.task import Task

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
        if self._scheduler is None:
            self._scheduler = scheduler_of(self)
        if self._scheduler is not None:
            self._task = self._scheduler.schedule(self.core, name=f"{self.get_name()} dispatch")

    def on_exit_tree(self) -> None:
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
        self._task = self._scheduler = None

    @property
    def core(self) -> EventManager:
        """The event manager of the library, for behaviors written in Python."""
        if self._core is None:
            if self._scheduler is None and self.is_inside_tree():
                self._scheduler = scheduler_of(self)
            if self._scheduler is None:
                raise RefusedValue("needs an AIScheduler; add it to a scene that has one before using it")
            self._core = EventManager(
                self._scheduler.clock, codes=list(self.codes) or None,
                faults=self._scheduler.faults, trace=self._scheduler.trace)
            self._scheduler.trace.listen(self)
        return self._core

    def event_sent(self, event: Event, now: object) -> None:
        if self.is_valid() and self.dispatched.has_connections():
            self.dispatched.emit(event.code, list(event.arguments))

    @method
    def listen(self, code: str, handler: GDCallable) -> None:
        """Call ``handler(code, arguments)`` for every event of a code."""
        if (code, handler) not in self._listening:
            self._listening[code, handler] = self.core.listen(code, self._teller(code, handler))

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
    def get_stats(self) -> dict:
        """Return how many events were sent, dispatched, delivered, unheard, failed, and wait."""
        return {**self.core.counts._asdict(), "queued": self.core.queue_length}

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
