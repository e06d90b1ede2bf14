"""The polling station: computes the answer to a query once, and caches it for all callers."""
from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.errors import CycleError, UnknownNameError, check_kind, checked_name, finite_number, shown, whole_number
from ai_core.events.event_log import EventLog, sender_name
from ai_core.faults import FAILURES_STATE, Failures, FaultIsolation, given_faults
from ai_core.saving.declared_state import ClockNow, DeclaredState, Saveable
from ai_core.saving.fields import LeftOutError, StateError, refuse
from ai_core.saving.kinds import Flag, GameValue, ListOf, MapOf, Moment, Named, Record, Row, Whole
from ai_core.saving.values import SavedValues

__all__ = ["MAXIMUM_KEYS", "Answer", "PollingStation", "TopicStatistics"]

SHORTEST_LIFETIME_S = 1e-6
"""Shortest lifetime in seconds (s); a frame is never shorter, so lifetime_frames=1 is equivalent."""
TOLERANCE_S = 1e-9
"""An answer this close to the end of its lifetime is old (s).

Game time is a sum of floats: without it 0.5 s is sometimes a frame longer.
"""
MAXIMUM_KEYS = 1024
"""Default number of answers cached per topic (count).

32 characters polling about each other fill it; an answer takes about 250 bytes.
A smaller number computes answers again, a larger one keeps answers that are not polled.
"""
EXPIRED = -math.inf
"""End of freshness of an answer that was invalidated."""
FIRST_KEYS = 16
"""Answers computed in one call under a budget of time while their cost is unknown (count).

A larger number can overrun the budget further; a smaller number slows the first batches.
"""
MOST_KEYS = 1 << 40
"""Number of keys that stands for no limit (count)."""

Key = tuple[Hashable, ...]
"""The arguments of a query, which are those of the topic's callable."""
Cached = tuple[Any, TimeIndex, float]
"""An answer, the time of its computation, and the frame or second at which it is old."""


class _NoFallback:
    def __repr__(self) -> str:
        return "NO_FALLBACK"


NO_FALLBACK = _NoFallback()
"""Stands for "no fallback", because None is a valid fallback."""


class AnswerBudget:
    """The allowance of a frame: what is left of a budget, which is not charged; only computing uses up its time."""

    __slots__ = ("left", "stopwatch")

    def __init__(self, budget: Budget) -> None:
        self.left = budget.left
        self.stopwatch = budget.stopwatch

    def fitting(self, topic: Topic) -> int:
        """Return how many answers of a topic may be computed now; 0 if the allowance is used up."""
        if self.left <= 0:
            return 0
        if self.left == math.inf:
            return MOST_KEYS
        if self.stopwatch is None:
            return int(self.left)
        if topic.key_us is None:
            return FIRST_KEYS
        return max(1, int(self.left / max(topic.key_us, 0.001)))

    def computed(self, topic: Topic, keys: Sequence[Key]) -> Sequence[Any]:
        """Compute the answers and charge the allowance, also after a failure."""
        watch = self.stopwatch
        began_ns = watch() if watch is not None else 0
        try:
            return topic.computed(keys)
        finally:
            if watch is None:
                self.left -= len(keys)
            else:
                used_us = (watch() - began_ns) / 1000
                self.left -= used_us
                topic.key_us = used_us / len(keys)


