"""DebugWatch: collects data about the AI of a running game, as texts, while a debugger or an overlay shows it."""
from __future__ import annotations

import re
from collections.abc import Iterator
from operator import add
from typing import Any

from addons.ai_core.bridge.gd import GDObject
from addons.ai_core.nodes.debugging.probe import CharacterProbes
from addons.ai_core.nodes.debugging.sense_report import MOST_SOURCES, senses_of
from addons.ai_core.nodes.events.scene_events import events_under
from addons.ai_core.nodes.paths.path_request import PathRequest
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduler_core import Policy
from addons.ai_core.nodes.scheduling.scheduler_lookup import SCHEDULERS, nearest
from ai_core.scheduling.scheduler import tree_statistics
from ai_core.scheduling.statistics import FrameTimeline, TimedFrame

DECIDING = ("HabitTree", "StateMachine", "RuleMind")
CHARTED = DECIDING[:2]
"""Classes whose nodes a live chart shows."""

IN_SCENE = "::"
"""Between the file of a scene and the path of a node in it."""

SENSING = ("Sensor3D", "Sensor2D")
NEUTRAL = {"sensitivity": 1, "strength": 1, "light": 1, "motion": 1, "size": 1, "acuity": 1, "clarity": 1,
    "noise": 0, "importance": 0}
"""Values at which factors have no effect, and are omitted."""

MOST_TASKS = 60
"""Rows of the table of tasks (count); with more tasks, those whose names differ by numbers share a row."""

JOINED = (add, add, max, max, max, max, max, add, add)
"""How the columns of two tasks of a kind are joined."""

MOST_TICKETS = 40
MOST_EVENTS = 60
NO_EVENTS = "no event has been sent since this section was shown"


def of_scheduler(scheduler: Any) -> str:
    """Return the table of task times, and how evenly tasks are spread over frames."""
    return f"{scheduler.get_stats_table()}\n\n{scheduler.get_phase_quality()['text']}"


def tasks_of(scheduler: Any) -> list[list[Any]]:
    """Return a row for each task, the one that takes most of a frame first; many tasks of a kind share a row.

    Returns:
        [name, number of tasks, µs a frame, mean µs a run, 95th percentile, largest, period in frames, largest lateness
        in frames, overruns, faults] of each; of several tasks the sum of the first time and of the counts, and the
        largest of the others.

    Cost: O(tasks).
    """
    rows = tree_statistics(scheduler.core)
    kinds: dict[str, list[Any]] = {}
    for row in rows:
        name = row["path"] if len(rows) <= MOST_TASKS else re.sub(r"\d+", "#", row["path"])
        period = row["period_frames"] or 1
        new = [name, 1, row["used_us_mean"] / period, row["used_us_mean"], row["used_us_p95"], row["used_us_max"],
               period, row["lateness_frames_max"], row["overruns"], row["faults"]]
        old = kinds.get(name)
        kinds[name] = new if old is None else [
            name, *(join(one, other) for join, one, other in zip(JOINED, old[1:], new[1:], strict=True))]
    return sorted(kinds.values(), key=lambda row: (-row[2], row[0]))[:MOST_TASKS]


def of_habits(character: Any) -> str:
    """Return the active and possible behaviors of a character, with reasons."""
    texts = [f"{name} {character.get_path_to(node)}\n{node.to_text()}"
             for name in DECIDING for node in _below(character, name)]
    return "\n\n".join(texts) or "no HabitTree, StateMachine or RuleMind below it"


def of_senses(character: Any) -> str:
    """Return the known targets of a character, with every factor of its sensations and awareness."""
    lines: list[str] = []
    for name in SENSING:
        for sensor in _below(character, name):
            known = sensor.get_known_targets()
            lines.append(f"{name} {character.get_path_to(sensor)}: knows {len(known)}")
            for one in known[:MOST_SOURCES]:        # the most important
                lines += _of_target(sensor, one)
            if len(known) > MOST_SOURCES:
                lines.append(f"  and {len(known) - MOST_SOURCES} others")
    return "\n".join(lines) or "no Sensor below it"


def of_events(scheduler: Any) -> str:
    """Return the recent events and their dispatch, the latest last."""
    events = events_under(scheduler)
    log = None if events is None else events.narrowcast.log
    if log is None:
        return "no AIEventManager under this scheduler"
    entries = log.entries()[-MOST_EVENTS:]
    return log.table(entries) if entries else NO_EVENTS


def of_paths(scheduler: Any) -> str:
    """Return the tickets of each path service: waiting, running, and the latest finished tickets."""
    texts = []
    for service in _below(scheduler.get_tree().get_root(), "PathService"):
        if nearest(service, "AIScheduler", SCHEDULERS).top == scheduler:
            counts = ", ".join(f"{name} {value}" for name, value in service.get_stats().items())
            tickets = [_of_ticket(request) for request in service.requests[-MOST_TICKETS:]]
            texts.append("\n".join([f"PathService {path_of(scheduler, service)}: {counts}", *tickets]))
    return "\n\n".join(texts) or "no PathService under this scheduler"


