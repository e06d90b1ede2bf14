"""Adaptation: the success of past choices, an opponent's next move, and choices that learn from both."""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

from ai_core.decisions.habits.habit_status import RandomSource
from ai_core.errors import (
    UnknownNameError,
    check_kind,
    check_kinds,
    check_type,
    finite_number,
    named,
    several_names,
    shown,
    whole_number,
)
from ai_core.saving.chance import RandomGenerator
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part, Refuse, Same, Saveable
from ai_core.saving.fields import LARGEST, MOST, State, refuse
from ai_core.saving.inner_state import prepared_inner
from ai_core.saving.kinds import Kind, ListOf, MapOf, Number, OneOf, Optional, Record, Row, Whole

__all__ = [
    "MOST_CONTEXTS", "MOST_SEQUENCES", "AdaptiveChoice", "ChoiceResult", "Context", "Discretiser", "Prediction",
    "SequencePrediction", "SuccessMemory", "bands"]

MOST_CONTEXTS = 256
"""Default number of contexts kept (count); each takes about 500 bytes, and more with the number of choices."""

TRUSTED_AFTER = 2.0
"""Weight of less exact contexts (in outcomes).

After two outcomes in a context, it and the less exact ones have equal weight. A
smaller number draws conclusions from single outcomes; a larger number ignores the
situation.
"""

Discretiser = Callable[[Any], str | int]
"""Called with the situation; returns its kind, one of a few values."""

Context = tuple[str | int, ...]
"""The kinds of a situation, one for each feature."""


class _Record:
    """The outcomes in a context: for each choice, their weight and their sum."""

    __slots__ = ("noted_at", "totals", "weights")

    def __init__(self, weights: list[float], totals: list[float], noted_at: int) -> None:
        self.weights, self.totals, self.noted_at = weights, totals, noted_at


def _count_choices(memory: SuccessMemory) -> int:
    return len(memory.choices)


