"""SignalEvent: a signal of any node becomes an event, with its arguments."""
from __future__ import annotations

from difflib import get_close_matches
from enum import IntEnum
from typing import Any

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
from addons.ai_core.nodes.events.event_terms import place_of
from addons.ai_core.nodes.scheduling.scheduled import nearest, report_next_frame, wait_for
from ai_core.events.narrowcast import REACHES


@gdclass(icon="res://addons/ai_core/icons/signal_event.svg")
class SignalEvent(Node):
    """Sends an event to the AIEventManager above it whenever a signal of a node fires.

    A source that is freed and loaded anew, at the same path, is heard again.
    """

    class Reach(IntEnum):
        OWN = 0
        DOWN = 1
        UP = 2
        ALL = 3

    class Delivery(IntEnum):
        QUEUED = 0
        AT_ONCE = 1

    source = export(
        NodePath, NodePath(""), on_set="_source_set",
        doc="The node whose signal it is; empty is the parent of the event manager.")
    signal_name = export(
        StringName, StringName(""), on_set="_source_set", doc="The signal, such as body_entered.")
    code = export(str, "", on_set="_sending_set", doc="Code of the event; empty takes the name of the signal.")
    reach = export(
        Reach, Reach.OWN, on_set="_sending_set",
        doc="Who hears it: those at this manager, also below or above it, or all.")
    delivery = export(
        Delivery, Delivery.QUEUED, on_set="_sending_set",
        doc="Queued events are told in the next frame of AI, within its budget. At once:"
        " before the signal returns, past budget, delay and priority.")
    delay_s = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", group="Queued", on_set="_sending_set",
        shown_when=("delivery", Delivery.QUEUED), doc="Game time between signal and event.")
    deadline_s = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", on_set="_sending_set",
        shown_when=("delivery", Delivery.QUEUED),
        doc="Game time between signal and the latest moment to be told; 0 is none.")
    priority = export(
        int, 0, range=(-100, 100, 1), on_set="_sending_set",
        shown_when=("delivery", Delivery.QUEUED), doc="Higher is told first.")
    has_position = export(
        bool, False, on_set="_sending_set", doc="Tell those who listen near the source only; it must be in space.")
    debug_action = export(
        StringName, StringName(""), group="Debug", on_set="_keys_set",
        doc="An action of the InputMap that sends the event by hand, without arguments.")
    debug_key = export(
        int, 0, on_set="_keys_set", doc="The same for a key: KEY_F9, for instance; 0 is none.")

    def __init__(self) -> None:
        self._manager: Any = None
        self._connected: Any = None
        self._looked_out_in: Any = None           # the SceneTree, while the source is not there
        self._signal = StringName("")
        self._sending: tuple[str, str, bool, dict[str, Any]] | None = None     # made of the properties when needed

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
            manager.tell_now(code, arguments, reach, sender)
            return
        if "position" in terms:
            terms = {**terms, "position": place_of(sender, "has_position: source")}
        manager.send_for(code, arguments, reach, sender, terms)

    def _unhandled_input(self, event: GDObject) -> None:
        if self._is_pressed(event):
            self.send_by_hand()

    @method
    def send_by_hand(self, arguments: list = ()) -> None:
        """Send the event without its signal, as the debug key does."""
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
        if self.delay_s:
            terms["delay_s"] = self.delay_s
        if self.deadline_s:
            terms["deadline_s"] = max(self.deadline_s, self.delay_s)
        if self.priority:
            terms["priority"] = self.priority
        if self.has_position:
            terms["position"] = None         # where the source is then
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
            self._look_out(True)

    def _disconnect(self) -> None:
        self._look_out(False)
        node = self._connected
        if node is not None and node.is_valid():
            for name, heard in ((self._signal, self.on_signal), ("tree_exited", self.on_source_gone)):
                if node.is_connected(name, heard):
                    node.call("disconnect", name, heard)
        self._connected = None

    def on_source_gone(self) -> None:
        """The source left the tree, perhaps to be loaded anew."""
        if self._manager is not None:            # else this leaves with it
            self._look_out(True)

    def on_node_added(self, node: Any) -> None:
        """Connect to the source if this is it: the one before come back, or another in its place."""
        if self._source_name() not in (None, str(node.get_name())):
            return
        found = self._node()
        if found is None or not found.is_inside_tree():
            return
        self._look_out(False)
        if found != self._connected:
            self._disconnect()
            self._connect()

    def _look_out(self, is_wanted: bool) -> None:
        """Be told of nodes that enter the tree, or no longer."""
        if is_wanted == (self._looked_out_in is not None):
            return
        if is_wanted:
            self._looked_out_in = self.get_tree()
            self._looked_out_in.connect("node_added", self.on_node_added)
        else:
            tree, self._looked_out_in = self._looked_out_in, None
            tree.call("disconnect", "node_added", self.on_node_added)

    def _source_name(self) -> str | None:
        """Return the name that the source must have; None if its path does not end in one."""
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
        return [f"debug_action '{self.debug_action}' is no action of the InputMap"]

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