def characters_of(nodes: list[Any], wanted: str, most: int) -> list[str]:
    """Return the sorted paths of characters whose path contains ``wanted``.

    Args:
        nodes: nodes that are saved with a scheduler; characters are their actors, and the parents of sensors.
        wanted: substring of a path, case-insensitive.
        most: largest number of paths (count).
    """
    found = {str(one.get_path()): None for node in nodes if node.is_valid() for one in _characters(node)}
    return [path for path in sorted(found) if wanted.lower() in path.lower()][:most]


def character_at(scheduler: Any, wanted: str) -> Any:
    """Return the character at a path, or above it; None if there is none.

    Args:
        scheduler: an AIScheduler, among whose nodes an instance of a scene is searched.
        wanted: as for ``DebugWatch.choose``.

    Cost: O(nodes below the character); O(nodes of the scheduler) for an instance of a scene.
    """
    file, _, path = wanted.partition(IN_SCENE)
    if not path:
        return _or_above(scheduler.get_node_or_null(wanted))
    for node in scheduler.joined_nodes:
        above = node if node.is_valid() and any(map(node.is_class, DECIDING)) else None
        while above is not None:
            if above.scene_file_path == file and above.get_node_or_null(path) is not None:
                return _or_above(above.get_node(path))
            above = above.get_parent()
    return None


def _or_above(node: Any) -> Any:
    """Return the node, or the one nearest above it, that decides or senses; the node itself if none does."""
    above = node
    while above is not None and not any(_below(above, name) for name in (*DECIDING, *SENSING)):
        above = above.get_parent()
    return node if above is None or above.get_parent() is None else above


def _characters(node: Any) -> Iterator[Any]:
    if any(map(node.is_class, DECIDING)):
        actor = node.found_actor()
        if actor is not None:
            yield actor
    elif node.is_class("SenseManager"):
        yield from (sensor.get_parent() for sensor in node.sensor_nodes)


def _below(node: Any, class_name: str) -> list[Any]:
    return list(node.find_children("*", class_name, True, False))


def _of_target(sensor: Any, known: dict[str, Any]) -> list[str]:
    target, awareness = known["target"], known["awareness"]
    name = "(gone)" if target is None else str(target.get_parent().get_name())
    seen = "in view" if known["is_visible"] else f"{known['age_s']:.1f} s ago"
    lines = [
        f"  {name}: {seen}, at {_point(known['last_known_position'])}, strength {known['strength']:.2f} by"
        f" {known['modality']}, awareness {awareness:.2f}"]
    if target is None:
        return lines
    why = sensor.why(target)
    if not why:
        return lines
    lines.append(f"    {why['level_name']}, {why['rate_per_s']:+.2f} a second{_reaction(why['reacts_in_s'])}")
    for modality, factors in why["senses"].items():
        listed = ", ".join(f"{factor} {_plain(value)}" for factor, value in factors.items() if _says(factor, value))
        lines.append(f"    {modality}: {factors['verdict']}; {listed}")
    return lines


def _reaction(reacts_in_s: float) -> str:
    return f", next level in {reacts_in_s:.2f} s" if reacts_in_s >= 0 else ""


def _says(factor: str, value: Any) -> bool:
    return factor != "verdict" and value not in (-1, [], "") and value != NEUTRAL.get(factor)


def _point(place: Any) -> str:
    return "(" + ", ".join(f"{value:.1f}" for value in place) + ")"