class _KindOfSituation(Kind):
    """The result of a feature: a string or an integer."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return plain if isinstance(plain, str) else Whole(-MOST).read(plain, place, owner)


CONTEXT_STATE = ListOf(_KindOfSituation(), make=tuple)
"""How a context is saved."""


class SuccessMemory(Saveable):
    """Stores the outcomes of choices by context; old outcomes fade.

    An outcome is recorded for the exact context, for each less exact context (without
    the last features, one by one), and for the empty context. An expectation begins
    with the default and combines the contexts from the least to the most exact, each
    weighted by its number of outcomes. So every expectation is defined, and a new
    situation begins with the outcomes of similar situations.

    Args:
        choices: names of all choices.
        features: functions by name that map a situation to a few kinds, the most
            important first: ``{"health": lambda s: low_or_high(s.health)}``.
        defaults: expected outcome by choice, before any outcome is recorded.
        half_life: later outcomes after which an outcome counts half, above 0; None
            for no fading.
        max_contexts: contexts kept, 1 or more; a new context replaces the one not
            updated for longest.

    Raises:
        TypeError: if a feature is not callable.
        ValueError: if a name is empty or occurs twice, or a number is out of range.
        UnknownNameError: if a default refers to an unknown choice.

    Cost: O(features) for a record; O(features) for an expectation.
    """

    SHOWN = ("choices", "contexts")

    STATE = DeclaredState(
        noted=Whole(at="_noted"), choices=Same(), features=Same(at="feature_names"),
        contexts=MapOf(
            Record(_Record, noted_at=Whole(), weights=ListOf(Number(0), count=_count_choices),
                totals=ListOf(Number(), count=_count_choices)),
            key=CONTEXT_STATE, at="_records"))

    def __init__(
        self, choices: Iterable[str], features: Mapping[str, Discretiser] | None = None, *,
        defaults: Mapping[str, float] | None = None, half_life: float | None = 100.0,
        max_contexts: int = MOST_CONTEXTS,
    ) -> None:
        self.choices = checked_names("choice", choices)
        self._index = {name: index for index, name in enumerate(self.choices)}
        check_kinds(features=(features, Mapping), defaults=(defaults, Mapping))
        self._features = dict(features or {})
        for name, feature in self._features.items():
            if not callable(feature):
                raise TypeError(f"feature {name!r} must be callable, got {shown(feature)}")
        self._defaults = [0.0] * len(self.choices)
        for name, value in (defaults or {}).items():
            self._defaults[self._choice(name)] = _outcome(f"the default of {name!r}", value)
        self._kept = kept_each_time(half_life)
        self._most = whole_number("max_contexts", max_contexts, minimum=1)
        self._records: dict[Context, _Record] = {}
        self._noted = 0

    def context(self, situation: object) -> Context:
        """Return the kinds of a situation, one for each feature.

        Raises:
            TypeError: if a feature returns neither a string nor an integer.
        """
        return tuple(_kind(name, feature(situation)) for name, feature in self._features.items())

    def note(self, choice: str, outcome: float, situation: object = None) -> None:
        """Record the outcome of a choice.

        Args:
            choice: one of ``choices``.
            outcome: from -1, complete failure, to 1, complete success.
            situation: the situation of the choice; passed to the features.

        Raises:
            UnknownNameError: if the choice is unknown.
            ValueError: if the outcome is not within -1..1.
        """
        self.note_in(self.context(situation), choice, outcome)

    def note_in(self, context: Context, choice: str, outcome: float) -> None:
        """Record the outcome of a choice in a context returned by ``context``.

        Raises:
            TypeError: if the context is not a tuple of strings and integers.
            ValueError: as for ``note``, or if the context has not one kind for each feature.
        """
        index, value = self._choice(choice), _outcome("outcome", outcome)
        if not isinstance(context, tuple):
            raise TypeError(f"context must be a result of context(), got {shown(context)}")
        if len(context) != len(self._features):
            raise ValueError(f"context must have {len(self._features)} kinds, got {shown(context)}")
        context = tuple(_kind(name, kind) for name, kind in zip(self._features, context, strict=True))
        self._noted += 1
        # The least exact last: it is then the newest, and the last to be dropped.
        for exact in range(len(context), -1, -1):
            nothing = [0.0] * len(self.choices)
            record = self._records.pop(context[:exact], None) or _Record(nothing, [*nothing], self._noted)
            self._records[context[:exact]] = record
            faded = self._fading(record)
            record.noted_at = self._noted
            for one in range(len(self.choices)):
                record.weights[one] *= faded
                record.totals[one] *= faded
            record.weights[index] += 1.0
            record.totals[index] += value
        while len(self._records) > self._most:
            del self._records[next(iter(self._records))]

    def expected(self, choice: str, situation: object = None) -> float:
        """Return the expected outcome of a choice, -1..1.

        Raises:
            UnknownNameError: if the choice is unknown.
        """
        return self._expected(self._choice(choice), self.context(situation))

    def expectations(self, context: Context) -> list[float]:
        """Return the expected outcome of each choice, in order."""
        return [self._expected(index, context) for index in range(len(self.choices))]

    @property
    def contexts(self) -> int:
        """Number of contexts kept, including less exact ones."""
        return len(self._records)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in their order."""
        return tuple(self._features)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len(values.contexts) > self._most:
            refuse("contexts", f"must hold at most {self._most} contexts, got {len(values.contexts)}")
        for kinds, record in values.contexts.items():
            if len(kinds) > len(self._features):
                refuse("contexts", f"must have at most one kind for each of the {len(self._features)} features")
            if record.noted_at > values.noted:
                refuse("contexts", f"must have been noted up to {values.noted}, got {record.noted_at}")
            pairs = zip(record.totals, record.weights, strict=True)
            if any(abs(total) > weight * (1 + 1e-9) for total, weight in pairs):  # both are rounded
                refuse("contexts", "must have totals within their weights: outcomes are from -1 to 1")

    def _expected(self, index: int, context: Context) -> float:
        value = self._defaults[index]
        for exact in range(len(context) + 1):
            record = self._records.get(context[:exact])
            if record is not None:
                faded = self._fading(record)
                weight, total = record.weights[index] * faded, record.totals[index] * faded
                value = (total + TRUSTED_AFTER * value) / (weight + TRUSTED_AFTER)
        return value

    def _fading(self, record: _Record) -> float:
        return float(self._kept ** (self._noted - record.noted_at))

    def _choice(self, name: str) -> int:
        return named("choice", name, self._index)


def bands(*limits: float) -> Callable[[float], int]:
    """Return a function that maps a number to its band: 0 below the first limit, 1 from it on, and so on.

    >>> bands(0.3, 0.7)(0.5)
    1

    Raises:
        ValueError: if there is no limit, or the limits do not increase.
    """
    rising = [finite_number("a limit", limit) for limit in limits]
    if not rising or any(later <= before for before, later in pairwise(rising)):
        raise ValueError(f"limits must be one or more increasing numbers, got {shown(limits)}")
    return lambda value: bisect_right(rising, finite_number("the number to find a band for", value, minimum=-LARGEST))