class Topic:
    """The computation of answers, and their cache; see ``PollingStation.add_topic``."""

    __slots__ = (
        "_crowded_frame", "axis", "cached", "code", "computations", "compute", "compute_many", "failures", "fallback",
        "hits", "invalidations", "key_us", "lifetime", "max_keys", "misses", "stale", "waiting")

    def __init__(
        self, code: str, compute: Callable[..., Any] | None, *,
        compute_many: Callable[[list[Key]], Iterable[Any]] | None, lifetime_frames: int | None,
        lifetime_s: float | None, max_keys: int, fallback: object,
    ) -> None:
        checked_name("a topic's code", code)
        if not callable(compute) and (compute is not None or compute_many is None):
            raise TypeError(f"compute must be callable, got {shown(compute)}")
        if compute_many is not None and not callable(compute_many):
            raise TypeError(f"compute_many must be callable or None, got {shown(compute_many)}")
        self.axis, self.lifetime = _checked_lifetime(lifetime_frames, lifetime_s)
        self.max_keys = whole_number(
            "max_keys", max_keys, minimum=1, remedy="use lifetime_frames=0 to keep none")
        self.code, self.compute, self.compute_many, self.fallback = code, compute, compute_many, fallback
        self.cached: dict[Key, Cached] = {}  # the oldest first
        self.key_us: float | None = None  # time that the last answer took
        self._crowded_frame: int | None = None  # in which all cached answers were computed
        self.hits = self.misses = self.computations = self.failures = self.invalidations = 0
        self.stale = self.waiting = 0

    @property
    def has_fallback(self) -> bool:
        """True if a failure is reported instead of raised."""
        return self.fallback is not NO_FALLBACK

    def fresh(self, key: Key, now: TimeIndex) -> Cached | None:
        """Return the cached answer for a key if it is fresh; after loading, time may have moved back."""
        found = self.cached.get(key)
        return found if found is not None and now[self.axis] < found[2] and found[1][0] <= now[0] else None

    def computed(self, keys: Sequence[Key]) -> Sequence[Any]:
        """Compute an answer for each key, in one call if the topic has ``compute_many``."""
        if self.compute is not None and (len(keys) == 1 or self.compute_many is None):
            return [self.compute(*key) for key in keys]
        assert self.compute_many is not None
        found = self.compute_many([*keys])
        if not isinstance(found, Iterable):
            raise TypeError(
                f"compute_many of topic {self.code!r} must return an answer for each key, got {shown(found)}")
        answers = found.tolist() if isinstance(found, np.ndarray) else [*found]
        if len(answers) != len(keys):
            raise ValueError(
                f"compute_many of topic {self.code!r} must return an answer for each of"
                f" {len(keys)} keys, got {len(answers)}")
        return answers

    def keep(self, keys: Sequence[Key], answers: Sequence[Any], now: TimeIndex) -> None:
        """Cache answers as the newest; drop the oldest above the maximum, but none of this frame."""
        if self.lifetime == 0:
            return
        cached, until = self.cached, self.until(now)
        for key, answer in zip(keys, answers, strict=True):
            if key in cached:
                del cached[key]  # so that it comes last
            cached[key] = (answer, now, until)
        self.shrink(now)

    def until(self, computed_at: TimeIndex) -> float:
        """Return the frame or second at which an answer is old."""
        return computed_at[self.axis] + self.lifetime

    def expire(self, key: Key | None) -> None:
        """Mark the answer for a key, or all answers, as old. Cost: O(1) or O(answers)."""
        self.invalidations += 1
        for one in [*self.cached] if key is None else [key]:
            if one in self.cached:
                self.cached[one] = (*self.cached[one][:2], EXPIRED)

    def shrink(self, now: TimeIndex) -> None:
        """Drop the oldest answers above the maximum, as far as they are of earlier frames."""
        cached, frame = self.cached, now[0]
        if len(cached) <= self.max_keys or self._crowded_frame == frame:
            return
        # A sixteenth at a time: a dict finds its oldest key by walking over all keys removed before it.
        most = max(len(cached) - self.max_keys, self.max_keys // 16)
        old = [*takewhile(lambda key: cached[key][1][0] != frame, islice(cached, most))]
        for key in old:
            del cached[key]
        self._crowded_frame = frame if len(old) < most else None

    def load(self, cached: dict[Key, Cached]) -> None:
        """Replace the cache by saved answers."""
        self.cached, self._crowded_frame = cached, None
        if cached:  # the save is from a frame that may continue
            self.shrink(max(one[1] for one in cached.values()))


def _checked_lifetime(frames: int | None, seconds: float | None) -> tuple[int, float]:
    """Return the axis of a TimeIndex, 0 for frames or 1 for seconds, and the lifetime on it."""
    if seconds is None:
        if frames is None:
            return 0, math.inf
        return 0, whole_number("lifetime_frames", frames, minimum=0, remedy="use None to keep answers without a limit")
    if frames != 1:
        raise ValueError(f"lifetime_s is {shown(seconds)} and lifetime_frames {shown(frames)}; set only one of them")
    lifetime_s = finite_number(
        "lifetime_s", seconds, minimum=SHORTEST_LIFETIME_S, remedy="use lifetime_frames=1 for a frame")
    return 1, lifetime_s - TOLERANCE_S


class _KeyState(ListOf):
    """How a key is saved; what has a missing object in its key is left out."""

    def __init__(self) -> None:
        super().__init__(GameValue(at="key"), make=tuple, at="key")

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        left_out = owner.values.left_out
        key = super().read(plain, place, owner)
        if owner.values.left_out != left_out:
            raise LeftOutError(place)
        try:
            hash(key)
        except TypeError as error:
            refuse(place, f"must be hashable: {error}")
        return key


class ListOfSaveable(ListOf):
    """Values of one kind, without those that cannot be saved: they are computed again."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return the saved values."""
        rows, save = [], self.kind.save
        for one in value:
            try:
                rows.append(save(one, owner))
            except StateError:
                continue
        return rows


COUNTS = ("hits", "misses", "computations", "failures", "stale")
SavedAnswer = tuple[Key, Any, TimeIndex, bool]
"""A key, its answer, the time of its computation, and whether it was marked as old."""


class TopicState(NamedTuple):
    """A topic in a save."""

    counts: dict[str, int]
    answers: list[SavedAnswer]
    failures: Failures

    @classmethod
    def of(cls, topic: Topic, failures: Failures) -> TopicState:
        """Return the present state of a topic."""
        answers = [
            (key, answer, computed_at, until == EXPIRED) for key, (answer, computed_at, until) in topic.cached.items()]
        return cls({name: getattr(topic, name) for name in COUNTS}, answers, failures)

    def put(self, topic: Topic) -> None:
        """Load the state into a topic; the lifetime of its answers is that of the present topic."""
        for name, count in self.counts.items():
            setattr(topic, name, count)
        topic.load({
            key: (answer, computed_at, EXPIRED if is_expired else topic.until(computed_at))
            for key, answer, computed_at, is_expired in self.answers} if topic.lifetime else {})


KEY_STATE = _KeyState()
"""How a key is saved."""
TOPIC_BY_CODE = Named(lambda station: station._topics, "topic", name=attrgetter("code"))
"""How a topic is referred to."""
TOPIC_STATE = Record(
    TopicState, counts=MapOf(Whole(), names=COUNTS),
    answers=ListOfSaveable(
        Row(lambda *answer: answer, KEY_STATE, GameValue(at="answer"), Moment(TimeIndex), Flag()),
        unique=lambda answer: answer[0]),
    failures=FAILURES_STATE)
"""How a topic is saved."""


class Answer(NamedTuple):
    """An answer with its age and its origin."""

    value: Any
    age_frames: int | None
    """Frames since it was computed; None for a fallback."""
    how: str
    """"computed", "cached", "stale" or "fallback"."""

    @property
    def is_stale(self) -> bool:
        """True for an old answer or a fallback in place of a fresh answer."""
        return self.how in ("stale", "fallback")


class TopicStatistics(NamedTuple):
    """Counts of a topic since it was added."""

    code: str
    hits: int
    """Polls answered from the cache, or by an equal key of the same batch."""
    misses: int
    """Polls without a fresh answer in the cache."""
    computations: int
    """Answers computed, including failures and queued queries."""
    failures: int
    """Computations that raised an exception; a batch counts as one."""
    keys: int
    """Answers cached now, including stale ones."""
    stale: int
    """Polls answered with an old answer or the fallback, because the budget was spent."""
    waiting: int
    """Keys that wait for computation now."""


Query = tuple[Topic, Key]


class QueryQueue:
    """Queries that wait for computation, in order of arrival, without duplicates."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Query, None] = OrderedDict()  # a dict finds its first key in O(removed keys)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, topic: Topic, key: Key) -> None:
        """Add a query; the queries of a topic are limited to the number of answers it may keep."""
        if topic.waiting < topic.max_keys and (topic, key) not in self._waiting:
            self._waiting[topic, key] = None
            topic.waiting += 1

    def discard(self, topic: Topic, keys: Iterable[Key]) -> None:
        """Remove queries that were answered."""
        for key in keys:
            if self._waiting.pop((topic, key), topic) is None:
                topic.waiting -= 1

    def next_topic(self) -> Topic:
        """Return the topic of the oldest query."""
        return next(iter(self._waiting))[0]

    def take(self, most: int) -> list[Key]:
        """Remove and return the first queries, as far as they are of the same topic."""
        topic = self.next_topic()
        keys = [key for _, key in islice(takewhile(lambda query: query[0] is topic, self._waiting), most)]
        self.discard(topic, keys)
        return keys

    @property
    def queries(self) -> list[Query]:
        """All queries, in order of arrival."""
        return [*self._waiting]

    @queries.setter
    def queries(self, queries: list[Query]) -> None:
        for topic, _ in self._waiting:
            topic.waiting = 0
        self._waiting.clear()
        for topic, key in queries:
            self.add(topic, key)


Handle = TypeVar("Handle", covariant=True)


class EventSource(Protocol[Handle]):
    """A source of events: an EventManager, or any object with the same ``listen``."""

    def listen(self, codes: str | Iterable[str], handler: Callable[[Any], None], /) -> Handle:
        """Call ``handler(event)`` for every event of these codes."""
        ...


class PollingStation(Saveable):
    """Answers queries by topic and key, and caches the answers.

    A topic is a code and a callable: ``add_topic("can_see", cast_ray)``; a key is the
    tuple of its arguments: ``poll("can_see", guard, thief)``. The result is the same
    whether an answer is cached or computed.

    A save holds the cached answers, the waiting queries and the statistics. Answers and
    queries with values that are neither plain data nor named objects are left out: they
    are computed again. Topics must be added before loading; those that are not in the
    save are left unchanged. Saving and loading inside a computation raises RuntimeError.

    Args:
        clock: the game clock; cache lifetimes count its frames or seconds.
        faults: receives failures of topics that have a fallback; None makes one
            that logs.
        values: writes keys and answers into saves; None supports plain data only.

    Attributes:
        clock: the game clock.
        faults: receives failures of topics.
        values: writes keys and answers into saves.
    """

    SHOWN = ("codes", "waiting")

    STATE = DeclaredState(
        now=ClockNow(at="clock.now"), topics=MapOf(TOPIC_STATE, key=TOPIC_BY_CODE, at="_topic_states"),
        waiting=ListOfSaveable(Row(lambda *query: query, TOPIC_BY_CODE, KEY_STATE), at="_waiting.queries"))

    def __init__(
        self, clock: Clock, *, faults: FaultIsolation | None = None, values: SavedValues | None = None,
    ) -> None:
        self.clock = checked_clock(clock)
        check_kind("values", values, SavedValues)
        self.values = values if values is not None else SavedValues()
        self.faults = given_faults(faults)
        self._log: EventLog | None = None
        self._topics: dict[str, Topic] = {}
        self._waiting = QueryQueue()
        self._computing: list[tuple[Topic, Sequence[Key]]] = []
        self._allowance: AnswerBudget | None = None
        self._allowed_frame = 0

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all topics, in the order they were added."""
        return tuple(self._topics)

    @property
    def waiting(self) -> int:
        """Queries that wait for computation (count)."""
        return len(self._waiting)

    @property
    def log(self) -> EventLog | None:
        """The log of all polls; None for no log."""
        return self._log

    @log.setter
    def log(self, log: EventLog | None) -> None:
        check_kind("log", log, EventLog)
        self._log = log

    def add_topic(
        self, code: str, compute: Callable[..., Any] | None, *,
        compute_many: Callable[[list[Key]], Iterable[Any]] | None = None, lifetime_frames: int | None = 1,
        lifetime_s: float | None = None, max_keys: int = MAXIMUM_KEYS, fallback: object = NO_FALLBACK,
    ) -> None:
        """Add a topic: ``poll(code, *key)`` returns the result of ``compute(*key)``.

        Args:
            code: name of the topic.
            compute: called when no fresh answer is cached; may be None if
                ``compute_many`` is given.
            compute_many: called with a list of keys, each a tuple, without
                duplicates; returns an answer for each key. Used for batches.
            lifetime_frames: frames that an answer stays fresh, including the frame of
                its computation: 1 for this frame only, None until it is invalidated,
                0 for no caching.
            lifetime_s: cache lifetime in game time instead (s), 1e-6 or more.
            max_keys: limit of the answers kept from frame to frame, and of the
                waiting queries (count); above it the oldest sixteenth of the answers is
                dropped. Answers of the present frame are kept until it ends, so that
                none is computed twice in a frame.
            fallback: the answer if ``compute`` raises an exception, or if the budget is
                spent and no old answer exists. The failure is then reported, and after
                several failures in a row the topic returns only its fallback until
                ``faults.release((station, code))``. Without a fallback the exception is
                raised to the caller of ``poll``.

        Raises:
            ValueError: if a topic of this code exists, or a number is out of range.
            TypeError: if an argument has a wrong type.
        """
        topic = Topic(
            code, compute, compute_many=compute_many, lifetime_frames=lifetime_frames,
            lifetime_s=lifetime_s, max_keys=max_keys, fallback=fallback)
        if code in self._topics:
            raise ValueError(f"topic {code!r} already exists; call remove_topic() first")
        self._topics[code] = topic

    def remove_topic(self, code: str) -> None:
        """Remove a topic, its answers and its waiting queries.

        Raises:
            UnknownNameError: if no topic has this code.
        """
        topic = self._topic(code)
        self._waiting.queries = [query for query in self._waiting.queries if query[0] is not topic]
        del self._topics[code]
        self.faults.forget((self, code))

    def poll(self, code: str, *key: Hashable) -> Any:
        """Return the answer of a topic for a key; compute it if no fresh answer is cached.

        In a frame whose budget is spent, an old answer or the fallback is returned
        instead and the query waits; see ``begin_frame``. An exception of ``compute``
        is raised to the caller, unless the topic has a fallback. A failure is not
        cached: the next poll computes again.

        Args:
            code: code of the topic.
            key: arguments of the query.

        Raises:
            UnknownNameError: if no topic has this code.
            CycleError: if the computation of this answer requires this answer.
            TypeError: if the key is not hashable.

        Cost: O(1), plus a computation if no fresh answer is cached.
        """
        if self._log is None:  # the short path for a cached answer
            try:
                topic = self._topics[code]
                answer, computed_at, until = topic.cached[key]
                now = self.clock.now
                if now[topic.axis] < until and computed_at[0] <= now[0]:
                    topic.hits += 1
                    return answer
            except (KeyError, TypeError):
                pass  # below, so that exceptions of the computation are not chained to this one
        return self.poll_with_age(code, *key).value

    def poll_as(self, asker: object, code: str, *key: Hashable) -> Any:
        """Return the result of ``poll``; the log shows ``asker`` as the caller."""
        return self.poll_with_age(code, *key, asker=asker).value

    def poll_with_age(self, code: str, *key: Hashable, asker: object | None = None) -> Answer:
        """Return the result of ``poll`` with its age and its origin.

        Raises: and Cost: see ``poll``.
        """
        now = self.clock.now
        found, origins = self._answers(self._topic(code), [key], now, asker)
        return _answer(found[key], origins.get(key, "cached"), now)

    def poll_many(self, code: str, keys: Iterable[Key], *, asker: object | None = None) -> list[Any]:
        """Return the answers for many keys, in order.

        Missing answers are computed in one call of ``compute_many``, if the topic has
        it; a key that occurs twice is computed once. With a budget of time, several
        calls may be made, so that the computation can stop in between.

        Args:
            code: code of the topic.
            keys: tuples of arguments, as for ``poll``.
            asker: the caller in the log.

        Raises: as ``poll``; TypeError also if a key is not a tuple.

        Cost: O(keys), plus the computation of the missing answers.
        """
        topic, keys = self._topic(code), [*keys]
        for kind in {*map(type, keys)} - {tuple}:
            wrong = next(key for key in keys if type(key) is kind)
            raise TypeError(
                f"each key of topic {code!r} must be a tuple, got {wrong!r:.60};"
                f" write ({wrong!r:.60},) for a key of one part")
        found, _ = self._answers(topic, keys, self.clock.now, asker)
        return [found[key][0] for key in keys]

    def begin_frame(self, budget: Budget) -> None:
        """Compute the waiting queries; limit the polls of this frame to the rest of the budget.

        The limit ends with the frame: polls of later frames compute without a limit
        unless ``begin_frame`` is called again. A step is an answer; of time, only the
        time of computations counts. A nested computation is never refused, because a
        refusal would spoil the outer answer.

        Raises:
            RuntimeError: if called from inside a computation.
        """
        self.advance(budget)  # which checks it
        self._allowance, self._allowed_frame = AnswerBudget(budget), self.clock.now[0]

    def advance(self, budget: Budget) -> None:
        """Compute the waiting queries in order of arrival, and cache the answers.

        Continues where it stopped when the budget was spent. After a failure, which is
        reported, the query is dropped; only a topic with a fallback is quarantined.

        Raises:
            RuntimeError: if called from inside a computation.
        """
        check_budget(budget)
        if self._computing:
            raise RuntimeError("advance was called from inside a computation; call it once a frame, outside of topics")
        now = self.clock.now
        while self._waiting and not budget.is_spent:
            topic, allowance = self._waiting.next_topic(), AnswerBudget(budget)
            fitting = allowance.fitting(topic) if topic.compute_many is not None else 1
            keys = [key for key in self._waiting.take(max(1, fitting)) if topic.fresh(key, now) is None]
            if keys and not self._is_quarantined(topic):
                budget.spend(len(keys))
                self._compute(topic, keys, now, allowance=allowance, is_isolated=True)

    def invalidate(self, code: str, *key: Hashable) -> None:
        """Mark the answer for ``key`` as old; without a key, every answer of the topic.

        Old answers are returned only when the budget is spent. An answer whose
        computation is running is not cached.

        Raises:
            UnknownNameError: if no topic has this code.
            TypeError: if the key is not hashable.

        Cost: O(1); without a key O(answers).
        """
        topic = self._topic(code)
        try:
            topic.expire(key or None)
        except TypeError:
            raise _unhashable(topic, [key]) from None
        if self._log is not None:
            self._log.note("invalidated", self.clock.now, code, "", _key_text(key) if key else "")

    def invalidate_on(
        self, events: EventSource[Handle], codes: str | Iterable[str], topics: str | Iterable[str], *,
        key: Callable[[Any], Key | None] | None = None,
    ) -> Handle:
        """Invalidate topics whenever an event of one of these codes is delivered.

        Args:
            events: an EventManager, or any object with the same ``listen``.
            codes: event code, or several.
            topics: code of a topic, or several; topics removed later are skipped.
            key: called with the event; returns the key to invalidate, a tuple, or None
                for all answers. Without it, every answer is invalidated. Any other
                result is a fault of this listener.

        Returns:
            the result of ``listen``; stop it to end the invalidation.

        Raises:
            UnknownNameError: if a topic does not exist.
            TypeError: if ``events`` has no ``listen``, or ``key`` is not callable.
        """
        if not callable(getattr(events, "listen", None)):
            raise TypeError(f"events must have a method listen(codes, handler), got {shown(events)}")
        if key is not None and not callable(key):
            raise TypeError(f"key must be callable or None, got {shown(key)}")
        names = (topics,) if isinstance(topics, str) else tuple(topics)
        for name in names:
            self._topic(name)

        def invalidate(event: object) -> None:
            concerned = None if key is None else key(event)
            if concerned is not None and not isinstance(concerned, tuple):
                raise TypeError(
                    f"key of invalidate_on must return a tuple or None, got {shown(concerned)};"
                    " write (it,) for a key of one part")
            for name in names:
                if name in self._topics:
                    self.invalidate(name, *(concerned or ()))

        return events.listen(codes, invalidate)

    def statistics(self) -> list[TopicStatistics]:
        """Return the statistics of each topic, in the order the topics were added."""
        return [
            TopicStatistics(t.code, t.hits, t.misses, t.computations, t.failures, len(t.cached), t.stale, t.waiting)
            for t in self._topics.values()]

    def _answers(
        self, topic: Topic, keys: list[Key], now: TimeIndex, asker: object
    ) -> tuple[dict[Key, Cached], dict[Key, str]]:
        """Return the answer for each key, and the origin of each answer that was not cached."""
        frame, at = now[0], now[topic.axis]
        found: dict[Key, Cached] = {}
        missing: dict[Key, None] = {}
        origins: dict[Key, str] = {}
        try:
            cached = topic.cached.get
            for key in keys:
                one = cached(key)
                if one is not None and at < one[2] and one[1][0] <= frame:
                    found[key] = one
                else:
                    missing[key] = None
        except TypeError:
            raise _unhashable(topic, keys) from None
        topic.misses += len(missing)
        topic.hits += len(keys) - len(missing)
        try:
            if missing:
                self._answer_missing(topic, [*missing], now, found, origins)
        except Exception:
            if self._log is not None:
                for key in missing:
                    self._log.note("failed", now, topic.code, sender_name(asker), _key_text(key))
            raise
        if self._log is not None:
            for key in dict.fromkeys(keys):
                answer = _answer(found[key], origins.get(key, "cached"), now)
                age = f", {answer.age_frames} frames old" if answer.age_frames else ""
                text = f"{_key_text(key)} = {shown(answer.value)}{age}"
                self._log.note(answer.how, now, topic.code, sender_name(asker), text)
        return found, origins

    def _answer_missing(
        self, topic: Topic, missing: list[Key], now: TimeIndex, found: dict[Key, Cached], origins: dict[Key, str]
    ) -> None:
        """Compute as many answers as the frame allows; substitute the rest and queue it."""
        # A nested computation has no limit, because a refusal would spoil the outer answer.
        allowance = self._allowance if self._allowed_frame == now[0] and not self._computing else None
        todo = iter(missing)
        while part := self._next_part(topic, todo, allowance, found, now, is_later=bool(origins)):
            self._answer_part(topic, part, allowance, now, found, origins)
        rest = [*todo]
        olds = {key: topic.cached[key] for key in rest if key in topic.cached}  # others may displace them
        if not topic.has_fallback:  # an answer is computed where there is no old one to return instead
            needed = [key for key in rest if key not in olds]
            for part in [needed] if topic.compute_many is not None and needed else [[key] for key in needed]:
                self._answer_part(topic, part, allowance, now, found, origins)
        for key in rest:
            if key in found:
                continue
            topic.stale += 1
            if topic.lifetime:
                self._waiting.add(topic, key)
            old = topic.cached.get(key) or olds.get(key)
            found[key], origins[key] = ((topic.fallback, now, EXPIRED), "fallback") if old is None else (old, "stale")

    def _next_part(
        self, topic: Topic, todo: Iterator[Key], allowance: AnswerBudget | None, found: dict[Key, Cached],
        now: TimeIndex, *, is_later: bool,
    ) -> list[Key]:
        """Return the keys to compute in one call; empty if the allowance is spent or no key is left."""
        most = MOST_KEYS if allowance is None else allowance.fitting(topic)
        if topic.compute_many is None:
            most = min(most, 1)
        part: list[Key] = []
        while len(part) < most and (key := next(todo, None)) is not None:
            fresh = topic.fresh(key, now) if is_later else None  # a by-product of an earlier call
            if fresh is None:
                part.append(key)
            else:
                found[key] = fresh
        return part

    def _answer_part(
        self, topic: Topic, part: list[Key], allowance: AnswerBudget | None, now: TimeIndex,
        found: dict[Key, Cached], origins: dict[Key, str],
    ) -> None:
        values = self._compute(topic, part, now, allowance=allowance)
        origin = "computed"
        if values is None:
            values, origin = [topic.fallback] * len(part), "fallback"
        for key, value in zip(part, values, strict=True):
            found[key], origins[key] = (value, now, EXPIRED), origin

    def _compute(
        self, topic: Topic, keys: Sequence[Key], now: TimeIndex, *, allowance: AnswerBudget | None,
        is_isolated: bool = False,
    ) -> Sequence[Any] | None:
        """Compute and cache answers; return None after a failure that was reported, or in quarantine."""
        if self._computing:
            self._refuse_cycle(topic, keys)
        name = (self, topic.code)
        if self._is_quarantined(topic):
            return None
        invalidations = topic.invalidations
        topic.computations += len(keys)
        self._computing.append((topic, keys))
        try:
            answers = topic.computed(keys) if allowance is None else allowance.computed(topic, keys)
        except Exception as error:
            topic.failures += 1
            what = f"topic {_query_text(topic, keys)}"
            if topic.has_fallback:
                self.faults.failed(name, what, now.frame, error)
            elif is_isolated:
                self.faults.report_of_the_past(what, now.frame, error)
            else:
                raise
            return None
        finally:
            self._computing.pop()
        if topic.has_fallback:
            self.faults.succeeded(name)
        if topic.invalidations == invalidations:
            topic.keep(keys, answers, now)
            if topic.waiting:
                self._waiting.discard(topic, keys)
        return answers

    def _is_quarantined(self, topic: Topic) -> bool:
        return topic.has_fallback and self.faults.is_quarantined((self, topic.code))

    def _refuse_cycle(self, topic: Topic, keys: Sequence[Key]) -> None:
        for level, (one, under_way) in enumerate(self._computing):
            again = next((key for key in keys if key in under_way), None) if one is topic else None
            if again is not None:
                first = _query_text(topic, [again])
                between = [_query_text(*query) for query in self._computing[level + 1 :]]
                path = " -> ".join([first, *between, first])
                raise CycleError(
                    f"polling {first} needs its own answer: {path}; compute one of them without a poll")

    def _check_at_rest(self) -> None:
        if self._computing:
            raise RuntimeError("an answer is being computed; save and load between two frames")

    def _finish_load(self) -> None:
        self._allowance = None  # its frame may come again

    @property
    def _topic_states(self) -> dict[Topic, TopicState]:
        return {
            topic: TopicState.of(topic, self.faults.failures_of((self, topic.code))) for topic in self._topics.values()}

    @_topic_states.setter
    def _topic_states(self, states: dict[Topic, TopicState]) -> None:
        for topic, state in states.items():
            state.put(topic)
            self.faults.put_failures((self, topic.code), state.failures)

    def _topic(self, code: str) -> Topic:
        try:
            return self._topics[code]
        except (KeyError, TypeError):
            raise UnknownNameError("topic", code, self._topics) from None


def _answer(found: Cached, how: str, now: TimeIndex) -> Answer:
    return Answer(found[0], None if how == "fallback" else max(0, now[0] - found[1][0]), how)


def _key_text(key: Key) -> str:
    return f"({', '.join(shown(part) for part in key)})"


def _query_text(topic: Topic, keys: Sequence[Key]) -> str:
    """Return queries as a call: "can_see('Bob', 'Al') and 2 more"."""
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return topic.code + _key_text(keys[0]) + more


def _unhashable(topic: Topic, keys: Iterable[Key]) -> TypeError:
    for key in keys:
        try:
            hash(key)
        except TypeError:
            break
    return TypeError(
        f"a key of topic {topic.code!r} must be hashable, got {shown(key)}; use tuples in place of lists")
