"""Keys of a batch poll that are pairs of numbers: tuples only when somebody looks at one by itself."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import TimeIndex
from ai_core.errors import shown

__all__ = ["ID_BYTES", "IdPairs", "Kept", "KeptTogether"]

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


class KeptTogether:
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
