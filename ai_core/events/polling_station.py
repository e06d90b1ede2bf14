"""The polling station: questions about the world, answered once for all who ask."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, checked_clock
from ai_core.errors import UnknownNameError, shown
from ai_core.events.arguments import checked_log
from ai_core.events.polling_answer import NO_FALLBACK, REFUSED, Answer, TopicStatistics
from ai_core.events.polling_answering import Answering
from ai_core.events.polling_log import PollingLog
from ai_core.events.polling_pairs import IdPairs
from ai_core.events.polling_state import prepared_station, saved_station
from ai_core.events.polling_topic import (
    MAXIMUM_KEYS,
    Key,
    Topic,
    unhashable,
)
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.fields import State
from ai_core.saving.values import SavedValues

__all__ = ["REFUSED", "Answer", "PollingStation", "TopicStatistics"]

Handle = TypeVar("Handle", covariant=True)


class Listenable(Protocol[Handle]):
    """What tells of events: an EventManager, or anything with its ``listen``."""

    def listen(self, codes: str | Iterable[str], handler: Callable[[Any], None], /) -> Handle:
        """Call ``handler(event)`` for every event of these codes."""
        ...


class PollingStation:
    """Answers questions by topic and key, and keeps the answers for a while.

    A topic is a code and a callable: ``add_topic("can_see", cast_ray)``; a key
    is what the callable is told: ``poll("can_see", guard, thief)``. Whoever
    polls need not know whether an answer was kept.

    Args:
        clock: whose frames are counted.
        faults: told of topics that fail and have a fallback; None makes one
            that logs.
        values: writes keys and answers into saves; None knows plain data.

    Attributes:
        clock: whose frames are counted.
        faults: told of topics that fail.
        values: see above.
    """

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
        self._answering = Answering(self, self.faults)

    @property
    def codes(self) -> tuple[str, ...]:
        """The topics there are, in the order they were added."""
        return tuple(self._topics)

    @property
    def waiting(self) -> int:
        """Questions that wait to be computed."""
        return len(self._answering.waiting)

    @property
    def log(self) -> PollingLog | None:
        """Where every poll is noted, or None."""
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
        """Let ``poll(code, *key)`` be answered by ``compute(*key)``.

        Args:
            code: name of the topic.
            compute: called when no fresh answer is kept; None if there is
                ``compute_many``.
            compute_many: called with a list of keys, each a tuple and each
                once, when several are asked for; returns an answer for each.
            lifetime_frames: frames an answer stays fresh, the one it was
                computed in included: 1 within a frame, None until
                invalidated, 0 never kept.
            lifetime_s: game time it stays fresh instead (s), 1e-6 or more.
            maximum_keys: answers kept from frame to frame, and questions that
                may wait; beyond it the oldest sixteenth of the answers is
                dropped. Those of the present frame stay until it ends, so that
                none is computed twice in it.
            is_symmetric: the key is a pair, and (a, b) is the same as (b, a);
                it is computed in the order it was first asked.
            may_ask: ``may_ask(asker, *key)`` decides at every poll whether an
                agent could know; ``asker`` is None if nobody said who asks.
            fallback: the answer when ``compute`` raises, or when the budget is
                spent and there is no old answer. A failure is then reported,
                and after several in a row the topic answers with its fallback
                alone until ``faults.release((station, code))``. Without one
                the error reaches whoever polled.

        Raises:
            ValueError: if there is a topic of this code, or a number is out of range.
            TypeError: if something cannot be called.
        """
        topic = Topic(
            code, compute, compute_many=compute_many, lifetime_frames=lifetime_frames,
            lifetime_s=lifetime_s, maximum_keys=maximum_keys, is_symmetric=is_symmetric,
            may_ask=may_ask, fallback=fallback,
        )
        if code in self._topics:
            raise ValueError(f"topic {code!r} is there already; call remove_topic() first")
        topic.watch(self.log is not None)
        self._topics[code] = topic

    def remove_topic(self, code: str) -> None:
        """Forget a topic, its answers, and the questions that wait.

        Raises:
            UnknownNameError: if there is none of this code.
        """
        self._answering.waiting.forget(self._topic(code))
        del self._topics[code]
        self.faults.forget((self, code))

    def poll(self, code: str, *key: Hashable) -> Any:
        """Return the answer of a topic for a key, computing it if none is fresh.

        In a frame whose budget is spent an old answer, or the fallback, is
        returned instead and the question waits; see ``begin_frame``. What
        ``compute`` raises comes through, unless the topic has a fallback; a
        failure is not kept: the next poll tries again.

        Args:
            code: which topic.
            key: what it is asked about.

        Returns:
            the answer, or REFUSED, which is false, if not everybody may ask;
            then see ``poll_as``.

        Raises:
            UnknownNameError: if there is no topic of this code.
            CycleError: if computing this answer asks for this answer.
            TypeError: if the key cannot be hashed.

        Cost: O(1), plus one computation if no fresh answer is kept.
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
            pass  # computed outside of it: what it raises has nothing to do with this
        except TypeError:
            raise unhashable(self._topic(code), [key]) from None
        return self.poll_with_age(code, *key).value

    def poll_as(self, asker: object, code: str, *key: Hashable) -> Any:
        """Return what ``poll`` returns, for somebody who may not ask everything.

        Args:
            asker: who asks; handed to the topic's ``may_ask``.
            code: which topic.
            key: what it is asked about.

        Raises: and Cost: see ``poll``.
        """
        return self.poll_with_age(code, *key, asker=asker).value

    def poll_with_age(self, code: str, *key: Hashable, asker: object | None = None) -> Answer:
        """Return what ``poll`` returns, with its age and how it came about.

        Raises: and Cost: see ``poll``.
        """
        topic, now = self._topic(code), self.clock.now
        if topic.now is not now:
            topic.turn(now)
        return self._answering.one(topic, key, asker, now)

    def poll_many(
        self, code: str, keys: Iterable[Key], *, asker: object | None = None
    ) -> Sequence[Any]:
        """Return the answers for many keys, in their order: a list, or for IdPairs the bytes it was computed as.

        What is missing is computed in one call of ``compute_many``, if the
        topic has it; a key that comes twice is computed once. With a budget of
        time it may take several calls, so that it can stop in between.

        Args:
            code: which topic.
            keys: each a tuple of what ``poll`` is told after the code; or IdPairs, which
                ``compute_many`` is then handed as they are, if all of them are to be computed.
            asker: who asks, for topics that not everybody may ask.

        Raises: as ``poll`` does; TypeError also if a key is not a tuple.

        Cost: O(keys), plus the computation of those that are missing.
        """
        try:
            topic, now = self._topics[code], self.clock.now
        except (KeyError, TypeError):
            topic, now = self._topic(code), self.clock.now  # says which there are
        if topic.now is not now:
            topic.turn(now)
        if type(keys) is IdPairs:
            values = self._answering.together(topic, keys, now)
            if values is not None:
                return values if isinstance(values, bytes) else [*values]  # theirs to change
            keys = keys.keys
        elif not isinstance(keys, list):
            keys = [*keys]
        try:
            answers = [*map(topic.fresh.__getitem__, keys)]
            topic.hits += len(answers)
            return answers
        except (KeyError, TypeError):
            pass
        return self._answering.many(topic, keys, asker, now)

    def begin_frame(self, budget: Budget) -> None:
        """Compute what waits; what is left of the budget is all that polls may compute.

        It holds until the clock's next frame: after it, polls compute freely
        again unless the next frame is begun so too. One step is one answer;
        of time only what computing takes is counted. What is computed inside
        another computation is never refused: it would spoil that answer.

        Raises:
            RuntimeError: if called from inside a computation.
        """
        self.advance(budget)  # which checks it
        self._answering.limit(budget, self.clock.now)

    def advance(self, budget: Budget) -> None:
        """Compute the questions that wait, in the order they were asked, and keep the answers.

        Goes on where it stopped when the budget was spent. A failure is
        reported as if the topic had a fallback, and the question dropped.

        Raises:
            RuntimeError: if called from inside a computation.
        """
        check_budget(budget)
        if self._answering.computing.is_busy:
            raise RuntimeError("advance was called from inside a computation; call it once a frame")
        self._answering.work_off(budget, self.clock.now)

    def invalidate(self, code: str, *key: Hashable) -> None:
        """Let the answer for ``key`` be old; without a key, every answer of the topic.

        Old answers are only told when the budget is spent. An answer that is
        being computed meanwhile is not kept.

        Raises:
            UnknownNameError: if there is no topic of this code.
            TypeError: if the key cannot be hashed.

        Cost: O(1); without a key O(answers computed since the last time).
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
        events: Listenable[Handle],
        codes: str | Iterable[str],
        topics: str | Iterable[str],
        *,
        key: Callable[[Any], Key | None] | None = None,
    ) -> Handle:
        """Invalidate topics whenever an event of one of these codes is told.

        Args:
            events: an EventManager, or anything with its ``listen``.
            codes: of events, one or several.
            topics: codes of topics, one or several; those removed are passed over.
            key: returns the key an event concerns, a tuple, or None for all of
                them; without it, every answer is invalidated. If it returns
                anything else that is a fault of this listener.

        Returns:
            what ``listen`` returned: stop that to end it.

        Raises:
            UnknownNameError: if there is no such topic.
            TypeError: if ``events`` cannot be listened to, or ``key`` not called.
        """
        if not callable(getattr(events, "listen", None)):
            raise TypeError(f"events must have listen(codes, handler), got {shown(events)}")
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
        """Return how each topic was used, in the order they were added."""
        return [
            TopicStatistics(
                t.code, t.hits, t.misses, t.computations, t.failures, len(t.kept), t.stale,
                t.refused, t.waiting,
            )
            for t in self._topics.values()
        ]

    def save_state(self) -> State:
        """Return the answers kept, what waits, and how topics were used, as plain data.

        An answer is left out, and computed anew after loading, if it or its key
        is neither plain nor named.

        Raises:
            RuntimeError: if called from inside a computation.
        """
        return saved_station(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the topics that are here; return what loads it.

        Topics that are only here are left alone.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called from inside a computation.
        """
        return prepared_station(self, state)

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
