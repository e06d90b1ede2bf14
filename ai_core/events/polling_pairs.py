"""Keys of a batch poll that are pairs of numbers: tuples only when somebody looks at one by itself."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import TimeIndex
from ai_core.errors import shown

__all__ = ["ID_BYTES", "IdPairs", "KeptTogether"]

Pair = tuple[Hashable, ...]
Named = Callable[[int], Hashable]

ID_BYTES = 8
"""An id is an int64."""

MIXING = np.uint64(0x9E3779B97F4A7C15)
"""Odd, with bits all over: pairs that differ get sums that differ, but for few in a billion billion."""


class IdPairs(Sequence[Pair]):
    """Many pairs of ids, as the keys of ``poll_many``.

    A thousand tuples take longer to make, to look up and to keep than a thousand rays to cast.
    These are compared, asked and kept as two rows of bytes, as long as nobody asks for one of them alone.

    Args:
        ids: shape (n, 2), int64; not to be changed any more. See ``of_columns``, too.
        named: returns the part of a key that a number stands for; None for the number itself.

    Raises:
        TypeError: if ``ids`` is no int64 array.
        ValueError: if its shape is another.
    """

    __slots__ = ("_ids", "_keys", "first", "named", "second")

    def __init__(self, ids: NDArray[np.int64], named: Named | None = None) -> None:
        if not isinstance(ids, np.ndarray) or ids.dtype != np.int64:
            raise TypeError(f"ids must be an int64 array, got {shown(ids)}")
        if ids.ndim != 2 or ids.shape[1] != 2:
            raise ValueError(f"ids must have shape (n, 2), got {ids.shape}")
        self.first, self.second, self.named = ids[:, 0].tobytes(), ids[:, 1].tobytes(), named
        self._ids: NDArray[np.int64] | None = ids
        self._keys: list[Pair] | None = None

    @classmethod
    def of_columns(cls, first: bytes, second: bytes, named: Named | None = None) -> IdPairs:
        """Return pairs of the ids in ``first`` and those in ``second``, each n int64 as bytes.

        Raises:
            ValueError: if they are not as long as each other, or no int64.
        """
        if len(first) != len(second) or len(first) % ID_BYTES:
            raise ValueError(f"columns must be as many int64, got {len(first)} and {len(second)} bytes")
        made = cls.__new__(cls)
        made.first, made.second, made.named = first, second, named
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
        return IdPairs.of_columns(self.first[begin:], self.second[begin:], self.named)


class KeptTogether:
    """Answers of one batch of pairs.

    Attributes:
        pairs: of which.
        answers: of each; not to be changed.
        computed_at: when.
        until: the frame or second at which they are old.
    """

    __slots__ = ("answers", "computed_at", "pairs", "until")

    def __init__(self, pairs: IdPairs, answers: Sequence[Any], computed_at: TimeIndex, until: float) -> None:
        self.pairs, self.answers, self.computed_at, self.until = pairs, answers, computed_at, until
