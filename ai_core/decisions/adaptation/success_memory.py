"""Success memory: the expected outcome of each choice in a given situation."""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from ai_core.errors import finite_number, named, shown, whole_number
from ai_core.saving.declared_state import (
    DeclaredState,
    Kind,
    ListOf,
    MapOf,
    Number,
    Record,
    Refuse,
    Same,
    Saveable,
    Whole,
)
from ai_core.saving.fields import LARGEST, MOST

__all__ = ["MOST_CONTEXTS", "Context", "Discretiser", "SuccessMemory", "bands", "checked_names", "kept_each_time"]

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
    """What a feature returned: a string or an integer."""

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
        most_contexts: contexts kept, 1 or more; a new context replaces the one not
            updated for longest.

    Raises:
        TypeError: if a feature is not callable.
        ValueError: if a name is empty or occurs twice, or a number is out of range.
        UnknownNameError: if a default refers to an unknown choice.

    Cost: O(features) for a record; O(features) for an expectation.
    """

    STATE = DeclaredState(
        noted=Whole(at="_noted"), choices=Same(), features=Same(at="feature_names"),
        contexts=MapOf(
            Record(_Record, noted_at=Whole(), weights=ListOf(Number(0), count=_count_choices),
                totals=ListOf(Number(), count=_count_choices)),
            key=CONTEXT_STATE, at="_records"))

    def __init__(
        self, choices: Iterable[str], features: Mapping[str, Discretiser] | None = None, *,
        defaults: Mapping[str, float] | None = None, half_life: float | None = 100.0,
        most_contexts: int = MOST_CONTEXTS,
    ) -> None:
        self.choices = checked_names("choice", choices)
        self._index = {name: index for index, name in enumerate(self.choices)}
        self._features = dict(features or {})
        for name, feature in self._features.items():
            if not callable(feature):
                raise TypeError(f"feature {name!r} must be callable, got {shown(feature)}")
        self._defaults = [0.0] * len(self.choices)
        for name, value in (defaults or {}).items():
            self._defaults[self._choice(name)] = _outcome(f"the default of {name!r}", value)
        self._kept = kept_each_time(half_life)
        self._most = whole_number("most_contexts", most_contexts, minimum=1)
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
        """Record the outcome of a choice in a context returned by ``context``."""
        index, value = self._choice(choice), _outcome("outcome", outcome)
        if not isinstance(context, tuple):
            raise TypeError(f"context must be a result of context(), got {shown(context)}")
        if len(context) != len(self._features):
            raise ValueError(f"context must have {len(self._features)} kinds, got {shown(context)}")
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

    def evidence(self, choice: str, situation: object = None) -> float:
        """Return the weight of the outcomes in exactly this context; a recent outcome has weight 1, old ones less."""
        record = self._records.get(self.context(situation))
        return 0.0 if record is None else record.weights[self._choice(choice)] * self._fading(record)

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
    if isinstance(names, str):
        raise TypeError(f"{kind}s must be a sequence of names, got {shown(names)}; put a single name in a list")
    found = tuple(names)
    if not found:
        raise ValueError(f"{kind}s must hold at least one name, got none")
    for index, name in enumerate(found):
        if not isinstance(name, str) or not name:
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
