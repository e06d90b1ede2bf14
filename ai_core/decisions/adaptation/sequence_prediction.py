"""Sequence prediction: the probable next symbol, from the symbols seen before."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ai_core.decisions.adaptation.success_memory import checked_names, kept_each_time
from ai_core.errors import named, shown, whole_number
from ai_core.saving.fields import Fields, State

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

    def __init__(self, symbols: int, noted_at: int) -> None:
        self.counts = [0.0] * symbols
        self.noted_at = noted_at


class SequencePrediction:
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

    def __init__(
        self,
        symbols: Iterable[str],
        *,
        longest: int = 3,
        half_life: float | None = 100.0,
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
            followers = self._seen.pop(before, None) or _SymbolCounts(len(self.symbols), self._noted)
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
                    (count + kinds * chance) / whole for count, chance in zip(counts, chances, strict=True)
                ]
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

    def save_state(self) -> State:
        """Return the counts, as plain data."""
        names = self.symbols
        return {
            "version": 1,
            "noted": self._noted,
            "symbols": list(names),
            "recent": [names[index] for index in self._recent],
            "sequences": [
                {"before": [names[index] for index in before], "noted_at": one.noted_at, "counts": list(one.counts)}
                for before, one in self._seen.items()
            ],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return a function that replaces this one by it.

        Raises:
            StateError: if the state cannot be loaded; the message gives the place and the reason.
        """
        fields = Fields.versioned(state, version=1)
        noted = fields.whole("noted")
        if fields.items("symbols") != list(self.symbols):
            fields.refuse("symbols", f"must be the present ones: {shown(list(self.symbols))}")
        recent = self._read_symbols(fields, "recent")
        seen: dict[tuple[int, ...], _SymbolCounts] = {}
        for one in fields.groups("sequences"):
            before = self._read_symbols(one, "before")
            if before in seen:
                one.refuse("before", "occurs twice")
            followers = seen[before] = _SymbolCounts(0, one.whole("noted_at", maximum=noted))
            followers.counts = one.numbers("counts", count=len(self.symbols), minimum=0.0)
            one.end()
        if len(seen) > self._most:
            fields.refuse("sequences", f"must hold at most {self._most} sequences, got {len(seen)}")
        fields.end()

        def put() -> None:
            self._noted, self._recent, self._seen = noted, recent, seen

        return put

    def _read_symbols(self, fields: Fields, name: str) -> tuple[int, ...]:
        found = fields.items(name)
        if len(found) > self._longest:
            fields.refuse(name, f"must hold at most {self._longest} symbols, got {len(found)}")
        for one in found:
            if not isinstance(one, str) or one not in self._index:
                fields.refuse(name, f"must hold only known symbols, got {shown(one)}")
        return tuple(self._index[one] for one in found)

    def _fading(self, followers: _SymbolCounts) -> float:
        return float(self._kept ** (self._noted - followers.noted_at))

    def _symbol(self, name: str) -> int:
        return named("symbol", name, self._index)
