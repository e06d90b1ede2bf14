"""SignalEvent: a signal of any node becomes an event, with its arguments."""
from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    StringName,
    export,
    gdclass,
    report_error,
)
from addons.ai_core.nodes.ai_event_manager import GROUP as MANAGERS
from addons.ai_core.nodes.scheduled import nearest, wait_for


@gdclass(icon="res://addons/ai_core/icons/signal_event.svg")
class SignalEvent(Node):
    """Sends an event to the AIEventManager above it whenever a signal of a node fires."""

    source = export(
        NodePath, NodePath(""), doc="The node whose signal it is; empty is the parent of the event manager.")
    signal_name = export(StringName, StringName(""), doc="The signal, such as body_entered.")
    code = export(str, "", doc="Code of the event; empty takes the name of the signal.")
    delay_s = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", doc="Game time between signal and event.")

    def __init__(self) -> None:
        self._manager: Any = None
        self._connected: Any = None

    def on_entered(self) -> None:
        self._manager = nearest(self, "AIEventManager", MANAGERS)
        if self._manager is None:
            wait_for(self, MANAGERS)
        warnings = self._get_configuration_warnings()
        for warning in warnings:
            report_error(warning, self)
        if not warnings:
            self._connected = self._node()
            self._connected.connect(self.signal_name, self.on_signal)

    def on_exit_tree(self) -> None:
        if self._connected is not None and self._connected.is_valid():
            self._connected.call("disconnect", self.signal_name, self.on_signal)
        self._connected = self._manager = None

    def on_signal(self, *arguments: object) -> None:
        if self._manager is not None and self._manager.is_valid():
            self._manager.core.send(
                self.code or str(self.signal_name), *arguments, sender=self._connected, delay_s=self.delay_s)

    def _node(self) -> Any:
        if self.source:
            return self.get_node_or_null(self.source)
        manager = nearest(self, "AIEventManager", MANAGERS)
        return None if manager is None else manager.get_parent()

    def _get_configuration_warnings(self) -> list[str]:
        if nearest(self, "AIEventManager", MANAGERS) is None:
            return ["found no AIEventManager; put this node below one"]
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
