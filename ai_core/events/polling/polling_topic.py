"""One topic of a polling station: how it is answered, and the answers it keeps."""
from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice, repeat, takewhile
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import TimeIndex
from ai_core.errors import finite_number, shown, whole_number

SHORTEST_LIFETIME_S = 1e-6
"""Shortest lifetime in seconds (s); a frame is never shorter, so 1 frame says the same."""
TOLERANCE_S = 1e-9
"""An answer this close to the end of its lifetime is old (s).

Game time is a sum of floats: without it 0.5 s is sometimes a frame longer.
"""


def checked_lifetime(frames: int | None, seconds: float | None) -> tuple[int, float]:
    """Return which part of a moment counts, and how much of it."""
    if seconds is None:
        if frames is None:
            return 0, math.inf
        return 0, whole_number("lifetime_frames", frames, minimum=0, remedy="use None to keep answers")
    if frames != 1:
        raise ValueError(f"lifetime_s is {shown(seconds)} and lifetime_frames {shown(frames)}; give only one")
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
"""Stands for "no fallback", because None may be one."""
REFUSED = _Refused()
"""What an agent gets that may not ask; false, and equal only to itself."""


class Answer(NamedTuple):
    """An answer, and how it came about."""

    value: Any
    age_frames: int | None
    """Frames since it was computed; None for a fallback or a refusal."""
    how: str
    """"computed", "kept", "stale", "fallback" or "refused"."""

    @property
    def is_stale(self) -> bool:
        """True for an old answer, or a fallback, in place of one that is good now."""
        return self.how in ("stale", "fallback")


class TopicStatistics(NamedTuple):
    """How one topic was used since it was added."""

    code: str
    hits: int
    """Polls answered from what was kept, or together with an equal one of the same batch."""
    misses: int
    """Polls that found nothing fresh."""
    computations: int
    """Answers computed, those that failed and those for nobody included."""
    failures: int
    """Computations that raised; a batch that raises counts as one."""
    keys: int
    """Answers kept now, stale ones included."""
    stale: int
    """Polls that had to make do with an old answer or the fallback: the budget was spent."""
    refused: int
    """Polls of agents that may not ask."""
    waiting: int
    """Keys now waiting to be computed."""


Pair = tuple[Hashable, ...]
Named = Callable[[int], Hashable]
Numbered = Callable[[Any], int | None]
Kept = tuple[Any, TimeIndex, float]
"""An answer, when it was computed, and the frame or second at which it is old."""
LOOKS = 32
"""Keys that are looked for in a batch (count) before all its keys are made; that takes as long."""
ID_BYTES = 8
"""An id is an int64."""
INT64 = np.iinfo(np.int64)
MIXING = np.uint64(0x9E3779B97F4A7C15)
"""Odd, with bits all over: pairs that differ get sums that differ, but for few in a billion billion."""


