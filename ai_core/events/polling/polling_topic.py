"""A topic of a polling station: the computation of its answers, and their cache."""
from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice, repeat, takewhile
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import TimeIndex
from ai_core.errors import finite_number, shown, whole_number
from ai_core.faults import FAILURES_STATE, Failures
from ai_core.saving.declared_state import (
    Flag,
    GameValue,
    GameValues,
    ListOf,
    MapOf,
    Moment,
    Record,
    Row,
    Whole,
    refuse,
)
from ai_core.saving.fields import StateError

SHORTEST_LIFETIME_S = 1e-6
"""Shortest lifetime in seconds (s); a frame is never shorter, so lifetime_frames=1 is equivalent."""
TOLERANCE_S = 1e-9
"""An answer this close to the end of its lifetime is old (s).

Game time is a sum of floats: without it 0.5 s is sometimes a frame longer.
"""


def checked_lifetime(frames: int | None, seconds: float | None) -> tuple[int, float]:
    """Return the axis of a TimeIndex, 0 for frames or 1 for seconds, and the lifetime on it."""
    if seconds is None:
        if frames is None:
            return 0, math.inf
        return 0, whole_number("lifetime_frames", frames, minimum=0, remedy="use None to keep answers without a limit")
    if frames != 1:
        raise ValueError(f"lifetime_s is {shown(seconds)} and lifetime_frames {shown(frames)}; set only one of them")
    lifetime_s = finite_number(
        "lifetime_s", seconds, minimum=SHORTEST_LIFETIME_S, remedy="use lifetime_frames=1 for a frame"
    )
    return 1, lifetime_s - TOLERANCE_S


class _NoFallback:
    def __repr__(self) -> str:
        return "NO_FALLBACK"


class _Refused:
    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "REFUSED"


NO_FALLBACK = _NoFallback()
"""Stands for "no fallback", because None is a valid fallback."""
REFUSED = _Refused()
"""The answer to a refused asker; false, and equal only to itself."""


class Answer(NamedTuple):
    """An answer with its age and its origin."""

    value: Any
    age_frames: int | None
    """Frames since it was computed; None for a fallback or a refusal."""
    how: str
    """"computed", "kept", "stale", "fallback" or "refused"."""

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
    refused: int
    """Polls refused by ``may_ask``."""
    waiting: int
    """Keys that wait for computation now."""


Pair = tuple[Hashable, ...]
Named = Callable[[int], Hashable]
Numbered = Callable[[Any], int | None]
Kept = tuple[Any, TimeIndex, float]
"""An answer, the time of its computation, and the frame or second at which it is old."""
LOOKS = 32
"""Searches in a batch (count) before the tuples of all its keys are made, which takes as long."""
ID_BYTES = 8
"""Size of an id, an int64 (bytes)."""
INT64 = np.iinfo(np.int64)
MIXING = np.uint64(0x9E3779B97F4A7C15)
"""Odd, with well spread bits: different pairs get different hashes, with about 1 exception in 10^18."""


