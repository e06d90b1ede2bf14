"""How a poll that finds nothing at once is answered: kept, computed, old, or refused."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.events.polling_answer import REFUSED, Answer
from ai_core.events.polling_budget import MOST_KEYS, Allowance, Questions
from ai_core.events.polling_computing import Computing
from ai_core.events.polling_log import PollingLog
from ai_core.events.polling_pairs import IdPairs, Kept
from ai_core.events.polling_topic import Key, Topic, question_text, unhashable
from ai_core.faults import FaultIsolation

__all__ = ["Answering"]


class Answering:
    """Answers for a station whatever it does not find in ``topic.fresh``.

    Args:
        station: what faults are reported under, with the topic's code.
        faults: told of failures that do not reach who polled.

    Attributes:
        waiting: questions to be computed in a later frame.
        computing: what is being computed.
        log: where every poll is noted, or None.
    """

    def __init__(self, station: object, faults: FaultIsolation) -> None:
        self.waiting = Questions()
        self.computing = Computing(station, faults, self.waiting)
        self.log: PollingLog | None = None
        self._allowance: Allowance | None = None
        self._allowed_frame = 0

    def limit(self, budget: Budget, now: TimeIndex) -> None:
        """Let polls of this frame compute no more than what is left of a budget."""
        self._allowance, self._allowed_frame = Allowance(budget), now[0]

    def one(self, topic: Topic, key: Key, asker: object, now: TimeIndex) -> Answer:
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

    def many(self, topic: Topic, keys: list[Key], asker: object, now: TimeIndex) -> list[Any]:
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

    def together(self, topic: Topic, pairs: IdPairs, now: TimeIndex) -> Sequence[Any] | None:
        """Return the answers of a batch that can be asked and kept as one; None if each is to be looked at.

        Who changes them changes what is kept. In one piece: what runs once a frame finds nothing of
        itself in a processor's caches, and each function more costs as much as ten rays.
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
        """Return a key as the topic knows it: a pair may have been asked the other way round."""
        if not topic.is_symmetric:
            return key
        if len(key) != 2:
            asked = question_text(topic.code, key)
            raise ValueError(f"the key of a symmetric topic must be a pair, got {asked}")
        turned = key[::-1]
        if key not in topic.kept and (
            turned in topic.kept
            or (topic, turned) in self.waiting
            or self.computing.has(topic, turned)
        ):
            return turned
        return key

    def work_off(self, budget: Budget, now: TimeIndex) -> None:
        """Compute what waits until the budget is spent."""
        while self.waiting and not budget.is_spent:
            topic, allowance = self.waiting.next_topic(), Allowance(budget)
            fitting = allowance.fitting(topic) if topic.compute_many is not None else 1
            keys = self.waiting.take(max(1, fitting))
            keys = [key for key in keys if topic.found(key, key, now) is None]
            if keys:
                budget.spend(len(keys))
                self.computing.run(topic, keys, now, allowance=allowance, is_isolated=True)

    def note(
        self, topic: Topic, key: Key | None, asker: object, now: TimeIndex, answer: Answer
    ) -> None:
        """Write an answer into the log, if there is one."""
        if self.log is not None:
            self.log.note(now, topic.code, key, asker, answer)

    def _allowed(self, now: TimeIndex) -> Allowance | None:
        """Return what limits a computation now.

        Nothing limits one that is part of another: it would spoil that answer.
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
        """Look at each key by itself; compute together what is missing."""
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
        """Compute as many as the frame allows; make do for the rest, which waits."""
        answers: dict[Key, Answer] = {}
        allowance = self._allowed(now)
        todo = iter(keys)
        while part := self._next_part(topic, todo, allowance, answers, now):
            self._compute(topic, part, allowance, answers, now)
        rest = [*todo]
        old = {key: topic.kept[key] for key in rest if key in topic.kept}
        if not topic.has_fallback:  # there is nothing else to tell
            helpless = [key for key in rest if key not in old]
            is_batched = topic.compute_many is not None and helpless
            for part in [helpless] if is_batched else [[key] for key in helpless]:
                self._compute(topic, part, allowance, answers, now)
        for key in rest:
            if key not in answers:
                answers[key] = self._make_do(topic, key, old.get(key), now)
        return answers

    def _next_part(
        self, topic: Topic, todo: Iterator[Key], allowance: Allowance | None,
        answers: dict[Key, Answer], now: TimeIndex,
    ) -> list[Key]:
        """Return what may be computed in one call; empty if no more, or nothing is left to do.

        What an earlier call has computed on the way is not computed again.
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
        self, topic: Topic, keys: list[Key], allowance: Allowance | None,
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