def checked_names(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; raise an error unless there is at least one, and all are unique non-empty strings."""
    found = several_names(f"{kind}s", names)
    if not found:
        raise ValueError(f"{kind}s must hold at least one name, got none")
    for index, name in enumerate(found):
        if not name:
            raise ValueError(f"the name of a {kind} must be a non-empty string, got {shown(name)}")
        if name in found[:index]:
            raise ValueError(f"two {kind}s are named {name!r}; rename one")
    return found


def kept_each_time(half_life: float | None) -> float:
    """Return the share of a weight that is kept at each further record; 1 for None."""
    if half_life is None:
        return 1.0
    return float(0.5 ** (1.0 / finite_number("half_life", half_life, above=0, remedy="use None to forget nothing")))


def _outcome(name: str, value: object) -> float:
    return finite_number(name, value, minimum=-1.0, maximum=1.0)


def _kind(feature: str, kind: object) -> str | int:
    if isinstance(kind, str):
        return kind
    try:
        return whole_number(f"the result of feature {feature!r}", kind, minimum=-MOST, maximum=MOST)
    except TypeError:
        raise TypeError(f"feature {feature!r} must return a string or an integer, got {shown(kind)}") from None


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
        max_sequences: sequences kept, at least ``longest`` + 1; a new sequence
            replaces the one not updated for longest.

    Raises:
        ValueError: if a name is empty or occurs twice, or a number is out of range.

    Cost: O(longest * symbols) for a record and for a prediction.
    """

    SHOWN = ("symbols",)

    STATE = DeclaredState(
        noted=Whole(at="_noted"), symbols=Same(), recent=ListOf(SYMBOL, make=tuple, at="_recent"),
        sequences=MapOf(
            Record(_SymbolCounts, noted_at=Whole(), counts=ListOf(Number(0), count=lambda one: len(one.symbols))),
            key=ListOf(SYMBOL, make=tuple), at="_seen"))

    def __init__(
        self, symbols: Iterable[str], *, longest: int = 3, half_life: float | None = 100.0,
        max_sequences: int = MOST_SEQUENCES,
    ) -> None:
        self.symbols = checked_names("symbol", symbols)
        self._index = {name: index for index, name in enumerate(self.symbols)}
        self._longest = whole_number("longest", longest, minimum=0, maximum=LONGEST)
        self._kept = kept_each_time(half_life)
        self._most = whole_number("max_sequences", max_sequences, minimum=self._longest + 1)
        self._seen: dict[tuple[int, ...], _SymbolCounts] = {}
        self._recent: tuple[int, ...] = ()
        self._noted = 0

    def note(self, symbol: str) -> None:
        """Record the next symbol.

        Raises:
            UnknownNameError: if the symbol is unknown.
        """
        index = named("symbol", symbol, self._index)
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

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len(values.sequences) > self._most:
            refuse("sequences", f"must hold at most {self._most} sequences, got {len(values.sequences)}")
        if any(len(before) > self._longest for before in (values.recent, *values.sequences)):
            refuse("sequences", f"must hold at most {self._longest} symbols each")
        if any(one.noted_at > values.noted for one in values.sequences.values()):
            refuse("sequences", f"must have been noted up to {values.noted}")

    def _fading(self, followers: _SymbolCounts) -> float:
        return float(self._kept ** (self._noted - followers.noted_at))


class ChoiceResult(NamedTuple):
    """A chosen tactic.

    Attributes:
        tactic: name of the tactic.
        value: its expected outcome, -1..1.
        is_trial: True if it was chosen at random, to learn.
    """

    tactic: str
    value: float
    is_trial: bool


class AdaptiveChoice(Saveable):
    """Chooses between tactics, learns from their outcomes, and sometimes explores.

    The value of a tactic is its expected outcome in ``memory`` for the situation.
    With a ``prediction``, it is mixed with the worth of the tactic against the
    predicted moves, weighted by the confidence of the prediction. The tactic of the
    highest value is chosen, of equal ones the first. With probability
    ``exploration``, a tactic is chosen at random, all with equal probability.

    Args:
        memory: success memory whose choices are the tactics; its defaults apply
            before any outcome is noted.
        random: random source for exploration; each choice draws exactly one number.
        exploration: probability of a random choice, 0..1.
        prediction: prediction of the opponent's moves, or None.
        answers: worth of each tactic against each move, by tactic and move, -1..1;
            missing entries are 0. Only together with ``prediction``.

    Raises:
        TypeError: if an argument has a wrong type.
        ValueError: if a number is out of range, or only one of ``prediction`` and
            ``answers`` is given.
        UnknownNameError: if ``answers`` contains an unknown tactic or move.
    """

    SHOWN = ("last_tactic",)

    STATE = DeclaredState(
        memory=Part(), prediction=Hook(), random=RandomGenerator(at="_random"),
        last=Optional(
            Row(lambda tactic, context: (tactic, context), OneOf(lambda one: one.memory.choices), CONTEXT_STATE),
            at="_last"))

    def __init__(
        self, memory: SuccessMemory, random: RandomSource, *, exploration: float = 0.1,
        prediction: SequencePrediction | None = None, answers: Mapping[str, Mapping[str, float]] | None = None,
    ) -> None:
        check_type("memory", memory, SuccessMemory)
        if not callable(getattr(random, "random", None)):
            raise TypeError(f"random must have a method random(), got {shown(random)}; pass random.Random(seed)")
        check_kind("prediction", prediction, SequencePrediction)
        if (prediction is None) != (answers is None):
            raise ValueError("prediction and answers must be given together; set both or neither")
        self.memory, self.prediction = memory, prediction
        self._random = random
        self._exploration = finite_number("exploration", exploration, minimum=0.0, maximum=1.0)
        self._answers = {} if prediction is None else _checked_answers(answers or {}, memory, prediction)
        self._last: tuple[str, Context] | None = None

    @property
    def last_tactic(self) -> str:
        """The tactic chosen last; "" before the first choice. A feature may use it as context."""
        return "" if self._last is None else self._last[0]

    def choose(self, situation: object = None) -> ChoiceResult:
        """Choose a tactic.

        Args:
            situation: passed to the features of ``memory``.
        """
        context = self.memory.context(situation)
        values = self.values_in(context)
        mark, tactics = self._random.random(), self.memory.choices
        is_trial = mark < self._exploration
        if is_trial:  # the same number serves both: below the limit it is uniform, too
            index = min(int(mark / self._exploration * len(tactics)), len(tactics) - 1)
        else:
            index = values.index(max(values))
        self._last = tactics[index], context
        return ChoiceResult(tactics[index], values[index], is_trial)

    def note(self, outcome: float) -> None:
        """Record the outcome of the last choice, in the situation of that choice.

        Args:
            outcome: from -1, complete failure, to 1, complete success.

        Raises:
            RuntimeError: if no choice was made yet.
            ValueError: if the outcome is not within -1..1.
        """
        if self._last is None:
            raise RuntimeError("no tactic was chosen yet; call choose before note")
        self.memory.note_in(self._last[1], self._last[0], outcome)

    def saw(self, move: str) -> None:
        """Record a move of the opponent.

        Raises:
            UnknownNameError: if the prediction has no such symbol.
            RuntimeError: if there is no prediction.
        """
        if self.prediction is None:
            raise RuntimeError("saw requires a prediction; pass a SequencePrediction to the constructor")
        self.prediction.note(move)

    def values(self, situation: object = None) -> dict[str, float]:
        """Return the value of each tactic now, -1..1; draws no random number."""
        return dict(zip(self.memory.choices, self.values_in(self.memory.context(situation)), strict=True))

    def values_in(self, context: Context) -> list[float]:
        """Return the values of all tactics in a context, in order of the choices."""
        values = self.memory.expectations(context)
        if self.prediction is None:
            return values
        chances, sure = self.prediction.probabilities(), self.prediction.predict().confidence
        return [
            (1.0 - sure) * value
            + sure * sum(worth * chances[move] for move, worth in self._answers.get(tactic, {}).items())
            for tactic, value in zip(self.memory.choices, values, strict=True)]

    def to_text(self, situation: object = None) -> str:
        """Return one line per tactic with its value, and a line with the predicted move."""
        lines = [f"{tactic}: {value:+.2f}" for tactic, value in self.values(situation).items()]
        if self.prediction is not None:
            symbol, probability, confidence = self.prediction.predict()
            lines.append(f"expects {symbol} ({probability:.0%}, confidence {confidence:.0%})")
        return "\n".join(lines)

    def _save_prediction(self) -> State | None:
        return None if self.prediction is None else self.prediction.save_state()

    def _prepare_prediction(self, plain: Any, place: str) -> Change:
        if (plain is None) != (self.prediction is None):
            refuse(place, "must be present exactly if this choice has a prediction")
        return prepared_inner(self.prediction, plain, repr(place))

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.last is not None and len(values.last[1]) != len(self.memory.feature_names):
            refuse("last", f"must have a kind for each of the {len(self.memory.feature_names)} features")


def _checked_answers(
    answers: Mapping[str, Mapping[str, float]], memory: SuccessMemory, prediction: SequencePrediction
) -> dict[str, dict[str, float]]:
    checked: dict[str, dict[str, float]] = {}
    for tactic, worths in answers.items():
        if tactic not in memory.choices:
            raise UnknownNameError("tactic in answers", tactic, memory.choices)
        checked[tactic] = {}
        for move, worth in worths.items():
            if move not in prediction.symbols:
                raise UnknownNameError(f"move in answers of {tactic!r}", move, prediction.symbols)
            name = f"the worth of {tactic!r} against {move!r}"
            checked[tactic][move] = finite_number(name, worth, minimum=-1.0, maximum=1.0)
    return checked
