"""All events under one AIScheduler: a group for each AIEventManager, one queue for all."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, call_run, get_object, report_warning
from addons.ai_core.nodes.events.event_terms import EventNames
from addons.ai_core.nodes.events.scene_listening import ListeningNode, SceneListening, owner_of
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduled import named_after
from ai_core.clock import TimeIndex
from ai_core.events.dispatcher import Dispatcher
from ai_core.events.event import Event
from ai_core.events.event_log import EventLog
from ai_core.events.event_registry import Listening
from ai_core.events.narrowcast import Group, Narrowcast
from ai_core.events.squad_radio import SquadRadio
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.task import Task, Turn
from ai_core.trace import Trace

MOST_NESTED = 64
"""Events told at once inside each other (count); some ten levels of script later the engine's own stack ends."""

_OF_SCHEDULER: dict[int, SceneEvents] = {}


def events_of(scheduler: Any) -> SceneEvents:
    """Return the events under a scheduler, made when they are first asked for."""
    found = _OF_SCHEDULER.get(scheduler.instance_id)
    if found is None:
        found = _OF_SCHEDULER[scheduler.instance_id] = SceneEvents(scheduler)
    return found


def events_under(scheduler: Any) -> SceneEvents | None:
    """Return the events under a scheduler, None if there is no event manager."""
    return _OF_SCHEDULER.get(scheduler.instance_id)


def memberships_of(node: Any) -> list[ListeningNode]:
    """Return where a node listens, under any scheduler."""
    return [one for events in _OF_SCHEDULER.values() for one in events.of_node(node)]


