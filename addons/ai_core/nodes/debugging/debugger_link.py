"""The game's end of the editor's debugger tab: silent, and without work, until the tab asks."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import construct, singleton
from addons.ai_core.nodes.debugging.debug_watch import SECTIONS, DebugWatch, top_schedulers
from addons.ai_core.nodes.scheduling.frame_stepper import FrameStepper

CAPTURE = "ai_core"
"""What messages of ours begin with: "ai_core:watch" from the editor, "ai_core:report" to it."""

REPORT_EVERY_S = 0.2
REPORTS_A_WISH = 15
"""Reports sent until the tab must ask again (count): it asks every second while it is visible, so an editor that is
gone costs the game three seconds of reports."""

INTERNAL, ALWAYS = 1, 3


class DebuggerLink:
    """Answers the debugger's tab for all AISchedulers; one of those in the tree holds it.

    Messages: ``watch`` [scheduler, section, character, wanted] sends reports for a while, and one at once;
    ``unwatch`` [] ends them; ``pause`` [bool] stops the game or lets it go on, ``next_frame`` [] for one frame.

    Args:
        node: an AIScheduler; has ``handle_debugger_message(message, data)`` and ``send_debug_report()``, which call
            here.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._is_open = False
        self._watch: DebugWatch | None = None
        self._stepping = FrameStepper(node.get_tree)
        self._timer: Any = None
        self._reports_left = 0

    def open(self) -> None:
        """Listen to the debugger, if there is one and nobody listens yet."""
        debugger = singleton("EngineDebugger")
        if not self._is_open and debugger.is_active() and not debugger.has_capture(CAPTURE):
            debugger.register_message_capture(CAPTURE, self._node.handle_debugger_message)
            self._is_open = True

    def close(self) -> None:
        """Listen no more; another scheduler takes over. For one that leaves the tree."""
        self._end()
        self._stepping.close()
        if self._is_open:
            self._is_open = False
            singleton("EngineDebugger").unregister_message_capture(CAPTURE)
            for other in top_schedulers(self._node):
                if other != self._node:
                    other.open_debugger_link()
                    return

    def asked(self, message: str, data: list[Any]) -> bool:
        """Do what the tab asks; return whether the message was known."""
        if message == "unwatch":
            self._end()
        elif message == "watch" and len(data) == 4 and data[1] in SECTIONS:
            self._begin(*map(str, data))
        elif message == "pause" and len(data) == 1:
            self._stepping.pause(bool(data[0]))
        elif message == "next_frame":
            self._stepping.step(self._node.top if self._watch is None else self._watch.scheduler)
        else:
            return False
        return True

    def send(self) -> None:
        """Send a report, or end if the tab has not asked for too long."""
        watch = self._watch
        if watch is None or self._reports_left == 0 or not watch.scheduler.is_valid():
            self._end()
            return
        self._reports_left -= 1
        singleton("EngineDebugger").send_message(f"{CAPTURE}:report", [watch.report()])

    def _begin(self, scheduler: str, section: str, character: str, wanted: str) -> None:
        named = self._node.get_node_or_null(scheduler) if scheduler else None
        if named is None or not named.is_class("AIScheduler") or named.top != named:
            named = self._node.top
        if self._watch is None or self._watch.scheduler != named:
            self._end()
            self._watch = DebugWatch(named)
            self._start_timer()
        self._watch.choose(section, character, wanted)
        self._reports_left = REPORTS_A_WISH
        self.send()

    def _end(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if self._timer is not None and self._timer.is_valid():
            self._timer.queue_free()
        self._timer = None

    def _start_timer(self) -> None:
        self._timer = construct("Timer")
        self._timer.wait_time, self._timer.process_mode, self._timer.ignore_time_scale = REPORT_EVERY_S, ALWAYS, True
        self._timer.autostart = True
        self._timer.connect("timeout", self._node.send_debug_report)
        self._node.add_child(self._timer, False, INTERNAL)
