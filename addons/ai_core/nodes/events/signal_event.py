"""SignalEvent node: sends an event when a signal of a node is emitted."""
from __future__ import annotations

from difflib import get_close_matches
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.declarations import HINT_ENUM, KEYS
from addons.ai_core.bridge.gd import (
    GDObject,
    Node,
    NodePath,
    StringName,
    export,
    gdclass,
    method,
)
from addons.ai_core.nodes.debugging.edited_scene import has_action, is_a_part
from addons.ai_core.nodes.events.ai_event_manager import GROUP as MANAGERS
from addons.ai_core.nodes.events.event_terms import Reach, place_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import nearest, report_next_frame, wait_for
from ai_core.events.narrowcast import REACHES


@gdclass(icon="res://addons/ai_core/icons/signal_event.svg")
class SignalEvent(Node):
    """Sends an event with the arguments of a signal to the AIEventManager above, whenever the signal is emitted.

    If the source is freed and a node with the same path is added later, the signal of that node is connected.
    """

    Reach = Reach

    class DeliveryMode(IntEnum):
        QUEUED = 0
        IMMEDIATE = 1

    source = export(
        NodePath, NodePath(""), on_set="_source_set",
        doc="Node that emits the signal; if empty, the parent of the event manager.")
    signal_name = export(
        StringName, StringName(""), on_set="_source_set", doc="Name of the signal, such as body_entered.")
    code = export(str, "", on_set="_sending_set", doc="Code of the event; if empty, the name of the signal.")
    reach = export(
        Reach, Reach.OWN, on_set="_sending_set",
        doc="Managers whose listeners get the event. Own: the manager above this node. Down: also those below it."
            " Up: also those above it. All: all managers of the hierarchy.")
    delivery = export(
        DeliveryMode, DeliveryMode.QUEUED, on_set="_sending_set",
        doc="Queued: the event is dispatched in the next frame of AI, within the budget. Immediate: it is dispatched"
            " before the signal returns, without budget, delay and priority.")
    delay = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", group="Queued", on_set="_sending_set",
        shown_when=("delivery", DeliveryMode.QUEUED), doc="Game time from the signal to the event.")
    deadline = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", on_set="_sending_set",
        shown_when=("delivery", DeliveryMode.QUEUED),
        doc="Game time from the signal to the deadline of the dispatch; 0 means no deadline.")
    priority = export(
        int, 0, range=(-100, 100, 1), on_set="_sending_set",
        shown_when=("delivery", DeliveryMode.QUEUED), doc="Events with higher priority are dispatched first.")
    has_position = export(
        bool, False, on_set="_sending_set",
        doc="If true, the event has the position of the source, a Node3D or Node2D, for listeners with the term"
            " \"near\", which get events within their range only.")
    debug_action = export(
        StringName, StringName(""), group="Debug", on_set="_keys_set",
        doc="Action of the InputMap that sends the event without arguments, for testing.")
    debug_key = export(
        int, 0, hint=(HINT_ENUM, KEYS), on_set="_keys_set",
        doc="Key that sends the event without arguments, for testing, such as KEY_F9; 0 means no key.")

    def __init__(self) -> None:
        self._manager: Any = None
        self._connected: Any = None
        self._watched_tree: Any = None           # the SceneTree, while the source is not there
        self._signal = StringName("")
        self._sending: tuple[str, str, bool, dict[str, Any]] | None = None     # built from the properties when needed

    def on_entered(self) -> None:
        self._manager = nearest(self, "AIEventManager", MANAGERS)
        if self._manager is None:
            wait_for(self, MANAGERS)
        self._connect()
        self._keys_set()

    def on_exit_tree(self) -> None:
        self._disconnect()
        self._manager = None

    def on_signal(self, *arguments: object) -> None:
        manager = self._manager
        if manager is None or not manager.is_valid():
            return
        if self._sending is None:
            code = self.code or str(self.signal_name)
            self._sending = code, REACHES[self.reach], bool(self.delivery), self._terms()
        (code, reach, is_at_once, terms), sender = self._sending, self._connected
        if is_at_once:
            manager.dispatch_now(code, arguments, reach, sender)
            return
        if "position" in terms:
            terms = {**terms, "position": place_of(sender, "has_position: source")}
        manager.send_for(code, arguments, reach, sender, terms)

    def _unhandled_input(self, event: GDObject) -> None:
        if self._is_pressed(event):
            self.send_manually()

    @method
    def send_manually(self, arguments: list = ()) -> None:
        """Send the event without its signal, for testing; the debug key does the same."""
        if self._manager is not None and self._manager.is_valid():
            self._manager.inject(self.code or str(self.signal_name), list(arguments))

    def _is_pressed(self, event: Any) -> bool:
        if self.debug_action and event.is_action_pressed(self.debug_action):
            return True
        if not self.debug_key or not event.is_class("InputEventKey"):
            return False
        return bool(event.pressed and not event.is_echo() and self.debug_key in (event.keycode, event.physical_keycode))

    def _sending_set(self) -> None:
        self._sending = None

    def _terms(self) -> dict[str, Any]:
        terms: dict[str, Any] = {}
        if self.delay:
            terms["delay_s"] = self.delay
        if self.deadline:
            terms["deadline_s"] = max(self.deadline, self.delay)
        if self.priority:
            terms["priority"] = self.priority
        if self.has_position:
            terms["position"] = None         # position of the source at that time
        return terms

    def _connect(self) -> None:
        is_wrong, node = bool(self._source_warnings()), self._node()
        if is_wrong:
            report_next_frame(self, self._source_warnings)
        else:
            self._connected, self._signal = node, self.signal_name
            node.connect(self._signal, self.on_signal)
            node.connect("tree_exited", self.on_source_gone)
        if node is None and self._manager is not None:
            self._watch_tree(True)

    def _disconnect(self) -> None:
        self._watch_tree(False)
        node = self._connected
        if node is not None and node.is_valid():
            for name, handler in ((self._signal, self.on_signal), ("tree_exited", self.on_source_gone)):
                if node.is_connected(name, handler):
                    node.call("disconnect", name, handler)
        self._connected = None

    def on_source_gone(self) -> None:
        """Watch for a new source, after the source left the tree."""
        if self._manager is not None:            # otherwise this node leaves with it
            self._watch_tree(True)

    def on_node_added(self, node: Any) -> None:
        """Connect to a node that entered the tree, if it is the source or replaces it."""
        if self._source_name() not in (None, str(node.get_name())):
            return
        found = self._node()
        if found is None or not found.is_inside_tree():
            return
        self._watch_tree(False)
        if found != self._connected:
            self._disconnect()
            self._connect()

    def _watch_tree(self, is_wanted: bool) -> None:
        """Connect to the signal node_added of the tree, or disconnect from it."""
        if is_wanted == (self._watched_tree is not None):
            return
        if is_wanted:
            self._watched_tree = self.get_tree()
            self._watched_tree.connect("node_added", self.on_node_added)
        else:
            tree, self._watched_tree = self._watched_tree, None
            tree.call("disconnect", "node_added", self.on_node_added)

    def _source_name(self) -> str | None:
        """Return the name that the source must have; None if its path does not end in a name."""
        name = str(self.source).rpartition("/")[2]
        return None if name in ("", ".", "..") or name.startswith("%") else name

    def _source_set(self) -> None:
        self._sending_set()
        if self._manager is not None:
            self._disconnect()
            self._connect()

    def _keys_set(self) -> None:
        if self.is_inside_tree():
            if self._action_warnings():
                report_next_frame(self, self._action_warnings)
            self.set_process_unhandled_input(bool(self.debug_action) or self.debug_key != 0)

    def _node(self) -> Any:
        if self.source:
            return self.get_node_or_null(self.source)
        manager = nearest(self, "AIEventManager", MANAGERS)
        return None if manager is None else manager.get_parent()

    def _action_warnings(self) -> list[str]:
        if not self.debug_action or has_action(self.debug_action):
            return []
        return [f"debug_action '{self.debug_action}' is not an action of the InputMap; add it in the project settings"]

    def _get_configuration_warnings(self) -> list[str]:
        return [*self._source_warnings(), *self._action_warnings()]

    def _source_warnings(self) -> list[str]:
        if nearest(self, "AIEventManager", MANAGERS) is None:
            return [] if is_a_part(self) else ["found no AIEventManager; put this node below one"]
        node = self._node()
        if node is None:
            return [f"source '{self.source}' is not in the scene; choose the node whose signal becomes an event"]
        if not self.signal_name:
            return ["signal_name is empty; name the signal that becomes an event"]
        if not node.has_signal(self.signal_name):
            names = [one["name"] for one in node.get_signal_list()]
            close = get_close_matches(str(self.signal_name), names, n=3)
            hint = f"; did you mean {' or '.join(close)}?" if close else f"; it has {', '.join(sorted(names)[:8])}, …"
            return [f"'{node.get_name()}' ({node.get_class()}) has no signal '{self.signal_name}'{hint}"]
        return []