class IdPairs(Sequence[Pair]):
    """Many pairs of ids, as the keys of ``poll_many``.

    A thousand tuples take longer to make, to look up and to keep than a thousand rays to cast.
    These are compared, asked and kept as two rows of bytes, as long as few of them are asked for alone.

    Args:
        ids: shape (n, 2), int64; not to be changed any more. See ``of_columns``, too.
        named: returns the part of a key that a number stands for; None for the number itself.
        numbered: returns the number of such a part, None for what has none.

    Raises:
        TypeError: if ``ids`` is no int64 array.
        ValueError: if its shape is another.
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
        """Return pairs of the ids in ``first`` and those in ``second``, each n int64 as bytes.

        Raises:
            ValueError: if they are not as long as each other, or no int64.
        """
        if len(first) != len(second) or len(first) % ID_BYTES:
            raise ValueError(f"columns must be as many int64, got {len(first)} and {len(second)} bytes")
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
        """Return True if no pair is there twice; False if one may be. Cost: sorting n numbers."""
        mixed = np.frombuffer(self.first, np.uint64) * MIXING
        mixed ^= np.frombuffer(self.second, np.uint64)
        mixed.sort()
        return not (mixed[1:] == mixed[:-1]).any()

    def are(self, others: IdPairs) -> bool:
        """Return whether these are the same pairs in the same order; bytes are compared sooner than arrays."""
        return self is others or (
            self.first == others.first and self.second == others.second and self.named == others.named)

    def latest(self, count: int) -> IdPairs:
        """Return the last pairs, so many of them."""
        begin = len(self.first) - count * ID_BYTES
        return IdPairs.of_columns(self.first[begin:], self.second[begin:], self.named, self.numbered)

    def place_of(self, key: Pair) -> int | None:
        """Return the place of a pair, -1 if it is not there, None if only ``keys`` can tell. Cost: O(n)."""
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
    """Answers of one batch of pairs.

    Attributes:
        pairs: of which.
        answers: of each; not to be changed.
        computed_at: when.
        until: the frame or second at which they are old.
        newer: what was kept since, of other keys.
    """

    __slots__ = ("_looks_left", "answers", "computed_at", "newer", "pairs", "until")

    def __init__(self, pairs: IdPairs, answers: Sequence[Any], computed_at: TimeIndex, until: float) -> None:
        self.pairs = pairs
        self.newer: dict[Pair, Kept] = {}
        self.put(answers, computed_at, until)

    def __len__(self) -> int:
        return len(self.answers) + len(self.newer)

    def put(self, answers: Sequence[Any], computed_at: TimeIndex, until: float) -> None:
        """Have other answers in place of these."""
        self.answers, self.computed_at, self.until, self._looks_left = answers, computed_at, until, LOOKS

    def place_of(self, key: Pair) -> int | None:
        """Return the place of a pair, -1 if it is not there, None if one should rather make all keys."""
        if not self._looks_left:
            return None
        self._looks_left -= 1
        return self.pairs.place_of(key)


MAXIMUM_KEYS = 1024
"""Answers kept per topic unless told otherwise (count).

