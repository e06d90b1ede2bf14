"""Computing the answers of a polling station: cycles, failures, and what it costs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ai_core.clock import TimeIndex
from ai_core.errors import CycleError
from ai_core.events.polling_budget import Allowance, Questions
from ai_core.events.polling_topic import Key, Topic, question_text
from ai_core.faults import FaultIsolation

__all__ = ["Computing"]


class Computing:
    """Runs computations inside each other, and knows which are under way.

    Args:
        station: what faults are reported under, with the topic's code.
        faults: told of failures that do not reach who polled.
        waiting: questions that wait; those that are answered leave it.
    """

    def __init__(self, station: object, faults: FaultIsolation, waiting: Questions) -> None:
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
        allowance: Allowance | None = None,
        is_isolated: bool = False,
    ) -> Sequence[Any] | None:
        """Return an answer for each key, and keep them.

        Args:
            topic: what is asked.
            keys: each once.
            now: when.
            allowance: charged for it; None charges nothing.
            is_isolated: report a failure though the topic has no fallback.

        Returns:
            the answers; None if it failed and was reported, or is quarantined.

        Raises:
            CycleError: if an answer that is being computed is needed for itself.
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


def _charged(allowance: Allowance, topic: Topic, keys: Sequence[Key]) -> Sequence[Any]:
    """Compute, and charge it also if it fails."""
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
