"""SensorFeed: writes what a sensor knows of its most important target to a deciding node, as values and events."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import RefusedValue, position_of, report_error, report_exception
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from ai_core.decisions.habits.habit_runner_loops import notify_each, write_changed
from ai_core.scheduling.task import MAX_PRIORITY, Task, Turn
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.percepts.percept_loops import KnownTarget, WatchedTarget


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

STATE_KEYS = ("target", "is_in_view", "awareness_level")
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
        place: where a character can walk to it, as an engine vector.
        payload: payload of the event "heard", without the strength.
    """

    source_id: int
    place: Any
    payload: dict[str, Any]


class SensorFeed(WatchedTarget):
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

    # Not set in a constructor: most sensors of new characters know no target.
    group: FeedGroup | None = None            # while it is updated
    _is_loaded = False                        # the values are those of a save
    _written: tuple[Any, ...] = UNWRITTEN     # values of STATE_KEYS that were written last
    _was_noticed = False                      # when the target was written last
    _revision = -1                            # of the percepts by which the target was chosen last

    def __init__(self, mind: Any, sensor: Any, feeds: SensorFeeds) -> None:
        super().__init__()
        self._mind, self.sensor, self.feeds = mind, sensor, feeds
        self.reader = board = mind.fed_blackboard
        self.phase = feeds.count              # feeds are updated, and choose, in different frames
        self.period = 0
        self.take_period(mind.period)
        self.take_choice()
        memory = self._memory()
        self._is_first = memory is None or bool(memory.targets)       # not looked up yet
        if board is None:
            mind.feed_values({key: value for key, value in VALUES.items() if mind.known(key) is ABSENT})
        else:
            board.update(board.missing_of(VALUES))
        sensor.feeds.append(self)
        if self._is_first:
            feeds.follow(self)

    def end(self) -> None:
        """Leave the sensor, which may forget the target unseen: the values are reset."""
        self.reset()
        if self.sensor.is_valid():
            self.sensor.feeds.remove(self)

    def was_loaded(self) -> None:
        """Look up the target of the loaded values in the next frame."""
        self.forget()
        self.place = None
        self._revision, self._written, self._was_noticed = -1, UNWRITTEN, False
        self._is_first = self._is_loaded = True
        self.feeds.rest(self)       # which feeds the budget did not reach is not saved
        self.feeds.follow(self)

    def take_period(self, period: int) -> None:
        """Set the frames from one update to the next."""
        if period == self.period:
            return
        is_followed = self.feeds.rest(self)
        self.period, self.chooses_every = period, max(1, CHOOSES_EVERY_FRAMES // period)
        if is_followed:
            self.feeds.follow(self)

    def take_choice(self) -> None:
        """Choose the target in another way from the next turn on."""
        self.by_awareness = self._mind.target_choice == TargetChoice.MOST_AWARE
        self.is_custom = self._mind.target_choice == TargetChoice.CUSTOM

    def take_change(self, places: Places) -> None:
        """Write what has changed; in its turn, or if the target is forgotten, choose another."""
        if self.group is None:
            return              # it ended while it waited for the budget
        if not self.is_known or (self.has_choice and self._mind.target_choice in CHANGING
                                 and self._first() != self.target):
            self.choose(places)
        else:
            self.write(places)

    def choose(self, places: Places | None = None) -> None:
        """Choose the target, and write all values."""
        memory = self._memory()
        targets = [] if memory is None else memory.targets
        is_first, self._is_first, self.has_choice = self._is_first, False, len(targets) > 1
        self._revision = -1 if memory is None else memory.revision
        if self._is_loaded:
            self._find_loaded([] if memory is None else memory.known())
        best = None if memory is None or not targets else self._best(memory, targets)
        if best is None or self._memory() is not memory:      # the custom choice may have freed the manager
            self.reset()
            return
        if best.target != self.target:
            # The position of a target that was lost before is old: it must not replace one that a habit has cleared.
            known_at = None if best.is_noticed or is_first else best.last_known_position
            self.target, self.known_at, self.place, self._written = best.target, known_at, None, UNWRITTEN
        self._is_loaded = False
        self.feeds.follow(self)
        self._look_again([self], {} if places is None else places)

    @staticmethod
    def _look_again(feeds: Sequence[SensorFeed], places: Places) -> None:
        """Write what sensors of one SenseManager know now of the targets of their feeds."""
        for feed in feeds:
            feed.is_new, feed.sensor_id = True, feed.sensor.sensor_id
        if feeds:
            feeds[0].sensor.sense_manager.core.update_watched(feeds, places, SensorFeed.seen)
        for feed in feeds:
            if feed.is_known and feed.is_present:
                feed.write(places)

    def _find_loaded(self, known: list[KnownTarget]) -> None:
        """Take the target of the loaded values as the present one; values that a script has changed stay."""
        target = self._mind.known("target")
        for one in known:
            if target is not None and self.sensor.sense_manager.character_of(one.target) == target:
                self.target, self.known_at = one.target, one.last_known_position

    def reset(self) -> None:
        """Write the values of a sensor that knows no target, until its next event."""
        self.feeds.rest(self)
        had_target, was_loaded = self.target >= 0, self._is_loaded
        self.forget()
        self.known_at, self.place, self._is_loaded = None, None, False
        self._written, self._was_noticed, self._revision = UNWRITTEN, False, -1
        if self._mind.is_valid() and (had_target or (was_loaded and self._mind.known("target") is not None)):
            self._mind.feed_values(VALUES)

    @property
    def _is_seen(self) -> bool:
        return self._written[1] is True

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
        return max(noticed, key=lambda one: (one.first_sensed_s, one.target == self.target, -one.target))

    def _first(self) -> int:
        """Return the target of which the sensor is most aware, or the nearest; targets that are not lost precede."""
        manager = self.sensor.sense_manager
        here = manager.place_of(self.sensor) if self._mind.target_choice == TargetChoice.NEAREST else None
        found: int = manager.core.first_target(self.sensor.sensor_id, present=self.target, here=here, nearer=NEARER)
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

    def write(self, places: Places) -> None:
        """Write the values that differ from those written last.

        Args:
            places: of this frame; the feed adds its target if it is missing.
        """
        before, place, character = self._written, None, None
        if self.is_in_view:
            place, character = places.get(self.target) or self.seen(self)
            if not self.is_placed and place is not None:
                place = self._walkable(self.sensor.sense_manager.point((self.x, self.y, self.z)))
        elif self.is_noticed:
            character = before[0]
            if character is ABSENT or character is None or self.sensor.sense_manager.source_node(self.target) is None:
                character = self.sensor.sense_manager.character_of(self.target)
        self.character = character
        self._written = after = character, place is not None, self.level
        values = {
            key: value for key, value, old in zip(STATE_KEYS, after, before, strict=True) if value is not old}
        values["awareness"] = self.awareness
        known_at = self.x, self.y, self.z
        if place is not None:
            if place != self.place:
                self.place, self.known_at = place, None
                values.update(dict.fromkeys(PLACE_KEYS, place))
        elif self.known_at != known_at:
            self.place, self.known_at = None, known_at
            values.update(self._remembered(known_at))
        if self.is_noticed is not self._was_noticed:
            self._was_noticed = self.is_noticed
            if not self.is_noticed:
                values["target_position"] = None
        self._mind.feed_values(values)

    @staticmethod
    def seen(feed: SensorFeed) -> tuple[Any, Any]:
        """Return the position and the character of the target of a feed; (None, None) if its source has left."""
        source = feed.sensor.sense_manager.source_node(feed.target)
        return (None, None) if source is None else (position_of(source.walker), source.character_node)

    def _remembered(self, known_at: tuple[float, ...]) -> dict[str, Any]:
        """Return the remembered positions of a target that is not in view."""
        manager, seen_at = self.sensor.sense_manager, self.row.last_seen_position
        place = self._walkable(manager.point(known_at))
        values = {"last_known_position": place}
        if self.is_noticed:
            values["target_position"] = place
        if seen_at is not None:
            values["last_seen_position"] = self._walkable(manager.point(seen_at))
        return values

    def _walkable(self, place: Any) -> Any:
        """Return the position of the character of the target for one of its source."""
        return _walkable(place, self.sensor.sense_manager.source_node(self.target))

    def receive(self, name: str, *what: Any) -> None:
        """Take in a change that the sensor emits as a signal of this name; an error ends only this call."""
        receive = RECEIVERS.get(name)
        if receive is None:
            return
        try:
            receive(self, *what)
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
        one = None if memory is None or source is None else memory.find(source.source_id)
        if one is None:
            return
        if one.target == self.target and not self._is_seen:
            self.known_at = None
            self._look_again([self], {})
        place = _walkable(self.sensor.sense_manager.point(one.last_known_position), source)
        self._send("target_reported", source, character, position=place)

    def _on_awareness_changed(self, source: Any, level: int, level_name: str, character: Any) -> None:
        self._announce("awareness_changed", source, character, level=level, level_name=level_name)

    def noise_of(self, source_id: int, place: Sequence[float]) -> Noise:
        """Return a noise as feeds of sensors in the same space receive it."""
        source, point = self.sensor.sense_manager.source_node(source_id), self.sensor.sense_manager.point(place)
        character, walkable = None if source is None else source.character_node, _walkable(point, source)
        return Noise(source_id, walkable, {"target": source, "character": character, "position": walkable})

    @staticmethod
    def hear(feeds: list[SensorFeed], noises: list[Noise], strengths: list[float]) -> None:
        """Write the position of a noise for each of the feeds, and what else is news, then send the event "heard".

        A noise alone makes no other target the most important, except in the custom choice.

        Args:
            feeds: of sensors of one SenseManager.
            noises: what each of them heard.
            strengths: how loud.

        Cost: 1 to 2 µs each, if only the position is news.
        """
        write_changed([feed.reader for feed in feeds], HEARD_KEY, [noise.place for noise in noises])
        news: list[SensorFeed] = []
        trees: list[Any] = []
        payloads: list[dict[str, Any]] = []
        for feed, noise in zip(feeds, noises, strict=True):
            if feed.reader is None and feed.is_present:
                feed._mind.feed_values({HEARD_KEY[0]: noise.place})
            if feed.target < 0 or feed.is_custom:
                if feed.is_present:
                    feed.choose()
            elif noise.source_id == feed.target and not feed.is_in_view:
                feed.known_at = None          # a noise at the same place is news
                news.append(feed)
        SensorFeed._look_again([feed for feed in news if feed.is_present], {})
        for feed, noise, strength in zip(feeds, noises, strengths, strict=True):
            payload = {**noise.payload, "strength": strength}
            if feed.reader is not None:
                trees.append(feed._mind.core)
                payloads.append(payload)
            elif feed.is_present:
                feed._mind.feed_event("heard", payload)
        notify_each(trees, "heard", payloads)

    @property
    def is_present(self) -> bool:
        """Whether sensor and node are still in the scene: a callback for another feed may have ended this one."""
        return self in self.sensor.feeds and self.sensor.sense_manager is not None

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


RECEIVERS: dict[str, Callable[..., None]] = {
    "target_gained": SensorFeed._on_gained, "target_lost": SensorFeed._on_lost,
    "target_forgotten": SensorFeed._on_forgotten, "target_reported": SensorFeed._on_reported,
    "awareness_changed": SensorFeed._on_awareness_changed}
"""What takes in the change that a sensor emits as the signal of a name."""


def _walkable(place: Any, source: Any) -> Any:
    """Return the position of the character for a position of its source."""
    offset = _offset_of_walker(source)
    return place if offset is None else place + offset


def _offset_of_walker(source: Any) -> Any:
    """Return the position of the character minus that of its source; None if they are one, or the source has left."""
    walker = None if source is None else source.walker
    return None if walker is None or walker is source else position_of(walker) - position_of(source)


class FeedGroup(NamedTuple):
    """Feeds of sensors of one SenseManager that are updated in the same frames.

    Attributes:
        manager: the SenseManager.
        period: frames from one update to the next.
        phase: frames by which the updates are shifted.
        feeds: the feeds by id(), in the order of their beginning.
    """

    manager: Any
    period: int
    phase: int
    feeds: dict[int, SensorFeed]


class SensorFeeds:
    """The feeds of all nodes under one AIScheduler, and the task that updates them.

    Attributes:
        task: the task.
        count: number of feeds.

    Cost: per frame O(feeds whose sensors remember a target), 2 to 3 µs at 60 frames a second for each that is updated;
    within the budget, those that it does not reach come first in the next frame.
    """

    def __init__(self, scheduler: Any) -> None:
        self._groups: dict[tuple[int, int, int], FeedGroup] = {}      # so that a frame visits only due feeds
        self._due: deque[tuple[FeedGroup, list[SensorFeed]]] = deque()      # those that the budget has not reached yet
        self._scheduler, self.count = scheduler, 0
        self.task: Task = scheduler.schedule(self, name="sensor feeds", phase_frames=0)

    def __call__(self, turn: Turn) -> None:
        due, frame, budget = self._due, turn.now.frame, turn.budget
        weight = float(min(max(self.count, 1), MAX_PRIORITY))
        if self.task.priority != weight:        # a share of the budget for each feed, as for each sensor
            self._scheduler.change_priority(self.task, weight)
        waiting = {id(feed) for _, feeds in due for feed in feeds}
        for group in self._groups.values():
            if (frame + group.phase) % group.period == 0:
                feeds = group.feeds
                due.append((group, [feeds[one] for one in feeds if one not in waiting] if waiting
                            else [*feeds.values()]))
        places: dict[int, Places] = {}
        while due:
            group, feeds = due.popleft()
            if not budget.is_unlimited and len(feeds) > FEEDS_AT_ONCE:
                due.appendleft((group, feeds[FEEDS_AT_ONCE:]))
                feeds = feeds[:FEEDS_AT_ONCE]
            self._update(group.manager, feeds, places.setdefault(id(group.manager), {}))
            if budget.is_spent:
                return

    def _update(self, manager: Any, feeds: list[SensorFeed], places: Places) -> None:
        """Update feeds of sensors of one SenseManager; for most only the awareness or the place in view changes."""
        if not manager.is_sensing:
            for feed in feeds:
                self.rest(feed)
            return
        changed, aware, awareness, moved, moved_to = manager.core.update_watched(feeds, places, SensorFeed.seen)
        for feed in changed:
            feed.take_change(places)
        write_changed(aware, AWARENESS_KEY, awareness)
        write_changed(moved, PLACE_KEYS, moved_to)

    def follow(self, feed: SensorFeed) -> None:
        """Update a feed once in each of its periods, while its sensor belongs to a SenseManager."""
        manager = feed.sensor.sense_manager
        if feed.group is None and manager is not None:
            key = id(manager), feed.period, feed.phase % feed.period
            feed.group = self._groups.setdefault(key, FeedGroup(manager, *key[1:], {}))
            feed.group.feeds[id(feed)] = feed

    def rest(self, feed: SensorFeed) -> bool:
        """Do not update a feed until its next event; return whether it was updated until now."""
        group, feed.group = feed.group, None
        if group is None:
            return False
        del group.feeds[id(feed)]
        if not group.feeds:
            del self._groups[id(group.manager), group.period, group.phase]
        return True


def begin_feed(mind: Any, sensor: Any, scheduler: Any) -> SensorFeed:
    """Return a new feed from a sensor to a deciding node; ``end_feed`` ends it."""
    feeds = scheduler.shared.get(SensorFeeds)
    if feeds is None or feeds.task.is_removed:
        feeds = scheduler.shared[SensorFeeds] = SensorFeeds(scheduler)
    feeds.count += 1
    return SensorFeed(mind, sensor, feeds)


def end_feed(feed: SensorFeed, scheduler: Any) -> None:
    """End a feed; the last one under an AIScheduler ends the task as well."""
    feed.end()
    feeds = feed.feeds
    feeds.count -= 1
    if feeds.count == 0 and scheduler.is_valid():
        scheduler.unschedule(feeds.task)
