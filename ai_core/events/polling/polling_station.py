"""The polling station: computes the answer to a query once, and caches it for all agents."""
from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.errors import CycleError, UnknownNameError, shown
from ai_core.events.event_log import checked_log
from ai_core.events.polling.polling_log import PollingLog
from ai_core.events.polling.polling_topic import (
    KEY_STATE,
    MAXIMUM_KEYS,
    NO_FALLBACK,
    REFUSED,
    TOPIC_STATE,
    Answer,
    IdPairs,
    Kept,
    Key,
    ListOfSaveable,
    Topic,
    TopicState,
    TopicStatistics,
    question_text,
    unhashable,
)
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.declared_state import ClockNow, DeclaredState, MapOf, Named, Refuse, Row, Saveable
from ai_core.saving.fields import brief
from ai_core.saving.values import SavedValues

FIRST_KEYS = 16
"""Answers computed in one call under a budget of time while their cost is unknown (count).

A larger number can overrun the budget further; a smaller number slows the first batches.
"""
MOST_KEYS = 1 << 40
"""Number of keys that stands for no limit (count)."""


class AnswerBudget:
    """The allowance of a frame for computations: steps, or time that only computing uses up.

    Args:
        budget: the amount left in it is the allowance; it is not charged.
    """

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


class QueryQueue:
    """Queries that wait for computation, in order of arrival, without duplicates."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[Topic, Key], None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[tuple[Topic, Key]]:
        return iter(self._waiting)

    def __contains__(self, question: tuple[Topic, Key]) -> bool:
        return question in self._waiting

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
        keys: list[Key] = []
        while self._waiting and len(keys) < most and self.next_topic() is topic:
            keys.append(self._waiting.popitem(last=False)[0][1])
        topic.waiting -= len(keys)
        return keys

    def forget(self, topic: Topic) -> None:
        """Remove all queries of a topic."""
        for question in [one for one in self._waiting if one[0] is topic]:
            del self._waiting[question]
        topic.waiting = 0

    @property
    def questions(self) -> list[tuple[Topic, Key]]:
        """All queries, in order of arrival."""
        return [*self._waiting]

    @questions.setter
    def questions(self, questions: list[tuple[Topic, Key]]) -> None:
        for topic, _ in self._waiting:
            topic.waiting = 0
        self._waiting.clear()
        for topic, key in questions:
            self.add(topic, key)


class ComputationStack:
    """Runs nested computations, and detects cycles among them.

    Args:
        station: key of reported faults, together with the topic's code.
        faults: receives failures that are not raised to the caller.
        waiting: queries that wait; answered queries are removed.
    """

    def __init__(self, station: object, faults: FaultIsolation, waiting: QueryQueue) -> None:
        self._station = station
        self._faults = faults
        self._waiting = waiting
        self._under_way: list[tuple[Topic, Sequence[Key]]] = []

    @property
    def is_busy(self) -> bool:
        """True while an answer is being computed."""
        return bool(self._under_way)

    def has(self, topic: Topic, key: Key) -> bool:
        """Return True if the answer for a key is being computed."""
        return any(one is topic and key in keys for one, keys in self._under_way)

    def run(
        self,
        topic: Topic,
        keys: Sequence[Key],
        now: TimeIndex,
        *,
        allowance: AnswerBudget | None = None,
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
        if self._under_way:
            self._refuse_cycle(topic, keys)
        is_isolated = is_isolated or topic.has_fallback
        name = (self._station, topic.code)
        if is_isolated and self._faults.is_quarantined(name):
            return None
        invalidations = topic.invalidations
        topic.computations += len(keys)
        self._under_way.append((topic, keys))
        try:
            answers = topic.answers(keys) if allowance is None else _charged(allowance, topic, keys)
        except Exception as error:
            topic.failures += 1
            if not is_isolated:
                raise
            self._faults.failed(name, f"topic {_text(topic, keys)}", now.frame, error)
            return None
        finally:
            self._under_way.pop()
        if is_isolated:
            self._faults.succeeded(name)
        if topic.invalidations == invalidations:
            topic.keep(keys, answers, now)
            if topic.waiting:
                self._waiting.discard(topic, keys)
        return answers

    def _refuse_cycle(self, topic: Topic, keys: Sequence[Key]) -> None:
        for level, (one, under_way) in enumerate(self._under_way):
            if one is not topic:
                continue
            again = next((key for key in keys if key in under_way), None)
            if again is not None:
                first = question_text(topic.code, again)
                between = [_text(*one) for one in self._under_way[level + 1 :]]
                path = " -> ".join([first, *between, first])
                raise CycleError(f"polling {first} needs its own answer: {path}")


def _charged(allowance: AnswerBudget, topic: Topic, keys: Sequence[Key]) -> Sequence[Any]:
    """Compute the answers and charge the allowance, also after a failure."""
    watch = allowance.stopwatch
    began_ns = watch() if watch is not None else 0
    try:
        return topic.answers(keys)
    finally:
        if watch is None:
            allowance.left -= len(keys)
        else:
            used_us = (watch() - began_ns) / 1000
            allowance.left -= used_us
            topic.key_us = used_us / len(keys)


def _text(topic: Topic, keys: Sequence[Key]) -> str:
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return question_text(topic.code, keys[0]) + more


class QueryProcessor:
    """Answers the queries of a station that are not in ``topic.fresh``.

    Args:
        station: key of reported faults, together with the topic's code.
        faults: receives failures that are not raised to the caller.

    Attributes:
        waiting: queries to compute in a later frame.
        computing: the computations under way.
        log: the log of all polls, or None.
    """

    def __init__(self, station: object, faults: FaultIsolation) -> None:
        self.waiting = QueryQueue()
        self.computing = ComputationStack(station, faults, self.waiting)
        self.log: PollingLog | None = None
        self._allowance: AnswerBudget | None = None
        self._allowed_frame = 0

    def limit(self, budget: Budget, now: TimeIndex) -> None:
        """Limit the computations by polls of this frame to the amount left in a budget."""
        self._allowance, self._allowed_frame = AnswerBudget(budget), now[0]

    def end_limit(self) -> None:
        """End the limit of a frame, before that frame comes again by a load."""
        self._allowance = None

    def answer_one(self, topic: Topic, key: Key, asker: object, now: TimeIndex) -> Answer:
        """Return the answer for a key."""
        try:
            known = self.known(topic, key) if topic.is_symmetric else key
            answer = self._without_computing(topic, key, known, asker, now)
            if answer is None:
                topic.misses += 1
                if self._allowed(now) is None:
                    answer = self._now_computed(topic, known, now)
                else:
                    answer = self._computed(topic, [known], now)[known]
        except Exception:
            self.note(topic, key, asker, now, Answer(None, None, "raised"))
            raise
        if self.log is not None:
            self.note(topic, key, asker, now, answer)
        return answer

    def answer_many(self, topic: Topic, keys: list[Key], asker: object, now: TimeIndex) -> list[Any]:
        """Return the values of the answers for keys."""
        try:
            wanted: dict[Key, Any] = dict.fromkeys(keys)
        except TypeError:
            raise unhashable(topic, keys) from None
        if set(map(type, wanted)) - {tuple}:
            _refuse_others(topic, keys)
        is_plain = topic.is_open and not topic.is_symmetric and topic.compute_many is not None
        if not (is_plain and topic.has_only_old(now) and self._allowed(now) is None):
            return self._one_by_one(topic, keys, wanted, asker, now)
        missing = [*wanted]
        topic.misses += len(missing)
        topic.hits += len(keys) - len(missing)
        values = self.computing.run(topic, missing, now)
        if values is None:
            return [topic.fallback] * len(keys)
        if len(missing) == len(keys):
            return [*values]
        wanted.update(zip(missing, values, strict=True))
        return [wanted[key] for key in keys]

    def answer_batch(self, topic: Topic, pairs: IdPairs, now: TimeIndex) -> Sequence[Any] | None:
        """Return the answers of a batch that is looked up and cached as a whole; None to look up each pair.

        The result is the cached object, not a copy. This is a single function on purpose: code that
        runs once a frame is not in the processor's caches, and each further call costs as much as ten rays.
        """
        if not topic.is_plain:
            return None
        kept, at = topic.together, now[topic.axis]
        is_same = kept is not None and kept.pairs.are(pairs)
        if is_same and kept is not None:
            if at < kept.until and kept.computed_at[0] <= now[0]:
                topic.hits += len(pairs)
                return kept.answers
            pairs = kept.pairs
        if at < topic.latest_until or (self._allowance is not None and self._allowed(now) is not None):
            return None
        if not is_same and not pairs.are_sure_to_differ():
            return None
        topic.misses += len(pairs)
        values = self.computing.run(topic, pairs, now)
        return [topic.fallback] * len(pairs) if values is None else values

    def known(self, topic: Topic, key: Key) -> Key:
        """Return the key in its cached form: a symmetric pair may be cached in reverse order."""
        if not topic.is_symmetric:
            return key
        if len(key) != 2:
            asked = question_text(topic.code, key)
            raise ValueError(f"a key of a symmetric topic must be a pair, got {asked}")
        turned = key[::-1]
        if key not in topic.kept and (
            turned in topic.kept
            or (topic, turned) in self.waiting
            or self.computing.has(topic, turned)
        ):
            return turned
        return key

    def work_off(self, budget: Budget, now: TimeIndex) -> None:
        """Compute waiting queries until the budget is spent."""
        while self.waiting and not budget.is_spent:
            topic, allowance = self.waiting.next_topic(), AnswerBudget(budget)
            fitting = allowance.fitting(topic) if topic.compute_many is not None else 1
            keys = self.waiting.take(max(1, fitting))
            keys = [key for key in keys if topic.found(key, key, now) is None]
            if keys:
                budget.spend(len(keys))
                self.computing.run(topic, keys, now, allowance=allowance, is_isolated=True)

    def note(
        self, topic: Topic, key: Key | None, asker: object, now: TimeIndex, answer: Answer
    ) -> None:
        """Add an answer to the log, if there is one."""
        if self.log is not None:
            self.log.note(now, topic.code, key, asker, answer)

    def _allowed(self, now: TimeIndex) -> AnswerBudget | None:
        """Return the allowance that limits a computation now, or None.

        A nested computation has no limit, because a refusal would spoil the outer answer.
        """
        if self._allowed_frame != now[0] or self.computing.is_busy:
            return None
        return self._allowance

    def _without_computing(
        self, topic: Topic, asked: Key, known: Key, asker: object, now: TimeIndex
    ) -> Answer | None:
        if topic.may_ask is not None and not topic.may_ask(asker, *asked):
            topic.refused += 1
            return Answer(REFUSED, None, "refused")
        kept = topic.found(known, asked, now)
        if kept is None:
            return None
        topic.hits += 1
        return Answer(kept[0], now[0] - kept[1][0], "kept")

    def _now_computed(self, topic: Topic, key: Key, now: TimeIndex) -> Answer:
        values = self.computing.run(topic, [key], now)
        if values is None:
            return Answer(topic.fallback, None, "fallback")
        return Answer(values[0], 0, "computed")

    def _one_by_one(
        self, topic: Topic, keys: list[Key], wanted: dict[Key, Any], asker: object, now: TimeIndex
    ) -> list[Any]:
        """Look up each key by itself; compute the missing answers together."""
        missing: dict[Key, None] = {}
        names: dict[Key, Key] = {}
        for key in wanted:
            known = self.known(topic, key)
            if known not in missing and known[::-1] in missing and topic.is_symmetric:
                known = known[::-1]
            names[key] = known
            wanted[key] = self._without_computing(topic, key, known, asker, now)
            if wanted[key] is None:
                missing[known] = None
        topic.misses += len(missing)
        try:
            computed = self._computed(topic, [*missing], now)
        except Exception:
            for key in missing:
                self.note(topic, key, asker, now, Answer(None, None, "raised"))
            raise
        together = len(keys) - len(wanted)
        for key, answer in wanted.items():
            if answer is None:
                wanted[key] = answer = computed[names[key]]
                together += 1
            self.note(topic, key, asker, now, answer)
        topic.hits += together - len(missing)
        return [wanted[key].value for key in keys]

    def _computed(self, topic: Topic, keys: list[Key], now: TimeIndex) -> dict[Key, Answer]:
        """Compute as many answers as the frame allows; substitute the rest and queue it."""
        answers: dict[Key, Answer] = {}
        allowance = self._allowed(now)
        todo = iter(keys)
        while part := self._next_part(topic, todo, allowance, answers, now):
            self._compute(topic, part, allowance, answers, now)
        rest = [*todo]
        old = {key: topic.kept[key] for key in rest if key in topic.kept}
        if not topic.has_fallback:  # there is no substitute
            helpless = [key for key in rest if key not in old]
            is_batched = topic.compute_many is not None and helpless
            for part in [helpless] if is_batched else [[key] for key in helpless]:
                self._compute(topic, part, allowance, answers, now)
        for key in rest:
            if key not in answers:
                answers[key] = self._make_do(topic, key, old.get(key), now)
        return answers

    def _next_part(
        self, topic: Topic, todo: Iterator[Key], allowance: AnswerBudget | None,
        answers: dict[Key, Answer], now: TimeIndex,
    ) -> list[Key]:
        """Return the keys to compute in one call; empty if the allowance is spent or no key is left.

        An answer that an earlier call has computed as a by-product is not computed again.
        """
        most = allowance.fitting(topic) if allowance is not None else MOST_KEYS
        if topic.compute_many is None:
            most = min(most, 1)
        part: list[Key] = []
        while len(part) < most and (key := next(todo, None)) is not None:
            kept = topic.found(key, key, now) if answers else None
            if kept is None:
                part.append(key)
            else:
                answers[key] = Answer(kept[0], now[0] - kept[1][0], "kept")
        return part

    def _compute(
        self, topic: Topic, keys: list[Key], allowance: AnswerBudget | None,
        answers: dict[Key, Answer], now: TimeIndex,
    ) -> None:
        values = self.computing.run(topic, keys, now, allowance=allowance)
        if values is None:
            answers.update(dict.fromkeys(keys, Answer(topic.fallback, None, "fallback")))
        else:
            answers.update((key, Answer(value, 0, "computed"))
                           for key, value in zip(keys, values, strict=True))

    def _make_do(self, topic: Topic, key: Key, old: Kept | None, now: TimeIndex) -> Answer:
        topic.stale += 1
        if topic.lifetime:
            self.waiting.add(topic, key)
        if old is None:
            return Answer(topic.fallback, None, "fallback")
        return Answer(old[0], max(0, now[0] - old[1][0]), "stale")


def _refuse_others(topic: Topic, keys: list[Key]) -> None:
    for key in keys:
        if not isinstance(key, tuple):
            raise TypeError(
                f"each key of topic {topic.code!r} must be a tuple, got {key!r:.60};"
                f" write ({key!r:.60},) for a key of one part"
            )


Handle = TypeVar("Handle", covariant=True)


class EventSource(Protocol[Handle]):
    """A source of events: an EventManager, or any object with the same ``listen``."""

    def listen(self, codes: str | Iterable[str], handler: Callable[[Any], None], /) -> Handle:
        """Call ``handler(event)`` for every event of these codes."""
        ...


TOPIC_BY_CODE = Named(lambda station: station._topics, "topic", name=attrgetter("code"))
"""How saves refer to a topic."""


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
        waiting=ListOfSaveable(Row(lambda *query: query, TOPIC_BY_CODE, KEY_STATE), at="_answering.waiting.questions"))

    def __init__(
        self,
        clock: Clock,
        *,
        faults: FaultIsolation | None = None,
        values: SavedValues | None = None,
    ) -> None:
        self.clock = checked_clock(clock)
        self.values = values if values is not None else SavedValues()
        self.faults = given_faults(faults)
        self._topics: dict[str, Topic] = {}
        self._answering = QueryProcessor(self, self.faults)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all topics, in the order they were added."""
        return tuple(self._topics)

    @property
    def waiting(self) -> int:
        """Queries that wait for computation (count)."""
        return len(self._answering.waiting)

    @property
    def log(self) -> PollingLog | None:
        """The log of all polls; None for no log."""
        return self._answering.log

    @log.setter
    def log(self, log: PollingLog | None) -> None:
        self._answering.log = checked_log(log, PollingLog)
        for topic in self._topics.values():
            topic.watch(log is not None)

    def add_topic(
        self,
        code: str,
        compute: Callable[..., Any] | None,
        *,
        compute_many: Callable[[list[Key]], Iterable[Any]] | None = None,
        lifetime_frames: int | None = 1,
        lifetime_s: float | None = None,
        maximum_keys: int = MAXIMUM_KEYS,
        is_symmetric: bool = False,
        may_ask: Callable[..., object] | None = None,
        fallback: object = NO_FALLBACK,
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
            is_symmetric: the key is a pair, and (a, b) means the same as (b, a);
                it is computed in the order of the first poll.
            may_ask: ``may_ask(asker, *key)`` decides at every poll whether the asker may
                have the answer; ``asker`` is None if the poll names no asker.
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
            lifetime_s=lifetime_s, maximum_keys=maximum_keys, is_symmetric=is_symmetric,
            may_ask=may_ask, fallback=fallback,
        )
        if code in self._topics:
            raise ValueError(f"topic {code!r} already exists; call remove_topic() first")
        topic.watch(self.log is not None)
        self._topics[code] = topic

    def remove_topic(self, code: str) -> None:
        """Remove a topic, its answers and its waiting queries.

        Raises:
            UnknownNameError: if no topic has this code.
        """
        self._answering.waiting.forget(self._topic(code))
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

        Returns:
            the answer; or REFUSED, which is false, if ``may_ask`` of the topic refuses
            a poll without an asker; see ``poll_as``.

        Raises:
            UnknownNameError: if no topic has this code.
            CycleError: if the computation of this answer requires this answer.
            TypeError: if the key is not hashable.

        Cost: O(1), plus a computation if no fresh answer is cached.
        """
        try:
            topic = self._topics[code]
            now = self.clock.now
            if topic.now is not now:
                topic.turn(now)
            answer = topic.fresh[key]
            topic.hits += 1
            return answer
        except KeyError:
            pass  # computed below, so that its exceptions are not chained to this one
        except TypeError:
            raise unhashable(self._topic(code), [key]) from None
        return self.poll_with_age(code, *key).value

    def poll_as(self, asker: object, code: str, *key: Hashable) -> Any:
        """Return the result of ``poll`` for an asker, which the topic may refuse.

        Args:
            asker: the polling agent; passed to ``may_ask`` of the topic.
            code: code of the topic.
            key: arguments of the query.

        Raises: and Cost: see ``poll``.
        """
        return self.poll_with_age(code, *key, asker=asker).value

    def poll_with_age(self, code: str, *key: Hashable, asker: object | None = None) -> Answer:
        """Return the result of ``poll`` with its age and its origin.

        Raises: and Cost: see ``poll``.
        """
        topic, now = self._topic(code), self.clock.now
        if topic.now is not now:
            topic.turn(now)
        return self._answering.answer_one(topic, key, asker, now)

    def poll_many(
        self, code: str, keys: Iterable[Key], *, asker: object | None = None
    ) -> Sequence[Any]:
        """Return the answers for many keys, in order: a list, or for IdPairs possibly the computed bytes.

        Missing answers are computed in one call of ``compute_many``, if the topic has
        it; a key that occurs twice is computed once. With a budget of time, several
        calls may be made, so that the computation can stop in between.

        Args:
            code: code of the topic.
            keys: tuples of arguments, as for ``poll``; or IdPairs, which are passed to
                ``compute_many`` unchanged if all of them must be computed.
            asker: the polling agent, for topics with ``may_ask``.

        Raises: as ``poll``; TypeError also if a key is not a tuple.

        Cost: O(keys), plus the computation of the missing answers.
        """
        try:
            topic, now = self._topics[code], self.clock.now
        except (KeyError, TypeError):
            topic, now = self._topic(code), self.clock.now  # raises an error that lists the topics
        if topic.now is not now:
            topic.turn(now)
        if type(keys) is IdPairs:
            values = self._answering.answer_batch(topic, keys, now)
            if values is not None:
                return values if isinstance(values, bytes) else [*values]  # a copy that the caller may change
            keys = keys.keys
        elif not isinstance(keys, list):
            keys = [*keys]
        try:
            answers = [*map(topic.fresh.__getitem__, keys)]
            topic.hits += len(answers)
            return answers
        except (KeyError, TypeError):
            pass
        return self._answering.answer_many(topic, keys, asker, now)

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
        self._answering.limit(budget, self.clock.now)

    def advance(self, budget: Budget) -> None:
        """Compute the waiting queries in order of arrival, and cache the answers.

        Continues where it stopped when the budget was spent. A failure is reported
        as if the topic had a fallback, and the query is dropped.

        Raises:
            RuntimeError: if called from inside a computation.
        """
        check_budget(budget)
        if self._answering.computing.is_busy:
            raise RuntimeError("advance was called from inside a computation; call it once a frame, outside of topics")
        self._answering.work_off(budget, self.clock.now)

    def invalidate(self, code: str, *key: Hashable) -> None:
        """Mark the answer for ``key`` as old; without a key, every answer of the topic.

        Old answers are returned only when the budget is spent. An answer whose
        computation is under way is not cached.

        Raises:
            UnknownNameError: if no topic has this code.
            TypeError: if the key is not hashable.

        Cost: O(1); without a key O(answers computed since the last call).
        """
        topic = self._topic(code)
        try:
            topic.expire(self._answering.known(topic, key) if key else None)
        except TypeError:
            raise unhashable(topic, [key]) from None
        self._answering.note(
            topic, key or None, None, self.clock.now, Answer(None, None, "invalidated")
        )

    def invalidate_on(
        self,
        events: EventSource[Handle],
        codes: str | Iterable[str],
        topics: str | Iterable[str],
        *,
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
            concerned = _checked_key(key(event)) if key is not None else None
            for name in names:
                if name in self._topics:
                    self.invalidate(name, *(concerned or ()))

        return events.listen(codes, invalidate)

    def statistics(self) -> list[TopicStatistics]:
        """Return the statistics of each topic, in the order the topics were added."""
        return [
            TopicStatistics(
                t.code, t.hits, t.misses, t.computations, t.failures, len(t.kept), t.stale,
                t.refused, t.waiting,
            )
            for t in self._topics.values()
        ]

    def _check_at_rest(self) -> None:
        if self._answering.computing.is_busy:
            raise RuntimeError("an answer is being computed; save and load between two frames")

    def _finish_load(self) -> None:
        self._answering.end_limit()

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        queries = [(topic, f"waiting[{index}][1]", key) for index, (topic, key) in enumerate(values.waiting)]
        for number, (topic, state) in enumerate(values.topics.items()):
            keys = [answer[0] for answer in state.answers] if topic.is_symmetric else []
            known = set(keys)
            for index, key in enumerate(keys):
                place = f"topics[{number}][1].answers[{index}][0]"
                queries.append((topic, place, key))
                if key[::-1] in known and key[::-1] != key:
                    refuse(place, "occurs twice, as its reverse is the same query")
        for topic, place, key in queries:
            if topic.is_symmetric and len(key) != 2:
                refuse(place, f"must be a pair, got {brief([*key])}")

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


def _checked_key(key: Key | None) -> Key | None:
    if key is not None and not isinstance(key, tuple):
        raise TypeError(
            f"key of invalidate_on must return a tuple or None, got {shown(key)};"
            " write (it,) for a key of one part"
        )
    return key


__all__ = ["REFUSED", "Answer", "AnswerBudget", "ComputationStack", "PollingStation", "QueryProcessor", "QueryQueue",
    "TopicStatistics"]