class IdPairs(Sequence[Pair]):
    """Many pairs of ids, as the keys of ``poll_many``.

    To make, look up and store a thousand tuples takes longer than to cast a thousand rays.
    IdPairs are compared, computed and cached as two columns of bytes, as long as few pairs are
    polled individually.

    Args:
        ids: shape (n, 2), int64; must not be changed afterwards. See also ``of_columns``.
        named: returns the part of a key for an id; None for the id itself.
        numbered: returns the id for a part of a key, None for a part without an id.

    Raises:
        TypeError: if ``ids`` is not an int64 array.
        ValueError: if its shape is wrong.
    """

    __slots__ = ("_ids", "_keys", "first", "named", "numbered", "second")

    def __init__(
        self, ids: NDArray[np.int64], named: Named | None = None, numbered: Numbered | None = None
    ) -> None:
        if not isinstance(ids, np.ndarray) or ids.dtype != np.int64:
            raise TypeError(f"ids must be an int64 array, got {shown(ids)}")
        if ids.ndim != 2 or ids.shape[1] != 2:
            raise ValueError(f"ids must have shape (n, 2), got {ids.shape}")
        self.first, self.second = ids[:, 0].tobytes(), ids[:, 1].tobytes()
        self.named, self.numbered = named, numbered
        self._ids: NDArray[np.int64] | None = ids
        self._keys: list[Pair] | None = None

    @classmethod
    def of_columns(
        cls, first: bytes, second: bytes, named: Named | None = None, numbered: Numbered | None = None
    ) -> IdPairs:
        """Return the pairs of the ids in ``first`` and ``second``, each n int64 as bytes.

        Raises:
            ValueError: if the lengths differ, or are not multiples of 8 bytes.
        """
        if len(first) != len(second) or len(first) % ID_BYTES:
            raise ValueError(f"columns must hold equally many int64, got {len(first)} and {len(second)} bytes")
        made = cls.__new__(cls)
        made.first, made.second, made.named, made.numbered = first, second, named, numbered
        made._ids = made._keys = None
        return made

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids, shape (n, 2)."""
        if self._ids is None:
            columns = [np.frombuffer(one, np.int64) for one in (self.first, self.second)]
            self._ids = np.stack(columns, axis=1)
        return self._ids

    def __len__(self) -> int:
        return len(self.first) // ID_BYTES

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> list[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | list[Pair]:
        return self.keys[place]

    @property
    def keys(self) -> list[Pair]:
        """The pairs as tuples."""
        if self._keys is None:
            parts: list[list[Any]] = self.ids.T.tolist()
            if self.named is not None:
                names = {number: self.named(number) for number in {*parts[0], *parts[1]}}
                parts = [[names[number] for number in column] for column in parts]
            self._keys = [*zip(*parts, strict=True)]
        return self._keys

    def are_sure_to_differ(self) -> bool:
        """Return True if no pair occurs twice; False if a pair may occur twice. Cost: sorting n numbers."""
        mixed = np.frombuffer(self.first, np.uint64) * MIXING
        mixed ^= np.frombuffer(self.second, np.uint64)
        mixed.sort()
        return not (mixed[1:] == mixed[:-1]).any()

    def are(self, others: IdPairs) -> bool:
        """Return whether both hold the same pairs in the same order; bytes compare faster than arrays."""
        return self is others or (
            self.first == others.first and self.second == others.second and self.named == others.named)

    def latest(self, count: int) -> IdPairs:
        """Return the last ``count`` pairs."""
        begin = len(self.first) - count * ID_BYTES
        return IdPairs.of_columns(self.first[begin:], self.second[begin:], self.named, self.numbered)

    def place_of(self, key: Pair) -> int | None:
        """Return the index of a pair, -1 if it is absent, None if only ``keys`` can decide. Cost: O(n)."""
        if len(key) != 2:
            return -1
        if self.numbered is None and self.named is not None:
            return None
        first, second = key if self.numbered is None else map(self.numbered, key)
        if type(first) is not int or type(second) is not int:
            return None
        if not (INT64.min <= first <= INT64.max and INT64.min <= second <= INT64.max):
            return -1
        found = (np.frombuffer(self.first, np.int64) == first) & (np.frombuffer(self.second, np.int64) == second)
        return int(found.argmax()) if found.any() else -1


class AnswerBatch:
    """The answers of a batch of pairs.

    Attributes:
        pairs: the pairs.
        answers: the answer for each pair; must not be changed.
        computed_at: time of the computation.
        until: the frame or second at which they are old.
        newer: answers cached since, for other keys.
    """

    __slots__ = ("_looks_left", "answers", "computed_at", "newer", "pairs", "until")

    def __init__(self, pairs: IdPairs, answers: Sequence[Any], computed_at: TimeIndex, until: float) -> None:
        self.pairs = pairs
        self.newer: dict[Pair, Kept] = {}
        self.put(answers, computed_at, until)

    def __len__(self) -> int:
        return len(self.answers) + len(self.newer)

    def put(self, answers: Sequence[Any], computed_at: TimeIndex, until: float) -> None:
        """Replace the answers."""
        self.answers, self.computed_at, self.until, self._looks_left = answers, computed_at, until, LOOKS

    def place_of(self, key: Pair) -> int | None:
        """Return the index of a pair, -1 if it is absent, None if it is time to make all keys."""
        if not self._looks_left:
            return None
        self._looks_left -= 1
        return self.pairs.place_of(key)


MAXIMUM_KEYS = 1024
"""Default number of answers cached per topic (count).

32 characters polling about each other fill it; an answer takes about 250 bytes.
A smaller number computes answers again, a larger one keeps answers that are not polled.
"""
EXPIRED = -math.inf
"""End of freshness of an answer that was invalidated."""
Key = tuple[Hashable, ...]
"""The arguments of a query, which are those of the topic's callable."""


