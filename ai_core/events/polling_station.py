"""The polling station: questions about the world, answered once for all who ask."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from ai_core.clock import Clock
from ai_core.errors import CycleError, UnknownNameError, shown, whole_number
from ai_core.events.polling_state import prepared_station, saved_station
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import State
from ai_core.saving.values import SavedValues

__all__ = ["PollingStation", "TopicStatistics"]

MAXIMUM_KEYS = 1024
"""Answers kept per topic unless told otherwise (count).

32 characters asking about each other fill it; an answer is about 200 bytes.
Fewer computes answers again, more keeps what nobody will ask for.
"""

FOREVER = 1 << 62
"""A frame that never comes (frames): 2 billion years at 60 a second."""

_RAISE = object()


class TopicStatistics(NamedTuple):
    """How one topic was used since it was added."""

    code: str
    hits: int
    """Polls answered from what was kept."""
    misses: int
    """Polls that found nothing fresh."""
    computations: int
    failures: int
    """Computations that raised."""
    keys: int
    """Answers kept now, stale ones included."""


class _Topic:
    __slots__ = (
        "answers",
        "code",
        "computations",
        "compute",
        "failures",
        "fallback",
        "hits",
        "invalidations",
        "lifetime_frames",
        "maximum_keys",
        "misses",
    )

    def __init__(
        self,
        code: str,
        compute: Callable[..., Any],
        lifetime_frames: int,
        maximum_keys: int,
        fallback: object,
    ) -> None:
        self.code = code
        self.compute = compute
        self.lifetime_frames = lifetime_frames
        self.maximum_keys = maximum_keys
        self.fallback = fallback
        self.answers: OrderedDict[tuple[Hashable, ...], tuple[Any, int, int]] = OrderedDict()
        self.hits = self.misses = self.computations = self.failures = self.invalidations = 0

    def keep(self, key: tuple[Hashable, ...], answer: object, frame: int) -> None:
        """Keep an answer as the newest; drop the oldest beyond the maximum."""
        if self.lifetime_frames == 0:
            return
        self.answers[key] = (answer, frame, frame + self.lifetime_frames)
        self.answers.move_to_end(key)
        if len(self.answers) > self.maximum_keys:
            self.answers.popitem(last=False)


class PollingStation:
    """Answers questions by topic and key, and keeps the answers for some frames.

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

    forever = FOREVER
    """Frame until which an answer is kept that does not grow old."""

    def __init__(
        self,
        clock: Clock,
        *,
        faults: FaultIsolation | None = None,
        values: SavedValues | None = None,
    ) -> None:
        self.clock = clock
        self.values = values if values is not None else SavedValues()
        self.faults = faults if faults is not None else FaultIsolation()
        self._topics: dict[str, _Topic] = {}
        self._computing: dict[tuple[str, tuple[Hashable, ...]], None] = {}

    @property
    def codes(self) -> tuple[str, ...]:
        """The topics there are, in the order they were added."""
        return tuple(self._topics)

    def add_topic(
        self,
        code: str,
        compute: Callable[..., Any],
        *,
        lifetime_frames: int | None = 1,
        maximum_keys: int = MAXIMUM_KEYS,
        fallback: object = _RAISE,
    ) -> None:
        """Let ``poll(code, *key)`` be answered by ``compute(*key)``.

        Args:
            code: name of the topic.
            compute: called when no fresh answer is kept.
            lifetime_frames: frames an answer stays fresh, the one it was
                computed in included: 1 within a frame, None until
                invalidated, 0 never kept.
            maximum_keys: answers kept; the oldest is dropped for one more.
            fallback: the answer when ``compute`` raises. The failure is then
                reported, and after several in a row the topic answers with
                its fallback alone until ``faults.release((station, code))``.
                Without one the error reaches whoever polled.

        Raises:
            ValueError: if there is a topic of this code, or a number is out of range.
            TypeError: if ``compute`` cannot be called.
        """
        if not isinstance(code, str) or not code:
            raise TypeError(f"a topic's code must be a non-empty string, got {shown(code)}")
        if not callable(compute):
            raise TypeError(f"compute must be callable, got {shown(compute)}")
        if code in self._topics:
            raise ValueError(f"topic {code!r} is there already; remove_topic it first")
        if lifetime_frames is None:
            lifetime = FOREVER
        else:
            lifetime = whole_number(
                "lifetime_frames", lifetime_frames, minimum=0, remedy="use None to keep answers"
            )
        most = whole_number(
            "maximum_keys", maximum_keys, minimum=1, remedy="use lifetime_frames=0 to keep none"
        )
        self._topics[code] = _Topic(code, compute, lifetime, most, fallback)

    def remove_topic(self, code: str) -> None:
        """Forget a topic and its answers.

        Raises:
            UnknownNameError: if there is none of this code.
        """
        self._topic(code)
        del self._topics[code]
        self.faults.forget((self, code))

    def poll(self, code: str, *key: Hashable) -> Any:
        """Return the answer of a topic for a key, computing it if none is fresh.

        What ``compute`` raises comes through, unless the topic has a fallback;
        a failure is not kept: the next poll tries again.

        Raises:
            UnknownNameError: if there is no topic of this code.
            CycleError: if computing this answer asks for this answer.

        Cost: O(1), plus one computation if no fresh answer is kept.
        """
        topic = self._topics.get(code)
        if topic is None:
            topic = self._topic(code)
        frame = self.clock.now.frame
        kept = topic.answers.get(key)
        if kept is not None and kept[1] <= frame < kept[2]:  # a loaded game may go back
            topic.hits += 1
            return kept[0]
        topic.misses += 1
        return self._compute(topic, key, frame)

    def invalidate(self, code: str, *key: Hashable) -> None:
        """Drop the answer for ``key``; without a key, every answer of the topic.

        An answer that is being computed meanwhile is not kept either.

        Raises:
            UnknownNameError: if there is no topic of this code.
        """
        topic = self._topic(code)
        topic.invalidations += 1
        if key:
            topic.answers.pop(key, None)
        else:
            topic.answers.clear()

    def statistics(self) -> list[TopicStatistics]:
        """Return how each topic was used, in the order they were added."""
        return [
            TopicStatistics(
                t.code, t.hits, t.misses, t.computations, t.failures, len(t.answers)
            )
            for t in self._topics.values()
        ]

    def save_state(self) -> State:
        """Return the answers kept and how topics were used, as plain data.

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

    def _topic(self, code: str) -> _Topic:
        try:
            return self._topics[code]
        except KeyError:
            raise UnknownNameError("topic", code, self._topics) from None

    def _compute(self, topic: _Topic, key: tuple[Hashable, ...], frame: int) -> Any:
        question = (topic.code, key)
        if question in self._computing:
            raise CycleError(self._describe_cycle(question))
        may_fail = topic.fallback is not _RAISE
        if may_fail and self.faults.is_quarantined((self, topic.code)):
            return topic.fallback
        invalidations = topic.invalidations
        self._computing[question] = None
        topic.computations += 1
        try:
            answer = topic.compute(*key)
        except Exception as error:
            topic.failures += 1
            if not may_fail:
                raise
            name = f"topic {_call_text(*question)}"
            self.faults.failed((self, topic.code), name, frame, error)
            return topic.fallback
        finally:
            del self._computing[question]
        if may_fail:
            self.faults.succeeded((self, topic.code))
        if topic.invalidations == invalidations:
            topic.keep(key, answer, frame)
        return answer

    def _describe_cycle(self, again: tuple[str, tuple[Hashable, ...]]) -> str:
        questions = list(self._computing)
        round_trip = [*questions[questions.index(again) :], again]
        path = " -> ".join(_call_text(code, key) for code, key in round_trip)
        return f"polling {_call_text(*again)} needs its own answer: {path}"


def _call_text(code: str, key: tuple[Hashable, ...]) -> str:
    return f"{code}({', '.join(shown(part) for part in key)})"
