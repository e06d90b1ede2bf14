"""Somebody looks at the AI of a running game: what is kept for that from the first look to the last."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import GDObject
from addons.ai_core.nodes.debugging import debug_texts
from addons.ai_core.nodes.events.scene_events import events_under
from addons.ai_core.nodes.scheduling.scheduler_core import Policy
from addons.ai_core.nodes.scheduling.scheduler_lookup import SCHEDULERS
from ai_core.scheduling.frame_timeline import FrameTimeline, TimedFrame

SECTIONS = ("scheduler", "habits", "senses", "events", "paths")
"""What can be looked at beside the frames."""

LOGGED_EVENTS = 200
MOST_CHARACTERS = 200
NOBODY = "choose a character on the left"


class DebugWatch:
    """Reports of what runs under one AIScheduler, until ``close``.

    Nothing is kept or counted while nobody watches. Of characters only the chosen one is described. The list of
    characters and the table of all work are made anew only as something is chosen: the panel chooses once a second,
    and asks for reports more often than a crowd of a thousand could be told of without a hitch.

    Args:
        scheduler: an AIScheduler that is under no other.
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
        """Keep nothing any more."""
        self.scheduler.trace.unlisten(self._timeline)
        self._log(False)

    def choose(self, section: str, character: str, wanted: str) -> None:
        """Set what is told from now on.

        Args:
            section: one of SECTIONS.
            character: path of the node whose habits and senses are told, from the root; empty is none yet.
            wanted: part of the paths of characters that are listed.
        """
        self.section, self.character, self._wanted = section, character, wanted
        self._characters, self._table = None, ""

    def report(self) -> dict[str, Any]:
        """Return what is new, as plain data: frames since the last report, and the section in words."""
        frames = self._timeline.since(self._told_frame)
        if frames:
            self._told_frame = frames[-1].frame
        return self._with(frames)

    def look(self) -> dict[str, Any]:
        """Return the same of now, with all frames that are kept; leave to the next report what is new for it."""
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
            return NOBODY
        character = self.scheduler.get_node_or_null(self.character)
        if character is None:
            return f"{self.character} is not in the tree any more"
        return debug_texts.of_habits(character) if self.section == "habits" else debug_texts.of_senses(character)

    def _log(self, is_wanted: bool) -> None:
        events = events_under(self.scheduler)
        if events is not None and events.watched_entries != LOGGED_EVENTS * is_wanted:
            events.watched_entries = LOGGED_EVENTS * is_wanted
            events.apply_log()


def top_schedulers(node: GDObject) -> list[Any]:
    """Return the AISchedulers that are under no other, in the order of the tree."""
    found = node.get_tree().get_nodes_in_group(SCHEDULERS)
    return [one for one in found if one.top == one]


def _plain(frame: TimedFrame) -> dict[str, Any]:
    return {
        "frame": frame.frame, "budget_us": frame.budget_us, "used_us": frame.used_us, "left_out": frame.left_out,
        "overran": frame.overran, "runs": [list(run) for run in frame.runs],
    }
