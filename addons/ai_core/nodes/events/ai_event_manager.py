"""AIEventManager node: queues events and dispatches them to listeners."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    PackedStringArray,
    RefusedValue,
    SharedCall,
    Signal,
    StringName,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    method,
    refusing,
    report_error,
    report_warning,
    signal,
)
from addons.ai_core.nodes.characters.agent_places import has_flat_scene
from addons.ai_core.nodes.events.event_terms import Reach, listening_terms, place_of, sending_terms
from addons.ai_core.nodes.events.scene_events import SceneEvents, events_of, manager_above, memberships_of
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    call_waiting,
    callable_name,
    callable_naming,
    check_callable,
    enter_group,
    exit_group,
    scheduler_of,
    scheduler_warnings,
)
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.events.checking import EventCheck
from ai_core.events.event import EVERY_CODE, Event, EventTerms, Subscription
from ai_core.events.event_log import EventLog, sender_name
from ai_core.events.narrowcast import Group, GroupRecipients
from ai_core.events.squad_radio import RADIO_CODES, SquadRadio
from ai_core.events.time_of_day import TimeOfDay
from ai_core.saving.fields import State
from ai_core.scheduling.task import Task


class ListenedCodes:
    """Answers for a check which codes have listeners.

    Args:
        manager: the AIEventManager.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    @property
    def log(self) -> EventLog | None:
        """The log of checks, None without one."""
        found: EventLog | None = self._manager.events.narrowcast.log
        return found

    def has_listeners(self, code: str) -> bool:
        """Return whether a code has listeners at the manager or below it."""
        return self._manager.is_present and _has_listeners_under(self._manager.group, code)


class ScheduledCheck(NamedTuple):
    """A check: its settings, and the task and scheduler that run it."""

    codes: tuple[str, ...]
    task: Task
    scheduler: Any
    times: dict[str, int]


def _has_listeners_under(group: Group, code: str) -> bool:
    return bool(group.registry.listeners(code)) or any(_has_listeners_under(one, code) for one in group.below)


class TimeListener(NamedTuple):
    """A listener that waits for a time of day."""

    listening: Subscription
    every_day: bool
    naming: Callable[[], str]

    def end(self) -> None:
        """Stop listening for good, and release the script at once, not at the next garbage collection."""
        self.listening.stop()
        self.listening.handler = _released


def _released(_event: Event) -> None:
    """Stand in for the handler of a listener that has ended."""


GROUP = "ai_event_managers"


