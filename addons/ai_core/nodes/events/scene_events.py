"""SceneEvents: the events under one AIScheduler, with a group per AIEventManager, their listeners and one queue."""
from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import (
    GDCallable,
    SharedCall,
    call_run,
    get_object,
    has_listeners,
    parent_of,
    report_warning,
)
from addons.ai_core.nodes.events.event_terms import EventNames
from addons.ai_core.nodes.saving.scene_values import leave_out, path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import callable_name, named_after
from ai_core.clock import TimeIndex
from ai_core.events.event import Event
from ai_core.events.event_log import EventLog
from ai_core.events.event_manager import Broadcast, EventManager, Refusal
from ai_core.events.narrowcast import (
    MEMBER_KIND_STATE,
    Group,
    GroupMembership,
    MemberSubscription,
    Narrowcast,
)
from ai_core.events.squad_radio import SquadRadio
from ai_core.saving.declared_state import Change, DeclaredState, Part, Saveable
from ai_core.saving.fields import State
from ai_core.saving.kinds import ListOf
from ai_core.scheduling.task import Task, Turn
from ai_core.trace import Trace


class SceneSubscription:
    """A registered listener: the arguments of ``listen`` and the listening of the member.

    Args:
        events: the SceneEvents.
        code: code of the events.
        handler: a Callable or a Python function, called with (code, arguments); a function with a true attribute
            ``takes_event`` is called with the Event.
        terms: further arguments of ``GroupMembership.listen``.
    """

    def __init__(self, events: Any, code: str, handler: Any, terms: dict[str, Any]) -> None:
        self.code, self.handler, self.terms = code, handler, terms
        self.member: ListeningNode | None = None
        self.has_stopped = False
        self._events = events
        self._listening: MemberSubscription | None = None
        self._call: Any = SharedCall(handler, self._gone) if isinstance(handler, GDCallable) else self._call_handler

    def begin(self, member: ListeningNode) -> None:
        """Start to listen as a member; sticky events are dispatched before this returns."""
        self.member = member
        name = callable_name(self._events.scheduler, self.handler)
        # In saves without the path of the node, which may be renamed: the member has that.
        self._listening = member.member.listen(
            self.code, self._call, name=name, saved_as=name.rpartition(".")[2], **self.terms)
        if self.has_stopped:         # by its own handler, called with a sticky event
            self.stop()

    def stop(self) -> None:
        """Stop listening, also within a dispatch."""
        self.has_stopped = True
        self.interrupt()
        if self._listening is not None:
            self._listening.stop()
        # The call and this refer to each other: release the script now, not at the next garbage collection.
        self._call = self._listening = self.member = None

    def interrupt(self) -> None:
        """Make a running dispatch check again whether this listener is still to be called."""
        if isinstance(self._call, SharedCall):
            self._call.interrupt()

    def is_at(self, group: Any) -> bool:
        """Return whether it listens, or has listened, in a group."""
        return self.member is not None and self.member.member.group is group

    def listen_again(self, terms: dict[str, Any]) -> bool:
        """Listen again after a ``once`` listener with the same terms has fired; return whether it does."""
        one = self._listening
        if self.has_stopped or one is None or terms != self.terms:
            return False
        return one.member.listen_again(one)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, and no save can restore it."""
        return not self.is_active and (self._listening is None or not self._listening.is_remembered)

    @property
    def is_live(self) -> bool:
        """Whether the object of the handler exists."""
        return not isinstance(self.handler, GDCallable) or self.handler.is_live()

    @property
    def is_active(self) -> bool:
        return not self.has_stopped and (self._listening is None or self._listening.is_active)

    def _call_handler(self, event: Event) -> None:
        if getattr(self.handler, "takes_event", False):
            self.handler(event)
        else:
            self.handler(event.code, list(event.arguments))

    def _gone(self, event: Event) -> None:
        """Remove the listener of a freed object, as a signal connection is removed."""
        self._events.manager.skip(event)
        if self._listening is None:      # freed by its own handler, called with a sticky event
            self.has_stopped = True
            return
        self._events.manager.stop_freed(self._listening.listening)
        self._events.forget(self)


class MovedListeners(NamedTuple):
    """The listeners and the radio of a node that moves to a manager under another scheduler."""

    node_id: int
    listenings: tuple[SceneSubscription, ...]
    has_radio: bool

    def begin(self, manager: Any) -> None:
        """Add the listeners and the radio at a manager."""
        for one in self.listenings:
            manager.events.listen(manager, one.code, one.handler, one.terms)
        node = get_object(self.node_id) if self.has_radio else None
        if node is not None:
            manager.add_radio(node)


class ListeningNode:
    """A node as a member of a group; the membership follows the node from manager to manager.

    Args:
        events: the SceneEvents.
        node: owner of the listening methods; None for functions without a node.
        manager: first manager.
        member: the member of the narrowcast.
    """

    def __init__(self, events: Any, node: Any, manager: Any, member: GroupMembership) -> None:
        self.member = member
        self.listenings: list[SceneSubscription] = []
        self._tidy_at = 16
        self.node_id = 0 if node is None else node.instance_id
        self._events = events
        self._follows = node is not None and node.is_inside_tree() and manager_above(node) == manager
        if self._follows:
            node.connect("tree_entered", self.entered)

    def add(self, listening: SceneSubscription) -> None:
        """Add a listener; remove those that have ended."""
        self.listenings.append(listening)
        if len(self.listenings) >= self._tidy_at:
            for one in [one for one in self.listenings if one.has_ended]:
                self._events.forget(one)
            self._tidy_at = max(16, 2 * len(self.listenings))

    @property
    def is_freed(self) -> bool:
        return self.node_id != 0 and get_object(self.node_id) is None

    def entered(self) -> None:
        """Move to the manager above the node, after the node entered the tree."""
        above = manager_above(get_object(self.node_id))
        if above is not None:
            self.move_to(above)

    def move_to(self, manager: Any) -> None:
        """Move to a manager; under another scheduler the listeners are added there."""
        if manager.events is not self._events:
            moved_listeners = self.moved_listeners
            self._events.remove_member(self)
            moved_listeners.begin(manager)
            return
        for one in self.listenings:
            one.interrupt()
        self.member.move_to(manager.group)

    @property
    def moved_listeners(self) -> MovedListeners:
        """The listeners and the radio to take along."""
        listenings = () if self.is_freed else tuple(one for one in self.listenings if one.is_active and one.is_live)
        return MovedListeners(self.node_id, listenings, self in self._events.radios)

    def leave(self) -> None:
        """Leave the group and stop all listeners."""
        for one in self.listenings:
            one.stop()
        self.listenings = []
        self.member.leave()
        node = get_object(self.node_id) if self._follows else None
        if node is not None and node.is_connected("tree_entered", self.entered):
            node.call("disconnect", "tree_entered", self.entered)


def manager_above(node: Any) -> Any:
    """Return the nearest AIEventManager above a node, None if there is none."""
    found = parent_of(node)
    while found is not None and not found.is_class("AIEventManager"):
        found = parent_of(found)
    return found


def owner_of(handler: Any) -> Any:
    """Return the node of a handler that is a method of a node, else None."""
    owner = handler.get("get_object") if isinstance(handler, GDCallable) else getattr(handler, "__self__", None)
    is_node = getattr(owner, "is_class", None)
    return owner if is_node is not None and is_node("Node") else None


def _is_of(reference: Any, lost: set[Any]) -> bool:
    """Return whether the saved reference of a listener is among some that are left out, or of a member among them."""
    return reference is not None and (reference[0] in lost or _as_key(reference) in lost)


def _as_key(reference: Any) -> Any:
    name, codes, *rest = reference
    return (name, tuple(codes), *rest)


def _without(narrowcast: Any, groups: set[str], lost: set[Any]) -> Any:
    """Return the saved state of a narrowcast without some groups, with their events, and without some listeners.

    The groups below one that is left out come under the group above it. ``lost`` has names of members and references
    of single listeners.
    """
    above = {one["group"]: one["above"] for one in narrowcast["groups"]}
    for name in above:
        while above[name] in groups:
            above[name] = above[above[name]]
    events = narrowcast["events"]
    queue = [
        [order, event, rest and [None if _is_of(one, lost) else one for one in rest]]
        for order, event, rest in events["queue"] if event["terms"]["audience"][0] not in groups]
    return {
        **narrowcast,
        "groups": [{"group": name, "above": one} for name, one in above.items() if name not in groups],
        "members": [one for one in narrowcast["members"] if one["member"] not in lost],
        "events": {
            **events, "queue": queue,
            "sticky": [one for one in events["sticky"] if one["terms"]["audience"][0] not in groups],
            "failing": [pair for pair in events["failing"] if not _is_of(pair[0], lost)]}}


AWAITING = "listener to all that was under way to it"
"""What a node was that does not listen any more, for messages."""

RECEIPTS = 256
"""Receipts kept (count); a sender reads its receipt soon after sending."""

_OF_SCHEDULER: dict[int, SceneEvents] = {}


def events_of(scheduler: Any) -> SceneEvents:
    """Return the events under a scheduler, created when they are first needed."""
    found = _OF_SCHEDULER.get(scheduler.instance_id)
    if found is None:
        found = _OF_SCHEDULER[scheduler.instance_id] = SceneEvents(scheduler)
    return found


def events_under(scheduler: Any) -> SceneEvents | None:
    """Return the events under a scheduler, None if it has no event manager."""
    return _OF_SCHEDULER.get(scheduler.instance_id)


def memberships_of(node: Any) -> list[ListeningNode]:
    """Return the memberships of a node, under any scheduler."""
    return [one for events in _OF_SCHEDULER.values() for one in events.of_node(node)]


class SceneEvents(Saveable):
    """The narrowcast under one scheduler, and the nodes of its groups and members.

    One of the managers is the keeper, with which the events of all managers are saved. The choice does not depend on
    the order in which managers enter the tree, and what is saved does not depend on the choice.

    Args:
        scheduler: an AIScheduler.
    """

    STATE = DeclaredState(narrowcast=Part(), days=Part(), radios=Part(at="radios_by_name"))

    def __init__(self, scheduler: Any) -> None:
        trace = Trace()
        trace.listen(self)
        self.scheduler = scheduler
        self.narrowcast = Narrowcast(
            scheduler.clock, faults=scheduler.faults, trace=trace, values=scheduler.values, when_late=self._report_late)
        self.manager = self.narrowcast.events
        self.manager.call_listeners = self._call_listeners
        self.manager.report_freed = self._report_freed
        self.manager.report_refused = self._report_refused
        self.managers: dict[Group, Any] = {}
        self._keeper: Any = None
        self._task: Task | None = None
        self._listenings: dict[tuple[str, Any], list[SceneSubscription]] = {}
        self._members: dict[int, list[ListeningNode]] = {}     # by instance id, 0 for functions of no node
        self._names = EventNames()
        self.radios: dict[ListeningNode, SquadRadio] = {}
        self.watched_entries = 0             # log entries that a debugger needs
        self._logged_entries = 0
        self._receipts: dict[int, Event] = {}      # by number of the event, the latest last
        self.changes = 0         # counts changes of the hierarchy and of declared codes
        self._purge_at = 64

    # ---- managers

    def add(self, manager: Any) -> Group:
        """Return a new group for a manager."""
        naming = named_after(self.scheduler, manager)
        group = self.narrowcast.add_group(self._names.free(naming()))
        self._names.keep(group, naming)
        self.managers[group] = manager
        self.changes += 1
        return group

    def remove(self, group: Group) -> None:
        """Remove the group of a manager with its listeners; the groups below it move under the group above."""
        for one in self.in_group(group):
            self.remove_member(one)
        for below in group.below:
            below.move_under(group.above)
        group.remove()
        del self.managers[group]
        self._names.drop(group)
        self.choose_keeper()
        if not self.managers:
            _OF_SCHEDULER.pop(self.scheduler.instance_id, None)

    def choose_keeper(self) -> None:
        """Choose the topmost manager in the tree as the keeper; of several, the first by path."""
        if not self.scheduler.is_valid():
            self._keeper = self._task = None
            return
        if not self.scheduler.is_inside_tree():      # leaving the tree; managers that enter again choose again
            return
        present = [one for one in self.managers.values() if one.is_present]
        ranked = sorted((path_of(self.scheduler, one), one.instance_id, one) for one in present)
        keeper = min(ranked, key=lambda one: one[0].count("/"))[2] if ranked else None
        if keeper is self._keeper:
            return
        if self._task is not None:
            self.scheduler.unschedule(self._task)
            self.scheduler.leave(self._keeper)
            self._task = None
        self._keeper = keeper
        if keeper is not None:
            self._task = self.scheduler.schedule_service(keeper, self._frame, name="events dispatch")

    def apply_log(self) -> None:
        """Apply the longest log length that a manager or a debugger needs."""
        wanted = max([self.watched_entries, *(one.logged_entries for one in self.managers.values())])
        if wanted != self._logged_entries:
            self.narrowcast.log = EventLog(wanted) if wanted else None
            self._logged_entries = wanted

    # ---- listeners

    def listen(self, manager: Any, code: str, handler: Any, terms: dict[str, Any]) -> None:
        """Add a listener for a code in the group of a manager; does nothing if it listens already."""
        group = manager.group
        known = [one for one in self._listenings.get((code, handler), ()) if one.is_at(group)]
        if any(one.is_active for one in known):
            return
        if any(one.listen_again(terms) for one in known):
            return
        self._purge()
        made = SceneSubscription(self, code, handler, terms)
        member = self.member_of(manager, owner_of(handler))
        made.member = member
        member.add(made)
        self._listenings.setdefault((code, handler), []).append(made)
        try:
            made.begin(member)
        except Exception:
            self.forget(made)
            if not member.listenings and member not in self.radios:
                self.remove_member(member)
            raise

    def unlisten(self, group: Group, code: str, handler: Any) -> None:
        """Remove a listener for a code in a group; does nothing if there is none."""
        for one in [*self._listenings.get((code, handler), ())]:
            if one.is_active and one.is_at(group):
                self.forget(one)

    def forget(self, listening: SceneSubscription) -> None:
        """Stop and remove a listener."""
        member = listening.member
        listening.stop()
        key = listening.code, listening.handler
        rest = [one for one in self._listenings.pop(key, ()) if one is not listening]
        if rest:
            self._listenings[key] = rest
        if member is not None and listening in member.listenings:
            member.listenings.remove(listening)

    def in_group(self, group: Group) -> list[ListeningNode]:
        """Return the nodes in a group, in the order in which they joined."""
        place = {member: number for number, member in enumerate(group.members)}
        found = [one for members in self._members.values() for one in members if one.member.group is group]
        return sorted(found, key=lambda one: place[one.member])

    def of_node(self, node: Any) -> list[ListeningNode]:
        """Return the memberships of a node."""
        return [*self._members.get(node.instance_id, ())]

    def member_of(self, manager: Any, node: Any) -> ListeningNode:
        """Return the membership of a node in a manager's group, created if there is none."""
        known = self._members.setdefault(0 if node is None else node.instance_id, [])
        found = next((one for one in known if one.member.group is manager.group), None)
        if found is None:
            group = manager.group
            place = named_after(self.scheduler, node) if node is not None and node.is_inside_tree() else str
            naming = lambda: f"{place()} at {group.name}".strip()  # noqa: E731
            member = self.narrowcast.add_member(self._names.free(naming()), group)
            self._names.keep(member, naming)
            found = ListeningNode(self, node, manager, member)
            known.append(found)
        return found

    def node_named(self, name: str) -> Any:
        """Return the node of a member, None if it is gone."""
        found = (one for members in self._members.values() for one in members if one.member.name == name)
        member = next(found, None)
        return None if member is None else get_object(member.node_id)

    # ---- receipts

    def send(self, group: Group, code: str, arguments: Any, terms: dict[str, Any]) -> int:
        """Queue an event; return the number of its receipt, 0 if it has none or was refused.

        Events are numbered as they are sent, so that a number means the same event after loading.
        """
        before = self.manager.counts.sent
        event = group.send(code, *arguments, **terms)
        number = self.manager.counts.sent
        if event.receipt is None or number == before:
            return 0
        self._receipts[number] = event
        if len(self._receipts) > RECEIPTS:
            del self._receipts[next(iter(self._receipts))]
        return number

    def event_with_receipt(self, number: int) -> Event | None:
        """Return an event that was sent with a receipt, None if it is not among the latest."""
        return self._receipts.get(number)

    def _finish_load(self) -> None:
        queued = self.manager.queued_events
        self._receipts = {number: event for number, event in queued.items() if event.receipt is not None}

    # ---- called by the library

    def event_sent(self, event: Event, now: TimeIndex) -> None:
        for hook in self.scheduler.trace.event_sent:
            hook(event, now)
        manager = self.managers.get(event.terms.audience.group)  # type: ignore[union-attr]
        if manager is not None and has_listeners(manager, "dispatched"):
            manager.dispatched.emit(event.code, list(event.arguments))

    def _report_freed(self, name: str) -> None:
        report_warning(
            f"{name} was freed while it listened; call unlisten() before freeing it. get_stats() counts further cases")

    def _report_refused(self, event: Event, why: Refusal) -> None:
        report_warning(f"event {event.code!r} was refused, as " + (
            f"{self.narrowcast.queue_length} events wait to be dispatched; send fewer, or raise the budget of the"
            " AIScheduler" if why == "full" else self.manager.why_endless) + ". get_stats() counts further cases")

    def _report_late(self, event: Event, late_s: float) -> None:
        manager = self.managers.get(event.terms.audience.group)  # type: ignore[union-attr]
        if manager is not None:
            manager.event_was_late.emit(event.code, late_s)

    def _call_listeners(self, event: Event, broadcast: Broadcast, most: int) -> None:
        """Call the next listeners, as the library does, with consecutive Callables in one crossing."""
        manager = self.manager
        if event.terms.receipt is not None or manager.log is not None:
            EventManager.call_listeners(manager, event, broadcast, most)
            return
        listeners, at = broadcast.listeners, broadcast.called
        end = broadcast.called = min(at + most, len(listeners))
        while at < end:
            try:
                at = call_run(listeners, at, end, event)
                if at < end:
                    listeners[at].call(event)
            except Exception as error:  # the other listeners are still called
                manager.fail(listeners[at], event, error)
            at += 1

    def _frame(self, turn: Turn) -> None:
        for manager in [*self.managers.values()]:
            if manager.day is not None:
                manager.day.advance(turn.budget)
        self.narrowcast.advance(turn.budget)

    # ---- saving

    @property
    def days(self) -> dict[str, Any]:
        """Times of day by group name."""
        return {group.name: one.day for group, one in self.managers.items() if one.day is not None}

    @property
    def radios_by_name(self) -> dict[str, SquadRadio]:
        """Radios by member name."""
        return {one.member.name: radio for one, radio in self.radios.items()}

    def save_state(self) -> State:
        self._purge(always=True)
        return super().save_state()

    def prepare_state(self, state: Any) -> Change:
        self._check_at_rest()
        with suppress(AttributeError, LookupError, TypeError):       # the next reader refuses it with the reason
            state = self._with_present_nodes(state)
        return super().prepare_state(state)

    def _with_present_nodes(self, state: Any) -> Any:
        """Return a saved state without missing managers and listeners; new radios and days keep their states."""
        narrowcast = state["narrowcast"]
        group_of = {one["member"]: one["group"] for one in narrowcast["members"]}
        groups = {one["group"] for one in narrowcast["groups"]} - {one.name for one in self.narrowcast.groups}
        for one in sorted(groups):
            leave_out(self.scheduler, one, "groups", "running AIEventManager")
        events = narrowcast["events"]
        awaited = {_as_key(one) for _, _, rest in events["queue"] for one in rest or () if one is not None}
        awaited |= {_as_key(one) for one, _ in events["failing"]}
        needed = {one[0] for one in awaited} | state["radios"].keys()
        members = {
            one for one in sorted(group_of.keys() - {one.name for one in self.narrowcast.members})
            if group_of[one] in groups or (one not in needed and self._is_of_present_node(one))
            or self._leaves_out(one, "members", AWAITING)}
        lost = set()
        if self.scheduler.top.leaving_out is not None:       # else the next reader refuses them
            lost = awaited - self._found_listeners(narrowcast["members"])
            lost = {one for one in sorted(lost, key=str) if one[0] not in members
                    and self._leaves_out(one[0], "members", AWAITING)}
        if groups or members or lost:
            state = {**state, "narrowcast": _without(narrowcast, groups, members | lost)}
        for field, here, was in (
                ("days", self.days, "AIEventManager with a time of day"),
                ("radios", self.radios_by_name, "holder of a radio")):
            gone = state[field].keys() - here.keys()
            gone = {one for one in gone if one in groups or one in members or self._leaves_out(one, field, was)}
            new = {name: one.save_state() for name, one in here.items() if name not in state[field]}
            state = {**state, field: {name: one for name, one in state[field].items() if name not in gone} | new}
        return state

    def _is_of_present_node(self, member: str) -> bool:
        path = member.rpartition(" at ")[0]
        return not path or self.scheduler.get_node_or_null(path) is not None

    def _found_listeners(self, members: list[Any]) -> set[Any]:
        """Return the saved references of listeners that are here."""
        here, kinds = {one.name: one for one in self.narrowcast.members}, ListOf(MEMBER_KIND_STATE)
        return {
            (name, *count.kind, number)
            for place, (name, counts) in enumerate((one["member"], one["kinds"]) for one in members) if name in here
            for count, found, _ in here[name].matched(kinds.read(counts, f"narrowcast.members[{place}].kinds", None))
            for number in found}

    def _leaves_out(self, name: str, place: str, was: str) -> bool:
        """Return whether a load leaves out a member or a day that is not here; raise StateError if its node is missing.
        """
        path = name.rpartition(" at ")[0] if place != "days" else name
        if not path or (self.scheduler.top.leaving_out is None and self.scheduler.get_node_or_null(path) is not None):
            return False                     # the next reader refuses it: its node does not listen
        leave_out(self.scheduler, path, place, was)
        return True

    def _check_at_rest(self) -> None:
        """Refresh the names, by which all parts are saved and loaded."""
        self._names.refresh(self.narrowcast)
        for manager in self.managers.values():
            manager.refresh_listener_names()

    # ---- internal

    def remove_member(self, member: ListeningNode) -> None:
        """Remove a member with its listeners."""
        for one in [*member.listenings]:
            self.forget(one)
        member.leave()
        self.radios.pop(member, None)
        self._members[member.node_id].remove(member)
        if not self._members[member.node_id]:
            del self._members[member.node_id]
        self._names.drop(member.member)

    def _purge(self, *, always: bool = False) -> None:
        """Remove nodes that were freed and have received no event since. Cost: O(1) on average."""
        if always or len(self._members) >= self._purge_at:
            for one in [one for members in self._members.values() for one in members if one.is_freed]:
                self.remove_member(one)
            self._purge_at = max(64, 2 * len(self._members))
