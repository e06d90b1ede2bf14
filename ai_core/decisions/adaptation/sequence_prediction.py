"""Sequence prediction: what will they do next, going by what they did before?"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ai_core.decisions.adaptation.success_memory import checked_names, kept_each_time
from ai_core.errors import named, shown, whole_number
from ai_core.saving.fields import Fields, State

__all__ = ["MOST_SEQUENCES", "Prediction", "SequencePrediction"]

MOST_SEQUENCES = 512
"""Sequences whose continuations are remembered unless told (count)."""

LONGEST = 16
"""Longest sequence that is looked for (symbols); nobody repeats more by habit."""


class Prediction(NamedTuple):
    """What is expected next.

    Attributes:
        symbol: the likeliest; of several the first in ``symbols``.
        probability: of it, 0..1.
        confidence: from 0, a mere guess, to 1, certain: how far the probability
            is from chance towards certainty.
    """

    symbol: str
    probability: float
    confidence: float


class _SymbolCounts:
    """What came after one sequence: by symbol, how often, the old for less than once."""

    __slots__ = ("counts", "noted_at")

    def __init__(self, symbols: int, noted_at: int) -> None:
        self.counts = [0.0] * symbols
        self.noted_at = noted_at


class SequencePrediction:
    """Counts what follows the last symbols, for every length up to ``longest``.

    A prediction begins with all symbols alike and backs off no further than it
    must: it goes from no symbols before to ``longest``, and what a longer
    sequence has seen counts the more, the oftener it was seen and the fewer
    different symbols followed it (Witten and Bell).

    Args:
        symbols: names of all that can come.
        longest: most symbols looked back at, 0..16; 2 is a trigram.
        half_life: symbols noted until one counts half, above 0; None: nothing
            is forgotten.
        most_sequences: sequences remembered, at least ``longest`` + 1; beyond, the
            one not noted for longest goes.

    Raises:
        ValueError: if a name is none or comes twice, or a number is out of range.

    Cost: O(longest * symbols) a note and a prediction.
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
        """Note what came.

        Raises:
            UnknownNameError: if there is no such symbol.
        """
        index = self._symbol(symbol)
        self._noted += 1
        for length in range(len(self._recent), -1, -1):  # the shortest last: it is the last to go
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
        """Begin a new sequence: what comes next does not follow from what was; nothing is forgotten."""
        self._recent = ()

    def probabilities(self) -> dict[str, float]:
        """Return how likely each symbol is to come next; together 1."""
        chances = [1.0 / len(self.symbols)] * len(self.symbols)
        for length in range(len(self._recent) + 1):
            followers = self._seen.get(self._recent[len(self._recent) - length :])
            if followers is None:
                break  # longer ones were not seen either
            faded = self._fading(followers)
            counts = [count * faded for count in followers.counts]
            # Different symbols count as often as they are remembered, so that old ones fade.
            kinds = sum(min(count, 1.0) for count in counts)
            whole = sum(counts) + kinds
            if whole > 0.0:
                chances = [
                    (count + kinds * chance) / whole for count, chance in zip(counts, chances, strict=True)
                ]
        return dict(zip(self.symbols, chances, strict=True))

    def predict(self) -> Prediction:
        """Return what is likeliest to come next; before anything came, the first symbol without confidence."""
        chances = self.probabilities()
        symbol = max(chances, key=lambda one: chances[one])  # of equal ones the first
        chance = 1.0 / len(self.symbols)
        certain = 1.0 - chance
        confidence = 1.0 if certain == 0.0 else max(0.0, (chances[symbol] - chance) / certain)
        return Prediction(symbol, chances[symbol], confidence)

    @property
    def sequences(self) -> int:
        """How many sequences are remembered."""
        return len(self._seen)

    def save_state(self) -> State:
        """Return what is remembered, as plain data."""
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
        """Check a saved memory; return what puts it in place of this one.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        noted = fields.whole("noted")
        if fields.items("symbols") != list(self.symbols):
            fields.refuse("symbols", f"must be those that are here: {shown(list(self.symbols))}")
        recent = self._read_symbols(fields, "recent")
        seen: dict[tuple[int, ...], _SymbolCounts] = {}
        for one in fields.groups("sequences"):
            before = self._read_symbols(one, "before")
            if before in seen:
                one.refuse("before", "comes twice")
            followers = seen[before] = _SymbolCounts(0, one.whole("noted_at", maximum=noted))
            followers.counts = one.numbers("counts", count=len(self.symbols), minimum=0.0)
            one.end()
        if len(seen) > self._most:
            fields.refuse("sequences", f"must be at most {self._most}, got {len(seen)}")
        fields.end()

        def put() -> None:
            self._noted, self._recent, self._seen = noted, recent, seen

        return put

    def _read_symbols(self, fields: Fields, name: str) -> tuple[int, ...]:
        found = fields.items(name)
        if len(found) > self._longest:
            fields.refuse(name, f"must be at most {self._longest} symbols, got {len(found)}")
        for one in found:
            if not isinstance(one, str) or one not in self._index:
                fields.refuse(name, f"holds what is no symbol here: {shown(one)}")
        return tuple(self._index[one] for one in found)

    def _fading(self, followers: _SymbolCounts) -> float:
        return float(self._kept ** (self._noted - followers.noted_at))

    def _symbol(self, name: str) -> int:
        return named("symbol", name, self._index)