@gdclass(icon="res://addons/ai_core/icons/ai_event_manager.svg", keywords="event bus, message bus, signals")
class AIEventManager(Node):
    """Queues events and dispatches them to the listeners of their code.

    Managers below each other form a hierarchy, such as a side and its squads, or a building and its rooms.
    An event reaches the listeners of the manager it is sent to; send_down(), send_up() and send_to_all()
    reach further. A node that listens at the manager above it and is moved below another manager listens
    at that manager from then on. All managers under one AIScheduler share a queue, its order and its budget.
    SignalEvent children turn signals of scene nodes into events.

    check() polls for conditions that emit no signal, only while an event code has listeners.

    Terms of an event, all optional: "priority", higher is dispatched first; "deadline", the time by which
    it should be dispatched; "position", a Vector or node, for listeners with "near"; "sticky", dispatched
    also to later listeners; "receipt", see get_receipt(); "sender", a node or name.
    Terms of a listener, all optional: "priority"; "once"; "near", a Vector or node, with "range"; "where",
    a Callable that takes code and arguments and returns whether to call the handler.
    """

    Reach = Reach

    codes = export(
        PackedStringArray, (), on_set="_codes_set",
        doc="Event codes that exist, so that a misspelt code is an error. Empty: those of the manager above, or any"
            " code if none is declared there.")

    dispatched = signal(("code", str), ("arguments", list),
        doc="Emitted for every event sent at this manager, when it is sent.")
    event_was_late = signal(
        ("code", str), ("late_s", float),
        doc="Emitted when an event sent at this manager reaches its last listener after its deadline.")

    def __init__(self) -> None:
        self._events: SceneEvents | None = None
        self._group: Group | None = None
        self._signals: set[str] = set()
        self._known: tuple[str, ...] | None = None     # codes that hold here, as of the change _known_at
        self._known_at = 0
        self._plain: dict[str, EventTerms] = {}
        self.is_present = False
        self._day: TimeOfDay | None = None
        self._waiting: dict[tuple[str, Any], TimeListener] = {}
        self._tidy_at = 64
        self._checks: dict[Any, ScheduledCheck] = {}

    def on_enter_tree(self) -> None:
        enter_group(self, GROUP)

    def on_entered(self) -> None:
        self.is_present = True
        if self.join_events():
            self._events.choose_keeper()
            call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        exit_group(self, GROUP)
        self.is_present = False
        if self._events is not None:
            self._events.choose_keeper()

    def on_predelete(self) -> None:
        # Handlers hold scripts: release them now, not at the next garbage collection.
        for callback in [*self._checks]:
            self.uncheck(callback)
        self._leave_events()
        self.end_day()

    def join_events(self) -> bool:
        """Join the events of the nearest scheduler, below the manager above; return False without a scheduler.

        Under a new scheduler the manager keeps its listeners, radios, checks and time of day, and starts again.
        """
        if not self.is_inside_tree():
            return self._group is not None
        scheduler = scheduler_of(self)
        if scheduler is None:
            return False
        if self._events is None or self._events.scheduler != scheduler:
            self._begin_under(scheduler)
        above = manager_above(self)
        is_below = above is not None and above.join_events() and above.events is self._events
        wanted = above.group if is_below else None
        if self._group.above is not wanted:
            self._group.move_under(wanted)
            self._events.changes += 1
        return True

    def _begin_under(self, scheduler: Any) -> None:
        here = [] if self._group is None else self._events.in_group(self._group)
        moved_listeners = [one.moved_listeners for one in here]
        self._leave_events()
        self._events = events_of(scheduler)
        self._group = self._events.add(self)
        for one in moved_listeners:
            one.begin(self)
        self.move_checks()
        self.move_day()
        self.apply_log()

    def _leave_events(self) -> None:
        events, group = self._events, self._group
        self._events = self._group = None
        if events is not None:
            events.remove(group)

    @property
    def events(self) -> SceneEvents:
        """The events of all managers under the same scheduler."""
        self.require_events()
        assert self._events is not None
        return self._events

    @property
    def group(self) -> Group:
        """The library group of this manager, for behaviors written in Python."""
        self.require_events()
        assert self._group is not None
        return self._group

    def require_events(self) -> None:
        """Join the events of the scheduler; raise RefusedValue without one."""
        if self._group is None and not self.join_events():
            raise RefusedValue("needs an AIScheduler; add it to a scene that has one before using it")

    @method
    def listen(self, codes: Variant, handler: GDCallable, terms: dict = {}) -> None:  # noqa: B006
        """Call ``handler(code, arguments)`` for every event of a code, or of an Array of codes, at this manager.

        "*" means every code. An integer is a bit mask: bit 0 is the first of the codes declared in the inspector.
        All listeners share the Array of arguments, which is read-only. For ``terms`` see the class.
        """
        check_callable(handler, "listen")
        self.events.listen(self, self._wanted(codes), handler, listening_terms(terms))

    @method
    def unlisten(self, codes: Variant, handler: GDCallable) -> None:
        """Remove a handler that was added with listen(); does nothing if it does not listen."""
        if self._group is not None:
            self._events.unlisten(self._group, self._wanted(codes), handler)

    @method
    def signal_of(self, code: str) -> Signal:
        """Return a signal that is emitted for each event of a code at this manager, with its arguments.

        It can be connected or awaited: ``await manager.signal_of("door_opened")``.
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
        """Queue an event for the listeners of this manager; it is dispatched in the next frame of AI after the delay.

        The delay is game time (s). Returns the number of the receipt if the terms request one, else 0. For
        ``terms`` see the class.
        """
        return self._send(code, arguments, "own", delay_s, terms)

    @method
    def send_down(self, code: str, arguments: list = (), delay_s: float = 0.0, terms: dict = {}) -> int:  # noqa: B006
        """Queue an event for the listeners of this manager and of all managers below it; see send()."""
        return self._send(code, arguments, "down", delay_s, terms)

    @method
    def send_up(self, code: str, arguments: list = (), delay_s: float = 0.0, terms: dict = {}) -> int:  # noqa: B006
        """Queue an event for the listeners of this manager and of all managers above it; see send()."""
        return self._send(code, arguments, "up", delay_s, terms)

    @method
    def send_to_all(self, code: str, arguments: list = (), delay_s: float = 0.0, terms: dict = {}) -> int:  # noqa: B006
        """Queue an event for the listeners of the topmost manager above and of all managers below that; see send()."""
        return self._send(code, arguments, "all", delay_s, terms)

    @method
    def send_now(self, code: str, arguments: list = (), reach: int = 0) -> None:
        """Dispatch an event before returning, without the queue. ``reach`` is a constant REACH_*.

        Handlers may call send_now(); more than 64 events dispatched inside each other are an error.
        """
        self.dispatch_now(code, arguments, self._reach(reach), self)

    @method
    def clear_sticky(self, code: str, reach: int = 0) -> None:
        """Remove the sticky event of a code that was sent at this manager with this reach."""
        self._check_code(code)
        self.group.clear_sticky(code, reach=self._reach(reach))

    @method
    def get_receipt(self, number: int) -> dict:
        """Return the deliveries of an event: "code", "listeners" with a row for each, and "is_complete".

        Returns an empty Dictionary for an unknown number. The latest 256 receipts of all managers under the same
        scheduler are kept, and by saves those of events that are still queued.
        """
        event = None if self._events is None else self._events.event_with_receipt(number)
        if event is None or event.receipt is None:
            return {}
        rows = [{"name": one.name, "delivered_at_s": one.delivered_at.seconds, "has_failed": one.has_failed}
                for one in event.receipt.deliveries]
        return {"code": event.code, "listeners": rows, "is_complete": event.receipt.is_complete}

    @method
    def adopt_listener(self, listener: Node) -> None:
        """Move the listeners of a node to this manager, for example with a signal:
        ``door.body_entered.connect(hall.adopt_listener)``.

        The listeners of nodes below it move, too. Listeners at managers above this manager stay there.
        """
        if listener is None:
            raise RefusedValue("adopt_listener needs a node, got null")
        above, one = set(), self.group
        while one is not None:
            above.add(one)
            one = one.above
        for node in [listener, *listener.find_children("*", "", True, False)]:
            for member in memberships_of(node):
                if member.member.group not in above:
                    member.move_to(self)

    @method
    def transfer_listeners(self, to: Node) -> None:
        """Move all listeners of this manager to another manager, for example the survivors of a squad."""
        if to is None or not to.is_class("AIEventManager"):
            raise RefusedValue(f"transfer_listeners needs an AIEventManager, got {to!r}")
        for member in self.events.in_group(self.group):
            member.move_to(to)

    @method
    def has_listeners(self, code: str) -> bool:
        """Return whether a code has listeners at this manager."""
        self._check_code(code)
        return bool(self.group.registry.listeners(code))

    save_state, load_state = saving(
        "the events of all managers under the same scheduler: the queue, unfinished dispatches, and where nodes listen")

    day_length = export(
        float, 0.0, range=(0, 86400, 0.1), or_greater=True, unit="s", group="Time of Day", on_set="_day_changed",
        doc="Length of a day in game time; 0 uses the day of the manager above.")
    day_starts_at = export(str, "08:00", on_set="_day_settings_set", doc="Time of day when the game begins.")
    named_times = export(
        dict, {}, on_set="_day_settings_set", doc='Names for times of day, such as {"dawn": "06:00"}, for at_time().')

    logged_entries = export(
        int, 0, range=(0, 10000, 1), or_greater=True, group="Debug", on_set="apply_log",
        doc="Number of log entries to keep, for all managers under the same scheduler; 0 keeps no log. With a log,"
            " dispatching takes several times as long.")

    @method
    def get_stats(self) -> dict:
        """Return counts of all managers under the same scheduler: sent, dispatched, delivered, late, refused, …

        "queued" is the length of the queue; "listening_here" is the number of nodes that listen at this manager.
        """
        narrowcast, here = self.events.narrowcast, len(self.group.members)
        return {**narrowcast.counts._asdict(), "queued": narrowcast.queue_length, "listening_here": here}

    def dispatch_now(self, code: str, arguments: Any, reach: str, sender: Any) -> None:
        """Dispatch an event of a sender before returning."""
        event = self._event(code, arguments, reach, sender)     # raises if the manager has no scheduler
        self._events.manager.deliver(event)

    def send_for(self, code: str, arguments: Any, reach: str, sender: Any, terms: dict[str, Any]) -> None:
        """Queue an event of a sender, with terms of the library."""
        if not terms:
            event = self._event(code, arguments, reach, sender)
            self._events.narrowcast.events.put(event)
            return
        self._check_code(code)
        self.group.send(code, *arguments, reach=reach, sender=sender, **terms)

    @property
    def saved_as(self) -> str:
        """Name of the events in saves: after their scheduler, as they are those of all managers under it."""
        scheduler = self.events.scheduler
        return f"AIEventManager/{path_of(scheduler.top, scheduler)}"

    def is_in_use(self) -> bool:
        return self._group is not None

    def saved(self) -> State:
        return self.events.save_state()

    def prepared(self, state: object) -> Callable[[], None]:
        return self.events.prepare_state(state)

    def _send(self, code: str, arguments: Any, reach: str, delay_s: float, terms: dict) -> int:
        self._check_code(code)
        terms = {"reach": reach, "delay_s": delay_s, **sending_terms(terms, self)}
        return self.events.send(self.group, code, arguments, terms)

    def _event(self, code: str, arguments: Any, reach: str, sender: Any) -> Event:
        """Return an event without terms other than its reach; its terms are created once."""
        terms = self._plain.get(reach)
        if terms is None or terms.audience.group is not self._group:
            terms = self._plain[reach] = EventTerms(audience=GroupRecipients.of(self.group, reach))
        self._check_code(code)
        now = self._events.narrowcast.events.clock.now
        return Event(code, tuple(arguments), sender, now, now.seconds, terms)

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
        if known and code not in known and code not in RADIO_CODES and not (may_be_every and code == EVERY_CODE):
            raise UnknownNameError("event code", code, known)
        if not code:
            raise RefusedValue("an event code must be a non-empty string; name the event, such as 'door_opened'")

    def takes(self, code: str) -> bool:
        """Return whether a code may be sent at this manager: it is declared or of a radio, or no codes are declared."""
        known = self._look_up_codes()
        return not known or code in known or code in RADIO_CODES

    def _get_configuration_warnings(self) -> list[str]:
        return [*scheduler_warnings(self), *self.day_warnings()]

    def _wanted(self, codes: Any) -> Any:
        """Return the code or codes that a listener names, after checking them."""
        if isinstance(codes, bool) or not isinstance(codes, (str, StringName, list, tuple, PackedStringArray, int)):
            raise RefusedValue(f"codes must be a code, an Array of codes or a bit mask, got {codes!r}")
        if isinstance(codes, int):
            return self._of_mask(codes)
        names = [codes] if isinstance(codes, (str, StringName)) else codes
        for one in names:
            if not isinstance(one, (str, StringName)):
                raise RefusedValue(
                    f"codes must all be strings, got {one!r} among them; pass a bit mask without an Array")
        wanted = tuple(dict.fromkeys(map(str, names)))
        if not wanted:
            raise RefusedValue("codes must name at least one event code, got an empty Array")
        for code in wanted:
            self._check_code(code, may_be_every=len(wanted) == 1)
        return wanted[0] if len(wanted) == 1 else wanted

    def _of_mask(self, mask: int) -> Any:
        known = self._look_up_codes()
        if not known:
            raise RefusedValue(
                f"a bit mask needs declared codes, got {mask}; set codes in the inspector, or pass names of codes")
        if not 0 < mask < 1 << len(known):
            raise RefusedValue(
                f"a bit mask of {len(known)} declared codes must be from 1 to {(1 << len(known)) - 1}, got {mask}")
        wanted = tuple(code for place, code in enumerate(known) if mask >> place & 1)
        return wanted[0] if len(wanted) == 1 else wanted

    def _look_up_codes(self) -> tuple[str, ...]:
        """Return the declared codes that apply here, none if any does; cached until a manager is added or changed."""
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
            raise RefusedValue("codes cannot change after listeners were added; set codes before the scene runs")

    def move_checks(self) -> None:
        """Move the checks to another scheduler."""
        for callback, before in [*self._checks.items()]:
            self.uncheck(callback)
            self._begin_check(before.codes, callback, before.times)

    @method
    def check(self, codes: Variant, callback: GDCallable, period_frames: int = 1, phase_frames: int = -1) -> None:
        """Call ``callback(codes)`` every ``period_frames`` frames of AI, but only while one of the codes has listeners.

        The argument is an Array of the codes that have listeners, at this manager or below; ``callback`` sends events.
        A phase of -1 is chosen automatically, so that the check runs in the frames with the fewest other runs. A
        repeated call with the same Callable replaces its check.
        """
        check_callable(callback, "check")
        wanted = self._wanted(codes)
        names = (wanted,) if isinstance(wanted, str) else wanted
        if EVERY_CODE in names:
            raise RefusedValue(f"check needs the codes that it may send, got {EVERY_CODE!r}; name the codes")
        if period_frames < 1 or phase_frames < -1:
            raise RefusedValue(
                f"period_frames must be at least 1 and phase_frames at least -1, got {period_frames}, {phase_frames}")
        self.require_events()
        self.uncheck(callback)
        self._begin_check(names, callback, {"period_frames": period_frames, "phase_frames": phase_frames})

    @method
    def uncheck(self, callback: GDCallable) -> None:
        """Remove a check() of this Callable; does nothing if there is none."""
        found = self._checks.pop(callback, None)
        if found is not None and found.scheduler.is_valid():
            found.scheduler.unschedule(found.task)

    def _begin_check(self, codes: tuple[str, ...], callback: Any, times: dict[str, int]) -> None:
        scheduler = self.events.scheduler
        naming = callable_naming(scheduler, callback, f" checks {', '.join(codes)}")

        def run(wanted: tuple[str, ...]) -> None:
            if isinstance(callback, GDCallable) and not callback.is_live():
                self.uncheck(callback)
                report_warning(f"the object of the check {naming()} was freed; call uncheck() before freeing it")
                return
            callback([*wanted])

        check = EventCheck(naming(), codes, run, ListenedCodes(self), scheduler.clock)
        phase = None if times["phase_frames"] < 0 else times["phase_frames"] % times["period_frames"]
        task = scheduler.schedule(check, name=naming, period_frames=times["period_frames"], phase_frames=phase)
        self._checks[callback] = ScheduledCheck(codes, task, scheduler, times)

    def end_day(self) -> None:
        for one in self._waiting.values():
            one.end()
        self._waiting.clear()
        self._day = None

    def move_day(self) -> None:
        """Move the time of day to another scheduler, whose clock differs, and keep the present time."""
        before, self._day = self._day, None
        if before is None:
            return
        waiting = {
            (time, handler): one for (time, handler), one in self._waiting.items()
            if one.listening.is_active and (not isinstance(handler, GDCallable) or handler.is_live())}
        self.end_day()
        seconds = int(before.time_s)
        time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        self.day.jump_to(time, day=before.day)      # dispatches nothing: no listener waits yet
        for (time, handler), one in waiting.items():
            try:
                self._wait(time, handler, one.every_day)
            except (RefusedValue, LookupError) as problem:      # the other listeners still wait
                report_error(f"{callable_name(self.events.scheduler, handler)} does not wait any more: {problem}", self)

    @property
    def day(self) -> TimeOfDay | None:
        """The day of this manager itself, None if it has none."""
        if self._day is None and self.day_length > 0 and self._group is not None:
            scheduler = self.events.scheduler
            self._day = self._made_day(
                scheduler.clock, faults=scheduler.faults, trace=scheduler.trace, values=scheduler.values)
        return self._day

    def day_warnings(self) -> list[str]:
        """Return the errors in the settings of the day."""
        try:
            self._made_day(ManualClock())
        except RefusedValue as error:
            return [str(error)]
        return []

    @method
    def at_time(self, time: str, handler: GDCallable, every_day: bool = False) -> None:
        """Call ``handler(time, [day, times])`` when the day next reaches a time: "17:00", or a named time.

        With ``every_day`` it is called each day, otherwise once. ``times`` is above 1 if days were skipped.
        """
        check_callable(handler, "at_time")
        keeper = self._with_day()
        waiting = keeper._waiting
        known = waiting.get((time, handler))
        if known is not None and not every_day and keeper.day.listen_again(known.listening):
            return
        self.not_at_time(time, handler)
        keeper._wait(time, handler, every_day)
        keeper.forget_fired()

    @method
    def not_at_time(self, time: str, handler: GDCallable) -> None:
        """Remove an at_time() listener; does nothing if there is none."""
        waiting = self._with_day()._waiting.pop((time, handler), None)
        if waiting is not None:
            waiting.listening.stop()

    @method
    def jump_to_time(self, time: str, day: int = -1) -> None:
        """Set the time of day; day -1 is the present day.

        If time moves forward, the times in between are dispatched in the next frame of AI.
        """
        with refusing():
            self._with_day().day.jump_to(time, day=None if day == -1 else day)

    @method
    def get_time_of_day(self) -> str:
        """Return the time of day, such as "17:00"."""
        return str(self._with_day().day)

    @method
    def get_day(self) -> int:
        """Return the number of the present day: the midnights that have passed."""
        return self._with_day().day.day

    def refresh_listener_names(self) -> None:
        """Update the names of waiting listeners after their nodes, which may have been renamed."""
        for one in self._waiting.values():
            one.listening.rename(one.naming())

    def forget_fired(self) -> None:
        """Remove handlers that were called and that no save can restore. Cost: O(1) on average."""
        if len(self._waiting) < self._tidy_at:
            return
        for key in [key for key, one in self._waiting.items() if self.day.events.has_ended(one.listening)]:
            del self._waiting[key]
        self._tidy_at = max(64, 2 * len(self._waiting))

    def _wait(self, time: str, handler: Any, every_day: bool) -> None:
        waiting = self._waiting

        def gone(_event: Any) -> None:      # refers to no listening, which refers to this
            one = waiting.pop((time, handler), None)
            if one is not None:
                one.listening.stop()

        call = SharedCall(handler, gone) if isinstance(handler, GDCallable) else (
            lambda event: handler(event.code, list(event.arguments)))
        naming = callable_naming(self.events.scheduler, handler)
        with refusing():
            listening = self.day.listen(time, call, every_day=every_day, name=naming())
        waiting[time, handler] = TimeListener(listening, every_day, naming)

    def _with_day(self) -> Any:
        self.require_events()
        found: Any = self
        while found is not None and found.day is None:
            found = manager_above(found)
        if found is None:
            raise RefusedValue("there is no time of day; set day_length of this manager or of a manager above")
        found.day.update()
        return found

    def _made_day(self, clock: Any, **events: Any) -> TimeOfDay:
        with refusing():
            return TimeOfDay(
                clock, day_length_s=self.day_length or 1.0, starts_at=self.day_starts_at,
                names=dict(self.named_times), **events)

    def _day_changed(self) -> None:
        self._made_day(ManualClock())    # a wrong value is refused now, not when events are dispatched
        if self._day is not None:
            if self.day_length <= 0:
                raise RefusedValue("day_length must be above 0 after the day has begun, got 0")
            self._day.day_length_s = self.day_length

    def _day_settings_set(self) -> None:
        if self._day is not None:
            raise RefusedValue(
                "day_starts_at and named_times cannot change after the day has begun; use jump_to_time()")
        self._made_day(ManualClock())

    def apply_log(self) -> None:
        """Apply ``logged_entries`` to the log of the scheduler's events."""
        if self._group is not None:
            self.events.apply_log()

    @method
    def inject(self, code: str, arguments: list = ()) -> None:
        """Send an event for testing, as from a console; the log shows it as injected."""
        self._check_code(code)
        log = self.events.narrowcast.log
        if log is not None:
            log.note("injected", self.events.narrowcast.events.clock.now, code, sender_name(self))
        self.group.send(code, *arguments, sender=self)

    @method
    def get_log(self, code: str = "", kind: str = "", since_frame: int = 0) -> list:
        """Return log entries as Dictionaries, the oldest first; ``code`` and ``kind`` filter them, "" is any.

        Kinds: check, sent, injected, delivered, failed, unheard, late, freed, refused.
        """
        return [
            {"frame": one.at.frame, "seconds": one.at.seconds, "kind": one.kind, "code": one.code,
             "name": one.name, "detail": one.detail}
            for one in self._entries(code, kind, since_frame)
        ]

    @method
    def print_log(self, code: str = "", kind: str = "", since_frame: int = 0) -> None:
        """Print log entries as a table; see get_log()."""
        print((self.events.narrowcast.log or EventLog()).table(self._entries(code, kind, since_frame)))

    def _entries(self, code: str, kind: str, since_frame: int) -> Any:
        log = self.events.narrowcast.log or EventLog()
        with refusing():
            return log.entries(kinds=kind or None, code=code or None, since_frame=since_frame)

    @method
    def add_radio(self, node: Node) -> None:
        """Give a node a radio at this manager: it keeps the messages of other radios here, and moves with the node."""
        self._radio(node, is_new=True)

    @method
    def announce_intent(self, node: Node, intent: Variant, subject: str = "", position: Variant = None) -> None:
        """Send the intent of a node to the other radios at this manager."""
        place = None if position is None else place_of(position, "position")
        self._radio(node).announce_intent(intent, subject=subject, position=place)

    @method
    def report_sighting(self, node: Node, subject: str, content: Variant = None, position: Variant = None) -> None:
        """Send a sighting of a node, with its position, to the other radios at this manager."""
        place = None if position is None else place_of(position, "position")
        self._radio(node).report_sighting(subject, content=content, position=place)

    @method
    def get_messages(self, node: Node, kind: str = "", subject: str = "", max_age_s: float = -1.0) -> list:
        """Return the radio messages that a node received, the newest first, as Dictionaries.

        Keys: "kind" (intent or sighting), "sender", "subject", "content", "position", "age_s". The sender is a
        node, null if it was freed; the position is a Vector3, in 2D a Vector2. ``kind`` and ``subject`` filter
        messages, "" means any; ``max_age_s`` -1 means no limit.
        """
        radio = self._radio(node)
        with refusing():
            found = radio.messages(
                kind=kind or None, subject=subject or None, max_age_s=None if max_age_s < 0 else max_age_s)
        now_s, vector = self.events.scheduler.clock.now.seconds, Vector2 if has_flat_scene(self) else Vector3
        return [
            {"kind": one.kind, "sender": self.events.node_named(one.sender), "subject": one.subject,
             "content": one.content, "age_s": one.age_s(now_s),
             "position": None if one.position is None else vector(*one.position[:len(vector())])}
            for one in found
        ]

    def _radio(self, node: Any, *, is_new: bool = False) -> SquadRadio:
        if node is None:
            raise RefusedValue("a radio needs a node, got null")
        radios = self.events.radios
        for one in self.events.of_node(node):
            if one in radios and (one.member.group is self.group):
                return radios[one]
        if not is_new:
            raise RefusedValue(f"{node.get_name()} has no radio at this manager; call add_radio() first")
        member = self.events.member_of(self, node)
        radios[member] = SquadRadio(member.member)
        return radios[member]
