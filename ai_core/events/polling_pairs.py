"""Keys of a batch poll that are pairs of numbers: tuples only when somebody looks at one by itself."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import TimeIndex
from ai_core.errors import shown

__all__ = ["IdPairs", "KeptTogether"]

Pair = tuple[Hashable, ...]

MIXING = np.uint64(0x9E3779B97F4A7C15)
"""Odd, with bits all over: pairs that differ get sums that differ, but for few in a billion billion."""


class IdPairs(Sequence[Pair]):
    """Many pairs of ids, as the keys of ``poll_many``.

    A thousand tuples take longer to make, to look up and to keep than a thousand rays to cast.
    These are compared, asked and kept as one array, as long as nobody asks for one of them alone.

    Args:
        ids: shape (n, 2), int64; not to be changed any more.
        named: returns the part of a key that a number stands for; None for the number itself.

    Raises:
        TypeError: if ``ids`` is no int64 array.
        ValueError: if its shape is another.
    """

    __slots__ = ("_bytes", "_keys", "_named", "ids")

    def __init__(self, ids: NDArray[np.int64], named: Callable[[int], Hashable] | None = None) -> None:
        if not isinstance(ids, np.ndarray) or ids.dtype != np.int64:
            raise TypeError(f"ids must be an int64 array, got {shown(ids)}")
        if ids.ndim != 2 or ids.shape[1] != 2:
            raise ValueError(f"ids must have shape (n, 2), got {ids.shape}")
        self.ids = ids
        self._named = named
        self._keys: list[Pair] | None = None
        self._bytes: bytes | None = None

    def __len__(self) -> int:
        return len(self.ids)

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
            if self._named is not None:
                names = {number: self._named(number) for number in {*parts[0], *parts[1]}}
                parts = [[names[number] for number in column] for column in parts]
            self._keys = [*zip(*parts, strict=True)]
        return self._keys

    def are_sure_to_differ(self) -> bool:
        """Return True if no pair is there twice; False if one may be. Cost: sorting n numbers."""
        mixed = self.ids[:, 0].astype(np.uint64)
        mixed *= MIXING
        mixed ^= self.ids[:, 1].view(np.uint64) if self.ids.flags.c_contiguous else self.ids[:, 1].astype(np.uint64)
        mixed.sort()
        return not (mixed[1:] == mixed[:-1]).any()

    def are(self, others: IdPairs) -> bool:
        """Return whether these are the same pairs in the same order."""
        return self is others or (self._named == others._named and self._content() == others._content())

    def _content(self) -> bytes:
        """Return all ids as bytes, which compare faster than arrays."""
        if self._bytes is None:
            self._bytes = self.ids.tobytes()
        return self._bytes

    def latest(self, count: int) -> IdPairs:
        """Return the last pairs, so many of them."""
        return IdPairs(self.ids[len(self.ids) - count:], self._named)


class KeptTogether(NamedTuple):
    """Answers of one batch: of which pairs, when they were computed, and the frame or second at which they are old."""

    pairs: IdPairs
    answers: Sequence[Any]
    computed_at: TimeIndex
    until: float
