"""A topic of a polling station: the computation of its answers, their cache, and how both are saved."""
from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice, takewhile
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.errors import checked_name, finite_number, shown, whole_number
from ai_core.faults import FAILURES_STATE, Failures
from ai_core.saving.declared_state import (
    Flag,
    GameValue,
    GameValues,
    ListOf,
    MapOf,
    Moment,
    Named,
    Record,
    Row,
    Whole,
    refuse,
)
from ai_core.saving.fields import StateError

__all__ = [
    "EXPIRED", "KEY_STATE", "MAXIMUM_KEYS", "MOST_KEYS", "NO_FALLBACK", "TOPIC_BY_CODE", "TOPIC_STATE", "AnswerBudget",
    "Cached", "Key", "ListOfSaveable", "Topic", "TopicState"]

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
    """The computation of answers, and their cache; see ``PollingStation.add_topic``.

    Attributes:
        cached: answers by key, the oldest first.
        axis: whether lifetimes count frames (0) or seconds (1).
        key_us: time that the last answer took (µs); None if it was not measured.
        invalidations: calls of ``expire`` (count).
    """

    __slots__ = (
        "_crowded_frame", "axis", "cached", "code", "computations", "compute", "compute_many", "failures", "fallback",
        "hits", "invalidations", "key_us", "lifetime", "maximum_keys", "misses", "stale", "waiting")

    def __init__(
        self, code: str, compute: Callable[..., Any] | None, *,
        compute_many: Callable[[list[Key]], Iterable[Any]] | None, lifetime_frames: int | None,
        lifetime_s: float | None, maximum_keys: int, fallback: object,
    ) -> None:
        checked_name("a topic's code", code)
        if not callable(compute) and (compute is not None or compute_many is None):
            raise TypeError(f"compute must be callable, got {shown(compute)}")
        if compute_many is not None and not callable(compute_many):
            raise TypeError(f"compute_many must be callable or None, got {shown(compute_many)}")
        self.axis, self.lifetime = _checked_lifetime(lifetime_frames, lifetime_s)
        self.maximum_keys = whole_number(
            "maximum_keys", maximum_keys, minimum=1, remedy="use lifetime_frames=0 to keep none")
        self.code, self.compute, self.compute_many, self.fallback = code, compute, compute_many, fallback
        self.cached: dict[Key, Cached] = {}
        self.key_us: float | None = None
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
        """Drop the oldest answers above the maximum, as far as they are of earlier frames.

        A sixteenth at a time, because a dict finds its oldest key by walking over all
        keys removed before it.
        """
        cached, frame = self.cached, now[0]
        if len(cached) <= self.maximum_keys or self._crowded_frame == frame:
            return
        most = max(len(cached) - self.maximum_keys, self.maximum_keys // 16)
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


class _KeyState(GameValues):
    """How a key is saved."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        key = super().read(plain, place, owner)
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


KEY_STATE = _KeyState(at="key")
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