def _plain(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _of_ticket(asked: PathRequest) -> str:
    start, goal = (", ".join(f"{value:.1f}" for value in end) for end in asked.ends.tolist())
    ticket = asked.ticket
    marks = [mark for mark, is_so in (("shared", ticket.is_shared), ("near", ticket.is_near)) if is_so]
    why = asked.why_not if asked.state in ("none", "failed", "refused") else ""
    return "  " + ", ".join([f"{asked.number} ({start}) to ({goal})", asked.state, *marks, *([why] if why else [])])


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
        probes: reports the habits or states of the chosen character for a chart; None reports them as text.
    """

    def __init__(self, scheduler: Any, probes: CharacterProbes | None = None) -> None:
        self.scheduler, self._probes = scheduler, probes
        self.section, self.character = SECTIONS[0], ""
        self._wanted = self._asked = ""
        self._characters: list[str] | None = None
        self._table = ""
        self._tasks: list[list[Any]] | None = None
        self._reported_frame = -1
        self._timeline = FrameTimeline(lambda: float(scheduler.budget))
        scheduler.trace.listen(self._timeline)

    def close(self) -> None:
        """Stop recording."""
        self.scheduler.trace.unlisten(self._timeline)
        self._log(False)
        if self._probes is not None:
            self._probes.look_at([], "")

    def choose(self, section: str, character: str, wanted: str, chart: str = "") -> None:
        """Set the contents of later reports.

        Args:
            section: one of SECTIONS.
            character: path from the root of the node whose habits and senses are described, or of a node below it, or
                "res://guard.tscn::Path/In/Scene" for the first instance of a scene; "" for none.
            wanted: substring of the paths of listed characters.
            chart: path of the HabitTree or StateMachine of the character that a chart shows; "" for the first.
        """
        node = character_at(self.scheduler, character) if character else None
        self.section, self._asked, self._wanted = section, character, wanted
        missing = "" if IN_SCENE in character else character
        self.character = missing if node is None else str(node.get_path())
        self._characters, self._table, self._tasks = None, "", None
        if self._probes is not None:
            is_seen = section == "habits" and node is not None
            self._probes.look_at([one for name in CHARTED for one in _below(node, name)] if is_seen else [], chart)

    def report(self) -> dict[str, Any]:
        """Return the frames since the last report, and the section as text, as plain data."""
        frames = self._timeline.since(self._reported_frame)
        if frames:
            self._reported_frame = frames[-1].frame
        return self._with(frames)

    def look(self) -> dict[str, Any]:
        """Return a report with all recorded frames; the next ``report`` is not affected."""
        self._characters, self._table, self._tasks = None, "", None
        return self._with(self._timeline.since(-1))

    def _with(self, frames: list[TimedFrame]) -> dict[str, Any]:
        self._log(self.section == "events")
        scheduler = self.scheduler
        if self._characters is None:
            self._characters = characters_of(scheduler.joined_nodes, self._wanted, MOST_CHARACTERS)
        return {
            "scheduler": str(scheduler.get_path()),
            "schedulers": [str(one.get_path()) for one in top_schedulers(scheduler)],
            "headline": self._headline(),
            "seconds": scheduler.clock.now.seconds,
            "frames": [_plain_frame(one) for one in frames],
            "characters": self._characters,
            "character": self.character,
            "asked": self._asked,
            "section": self.section,
            "text": self._text(),
            "tasks": self._task_rows(),
            "senses": self._senses(),
            "chart": {} if self._probes is None else self._probes.report(),
        }

    def _task_rows(self) -> list[list[Any]]:
        if self.section != "scheduler":
            return []
        if self._tasks is None:
            self._tasks = tasks_of(self.scheduler)
        return self._tasks

    def _senses(self) -> list[dict[str, Any]]:
        """Return reports of the sensors of the chosen character, while the section is visible."""
        if self.section != "senses" or not self.character:
            return []
        character = self.scheduler.get_node_or_null(self.character)
        return [] if character is None else senses_of(character)

    def _headline(self) -> str:
        scheduler = self.scheduler
        now, budget_us = scheduler.clock.now, scheduler.budget
        policy = Policy(scheduler.policy).name.lower().replace("_", " ")
        overruns = scheduler.core.overruns
        over = f"{overruns} overrun{'' if overruns == 1 else 's'}"
        share = f" of {budget_us:.0f} µs, {over}" if budget_us > 0 else " µs, no budget"
        used_us = scheduler.monitored_total("time_us")
        return f"{used_us:.0f}{share}; {now.seconds:.2f} s, frame {now.frame}, {policy}"

    def _text(self) -> str:
        if self.section == "scheduler":
            self._table = self._table or of_scheduler(self.scheduler)
            return self._table
        if self.section == "events":
            return of_events(self.scheduler)
        if self.section == "paths":
            return of_paths(self.scheduler)
        if not self.character:
            return f"the running game has no character {self._asked}" if self._asked else NO_CHARACTER
        character = self.scheduler.get_node_or_null(self.character)
        if character is None:
            return f"{self.character} is no longer in the tree"
        if self.section == "senses":
            return of_senses(character)
        return "" if self._probes is not None and self._probes.is_looking else of_habits(character)

    def _log(self, is_wanted: bool) -> None:
        events = events_under(self.scheduler)
        if events is not None and events.watched_entries != LOGGED_EVENTS * is_wanted:
            events.watched_entries = LOGGED_EVENTS * is_wanted
            events.apply_log()


def top_schedulers(node: GDObject) -> list[Any]:
    """Return the AIScheduler nodes that are not below another one, in tree order."""
    found = node.get_tree().get_nodes_in_group(SCHEDULERS)
    return [one for one in found if one.top == one]


def _plain_frame(frame: TimedFrame) -> dict[str, Any]:
    return {
        "frame": frame.frame, "budget_us": frame.budget_us, "used_us": frame.used_us, "left_out": frame.left_out,
        "overran": frame.overran, "runs": [list(run) for run in frame.runs],
    }