class SceneEvents:
    """The narrowcast under one scheduler, and which nodes its groups and members are.

    One of the managers keeps it: it dispatches in its name, and is saved with all that belongs
    here. Which one does not depend on the order in which they came.

    Args:
        scheduler: an AIScheduler.
    """

    def __init__(self, scheduler: Any) -> None:
        trace = Trace()
        trace.listen(self)
        self.scheduler = scheduler
        self.narrowcast = Narrowcast(
            scheduler.clock, faults=scheduler.faults, trace=trace, values=scheduler.values, when_late=self._tell_late)
        self.dispatcher = self.narrowcast.events.dispatcher
        self.dispatcher.tell = self._tell
        self.dispatcher.report_freed = self._report_freed
        self.managers: dict[Group, Any] = {}
        self._keeper: Any = None
        self._task: Task | None = None
        self._listenings: dict[tuple[str, Any], list[SceneListening]] = {}
        self._members: dict[int, list[ListeningNode]] = {}     # by instance id, 0 for functions of no node
        self._names = EventNames()
        self.radios: dict[ListeningNode, SquadRadio] = {}
        self.watched_entries = 0             # what a debugger wants of the log
        self._logged_entries = 0
        self._telling: list[str] = []        # codes of what is told at once, inside each other
        self._is_unwinding = False
        self.changes = 0         # of managers: who is above whom, and what they declare
        self._purge_at = 64

    # ---- managers

    def add(self, manager: Any) -> Group:
        """Make the group of a manager."""
        naming = named_after(self.scheduler, manager)
        group = self.narrowcast.add_group(self._names.free(naming()))
        self._names.keep(group, naming)
        self.managers[group] = manager
        self.changes += 1
        return group

    def remove(self, group: Group) -> None:
        """Forget a manager, and whoever still listens there; those below come under the one above."""
        for one in self.in_group(group):
            self.let_go(one)
        for below in group.below:
            below.move_under(group.above)
        group.remove()
        del self.managers[group]
        self._names.drop(group)
        self.choose_keeper()
        if not self.managers:
            _OF_SCHEDULER.pop(self.scheduler.instance_id, None)

    def choose_keeper(self) -> None:
        """Let the topmost manager in the tree dispatch and be saved; the first by path, of several."""
        if not self.scheduler.is_valid():
            self._keeper = self._task = None
            return
        if not self.scheduler.is_inside_tree():      # leaving, perhaps for good; who comes back with it chooses anew
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
            self._task = self.scheduler.serve(keeper, self._frame, "dispatch")

    def apply_log(self) -> None:
        """Keep as long a log as a manager or a debugger wants by now."""
        wanted = max([self.watched_entries, *(one.logged_entries for one in self.managers.values())])
        if wanted != self._logged_entries:
            self.narrowcast.log = EventLog(wanted) if wanted else None
            self._logged_entries = wanted

    # ---- listeners

    def listen(self, manager: Any, code: str, handler: Any, terms: dict[str, Any]) -> None:
        """Let a handler hear a code in the group of a manager; harmless if it does already."""
        group = manager.group
        known = [one for one in self._listenings.get((code, handler), ()) if one.is_at(group)]
        if any(one.is_active for one in known):
            return
        if any(one.listen_again(terms) for one in known):
            return
        self._purge()
        made = SceneListening(self, code, handler, terms)
        member = self.member_of(manager, owner_of(handler))
        made.member = member
        member.add(made)
        self._listenings.setdefault((code, handler), []).append(made)
        try:
            made.begin(member)
        except Exception:
            self.forget(made)
            if not member.listenings and member not in self.radios:
                self.let_go(member)
            raise

    def unlisten(self, group: Group, code: str, handler: Any) -> None:
        """Stop a handler that hears a code in a group; harmless if it does not."""
        for one in self._listenings_of(code, handler):
            if one.member is not None and one.member.member.group is group:
                self.forget(one)

    def forget(self, listening: SceneListening) -> None:
        """Stop one listening and know it no more."""
        member = listening.member
        listening.stop()
        key = listening.code, listening.handler
        rest = [one for one in self._listenings.pop(key, ()) if one is not listening]
        if rest:
            self._listenings[key] = rest
        if member is not None and listening in member.listenings:
            member.listenings.remove(listening)

    def in_group(self, group: Group) -> list[ListeningNode]:
        """Return who is in a group, in the order they came."""
        place = {member: number for number, member in enumerate(group.members)}
        found = [one for members in self._members.values() for one in members if one.member.group is group]
        return sorted(found, key=lambda one: place[one.member])

    def of_node(self, node: Any) -> list[ListeningNode]:
        """Return the memberships of a node."""
        return [*self._members.get(node.instance_id, ())]

    def member_of(self, manager: Any, node: Any) -> ListeningNode:
        """Return the membership of a node in a manager's group, made if there is none."""
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

    # ---- told by the library

    def event_sent(self, event: Event, now: TimeIndex) -> None:
        for hook in self.scheduler.trace.event_sent:
            hook(event, now)
        manager = self.managers.get(event.terms.audience.group)  # type: ignore[union-attr]
        if manager is not None and manager.dispatched.has_connections():
            manager.dispatched.emit(event.code, list(event.arguments))

    def tell_nested(self, event: Event) -> None:
        """Tell at once; refuse it where handlers answer each other without end.

        The stack of the engine would end it otherwise, with the game. Once refused, all that is told at once inside
        is, too: every level going on with its other listeners would take as good as for ever.
        """
        inside = self._telling
        if len(inside) >= MOST_NESTED or self._is_unwinding:
            if not self._is_unwinding:
                self._is_unwinding = True
                chain = " -> ".join(inside[:4])
                raise RefusedValue(
                    f"{MOST_NESTED} events were told inside each other, {chain} -> …; answer with send(), which waits"
                    f" for the next frame of AI. Until {inside[0]!r} is told, nothing else is told at once")
            return
        inside.append(event.code)
        try:
            self.narrowcast.events.tell(event)
        finally:
            inside.pop()
            if not inside:
                self._is_unwinding = False

    def _report_freed(self, name: str) -> None:
        report_warning(f"{name} was freed and listens no more; unlisten() it before. get_stats() counts further ones")

    def _tell_late(self, event: Event, late_s: float) -> None:
        manager = self.managers.get(event.terms.audience.group)  # type: ignore[union-attr]
        if manager is not None:
            manager.event_was_late.emit(event.code, late_s)

    def _tell(self, event: Event, listeners: Iterator[Listening]) -> None:
        """Tell each, as the library's dispatcher does: Callables in a row in one crossing."""
        dispatcher = self.dispatcher
        if event.terms.receipt is not None or dispatcher.log is not None:
            Dispatcher.tell(dispatcher, event, listeners)
            return
        waiting, at = tuple(listeners), 0
        while at < len(waiting):
            try:
                at = call_run(waiting, at, event)
                if at < len(waiting):
                    waiting[at].call(event)
            except Exception as error:  # whatever it is, the others are told
                dispatcher.fail(waiting[at], event, error)
            at += 1

    def _frame(self, turn: Turn) -> None:
        for manager in [*self.managers.values()]:
            if manager.day is not None:
                manager.day.advance(turn.budget)
        self.narrowcast.advance(turn.budget)

    # ---- saving

    def save_state(self) -> State:
        self._purge(always=True)
        self._name_anew()
        days = {group.name: one.day.save_state() for group, one in self.managers.items() if one.day is not None}
        radios = {one.member.name: radio.save_state() for one, radio in self.radios.items()}
        return {"version": 1, "narrowcast": self.narrowcast.save_state(), "days": days, "radios": radios}

    def prepare_state(self, state: object) -> Callable[[], None]:
        self._name_anew()
        fields = Fields.versioned(state, version=1)
        changes = [self.narrowcast.prepare_state(fields.anything("narrowcast"))]
        saved = fields.group("days")
        for group, manager in self.managers.items():
            if manager.day is not None:
                changes.append(manager.day.prepare_state(saved.anything(group.name)))
        saved.end()
        said = fields.group("radios")
        changes += [radio.prepare_state(said.anything(one.member.name)) for one, radio in self.radios.items()]
        said.end()
        fields.end()

        def change() -> None:
            for one in changes:
                one()

        return change

    # ---- within

    def _name_anew(self) -> None:
        self._names.anew(self.narrowcast)
        for manager in self.managers.values():
            manager.name_waiting_anew()

    def _listenings_of(self, code: str, handler: Any) -> list[SceneListening]:
        return [one for one in self._listenings.get((code, handler), ()) if one.is_active]

    def let_go(self, member: ListeningNode) -> None:
        """Know a member no more."""
        for one in [*member.listenings]:
            self.forget(one)
        member.leave()
        self.radios.pop(member, None)
        self._members[member.node_id].remove(member)
        if not self._members[member.node_id]:
            del self._members[member.node_id]
        self._names.drop(member.member)

    def _purge(self, *, always: bool = False) -> None:
        """Forget nodes that were freed and have not been told anything since; O(1) on average."""
        if always or len(self._members) >= self._purge_at:
            for one in [one for members in self._members.values() for one in members if one.is_freed]:
                self.let_go(one)
            self._purge_at = max(64, 2 * len(self._members))
