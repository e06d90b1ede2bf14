"""The polling station: computes the answer to a query once, and caches it for all callers.

A query is a topic and a key. A cached answer is fresh for the lifetime of its topic, and the
answer to a query that waits for budget is the old one, or the fallback of the topic.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Any, NamedTuple, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.errors import CycleError, UnknownNameError, check_kind, shown
from ai_core.events.event_log import EventLog, sender_name
from ai_core.events.polling_topic import (
    EXPIRED,
    KEY_STATE,
    MAXIMUM_KEYS,
    MOST_KEYS,
    NO_FALLBACK,
    TOPIC_BY_CODE,
    TOPIC_STATE,
    AnswerBudget,
    Cached,
    Key,
    ListOfSaveable,
    Topic,
    TopicState,
)
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.declared_state import ClockNow, DeclaredState, MapOf, Row, Saveable
from ai_core.saving.values import SavedValues

__all__ = ["Answer", "PollingStation", "TopicStatistics"]


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
        self._waiting: dict[Query, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, topic: Topic, key: Key) -> None:
        """Add a query; the queries of a topic are limited to the number of answers it may keep."""
        if topic.waiting < topic.maximum_keys and (topic, key) not in self._waiting:
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

    def forget(self, topic: Topic) -> None:
        """Remove all queries of a topic."""
        self.queries = [query for query in self._waiting if query[0] is not topic]

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

    STATE = DeclaredState(
        now=ClockNow(at="clock.now"), topics=MapOf(TOPIC_STATE, key=TOPIC_BY_CODE, at="_topic_states"),
        waiting=ListOfSaveable(Row(lambda *query: query, TOPIC_BY_CODE, KEY_STATE), at="_waiting.queries"))

    def __init__(
        self, clock: Clock, *, faults: FaultIsolation | None = None, values: SavedValues | None = None,
    ) -> None:
        self.clock = checked_clock(clock)
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
        lifetime_s: float | None = None, maximum_keys: int = MAXIMUM_KEYS, fallback: object = NO_FALLBACK,
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
            maximum_keys: limit of the answers kept from frame to frame, and of the
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
            lifetime_s=lifetime_s, maximum_keys=maximum_keys, fallback=fallback)
        if code in self._topics:
            raise ValueError(f"topic {code!r} already exists; call remove_topic() first")
        self._topics[code] = topic

    def remove_topic(self, code: str) -> None:
        """Remove a topic, its answers and its waiting queries.

        Raises:
            UnknownNameError: if no topic has this code.
        """
        self._waiting.forget(self._topic(code))
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

        Continues where it stopped when the budget was spent. A failure is reported
        as if the topic had a fallback, and the query is dropped.

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
            if keys:
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
                self._log.note(answer.how, now, topic.code, sender_name(asker), _answer_text(key, answer))
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
        if not topic.has_fallback:  # an answer is computed where there is no old one to return instead
            needed = [key for key in rest if key not in topic.cached]
            for part in [needed] if topic.compute_many is not None and needed else [[key] for key in needed]:
                self._answer_part(topic, part, allowance, now, found, origins)
        for key in rest:
            if key in found:
                continue
            topic.stale += 1
            if topic.lifetime:
                self._waiting.add(topic, key)
            old = topic.cached.get(key)
            found[key], origins[key] = ((topic.fallback, now, EXPIRED), "fallback") if old is None else (old, "stale")

    def _next_part(
        self, topic: Topic, todo: Iterator[Key], allowance: AnswerBudget | None, found: dict[Key, Cached],
        now: TimeIndex, *, is_later: bool,
    ) -> list[Key]:
        """Return the keys to compute in one call; empty if the allowance is spent or no key is left.

        An answer that an earlier call has computed as a by-product is not computed again.
        """
        most = MOST_KEYS if allowance is None else allowance.fitting(topic)
        if topic.compute_many is None:
            most = min(most, 1)
        part: list[Key] = []
        while len(part) < most and (key := next(todo, None)) is not None:
            fresh = topic.fresh(key, now) if is_later else None
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
        """Compute an answer for each key, and cache the answers.

        Args:
            topic: the topic of the query.
            keys: the keys, without duplicates.
            now: the current time.
            allowance: charged with the computation; None charges nothing.
            is_isolated: report a failure even if the topic has no fallback.

        Returns:
            the answers; None if the computation failed and was reported, or the topic
            is quarantined.

        Raises:
            CycleError: if the computation of an answer requires the same answer.
        """
        if self._computing:
            self._refuse_cycle(topic, keys)
        is_isolated = is_isolated or topic.has_fallback
        name = (self, topic.code)
        if is_isolated and self.faults.is_quarantined(name):
            return None
        invalidations = topic.invalidations
        topic.computations += len(keys)
        self._computing.append((topic, keys))
        try:
            answers = topic.computed(keys) if allowance is None else allowance.computed(topic, keys)
        except Exception as error:
            topic.failures += 1
            if not is_isolated:
                raise
            self.faults.failed(name, f"topic {_query_text(topic, keys)}", now.frame, error)
            return None
        finally:
            self._computing.pop()
        if is_isolated:
            self.faults.succeeded(name)
        if topic.invalidations == invalidations:
            topic.keep(keys, answers, now)
            if topic.waiting:
                self._waiting.discard(topic, keys)
        return answers

    def _refuse_cycle(self, topic: Topic, keys: Sequence[Key]) -> None:
        for level, (one, under_way) in enumerate(self._computing):
            again = next((key for key in keys if key in under_way), None) if one is topic else None
            if again is not None:
                first = _query_text(topic, [again])
                between = [_query_text(*query) for query in self._computing[level + 1 :]]
                path = " -> ".join([first, *between, first])
                raise CycleError(f"polling {first} needs its own answer: {path}")

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


def _answer_text(key: Key, answer: Answer) -> str:
    age = f", {answer.age_frames} frames old" if answer.age_frames else ""
    return f"{_key_text(key)} = {shown(answer.value)}{age}"


def _key_text(key: Key) -> str:
    return f"({', '.join(shown(part) for part in key)})"


def _query_text(topic: Topic, keys: Sequence[Key]) -> str:
    """Return queries as a call: "can_see('Bob', 'Al') and 2 more"."""
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return topic.code + _key_text(keys[0]) + more


def _unhashable(topic: Topic, keys: Iterable[Key]) -> TypeError:
    """Return the error that names the first unhashable key."""
    for key in keys:
        try:
            hash(key)
        except TypeError:
            break
    return TypeError(
        f"a key of topic {topic.code!r} must be hashable, got {shown(key)}; use tuples in place of lists")
