"""DebugWatch: collects data about the AI of a running game while a debugger or an overlay shows it."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import GDObject
from addons.ai_core.nodes.debugging import debug_texts
from addons.ai_core.nodes.events.scene_events import events_under
from addons.ai_core.nodes.scheduling.scheduler_core import Policy
from addons.ai_core.nodes.scheduling.scheduler_lookup import SCHEDULERS
from ai_core.scheduling.statistics import FrameTimeline, TimedFrame

SECTIONS = ("scheduler", "habits", "senses", "events", "paths")
"""Sections that can be shown beside the frames."""

LOGGED_EVENTS = 200
MOST_CHARACTERS = 200
NO_CHARACTER = "choose a character on the left"


class DebugWatch:
    """Reports on the AI under one AIScheduler, until ``close``.

    Without a watch nothing is recorded or counted. Only the chosen character is described. The list of characters and
    the table of tasks are updated only by ``choose``, which the panel calls once per second: reports are more
    frequent, and a list of a thousand characters in each would cause hitches.

    Args:
        scheduler: an AIScheduler that is not below another one.
    """

    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler
        self.section, self.character = SECTIONS[0], ""
        self._wanted = ""
        self._characters: list[str] | None = None
        self._table = ""
        self._told_frame = -1
        self._timeline = FrameTimeline(lambda: float(scheduler.budget))
        scheduler.trace.listen(self._timeline)

    def close(self) -> None:
        """Stop recording."""
        self.scheduler.trace.unlisten(self._timeline)
        self._log(False)

    def choose(self, section: str, character: str, wanted: str) -> None:
        """Set the contents of later reports.

        Args:
            section: one of SECTIONS.
            character: path from the root of the node whose habits and senses are described; "" for none.
            wanted: substring of the paths of listed characters.
        """
        self.section, self.character, self._wanted = section, character, wanted
        self._characters, self._table = None, ""

    def report(self) -> dict[str, Any]:
        """Return the frames since the last report, and the section as text, as plain data."""
        frames = self._timeline.since(self._told_frame)
        if frames:
            self._told_frame = frames[-1].frame
        return self._with(frames)

    def look(self) -> dict[str, Any]:
        """Return a report with all recorded frames; the next ``report`` is not affected."""
        self._characters, self._table = None, ""
        return self._with(self._timeline.since(-1))

    def _with(self, frames: list[TimedFrame]) -> dict[str, Any]:
        self._log(self.section == "events")
        scheduler = self.scheduler
        if self._characters is None:
            self._characters = debug_texts.characters_of(scheduler.joined_nodes, self._wanted, MOST_CHARACTERS)
        return {
            "scheduler": str(scheduler.get_path()),
            "schedulers": [str(one.get_path()) for one in top_schedulers(scheduler)],
            "headline": self._headline(),
            "frames": [_plain(one) for one in frames],
            "characters": self._characters,
            "character": self.character,
            "section": self.section,
            "text": self._text(),
        }

    def _headline(self) -> str:
        scheduler = self.scheduler
        now, budget_us = scheduler.clock.now, scheduler.budget
        policy = Policy(scheduler.policy).name.lower().replace("_", " ")
        share = f" of {budget_us:.0f} µs, {scheduler.core.overruns} overruns" if budget_us > 0 else " µs, no budget"
        return f"frame {now.frame}, {now.seconds:.2f} s, {policy}: {scheduler.monitored_total('time_us'):.0f}{share}"

    def _text(self) -> str:
        if self.section == "scheduler":
            self._table = self._table or debug_texts.of_scheduler(self.scheduler)
            return self._table
        if self.section == "events":
            return debug_texts.of_events(self.scheduler)
        if self.section == "paths":
            return debug_texts.of_paths(self.scheduler)
        if not self.character:
            return NO_CHARACTER
        character = self.scheduler.get_node_or_null(self.character)
        if character is None:
            return f"{self.character} is no longer in the tree"
        return debug_texts.of_habits(character) if self.section == "habits" else debug_texts.of_senses(character)

    def _log(self, is_wanted: bool) -> None:
        events = events_under(self.scheduler)
        if events is not None and events.watched_entries != LOGGED_EVENTS * is_wanted:
            events.watched_entries = LOGGED_EVENTS * is_wanted
            events.apply_log()


def top_schedulers(node: GDObject) -> list[Any]:
    """Return the AIScheduler nodes that are not below another one, in tree order."""
    found = node.get_tree().get_nodes_in_group(SCHEDULERS)
    return [one for one in found if one.top == one]


def _plain(frame: TimedFrame) -> dict[str, Any]:
    return {
        "frame": frame.frame, "budget_us": frame.budget_us, "used_us": frame.used_us, "left_out": frame.left_out,
        "overran": frame.overran, "runs": [list(run) for run in frame.runs],
    }
