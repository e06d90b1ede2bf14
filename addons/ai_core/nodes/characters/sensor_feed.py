"""SensorFeed: writes what a sensor knows of its most important target to a deciding node, as values and events."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import islice
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from addons.ai_core.bridge.gd import RefusedValue, position_of, report_error, report_exception
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_runner_loops import write_changed
from ai_core.scheduling.task import MAX_PRIORITY, Task, Turn
from ai_core.senses.percepts.memory import KnownTarget, SenseMemory
from ai_core.senses.percepts.perception import PerceptState


class TargetChoice(IntEnum):
    """How the most important of several targets is chosen."""

    MOST_AWARE = 0
    NEAREST = 1
    NEWEST = 2
    CUSTOM = 3


VALUES: dict[str, Any] = {
    "target": None, "target_position": None, "is_in_view": False, "awareness": 0.0, "awareness_level": 0,
    "last_known_position": None, "last_seen_position": None, "last_heard_position": None,
}
"""Values that a feed writes, with those for a sensor that knows no target."""

STATE_KEYS = ("target", "is_in_view", "awareness", "awareness_level")
UNWRITTEN = (ABSENT,) * len(STATE_KEYS)
AWARENESS_KEY, HEARD_KEY = ("awareness",), ("last_heard_position",)
PLACE_KEYS = ("target_position", "last_known_position", "last_seen_position")
"""Values that hold the position of a target in view."""

Places = dict[int, tuple[Any, Any]]
"""Position and character of targets in view, by id of the source: read once a frame for all sensors."""

CHANGING = (TargetChoice.MOST_AWARE, TargetChoice.NEAREST)
"""Choices whose result may change without an event."""

FEEDS_AT_ONCE = 8
"""Feeds updated between two queries of a budget of time (count): 20 µs, more if their targets change."""

CHOOSES_EVERY_FRAMES = 8
"""Frames from one such choice to the next, or one update of a feed with a longer period (count): a choice among
several targets costs ten times an update."""

NEARER = 0.9
"""Share of the distance of the present target below which another target is nearer (no unit); closer to 1, two
targets side by side would alternate."""


class Noise(NamedTuple):
    """A noise that sensors heard.

    Attributes:
        source_id: id of the source.
        source: its node; None if it has left.
        character: its character; None if it has none.
        place: where a character can walk to it, as an engine vector.
    """

    source_id: int
    source: Any
    character: Any
    place: Any


class SensorFeed:
    """Writes the values of ``VALUES`` and sends the events of a Sensor3D or Sensor2D to a deciding node.

    Targets that are not lost precede lost ones. Positions are those of the character if its source is below it, so
    that a habit can walk there; otherwise those of the source.

    Args:
        mind: the deciding node, a ``CharacterComponent``. It has ``target_choice``, ``choose_target(known)`` for a
            custom choice, ``known(key)``, ``feed_values(values)``, ``fed_blackboard`` and
            ``feed_event(name, payload)``.
        sensor: the sensor.
        feeds: the feeds of the same AIScheduler.

    Cost: while the sensor remembers a target, one update per period of the node; otherwise nothing.
    """

    def __init__(self, mind: Any, sensor: Any, feeds: SensorFeeds) -> None:
        self._mind, self.sensor, self.feeds = mind, sensor, feeds
        self.blackboard: Blackboard | None = mind.fed_blackboard
        self.phase = feeds.count              # feeds are updated, and choose, in different frames
        self.period = mind.period             # frames from one update to the next
        self.chosen = -1                      # id of the source, -1 for none; looked up again after loading
        self.written: PerceptState | None = None      # what the sensor knew of the target when it was written last
        self.place: Any = None                # the position in view that was written last
        self.has_choice = False               # there are several targets
        self._is_new, self._is_loaded = True, False      # not looked up yet; the values are those of a save
        self.known_at: tuple[float, ...] | None = None      # the remembered position that was written last (m)
        self.state: tuple[Any, ...] = UNWRITTEN      # values of STATE_KEYS that were written last
        self._is_noticed = False              # the target is not lost
        self._revision = -1                   # of the percepts by which the target was chosen last
        self._receivers: dict[str, Callable[..., None]] = {
            "target_gained": self._on_gained, "target_lost": self._on_lost, "target_forgotten": self._on_forgotten,
            "target_reported": self._on_reported, "awareness_changed": self._on_awareness_changed}
        mind.feed_values({key: value for key, value in VALUES.items() if mind.known(key) is ABSENT})
        sensor.connect("tree_exiting", self._reset)
        sensor.feeds.append(self)
        feeds.follow(self)

    def end(self) -> None:
        """Leave the sensor."""
        self.feeds.rest(self)
        if self.sensor.is_valid():
            self.sensor.disconnect("tree_exiting", self._reset)
            self.sensor.feeds.remove(self)

    def was_loaded(self) -> None:
        """Look up the target of the loaded values in the next frame."""
        self.chosen, self.written, self.place = -1, None, None
        self._is_new = self._is_loaded = True
        self.feeds.rest(self)       # which feeds the budget did not reach is not saved
        self.feeds.follow(self)

    def take_period(self, period: int) -> None:
        """Set the frames from one update to the next."""
        if period != self.period:
            is_followed = self.feeds.rest(self)
            self.period = period
            if is_followed:
                self.feeds.follow(self)

    def prefers_another(self, frame: int) -> bool:
        """Return whether another target has become the most important; False in frames in which it is not chosen."""
        update, every = (frame + self.phase) // self.period, max(1, CHOOSES_EVERY_FRAMES // self.period)
        return (update % every == 0 and self._mind.target_choice in CHANGING
                and self._first() != self.chosen)

    def take_awareness(self, state: PerceptState) -> bool:
        """Take in a state in which only the awareness has changed, for the caller to write; return False for others."""
        before = self.written
        if before is None or state[:2] != before[:2] or state[3] != before[3] or not (
                state[1] or state[4:] == before[4:]):
            return False
        character, is_in_view, _, level = self.state
        self.written, self.state = state, (character, is_in_view, state[2], level)
        return True

    def move(self, place: Any) -> None:
        """Write the position of the target in view."""
        self.place, self.known_at = place, None
        if self.blackboard is None:
            self._mind.feed_values(dict.fromkeys(PLACE_KEYS, place))
        else:
            write_changed([self.blackboard], PLACE_KEYS, [place])

    def choose(self, places: Places | None = None) -> None:
        """Choose the target, and write all values."""
        memory = self._memory()
        targets = [] if memory is None else memory.targets
        is_first, self._is_new, self.has_choice = self._is_new, False, len(targets) > 1
        self._revision = -1 if memory is None else memory.revision
        if self._is_loaded:
            self._find_loaded([] if memory is None else memory.known())
        best = None if memory is None or not targets else self._best(memory, targets)
        if best is None:
            self._reset()
            return
        if best.target != self.chosen:
            # The position of a target that was lost before is old: it must not replace one that a habit has cleared.
            known_at = None if best.is_noticed or is_first else best.last_known_position
            self.chosen, self.known_at, self.place, self.state = best.target, known_at, None, UNWRITTEN
            self.written = None
        self._update({} if places is None else places)
        self.feeds.follow(self)

    def _update(self, places: Places) -> None:
        """Write the present knowledge of the chosen target."""
        state = self.sensor.sense_manager.core.states_of([(self.sensor.sensor_id, self.chosen)])[0]
        if state is not None:
            self.write(state, places)

    def _find_loaded(self, known: list[KnownTarget]) -> None:
        """Take the target of the loaded values as the present one; values that a script has changed stay."""
        self._is_loaded = False
        target = self._mind.known("target")
        for one in known:
            if target is not None and self.sensor.sense_manager.character_of(one.target) == target:
                self.chosen, self.known_at = one.target, one.last_known_position

    def _reset(self) -> None:
        """Write the values of a sensor that knows no target."""
        self.feeds.rest(self)
        had_target, self.chosen, self.known_at, self.place = self.chosen >= 0, -1, None, None
        self.written, self.state, self._is_noticed = None, UNWRITTEN, False
        if had_target and self._mind.is_valid():
            self._mind.feed_values(VALUES)

    def _memory(self) -> SenseMemory | None:
        manager = self.sensor.sense_manager if self.sensor.is_valid() else None
        return None if manager is None else manager.core.memory_of(self.sensor.sensor_id)

    def _best(self, memory: SenseMemory, targets: list[int]) -> KnownTarget | None:
        """Return the most important target; of equal ones the present one, then that of the smallest id."""
        if len(targets) == 1 and self._mind.target_choice != TargetChoice.CUSTOM:
            return memory.find(targets[0])
        if self._mind.target_choice in CHANGING:
            return memory.find(self._first())
        known = memory.known()
        noticed = [one for one in known if one.is_noticed] or known
        if self._mind.target_choice == TargetChoice.CUSTOM:
            try:
                return self._custom(noticed)
            except RefusedValue as refused:      # the other feeds are still updated
                report_error(str(refused), self._mind)
            except Exception as error:
                report_exception(error, "its custom target choice", self._mind)
            return None
        return max(noticed, key=lambda one: (one.first_sensed_s, one.target == self.chosen, -one.target))

    def _first(self) -> int:
        """Return the target of which the sensor is most aware, or the nearest; targets that are not lost precede."""
        manager = self.sensor.sense_manager
        here = manager.place_of(self.sensor) if self._mind.target_choice == TargetChoice.NEAREST else None
        found: int = manager.core.first_target(self.sensor.sensor_id, present=self.chosen, here=here, nearer=NEARER)
        return found

    def _custom(self, known: list[KnownTarget]) -> KnownTarget | None:
        """Return the target that the node's own method or Callable chooses, None for none."""
        manager = self.sensor.sense_manager
        by_source = {node.instance_id: one for one in known if (node := manager.source_node(one.target)) is not None}
        described = [
            one for one in self.sensor.get_known_targets()
            if one["target"] is not None and one["target"].instance_id in by_source]
        if not described:
            return None
        chosen = self._mind.choose_target(described)
        if chosen is None:
            return None
        if not any(one is chosen or one == chosen for one in described):
            raise RefusedValue(
                f"the custom target choice returned {chosen!r}; return a Dictionary of its argument, or null")
        return by_source[chosen["target"].instance_id]

    def write(self, state: PerceptState, places: Places) -> None:
        """Write the values that differ from those written last.

        Args:
            state: what the sensor knows of its target.
            places: of this frame; the feed adds its target if it is missing.
        """
        is_noticed, is_in_view, awareness, level, *known_at = self.written = state
        target, place, character, before = self.chosen, None, None, self.state
        if is_in_view:
            place, character = self.seen(places)
            is_in_view = place is not None
        elif is_noticed:
            character = before[0] if before is not UNWRITTEN else None
            if character is None or self.sensor.sense_manager.source_node(target) is None:
                character = self.sensor.sense_manager.character_of(target)
        if not (awareness == before[2] and is_in_view is before[1] and level == before[3] and character is before[0]):
            self._write_state((character, is_in_view, awareness, level))
        if is_in_view:
            if place != self.place:
                self.move(place)
        elif self.known_at != tuple(known_at):
            self._write_known(tuple(known_at), is_noticed=is_noticed)
        if is_noticed is not self._is_noticed:
            self._is_noticed = is_noticed
            if not is_noticed:
                self._mind.feed_values({"target_position": None})

    def _write_state(self, state: tuple[Any, ...]) -> None:
        """Write those of the values of ``STATE_KEYS`` that have changed."""
        before, self.state = self.state, state
        self._mind.feed_values({
            key: value for key, value, old in zip(STATE_KEYS, state, before, strict=True) if value is not old})

    def seen(self, places: Places) -> tuple[Any, Any]:
        """Return the position and the character of the target in view; (None, None) if its source has left."""
        found = places.get(self.chosen)
        if found is None:
            source = self.sensor.sense_manager.source_node(self.chosen)
            found = places[self.chosen] = (None, None) if source is None else (
                position_of(source.walker), source.character_node)
        return found

    def _write_known(self, known_at: tuple[float, ...], *, is_noticed: bool) -> None:
        """Write the remembered positions of a target that is not in view."""
        manager, self.place, self.known_at = self.sensor.sense_manager, None, known_at
        source, one = manager.source_node(self.chosen), self._memory().find(self.chosen)
        place = _walkable(manager.point(known_at), source)
        self._mind.feed_values({"last_known_position": place})
        if is_noticed:
            self._mind.feed_values({"target_position": place})
        if one is not None and one.last_seen_position is not None:
            seen_at = _walkable(manager.point(one.last_seen_position), source)
            self._mind.feed_values({"last_seen_position": seen_at})

    def receive(self, name: str, *what: Any) -> None:
        """Take in a change that the sensor emits as a signal of this name; an error ends only this call."""
        receive = self._receivers.get(name)
        if receive is None:
            return
        try:
            receive(*what)
        except Exception as error:
            report_exception(error, f"{name} of its sensor", self._mind)

    def _on_gained(self, source: Any, character: Any) -> None:
        self._announce("target_gained", source, character)

    def _on_lost(self, source: Any, last_known_position: Any, character: Any) -> None:
        self._announce("target_lost", source, character, position=_walkable(last_known_position, source))

    def _on_forgotten(self, source: Any, character: Any) -> None:
        self._announce("target_forgotten", source, character)

    def _on_reported(self, source: Any, character: Any) -> None:
        """Write the reported position, also of a target that the sensor does not notice, and send the event."""
        self.choose()
        memory = self._memory()
        one = None if memory is None else memory.find(source.source_id)
        if one is None:
            return
        if one.target == self.chosen and not self.state[1]:
            self.known_at = None
            self._update({})
        place = _walkable(self.sensor.sense_manager.point(one.last_known_position), source)
        self._send("target_reported", source, character, position=place)

    def _on_awareness_changed(self, source: Any, level: int, level_name: str, character: Any) -> None:
        self._announce("awareness_changed", source, character, level=level, level_name=level_name)

    def noise_of(self, source_id: int, place: Sequence[float]) -> Noise:
        """Return a noise as feeds of sensors in the same space receive it."""
        source, point = self.sensor.sense_manager.source_node(source_id), self.sensor.sense_manager.point(place)
        character = None if source is None else source.character_node
        return Noise(source_id, source, character, _walkable(point, source))

    def hear(self, noise: Noise, strength: float) -> None:
        """Write the position of a noise, and send the event "heard".

        A noise alone makes no other target the most important, except in the custom choice.
        """
        if not self._mind.is_valid():
            return
        if self.blackboard is None:
            self._mind.feed_values({"last_heard_position": noise.place})
        else:
            write_changed([self.blackboard], HEARD_KEY, [noise.place])
        if self.chosen < 0 or self._mind.target_choice == TargetChoice.CUSTOM:
            self.choose()
        elif noise.source_id == self.chosen and not self.state[1]:
            self.known_at = None          # a noise at the same place is news
            self._update({})
        self._send("heard", noise.source, noise.character, position=noise.place, strength=float(strength))

    def _announce(self, name: str, source: Any, character: Any, **more: Any) -> None:
        """Choose the target, write all values, then send an event; of the events of one pass, the first chooses."""
        memory = self._memory()
        if memory is None or memory.revision != self._revision:
            self.choose()
        self._send(name, source, character, **more)

    def _send(self, name: str, source: Any, character: Any, *, position: Any = ABSENT, **more: Any) -> None:
        """Send an event; its payload has the target as in the signals of the sensor."""
        if self._mind.is_valid():
            if position is ABSENT:
                position = self._mind.known("last_known_position")
            self._mind.feed_event(name, {"target": source, "character": character, "position": position, **more})