class Topic:
    """The computation of answers, and their cache; see ``PollingStation.add_topic``.

    Attributes:
        kept: answers by key, the oldest first. Reading it adds those of the latest batch of
            pairs.
        fresh: answers that are fresh at ``now``; ``poll`` looks here first. Used only by
            topics without ``may_ask`` and without a log.
        now: the time of ``fresh``; None before the first poll.
        together: the latest batch of pairs, newer than all other answers, or None.
        is_plain: True if a batch of pairs is computed and cached as a whole, without a check
            of each pair.
        axis: whether lifetimes count frames (0) or seconds (1).
    """

    __slots__ = (
        "_are_all_expired",
        "_crowded_frame",
        "_kept",
        "axis",
        "code",
        "computations",
        "compute",
        "compute_many",
        "failures",
        "fallback",
        "fresh",
        "hits",
        "invalidations",
        "is_plain",
        "is_symmetric",
        "is_watched",
        "key_us",
        "latest_until",
        "lifetime",
        "maximum_keys",
        "may_ask",
        "misses",
        "now",
        "refused",
        "stale",
        "together",
        "waiting",
    )

    def __init__(
        self,
        code: str,
        compute: Callable[..., Any] | None,
        *,
        compute_many: Callable[[list[Key]], Iterable[Any]] | None,
        lifetime_frames: int | None,
        lifetime_s: float | None,
        maximum_keys: int,
        is_symmetric: bool,
        may_ask: Callable[..., object] | None,
        fallback: object,
    ) -> None:
        if not isinstance(code, str) or not code:
            raise TypeError(f"a topic's code must be a non-empty string, got {shown(code)}")
        if not callable(compute) and (compute is not None or compute_many is None):
            raise TypeError(f"compute must be callable, got {shown(compute)}")
        for name, one in (("compute_many", compute_many), ("may_ask", may_ask)):
            if one is not None and not callable(one):
                raise TypeError(f"{name} must be callable or None, got {shown(one)}")
        if not isinstance(is_symmetric, bool):
            raise TypeError(f"is_symmetric must be true or false, got {shown(is_symmetric)}")
        self.axis, self.lifetime = checked_lifetime(lifetime_frames, lifetime_s)
        self.maximum_keys = whole_number(
            "maximum_keys", maximum_keys, minimum=1, remedy="use lifetime_frames=0 to keep none"
        )
        self.code, self.compute, self.compute_many = code, compute, compute_many
        self.is_symmetric, self.may_ask, self.fallback = is_symmetric, may_ask, fallback
        self.is_watched = False
        self.is_plain = self.is_open and not is_symmetric and compute_many is not None
        self._kept: dict[Key, Kept] = {}
        self.together: AnswerBatch | None = None
        self.fresh: dict[Key, Any] = {}
        self.now: TimeIndex | None = None
        self.key_us: float | None = None
        self.latest_until = EXPIRED
        self._are_all_expired = True
        self._crowded_frame: int | None = None  # in which all that is kept was computed
        self.hits = self.misses = self.computations = self.failures = self.invalidations = 0
        self.stale = self.refused = self.waiting = 0

    @property
    def kept(self) -> dict[Key, Kept]:
        """Answers by key, the oldest first, including the latest batch of pairs."""
        if self.together is not None:
            latest, self.together = self.together, None
            self._put(latest.pairs.keys, latest.answers, latest.computed_at, latest.until)
            self._take_newer(latest)
        return self._kept

    @property
    def has_fallback(self) -> bool:
        """True if a failure is reported instead of raised."""
        return self.fallback is not NO_FALLBACK

    @property
    def is_open(self) -> bool:
        """True if ``fresh`` may answer: the topic has no ``may_ask`` and no log."""
        return self.may_ask is None and not self.is_watched

    def turn(self, now: TimeIndex) -> None:
        """Update the time: an answer that was fresh in a frame may be old in the next."""
        before, self.now = self.now, now
        if before is None or now[0] < before[0] or (now[0] != before[0] and self.lifetime < math.inf):
            self.fresh.clear()
        together = self.together
        if len(self._kept) + (0 if together is None else len(together)) > self.maximum_keys:
            if together is not None and together.computed_at[0] != now[0] and not together.newer:
                self._let_old_go(together)
            else:
                self._shrink(now)

    def watch(self, is_watched: bool) -> None:
        """Set whether every poll must reach the log."""
        self.is_watched = is_watched
        self.is_plain = self.is_open and not self.is_symmetric and self.compute_many is not None
        self.fresh.clear()

    def found(self, key: Key, asked: Key, now: TimeIndex) -> Kept | None:
        """Return the cached answer for a key if it is fresh; after loading, time may have moved back."""
        kept = self.kept.get(key) if self.together is None else self._found_beside(self.together, key)
        if kept is None or kept[1][0] > now[0] or now[self.axis] >= kept[2]:
            return None
        if self.is_open:
            self.fresh[asked] = kept[0]
        return kept

    def has_only_old(self, now: TimeIndex) -> bool:
        """Return True if no cached answer can be fresh. Cost: O(1)."""
        return now[self.axis] >= self.latest_until

    def answers(self, keys: Sequence[Key]) -> Sequence[Any]:
        """Compute an answer for each key, in one call if the topic has ``compute_many``."""
        if self.compute is not None:
            if len(keys) == 1:
                return [self.compute(*keys[0])]
            if self.compute_many is None:
                return [self.compute(*key) for key in keys]
        assert self.compute_many is not None
        found = self.compute_many(keys)  # type: ignore[arg-type]  # what was polled with, so they know
        if isinstance(found, bytes) and len(found) == len(keys) and isinstance(keys, IdPairs):
            return found  # immutable
        if not isinstance(found, Iterable):
            raise TypeError(
                f"compute_many of topic {self.code!r} must return an answer for each key, got {shown(found)}"
            )
        answers = found.tolist() if isinstance(found, np.ndarray) else [*found]  # ours to keep
        if len(answers) != len(keys):
            raise ValueError(
                f"compute_many of topic {self.code!r} must return an answer for each of"
                f" {len(keys)} keys, got {len(answers)}"
            )
        return answers

    def keep(self, keys: Sequence[Key], answers: Sequence[Any], now: TimeIndex) -> None:
        """Cache answers as the newest; drop the oldest above the maximum, but none of this frame."""
        if self.lifetime == 0:
            return
        until = now[self.axis] + self.lifetime
        if until > self.latest_until:
            self.latest_until = until
        self._are_all_expired = False
        if type(keys) is IdPairs:
            latest = self.together
            if latest is not None and latest.pairs is keys:
                self._take_newer(latest)
                latest.put(answers, now, until)
            else:
                self._keep_together(AnswerBatch(keys, answers, now, until))
            return
        if len(keys) == 1 and self.together is not None and self._is_kept_beside(self.together, keys[0]):
            kept = self.together.newer
        else:
            kept = self.kept
        is_quick = self.is_open and self.now is not None and self.now[0] == now[0]
        if len(keys) == 1:  # as below, for one: much the most common
            key, answer = keys[0], answers[0]
            kept.pop(key, None)
            kept[key] = (answer, now, until)
            if is_quick:
                self.fresh[key] = answer
        else:
            self._put(keys, answers, now, until)
            if is_quick:
                self.fresh.update(zip(keys, answers, strict=True))
        if len(self._kept) > self.maximum_keys and self._crowded_frame != now[0]:
            self._shrink(now)

    def until(self, computed_at: TimeIndex) -> float:
        """Return the frame or second at which an answer is old."""
        return computed_at[self.axis] + self.lifetime

    def expire(self, key: Key | None) -> None:
        """Mark the answer for a key, or all answers, as old. Cost: O(1) or O(keys)."""
        self.invalidations += 1
        if key is not None:
            if key in self.kept:
                self.kept[key] = (*self.kept[key][:2], EXPIRED)
                self._let_go(key)
            return
        self.fresh.clear()
        self.latest_until = EXPIRED
        if not self._are_all_expired:
            if self.together is not None:
                self.together.until = EXPIRED
            for answers in (self._kept, {} if self.together is None else self.together.newer):
                for one, (answer, computed_at, _) in answers.items():
                    answers[one] = (answer, computed_at, EXPIRED)
            self._are_all_expired = True

    def load(self, kept: dict[Key, Kept]) -> None:
        """Replace the cache by saved answers."""
        self._kept, self.together = kept, None
        self.fresh.clear()
        self.latest_until = max((one[2] for one in kept.values()), default=EXPIRED)
        self._are_all_expired = self.latest_until == EXPIRED
        self.now = self._crowded_frame = None
        if len(kept) > self.maximum_keys:  # the save is from a frame that may continue
            self._shrink(max(one[1] for one in kept.values()))

    def _put(self, keys: Sequence[Key], answers: Sequence[Any], now: TimeIndex, until: float) -> None:
        kept = self._kept
        if not kept.keys().isdisjoint(keys):
            for key in keys:
                kept.pop(key, None)
        kept.update(zip(keys, zip(answers, repeat(now), repeat(until)), strict=False))

    def _keep_together(self, new: AnswerBatch) -> None:
        """Replace the latest batch; the previous one joins the other answers if there is room for both."""
        old = self.together
        if old is not None and not old.pairs.are(new.pairs):
            is_room = len(old.answers) + len(new.answers) <= self.maximum_keys
            if is_room or old.computed_at[0] == new.computed_at[0]:
                _ = self.kept
            else:
                self._take_newer(old)  # some may be of this frame
        self.together = new

    def _take_newer(self, latest: AnswerBatch) -> None:
        """Move the answers cached since the latest batch to the others, when the batch is replaced or moved."""
        for key, one in latest.newer.items():
            self._kept.pop(key, None)
            self._kept[key] = one
        latest.newer.clear()

    def _found_beside(self, latest: AnswerBatch, key: Key) -> Kept | None:
        """Return the cached answer for a key next to a batch: a few searches first, then all keys are made."""
        kept = latest.newer.get(key)
        if kept is not None:
            return kept
        place = latest.place_of(key)
        if place is None:
            return self.kept.get(key)
        return (latest.answers[place], latest.computed_at, latest.until) if place >= 0 else self._kept.get(key)

    def _is_kept_beside(self, latest: AnswerBatch, key: Key) -> bool:
        """Return whether a newer answer fits beside the latest batch, for a key that is not in it."""
        if len(self._kept) + len(latest) >= self.maximum_keys or latest.place_of(key) != -1:
            return False
        self._kept.pop(key, None)
        return True

    def _let_old_go(self, together: AnswerBatch) -> None:
        """Drop answers above the maximum when all answers, including the latest batch, are of earlier frames."""
        room = self.maximum_keys - len(together.answers)
        if room >= 0:
            for key in [*islice(self._kept, len(self._kept) - room)]:
                del self._kept[key]
                self._let_go(key)
            return
        self._kept.clear()
        self.fresh.clear()
        together.pairs = together.pairs.latest(self.maximum_keys)
        together.answers = together.answers[-self.maximum_keys:]

    def _shrink(self, now: TimeIndex) -> None:
        """Drop the oldest answers above the maximum, as far as they are of earlier frames.

        A sixteenth at a time, because a dict finds its oldest key by walking over all
        keys removed before it.
        """
        most = max(len(self.kept) - self.maximum_keys, self.maximum_keys // 16)
        old = [
            *takewhile(lambda key: self.kept[key][1][0] != now[0], islice(self.kept, most))
        ]
        for key in old:
            del self.kept[key]
            self._let_go(key)
        self._crowded_frame = now[0] if len(old) < most else None

    def _let_go(self, key: Key) -> None:
        self.fresh.pop(key, None)
        if self.is_symmetric:
            self.fresh.pop(key[::-1], None)


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
    """Values of one kind, without those that cannot be saved: they are asked for again."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return the saved values."""
        rows, save = [], self.kind.save
        for one in value:
            try:
                rows.append(save(one, owner))
            except StateError:
                continue
        return rows


KEY_STATE = _KeyState(at="key")
"""How a key is saved."""
COUNTS = ("hits", "misses", "computations", "failures", "stale", "refused")
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
            (key, answer, computed_at, until == EXPIRED) for key, (answer, computed_at, until) in topic.kept.items()]
        return cls({name: getattr(topic, name) for name in COUNTS}, answers, failures)

    def put(self, topic: Topic) -> None:
        """Load the state into a topic; the lifetime of its answers is that of the present topic."""
        for name, count in self.counts.items():
            setattr(topic, name, count)
        topic.load({
            key: (answer, computed_at, EXPIRED if is_expired else topic.until(computed_at))
            for key, answer, computed_at, is_expired in self.answers} if topic.lifetime else {})


