"""AIEventManager: what happened, and who is told."""
from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    PackedStringArray,
    RefusedValue,
    Signal,
    StringName,
    Variant,
    export,
    gdclass,
    method,
    signal,
)
from addons.ai_core.nodes.events.event_checks import EventChecks
from addons.ai_core.nodes.events.event_day import EventDay
from addons.ai_core.nodes.events.event_log_node import EventLogNode
from addons.ai_core.nodes.events.event_radio import EventRadio
from addons.ai_core.nodes.events.event_terms import listening_terms, sending_terms
from addons.ai_core.nodes.events.scene_events import SceneEvents, events_of, memberships_of
from addons.ai_core.nodes.events.scene_listening import manager_above
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduled import call_waiting, check_callable, scheduler_of, scheduler_warnings
from ai_core.errors import UnknownNameError
from ai_core.events.event import Event, EventTerms, new_event
from ai_core.events.membership import Reached
from ai_core.events.narrowcast import Group
from ai_core.saving.fields import State

GROUP = "ai_event_managers"

RECEIPTS = 256
"""Receipts kept (count); who asks for one looks at it within moments."""

EVERY_CODE = "*"


@gdclass(icon="res://addons/ai_core/icons/ai_event_manager.svg")
class AIEventManager(EventChecks, EventDay, EventLogNode, EventRadio, Node):
    """Queues events and tells those who listen for their code.

    Managers below each other are a hierarchy: a side, its squads; or rooms. What is sent to one
    is heard by those who listen there; send_down(), send_up() and send_to_all() reach further.
    A node that listens at the manager above it, and is moved below another one, hears that one
    from then on. All managers under one AIScheduler share a queue, its order and its budget.
    SignalEvent children turn signals of scene nodes into events.

    check() looks for what sends no signal, and only while somebody wants to know.

    Terms of an event, all optional: "priority", higher is told first; "deadline_s", by when it
    should be told; "position", a Vector or node, for those who listen near; "sticky", told to
    whoever listens later, too; "receipt", see get_receipt(); "sender", a node or name.
    Terms of listening: "priority"; "once"; "near", a Vector or node, with "range_m"; "where", a
    Callable that takes code and arguments and returns whether to tell.
    """

    class Reach(IntEnum):
        OWN = 0
        DOWN = 1
        UP = 2
        ALL = 3

    codes = export(
        PackedStringArray, (), on_set="_codes_set",
        doc="The codes there are, so that a misspelt one is an error; empty takes those of the manager above, or any.")

    dispatched = signal(("code", str), ("arguments", list), doc="Every event sent here, as it is sent.")
    event_was_late = signal(
        ("code", str), ("late_s", float), doc="An event sent here was told to its last listener after its deadline.")

    def __init__(self) -> None:
        self._events: SceneEvents | None = None
        self._group: Group | None = None
        self._receipts: dict[int, Event] = {}
        self._receipts_given = 0
        self._signals: set[str] = set()
        self._known: tuple[str, ...] | None = None     # codes, as they were after so many changes
        self._known_at = 0
        self._plain: dict[str, EventTerms] = {}
        self.is_present = False
        self.begin_day()
        self.begin_checks()

    def on_enter_tree(self) -> None:
        self.add_to_group(GROUP)

    def on_entered(self) -> None:
        self.is_present = True
        if self.find_place():
            self._events.choose_keeper()
            call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        self.is_present = False
        if self._events is not None:
            self._events.choose_keeper()

    def on_predelete(self) -> None:
        # Handlers hold scripts: let them go now, not whenever Python tidies up.
        self.end_checks()
        self._leave_events()
        self._receipts.clear()
        self.end_day()

    def find_place(self) -> bool:
        """Be in the group of events that belongs to where the node is; False without a scheduler.

        Under another scheduler than before it begins anew, with the same listeners, radios, checks and time of day.
        """
        if not self.is_inside_tree():
            return self._group is not None
        scheduler = scheduler_of(self)
        if scheduler is None:
            return False
        if self._events is None or self._events.scheduler != scheduler:
            self._begin_under(scheduler)
        above = manager_above(self)
        is_below = above is not None and above.find_place() and above.events is self._events
        wanted = above.group if is_below else None
        if self._group.above is not wanted:
            self._group.move_under(wanted)
            self._events.changes += 1
        return True

    def _begin_under(self, scheduler: Any) -> None:
        here = [] if self._group is None else self._events.in_group(self._group)
        carried = [one.carried for one in here]
        self._leave_events()
        self._events = events_of(scheduler)
        self._group = self._events.add(self)
        for one in carried:
            one.begin(self)
        self.renew_checks()
        self.renew_day()
        self.apply_log()

    def _leave_events(self) -> None:
        events, group = self._events, self._group
        self._events = self._group = None
        if events is not None:
            events.remove(group)

    @property
    def events(self) -> SceneEvents:
        """All events under the same scheduler."""
        self.need_place()
        assert self._events is not None
        return self._events

    @property
    def group(self) -> Group:
        """The group of the library, for behaviors written in Python."""
        self.need_place()
        assert self._group is not None
        return self._group

    def need_place(self) -> None:
        """Be among the others under the same scheduler, or say what is missing."""
        if self._group is None and not self.find_place():
            raise RefusedValue("needs an AIScheduler; add it to a scene that has one before using it")

    @method
    def listen(self, codes: Variant, handler: GDCallable, terms: dict = {}) -> None:  # noqa: B006
        """Call ``handler(code, arguments)`` for every event of a code, or of an Array of codes, that is told here.

        "*" is every code. A number is a bit mask: bit 0 is the first of the codes declared in the inspector.
        The arguments are shared by all who hear: the Array is read-only.
        """
        check_callable(handler, "listen")
        self.events.listen(self, self._wanted(codes), handler, listening_terms(terms))

    @method
    def unlisten(self, codes: Variant, handler: GDCallable) -> None:
        """Stop calling a handler for what it was told to listen to; harmless if it did not listen."""
        if self._group is not None:
            self._events.unlisten(self._group, self._wanted(codes), handler)

    @method
    def signal_of(self, code: str) -> Signal:
        """Return a signal that is emitted with the arguments of each event of a code told here.

        To connect, or to await: ``await manager.signal_of("door_opened")``.
        """
        self._check_code(code)
        if code not in self._signals:
            if self.has_signal(code):
                raise RefusedValue(f"signal_of({code!r}): the node has a signal of this name already; rename the code")
            self.add_user_signal(code)
            self._signals.add(code)
            self.events.listen(self, code, self._emit, {})
        return Signal(self, code)

    @method
    def send(self, code: str, arguments: list = (), delay_s: float = 0.0, terms: dict = {}) -> int:  # noqa: B006
        """Queue an event for those who listen here; told in the next frame of AI, or after the delay.

        Returns the number of its receipt if the terms ask for one, else 0.
        """
        return self._send(code, arguments, "own", delay_s, terms)

    @method
    def send_down(self, code: str, arguments: list = (), delay_s: float = 0.0, terms: dict = {}) -> int:  # noqa: B006
        """Queue an event for those who listen here and at every manager below."""
        return self._send(code, arguments, "down", delay_s, terms)

    @method
    def send_up(self, code: str, arguments: list = (), delay_s: float = 0.0, terms: dict = {}) -> int:  # noqa: B006
        """Queue an event for those who listen here and at every manager above."""
        return self._send(code, arguments, "up", delay_s, terms)

    @method
    def send_to_all(self, code: str, arguments: list = (), delay_s: float = 0.0, terms: dict = {}) -> int:  # noqa: B006
        """Queue an event for the topmost manager above and all below it."""
        return self._send(code, arguments, "all", delay_s, terms)

    @method
    def send_now(self, code: str, arguments: list = (), reach: int = 0) -> None:
        """Tell listeners before returning.

        Handlers that answer each other so have no end: 64 inside each other are an error.
        """
        self.tell_now(code, arguments, self._reach(reach), self)

    @method
    def clear_sticky(self, code: str, reach: int = 0) -> None:
        """Forget the sticky event of a code that was sent here with this reach."""
        self._check_code(code)
        self.group.clear_sticky(code, reach=self._reach(reach))

    @method
    def get_receipt(self, number: int) -> dict:
        """Return who was told: "listeners", a row for each, and "is_complete"; empty if it is not known (any more)."""
        event = self._receipts.get(number)
        if event is None or event.receipt is None:
            return {}
        rows = [{"name": one.name, "told_at_s": one.told_at.seconds, "has_failed": one.has_failed}
                for one in event.receipt.deliveries]
        return {"code": event.code, "listeners": rows, "is_complete": event.receipt.is_complete}

    @method
    def take_in(self, listener: Node) -> None:
        """Let a node that listens elsewhere hear this manager instead: ``door.body_entered.connect(hall.take_in)``.

        Nodes below it come with it. What it listens to at managers above this one stays there.
        """
        if listener is None:
            raise RefusedValue("take_in needs a node, got null")
        above, one = set(), self.group
        while one is not None:
            above.add(one)
            one = one.above
        for node in [listener, *listener.find_children("*", "", True, False)]:
            for member in memberships_of(node):
                if member.member.group not in above:
                    member.move_to(self)

    @method
    def hand_over(self, to: Node) -> None:
        """Let everybody who listens here hear another manager instead: the survivors of a squad."""
        if to is None or not to.is_class("AIEventManager"):
            raise RefusedValue(f"hand_over needs an AIEventManager, got {to!r}")
        for member in self.events.in_group(self.group):
            member.move_to(to)

    @method
    def is_heard(self, code: str) -> bool:
        """Return whether anybody listens here to a code."""
        self._check_code(code)
        return bool(self.group.registry.listeners(code))

    save_state, load_state = saving(
        "the events of all managers under the same scheduler: what waits and is half told, who is where")

    @method
    def get_stats(self) -> dict:
        """Return what all managers under the same scheduler did: sent, dispatched, delivered, unheard, late, freed, …

        "listening_here" counts the nodes that listen at this one.
        """
        narrowcast, here = self.events.narrowcast, len(self.group.members)
        return {**narrowcast.counts._asdict(), "queued": narrowcast.queue_length, "listening_here": here}

    def tell_now(self, code: str, arguments: Any, reach: str, sender: Any) -> None:
        """Tell listeners before returning, in the name of a sender."""
        event = self._event(code, arguments, reach, sender)     # which says what is missing
        self._events.tell_nested(event)

    def send_for(self, code: str, arguments: Any, reach: str, sender: Any, terms: dict[str, Any]) -> None:
        """Queue an event in the name of a sender, on terms of the library."""
        if not terms:
            event = self._event(code, arguments, reach, sender)
            self._events.narrowcast.events.put(event)
            return
        self._check_code(code)
        self.group.send(code, *arguments, reach=reach, sender=sender, **terms)

    def is_in_use(self) -> bool:
        return self._group is not None

    def saved(self) -> State:
        return self.events.save_state()

    def prepared(self, state: object) -> Callable[[], None]:
        return self.events.prepare_state(state)

    def _send(self, code: str, arguments: Any, reach: str, delay_s: float, terms: dict) -> int:
        self._check_code(code)
        event = self.group.send(code, *arguments, reach=reach, delay_s=delay_s, **sending_terms(terms, self))
        if event.receipt is None:
            return 0
        self._receipts_given += 1
        self._receipts[self._receipts_given] = event
        self._receipts.pop(self._receipts_given - RECEIPTS, None)
        return self._receipts_given

    def _event(self, code: str, arguments: Any, reach: str, sender: Any) -> Event:
        """Return an event that asks for nothing but its reach: its terms are made once."""
        terms = self._plain.get(reach)
        if terms is None or terms.audience.group is not self._group:
            terms = self._plain[reach] = EventTerms(audience=Reached.of(self.group, reach))
        self._check_code(code)
        now = self._events.narrowcast.events.clock.now
        return new_event(code, tuple(arguments), sender, now, now.seconds, terms)

    def _reach(self, reach: int) -> str:
        if reach not in list(self.Reach):
            raise RefusedValue(f"reach must be one of the constants REACH_OWN, _DOWN, _UP, _ALL, got {reach}")
        return self.Reach(reach).name.lower()

    def _emit(self, code: str, arguments: list) -> None:
        self.emit_signal(code, *arguments)

    def _check_code(self, code: str, *, may_be_every: bool = False) -> None:
        known = self._known
        if known is None or self._known_at != self._events.changes:
            known = self._look_up_codes()
        if known and code not in known and not (may_be_every and code == EVERY_CODE):
            raise UnknownNameError("event code", code, known)
        if not code:
            raise RefusedValue("an event code must not be empty; say what happened, such as 'door_opened'")

    def _get_configuration_warnings(self) -> list[str]:
        return [*scheduler_warnings(self), *self.day_warnings()]

    def _wanted(self, codes: Any) -> Any:
        """Return the code, or the codes, that a listener names; all of them are checked."""
        if isinstance(codes, bool) or not isinstance(codes, (str, StringName, list, tuple, PackedStringArray, int)):
            raise RefusedValue(f"codes must be a code, an Array of codes or a bit mask, got {codes!r}")
        if isinstance(codes, int):
            return self._of_mask(codes)
        names = [codes] if isinstance(codes, (str, StringName)) else codes
        for one in names:
            if not isinstance(one, (str, StringName)):
                raise RefusedValue(f"codes must all be texts, got {one!r} among them; a bit mask stands alone")
        wanted = tuple(dict.fromkeys(map(str, names)))
        if not wanted:
            raise RefusedValue("codes must name at least one event code, got none")
        for code in wanted:
            self._check_code(code, may_be_every=len(wanted) == 1)
        return wanted[0] if len(wanted) == 1 else wanted

    def _of_mask(self, mask: int) -> Any:
        known = self._look_up_codes()
        if not known:
            raise RefusedValue(
                f"a bit mask needs declared codes, got {mask}; fill in codes in the inspector, or name what to hear")
        if not 0 < mask < 1 << len(known):
            raise RefusedValue(
                f"a bit mask of {len(known)} declared codes must be from 1 to {(1 << len(known)) - 1}, got {mask}")
        wanted = tuple(code for place, code in enumerate(known) if mask >> place & 1)
        return wanted[0] if len(wanted) == 1 else wanted

    def _look_up_codes(self) -> tuple[str, ...]:
        """Return the codes that hold here, none if all do; they are kept until a manager comes, moves or changes."""
        declaring: Any = self
        while declaring is not None and not len(declaring.codes):
            declaring = manager_above(declaring)
        known = () if declaring is None else tuple(declaring.codes)
        if self._events is not None:
            self._known, self._known_at = known, self._events.changes
        return known

    def _codes_set(self) -> None:
        if self._events is not None:
            self._events.changes += 1
        if self._group is not None and self._group.members:
            raise RefusedValue("codes cannot change once the manager is in use; set them before the scene runs")
