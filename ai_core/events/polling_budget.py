"""What polls may still compute in a frame, and the questions that wait for a later one."""
from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator

from ai_core.budget import Budget
from ai_core.events.polling_topic import Key, Topic

__all__ = ["Allowance", "Questions"]

FIRST_KEYS = 16
"""Answers computed in one call under a budget of time while their cost is unknown (count).

More could overrun the budget by more; fewer makes the first batches slower.
"""

MOST_KEYS = 1 << 40
"""More keys than there are, where nothing limits them (count)."""


class Allowance:
    """What is left of a budget: steps, or time that only computing uses up.

    Args:
        budget: its rest is the allowance; it is not charged.
    """

    __slots__ = ("left", "stopwatch")

    def __init__(self, budget: Budget) -> None:
        self.left = budget.left
        self.stopwatch = budget.stopwatch

    def fitting(self, topic: Topic) -> int:
        """Return how many answers of a topic may be computed now; 0 if it is used up."""
        if self.left <= 0:
            return 0
        if self.left == math.inf:
            return MOST_KEYS
        if self.stopwatch is None:
            return int(self.left)
        if topic.key_us is None:
            return FIRST_KEYS
        return max(1, int(self.left / max(topic.key_us, 0.001)))


class Questions:
    """Questions that wait to be computed, in the order they were asked; none twice."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[Topic, Key], None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[tuple[Topic, Key]]:
        return iter(self._waiting)

    def __contains__(self, question: tuple[Topic, Key]) -> bool:
        return question in self._waiting

    def add(self, topic: Topic, key: Key) -> None:
        """Let a question wait; no more of a topic than the answers it may keep."""
        if topic.waiting < topic.maximum_keys and (topic, key) not in self._waiting:
            self._waiting[topic, key] = None
            topic.waiting += 1

    def discard(self, topic: Topic, keys: Iterable[Key]) -> None:
        """Let questions wait no more, because they were answered."""
        for key in keys:
            if self._waiting.pop((topic, key), topic) is None:
                topic.waiting -= 1

    def next_topic(self) -> Topic:
        """Return the topic that was asked about first."""
        return next(iter(self._waiting))[0]

    def take(self, most: int) -> list[Key]:
        """Return and remove the first questions, as far as they are of one topic."""
        topic = self.next_topic()
        keys: list[Key] = []
        while self._waiting and len(keys) < most and self.next_topic() is topic:
            keys.append(self._waiting.popitem(last=False)[0][1])
        topic.waiting -= len(keys)
        return keys

    def forget(self, topic: Topic) -> None:
        """Remove all questions of a topic."""
        for question in [one for one in self._waiting if one[0] is topic]:
            del self._waiting[question]
        topic.waiting = 0

    def replace(self, questions: list[tuple[Topic, Key]]) -> None:
        """Put others in place of all that wait."""
        for topic, _ in self._waiting:
            topic.waiting = 0
        self._waiting.clear()
        for topic, key in questions:
            self.add(topic, key)