TOPIC_STATE = Record(
    TopicState, counts=MapOf(Whole(), names=COUNTS),
    answers=ListOfSaveable(
        Row(lambda *answer: answer, KEY_STATE, GameValue(at="answer"), Moment(TimeIndex), Flag()),
        unique=lambda answer: answer[0]),
    failures=FAILURES_STATE)
"""How a topic is saved."""


def question_text(code: str, key: Key) -> str:
    """Return a query as a call: "can_see('Bob', 'Al')"."""
    return f"{code}({', '.join(shown(part) for part in key)})"


def unhashable(topic: Topic, keys: Iterable[Key]) -> TypeError:
    """Return the error that names the first unhashable key."""
    for key in keys:
        try:
            hash(key)
        except TypeError:
            break
    return TypeError(
        f"a key of topic {topic.code!r} must be hashable, got {shown(key)}; use tuples in place of lists"
    )


__all__ = [
    "EXPIRED",
    "ID_BYTES",
    "KEY_STATE",
    "MAXIMUM_KEYS",
    "NO_FALLBACK",
    "REFUSED",
    "TOPIC_STATE",
    "Answer",
    "AnswerBatch",
    "IdPairs",
    "Kept",
    "Key",
    "ListOfSaveable",
    "Topic",
    "TopicState",
    "TopicStatistics",
    "checked_lifetime",
    "question_text",
    "unhashable",
]
