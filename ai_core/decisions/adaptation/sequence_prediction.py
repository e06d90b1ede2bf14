"""Sequence prediction: the probable next symbol, from the symbols seen before."""
from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import NamedTuple

from ai_core.decisions.adaptation.success_memory import checked_names, kept_each_time
from ai_core.errors import named, whole_number
from ai_core.saving.declared_state import (
    DeclaredState,
    ListOf,
    MapOf,
    Number,
    Record,
    Refuse,
    Same,
    Saveable,
    Whole,
)

__all__ = ["MOST_SEQUENCES", "Prediction", "SequencePrediction"]

MOST_SEQUENCES = 512
"""Default number of sequences kept (count)."""

LONGEST = 16
"""Longest sequence considered (symbols); longer habits are rare."""


class Prediction(NamedTuple):
    """The most probable next symbol.

    Attributes:
        symbol: the most probable symbol; of equal ones the first in ``symbols``.
        probability: its probability, 0..1.
        confidence: from 0, pure chance, to 1, certainty: position of the probability
            between the two.
    """

    symbol: str
    probability: float
    confidence: float


class _SymbolCounts:
    """The symbols after a sequence: fading counts by symbol."""

    __slots__ = ("counts", "noted_at")

    def __init__(self, counts: list[float], noted_at: int) -> None:
        self.counts, self.noted_at = counts, noted_at


SYMBOL = Whole(0, lambda one: len(one.symbols) - 1)
"""A symbol is saved by its index; the symbols are saved beside."""


class SequencePrediction(Saveable):
    """An n-gram model that counts the symbols after the last symbols, for each length up to ``longest``.

    A prediction begins with equal probabilities and mixes in the counts after
    sequences of increasing length, from 0 to ``longest``. A sequence has the more
    weight the more often it was seen, and the fewer different symbols followed it
    (Witten and Bell).

    Args:
        symbols: names of all symbols.
        longest: number of preceding symbols considered, 0..16; 2 is a trigram.
        half_life: later symbols after which a symbol counts half, above 0; None for
            no fading.
        most_sequences: sequences kept, at least ``longest`` + 1; a new sequence
            replaces the one not updated for longest.

    Raises:
        ValueError: if a name is empty or occurs twice, or a number is out of range.

    Cost: O(longest * symbols) for a record and for a prediction.
    """

    STATE = DeclaredState(
        noted=Whole(at="_noted"), symbols=Same(), recent=ListOf(SYMBOL, make=tuple, at="_recent"),
        sequences=MapOf(
            Record(_SymbolCounts, noted_at=Whole(), counts=ListOf(Number(0), count=lambda one: len(one.symbols))),
            key=ListOf(SYMBOL, make=tuple), at="_seen"))

    def __init__(
        self, symbols: Iterable[str], *, longest: int = 3, half_life: float | None = 100.0,
        most_sequences: int = MOST_SEQUENCES,
    ) -> None:
        self.symbols = checked_names("symbol", symbols)
        self._index = {name: index for index, name in enumerate(self.symbols)}
        self._longest = whole_number("longest", longest, minimum=0, maximum=LONGEST)
        self._kept = kept_each_time(half_life)
        self._most = whole_number("most_sequences", most_sequences, minimum=self._longest + 1)
        self._seen: dict[tuple[int, ...], _SymbolCounts] = {}
        self._recent: tuple[int, ...] = ()
        self._noted = 0

    def note(self, symbol: str) -> None:
        """Record the next symbol.

        Raises:
            UnknownNameError: if the symbol is unknown.
        """
        index = self._symbol(symbol)
        self._noted += 1
        for length in range(len(self._recent), -1, -1):  # the shortest last: it is the last to be dropped
            before = self._recent[len(self._recent) - length :]
            followers = self._seen.pop(before, None) or _SymbolCounts([0.0] * len(self.symbols), self._noted)
            self._seen[before] = followers
            faded = self._fading(followers)
            followers.counts = [count * faded for count in followers.counts]
            followers.counts[index] += 1.0
            followers.noted_at = self._noted
        while len(self._seen) > self._most:
            del self._seen[next(iter(self._seen))]
        if self._longest:
            self._recent = (*self._recent, index)[-self._longest :]

    def interrupt(self) -> None:
        """Begin a new sequence: the next symbol is not related to the previous ones; counts are kept."""
        self._recent = ()

    def probabilities(self) -> dict[str, float]:
        """Return the probability of each symbol to be next; the sum is 1."""
        chances = [1.0 / len(self.symbols)] * len(self.symbols)
        for length in range(len(self._recent) + 1):
            followers = self._seen.get(self._recent[len(self._recent) - length :])
            if followers is None:
                break  # longer ones were not seen either
            faded = self._fading(followers)
            counts = [count * faded for count in followers.counts]
            # Each different symbol counts at most 1, and less as it fades.
            kinds = sum(min(count, 1.0) for count in counts)
            whole = sum(counts) + kinds
            if whole > 0.0:
                chances = [
                    (count + kinds * chance) / whole for count, chance in zip(counts, chances, strict=True)]
        return dict(zip(self.symbols, chances, strict=True))

    def predict(self) -> Prediction:
        """Return the most probable next symbol; before any record, the first symbol with confidence 0."""
        chances = self.probabilities()
        symbol = max(chances, key=lambda one: chances[one])  # of equal ones the first
        chance = 1.0 / len(self.symbols)
        certain = 1.0 - chance
        confidence = 1.0 if certain == 0.0 else max(0.0, (chances[symbol] - chance) / certain)
        return Prediction(symbol, chances[symbol], confidence)

    @property
    def sequences(self) -> int:
        """Number of sequences kept."""
        return len(self._seen)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len(values.sequences) > self._most:
            refuse("sequences", f"must hold at most {self._most} sequences, got {len(values.sequences)}")
        if any(len(before) > self._longest for before in (values.recent, *values.sequences)):
            refuse("sequences", f"must hold at most {self._longest} symbols each")
        if any(one.noted_at > values.noted for one in values.sequences.values()):
            refuse("sequences", f"must have been noted up to {values.noted}")

    def _fading(self, followers: _SymbolCounts) -> float:
        return float(self._kept ** (self._noted - followers.noted_at))

    def _symbol(self, name: str) -> int:
        return named("symbol", name, self._index)