def _walkable(place: Any, source: Any) -> Any:
    """Return the position of the character for a position of its source."""
    if source is None or source.walker is source:
        return place
    return place + (position_of(source.walker) - position_of(source))


class SensorFeeds:
    """The feeds of all nodes under one AIScheduler, and the task that updates them.

    Attributes:
        task: the task.
        count: number of feeds.

    Cost: per frame O(feeds whose sensors remember a target), 2 µs for each that is updated; within the budget, those
    that it does not reach come first in the next frame.
    """

    def __init__(self, scheduler: Any) -> None:
        # By period and phase, so that a frame visits only due feeds; then by id(), in the order of their beginning.
        self._following: dict[tuple[int, int], dict[int, SensorFeed]] = {}
        self._due: dict[int, SensorFeed] = {}       # those that the budget has not reached yet, the oldest first
        self._scheduler, self.count = scheduler, 0
        self.task: Task = scheduler.schedule(self, name="sensor feeds", phase_frames=0)

    def __call__(self, turn: Turn) -> None:
        due, frame, budget = self._due, turn.now.frame, turn.budget
        weight = float(min(max(self.count, 1), MAX_PRIORITY))
        if self.task.priority != weight:        # a share of the budget for each feed, as for each sensor
            self._scheduler.change_priority(self.task, weight)
        for (period, phase), of in self._following.items():
            if (frame + phase) % period == 0:
                due.update(of)
        at_once, places = len(due) if budget.is_unlimited else FEEDS_AT_ONCE, {}
        while due:
            self._update([due.pop(one) for one in [*islice(due, at_once)]], frame, places)
            if budget.is_spent:
                return

    def _update(self, due: list[SensorFeed], frame: int, places: dict[int, Places]) -> None:
        managers: dict[int, tuple[Any, list[SensorFeed]]] = {}
        last, feeds = self, due
        for feed in due:
            manager = feed.sensor.sense_manager
            if manager is not last:
                last, (_, feeds) = manager, managers.setdefault(id(manager), (manager, []))
            feeds.append(feed)
        for number, (manager, feeds) in managers.items():
            if manager is None or not manager.is_sensing:
                for feed in feeds:
                    self.rest(feed)
            else:
                self._update_of(manager, feeds, frame, places.setdefault(number, {}))

    def _update_of(self, manager: Any, feeds: list[SensorFeed], frame: int, places: Places) -> None:
        """Update feeds of sensors of one SenseManager; for most only the awareness or the place in view changes."""
        states = manager.core.states_of(
            [(one.sensor.sensor_id, one.chosen) for one in feeds], before=[one.written for one in feeds])
        boards: list[Blackboard] = []
        aware: list[Blackboard] = []
        moved, awareness = [], []
        for feed, state in zip(feeds, states, strict=True):
            if state is None or (feed.has_choice and feed.prefers_another(frame)):
                feed.choose(places)
                continue
            if state is not feed.written:
                if feed.blackboard is None or not feed.take_awareness(state):
                    feed.write(state, places)
                    continue
                aware.append(feed.blackboard)
                awareness.append(state[2])
            if state[1]:
                place, character = places.get(feed.chosen) or feed.seen(places)
                if character is not feed.state[0]:
                    feed.write(state, places)
                elif place == feed.place:
                    continue
                elif feed.blackboard is None:
                    feed.move(place)
                else:
                    feed.place, feed.known_at = place, None
                    boards.append(feed.blackboard)
                    moved.append(place)
        write_changed(aware, AWARENESS_KEY, awareness)
        write_changed(boards, PLACE_KEYS, moved)

    def follow(self, feed: SensorFeed) -> None:
        """Update a feed once in each of its periods."""
        self._following.setdefault((feed.period, feed.phase % feed.period), {})[id(feed)] = feed

    def rest(self, feed: SensorFeed) -> bool:
        """Do not update a feed until its next event; return whether it was updated until now."""
        self._due.pop(id(feed), None)
        key = feed.period, feed.phase % feed.period
        of = self._following.get(key, {})
        was_followed = of.pop(id(feed), None) is not None
        if was_followed and not of:
            del self._following[key]
        return was_followed


_of_schedulers: WeakKeyDictionary[Any, SensorFeeds] = WeakKeyDictionary()


def begin_feed(mind: Any, sensor: Any, scheduler: Any) -> SensorFeed:
    """Return a new feed from a sensor to a deciding node; ``end_feed`` ends it."""
    feeds = _of_schedulers.get(scheduler)
    if feeds is None or feeds.task.is_removed:
        feeds = _of_schedulers[scheduler] = SensorFeeds(scheduler)
    feeds.count += 1
    return SensorFeed(mind, sensor, feeds)


def end_feed(feed: SensorFeed, scheduler: Any) -> None:
    """End a feed; the last one under an AIScheduler ends the task as well."""
    feed.end()
    feeds = feed.feeds
    feeds.count -= 1
    if feeds.count == 0 and scheduler.is_valid():
        scheduler.unschedule(feeds.task)
