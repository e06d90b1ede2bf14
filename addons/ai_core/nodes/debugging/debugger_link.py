"""The game's side of the editor's debugger tab; it does no work until the tab sends a request."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import construct, singleton
from addons.ai_core.nodes.debugging.character_picker import CharacterPicker
from addons.ai_core.nodes.debugging.debug_watch import SECTIONS, DebugWatch, top_schedulers
from addons.ai_core.nodes.debugging.habit_probe import HabitProbe
from addons.ai_core.nodes.debugging.probe import CharacterProbes
from addons.ai_core.nodes.debugging.state_probe import StateProbe
from addons.ai_core.nodes.scheduling.frame_stepper import FrameStepper
from addons.ai_core.nodes.scheduling.scheduler_lookup import ONE_SHOT

CAPTURE = "ai_core"
"""Prefix of messages: "ai_core:watch" from the editor, "ai_core:report" to it."""

REPORT_EVERY_S = 0.2
REPORTS_A_WISH = 15
"""Reports sent per request of the tab (count): it repeats the request every second while it is visible, so a closed
editor costs the game three seconds of reports."""

INTERNAL, ALWAYS = 1, 3


class DebuggerLink:
    """Answers the debugger's tab for all AIScheduler nodes; one of those in the tree owns it.

    Messages: ``watch`` [scheduler, section, character, wanted, chart] sends a report at once, and reports for a while;
    ``unwatch`` [] ends them; ``pause`` [bool] pauses or resumes the game; ``next_frame`` [] runs one frame;
    ``breakpoint`` [path of a HabitTree or StateMachine, path of a habit or state, "begins", "ends", "begins or ends",
    "condition changes" or ""] pauses the game then, and sends ``break`` [words]; ``pick`` [bool] lets a click in the
    game choose a character, and sends ``picked`` [path].

    Args:
        node: an AIScheduler; its ``handle_debugger_message(message, data)`` and ``send_debug_report()`` call this
            object.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._is_open = False
        self._watch: DebugWatch | None = None
        self._stepping = FrameStepper(node.get_tree)
        self._probes = CharacterProbes({"HabitTree": HabitProbe, "StateMachine": StateProbe}, self._break)
        self._picker = CharacterPicker(node, self._picked)
        self._checks = False             # conditions, in each frame
        self._break_words = ""           # of a breakpoint reached in this frame
        self._timer: Any = None
        self._reports_left = 0

    def open(self) -> None:
        """Register with the debugger, if there is one and no other link is registered."""
        debugger = singleton("EngineDebugger")
        if not self._is_open and debugger.is_active() and not debugger.has_capture(CAPTURE):
            debugger.register_message_capture(CAPTURE, self._node.handle_debugger_message)
            self._is_open = True

    def close(self) -> None:
        """Unregister, and let another scheduler take over; called when the scheduler leaves the tree."""
        self._end()
        self._probes.close()
        self._check_if_needed()
        self._stepping.close()
        if self._is_open:
            self._is_open = False
            singleton("EngineDebugger").unregister_message_capture(CAPTURE)
            for other in top_schedulers(self._node):
                if other != self._node:
                    other.open_debugger_link()
                    return

    def asked(self, message: str, data: list[Any]) -> bool:
        """Handle a message of the tab; return whether the message was known."""
        if message == "unwatch":
            self._end()
        elif message == "watch" and len(data) == 5 and data[1] in SECTIONS:
            self._begin(*map(str, data))
        elif message == "pause" and len(data) == 1:
            self._stepping.pause(bool(data[0]))
        elif message == "next_frame":
            self._stepping.step(self._node.top if self._watch is None else self._watch.scheduler)
        elif message == "breakpoint" and len(data) == 3:
            tree = self._node.get_node_or_null(str(data[0]))
            if tree is not None:
                self._probes.set_breakpoint(tree, str(data[1]), str(data[2]))
                self._check_if_needed()
        elif message == "pick" and len(data) == 1:
            self._pick(bool(data[0]))
        else:
            return False
        return True

    def _pick(self, is_on: bool) -> None:
        if is_on and self._watch is not None:
            self._picker.begin(self._watch.scheduler)
        else:
            self._picker.end()

    def _picked(self, path: str) -> None:
        self._picker.end()
        singleton("EngineDebugger").send_message(f"{CAPTURE}:picked", [path])

    def _check_if_needed(self) -> None:
        """Check conditions in each frame while a breakpoint waits for one."""
        wanted, tree = self._probes.watches_conditions, self._node.get_tree()
        if wanted != self._checks:
            self._checks = wanted
            if wanted:
                tree.connect("process_frame", self._probes.check_conditions)
            else:
                tree.call("disconnect", "process_frame", self._probes.check_conditions)

    def _break(self, words: str) -> None:
        """Pause the game at the end of the frame: a tick in progress is finished."""
        if self._break_words:
            return
        self._break_words = words
        self._node.get_tree().connect("process_frame", self._pause_at_break, ONE_SHOT)

    def _pause_at_break(self) -> None:
        words, self._break_words = self._break_words, ""
        self._stepping.pause(True)
        debugger = singleton("EngineDebugger")
        if debugger.is_active():
            debugger.send_message(f"{CAPTURE}:break", [words])

    def send(self) -> None:
        """Send a report; end the watch if the tab has not repeated its request."""
        watch = self._watch
        if watch is None or self._reports_left == 0 or not watch.scheduler.is_valid():
            self._end()
            return
        self._reports_left -= 1
        self._picker.update()
        singleton("EngineDebugger").send_message(f"{CAPTURE}:report", [watch.report()])

    def _begin(self, scheduler: str, section: str, character: str, wanted: str, chart: str) -> None:
        named = self._node.get_node_or_null(scheduler) if scheduler else None
        if named is None or not named.is_class("AIScheduler") or named.top != named:
            named = self._node.top
        if self._watch is None or self._watch.scheduler != named:
            self._end()
            self._watch = DebugWatch(named, self._probes)
            self._start_timer()
        self._watch.choose(section, character, wanted, chart)
        self._reports_left = REPORTS_A_WISH
        self.send()

    def _end(self) -> None:
        self._picker.end()
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