32 characters asking about each other fill it; an answer is about 250 bytes.
Fewer computes answers again, more keeps what nobody will ask for.
"""
EXPIRED = -math.inf
"""End of freshness of an answer that was invalidated."""
Key = tuple[Hashable, ...]
"""What a topic is asked about: the arguments of its callable."""


class Topic:
    """How a question is answered, and what was answered; see ``PollingStation.add_topic``.

    Attributes:
        kept: answers by key, the oldest first. Those of the latest batch of pairs are put
            there when somebody looks.
        fresh: answers that are good at ``now``: what ``poll`` looks at first.
            Only those of topics that everybody may ask and nobody watches.
        now: the moment ``fresh`` is about; None before the first poll.
        together: the latest batch of pairs, newer than all other answers, or None.
        is_plain: whether a batch of pairs may be asked and kept as one: nothing is asked about each.
        axis: whether lifetimes count frames (0) or seconds (1) of a moment.
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
        """Answers by key; see above."""
        if self.together is not None:
            latest, self.together = self.together, None
            self._put(latest.pairs.keys, latest.answers, latest.computed_at, latest.until)
            self._take_newer(latest)
        return self._kept

    @property
    def has_fallback(self) -> bool:
        """True if a failure is reported, and not raised."""
        return self.fallback is not NO_FALLBACK

    @property
    def is_open(self) -> bool:
        """True if ``fresh`` may answer: nobody is kept from asking, nobody watches."""
        return self.may_ask is None and not self.is_watched

    def turn(self, now: TimeIndex) -> None:
        """Take notice of the time: what was fresh in one frame may be old in another."""
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
        """Let every poll pass by the log, or no longer."""
        self.is_watched = is_watched
        self.is_plain = self.is_open and not self.is_symmetric and self.compute_many is not None
        self.fresh.clear()

    def found(self, key: Key, asked: Key, now: TimeIndex) -> Kept | None:
        """Return what is kept for a key if it is fresh; a loaded game may have gone back."""
        kept = self.kept.get(key) if self.together is None else self._found_beside(self.together, key)
        if kept is None or kept[1][0] > now[0] or now[self.axis] >= kept[2]:
            return None
        if self.is_open:
            self.fresh[asked] = kept[0]
        return kept

    def has_only_old(self, now: TimeIndex) -> bool:
        """Return True if nothing kept can be fresh; cost: O(1)."""
        return now[self.axis] >= self.latest_until

    def answers(self, keys: Sequence[Key]) -> Sequence[Any]:
        """Compute an answer for each key: in one call, if the topic can."""
        if self.compute is not None:
            if len(keys) == 1:
                return [self.compute(*keys[0])]
            if self.compute_many is None:
                return [self.compute(*key) for key in keys]
        assert self.compute_many is not None
        found = self.compute_many(keys)  # type: ignore[arg-type]  # what was polled with, so they know
        if isinstance(found, bytes) and len(found) == len(keys) and isinstance(keys, IdPairs):
            return found  # nobody can change it
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
        """Keep answers as the newest; drop the oldest beyond the maximum, but none of this frame."""
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
        """Let the answer for a key, or all, be old from now on; cost: O(1) or O(keys)."""
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
        """Put in what was saved."""
        self._kept, self.together = kept, None
        self.fresh.clear()
        self.latest_until = max((one[2] for one in kept.values()), default=EXPIRED)
        self._are_all_expired = self.latest_until == EXPIRED
        self.now = self._crowded_frame = None
        if len(kept) > self.maximum_keys:  # of a save from a frame that may go on
            self._shrink(max(one[1] for one in kept.values()))

    def _put(self, keys: Sequence[Key], answers: Sequence[Any], now: TimeIndex, until: float) -> None:
        kept = self._kept
        if not kept.keys().isdisjoint(keys):
            for key in keys:
                kept.pop(key, None)
        kept.update(zip(keys, zip(answers, repeat(now), repeat(until)), strict=False))

    def _keep_together(self, new: AnswerBatch) -> None:
        """Keep a batch in place of the latest one, which joins the others unless there is no room for both."""
        old = self.together
        if old is not None and not old.pairs.are(new.pairs):
            is_room = len(old.answers) + len(new.answers) <= self.maximum_keys
            if is_room or old.computed_at[0] == new.computed_at[0]:
                _ = self.kept
            else:
                self._take_newer(old)  # some may be of this frame
        self.together = new

    def _take_newer(self, latest: AnswerBatch) -> None:
        """Let what was kept since the latest batch join the others, as it is itself replaced or joins them."""
        for key, one in latest.newer.items():
            self._kept.pop(key, None)
            self._kept[key] = one
        latest.newer.clear()

    def _found_beside(self, latest: AnswerBatch, key: Key) -> Kept | None:
        """Return what is kept for a key while there is a batch: for few it is searched, for many all keys are made."""
        kept = latest.newer.get(key)
        if kept is not None:
            return kept
        place = latest.place_of(key)
        if place is None:
            return self.kept.get(key)
        return (latest.answers[place], latest.computed_at, latest.until) if place >= 0 else self._kept.get(key)

    def _is_kept_beside(self, latest: AnswerBatch, key: Key) -> bool:
        """Make room for an answer that is newer than the latest batch, of a key that is not in it."""
        if len(self._kept) + len(latest) >= self.maximum_keys or latest.place_of(key) != -1:
            return False
        self._kept.pop(key, None)
        return True

    def _let_old_go(self, together: AnswerBatch) -> None:
        """Drop answers beyond the maximum, when the latest batch is of an earlier frame, as are all."""
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
        """Drop the oldest answers beyond the maximum, as far as they are of earlier frames.

        A sixteenth at a time: a dict finds its oldest key by walking over all
        that were taken out before it.
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


def question_text(code: str, key: Key) -> str:
    """Return a question as a call: "can_see('Bob', 'Al')"."""
    return f"{code}({', '.join(shown(part) for part in key)})"


def unhashable(topic: Topic, keys: Iterable[Key]) -> TypeError:
    """Return the error that names the first key that cannot be hashed."""
    for key in keys:
        try:
            hash(key)
        except TypeError:
            break
    return TypeError(
        f"a key of topic {topic.code!r} must be hashable, got {shown(key)}; use tuples for lists"
    )


__all__ = [
    "EXPIRED",
    "ID_BYTES",
    "MAXIMUM_KEYS",
    "NO_FALLBACK",
    "REFUSED",
    "Answer",
    "AnswerBatch",
    "IdPairs",
    "Kept",
    "Key",
    "Topic",
    "TopicStatistics",
    "checked_lifetime",
    "question_text",
    "unhashable",
]
