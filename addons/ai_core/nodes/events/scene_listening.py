"""Listeners of a scene: a Callable that listens for a code, and its node as a member of a group."""
from __future__ import annotations

from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import GDCallable, SharedCall, get_object
from addons.ai_core.nodes.scheduling.scheduler_lookup import callable_name
from ai_core.events.event import Event
from ai_core.events.narrowcast import GroupMembership, MemberSubscription


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
        self._listening = member.member.listen(self.code, self._call, name=name, **self.terms)
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
    def is_over(self) -> bool:
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
        self._events.dispatcher.skip(event)
        if self._listening is None:      # freed by its own handler, called with a sticky event
            self.has_stopped = True
            return
        self._events.dispatcher.note_freed(self._listening.listening)
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
            for one in [one for one in self.listenings if one.is_over]:
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
    found = node.get_parent()
    while found is not None and not found.is_class("AIEventManager"):
        found = found.get_parent()
    return found


def owner_of(handler: Any) -> Any:
    """Return the node of a handler that is a method of a node, else None."""
    owner = handler.get("get_object") if isinstance(handler, GDCallable) else getattr(handler, "__self__", None)
    is_node = getattr(owner, "is_class", None)
    return owner if is_node is not None and is_node("Node") else None
