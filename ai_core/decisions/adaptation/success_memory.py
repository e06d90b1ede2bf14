"""Success memory: how well did each choice go, in a situation like this?"""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from ai_core.errors import finite_number, named, shown, whole_number
from ai_core.saving.fields import LARGEST, MOST, Fields, State

__all__ = ["MOST_CONTEXTS", "Context", "Discretiser", "SuccessMemory", "bands", "checked_names", "kept_each_time"]

MOST_CONTEXTS = 256
"""Contexts that are remembered unless told (count); each takes about 500 bytes and a choice."""

TRUSTED_AFTER = 2.0
"""Weight of what is known of less exact contexts (in outcomes).

After two outcomes in a context, it and the less exact ones count alike. Less
makes a memory jump to conclusions, more makes it deaf to the situation.
"""

Discretiser = Callable[[Any], str | int]
"""Is told the situation, and returns which of a few kinds it is of."""

Context = tuple[str | int, ...]
"""The kinds a situation is of, one for each feature."""


class _Record:
    """What is known of a context: per choice, the weight and the sum of its outcomes."""

    __slots__ = ("noted_at", "totals", "weights")

    def __init__(self, choices: int, noted_at: int) -> None:
        self.weights = [0.0] * choices
        self.totals = [0.0] * choices
        self.noted_at = noted_at


class SuccessMemory:
    """Remembers how choices went, by context, and forgets what is long ago.

    An outcome is noted for the exact context, for each less exact one (the
    last features left out, one by one), and for none at all. An expectation
    begins with the default and goes through them from the least to the most
    exact; each counts as much as it has seen. So it is never without an answer,
    and a new situation begins with what held in similar ones.

    Args:
        choices: names of all there are.
        features: by name, what makes of a situation one of a few kinds, the
            most important first: ``{"health": lambda s: low_or_high(s.health)}``.
        defaults: by choice, the outcome expected before anything is known.
        half_life: outcomes noted until one counts half, above 0; None: nothing
            is forgotten.
        most_contexts: contexts remembered, at least 1; beyond, the one not
            noted for longest goes.

    Raises:
        TypeError: if a feature is not callable.
        ValueError: if a name is none or comes twice, or a number is out of range.
        UnknownNameError: if a default is of no choice.

    Cost: O(features) a note; O(features) an expectation.
    """

    def __init__(
        self,
        choices: Iterable[str],
        features: Mapping[str, Discretiser] | None = None,
        *,
        defaults: Mapping[str, float] | None = None,
        half_life: float | None = 100.0,
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
        """Return the kinds a situation is of, one for each feature.

        Raises:
            TypeError: if a feature returns neither text nor a whole number.
        """
        return tuple(_kind(name, feature(situation)) for name, feature in self._features.items())

    def note(self, choice: str, outcome: float, situation: object = None) -> None:
        """Note how a choice went.

        Args:
            choice: one of ``choices``.
            outcome: from -1, a disaster, to 1, a full success.
            situation: in which it was made; told to the features.

        Raises:
            UnknownNameError: if there is no such choice.
            ValueError: if the outcome is not within -1..1.
        """
        self.note_in(self.context(situation), choice, outcome)

    def note_in(self, context: Context, choice: str, outcome: float) -> None:
        """Note how a choice went in a context that ``context`` returned before."""
        index, value = self._choice(choice), _outcome("outcome", outcome)
        if not isinstance(context, tuple):
            raise TypeError(f"context must be what context() returned, got {shown(context)}")
        if len(context) != len(self._features):
            raise ValueError(f"a context has {len(self._features)} kinds, got {shown(context)}")
        self._noted += 1
        # The least exact last: it is then the youngest, and the last to go.
        for exact in range(len(context), -1, -1):
            record = self._records.pop(context[:exact], None) or _Record(len(self.choices), self._noted)
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
        """Return the outcome that is to be expected, -1..1.

        Raises:
            UnknownNameError: if there is no such choice.
        """
        return self._expected(self._choice(choice), self.context(situation))

    def expectations(self, context: Context) -> list[float]:
        """Return the outcome to be expected of each choice, in their order."""
        return [self._expected(index, context) for index in range(len(self.choices))]

    def evidence(self, choice: str, situation: object = None) -> float:
        """Return how many outcomes in exactly this context are remembered, the old ones for less than one."""
        record = self._records.get(self.context(situation))
        return 0.0 if record is None else record.weights[self._choice(choice)] * self._fading(record)

    @property
    def contexts(self) -> int:
        """How many contexts are remembered, the less exact ones with them."""
        return len(self._records)

    def save_state(self) -> State:
        """Return what is remembered, as plain data."""
        return {
            "version": 1,
            "noted": self._noted,
            "choices": list(self.choices),
            "features": list(self._features),
            "contexts": [
                {"kinds": list(context), "noted_at": one.noted_at, "weights": list(one.weights),
                 "totals": list(one.totals)}
                for context, one in self._records.items()
            ],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved memory; return what puts it in place of this one.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        noted = fields.whole("noted")
        for name, here in (("choices", list(self.choices)), ("features", list(self._features))):
            if fields.items(name) != here:
                fields.refuse(name, f"must be those that are here: {shown(here)}")
        records: dict[Context, _Record] = {}
        for one in fields.groups("contexts"):
            context = self.read_kinds(one, "kinds")
            if context in records:
                one.refuse("kinds", f"come twice: {shown(context)}")
            record = records[context] = _Record(0, one.whole("noted_at", maximum=noted))
            record.weights = one.numbers("weights", count=len(self.choices), minimum=0.0)
            record.totals = one.numbers("totals", count=len(self.choices))
            pairs = zip(record.totals, record.weights, strict=True)
            if any(abs(total) > weight * (1 + 1e-9) for total, weight in pairs):  # both are rounded
                one.refuse("totals", "must lie within the weights: outcomes are from -1 to 1")
            one.end()
        if len(records) > self._most:
            fields.refuse("contexts", f"must be at most {self._most}, got {len(records)}")
        fields.end()

        def put() -> None:
            self._noted, self._records = noted, records

        return put

    def read_kinds(self, fields: Fields, name: str, *, is_whole: bool = False) -> Context:
        """Return a context that was saved; StateError unless it fits the features, all of them if it is whole."""
        kinds = fields.items(name, count=len(self._features) if is_whole else None)
        if len(kinds) > len(self._features):
            fields.refuse(name, f"must be at most {len(self._features)}, one for each feature")
        place = fields.place_of(name)
        return tuple(
            kind if isinstance(kind, str) else Fields({"kind": kind}, place).whole("kind", minimum=-MOST)
            for kind in kinds
        )

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
    """Return what tells the band a number lies in: 0 below the first limit, 1 from it on, and so on.

    >>> bands(0.3, 0.7)(0.5)
    1

    Raises:
        ValueError: if there is no limit, or they do not rise.
    """
    rising = [finite_number("a limit", limit) for limit in limits]
    if not rising or any(later <= before for before, later in pairwise(rising)):
        raise ValueError(f"limits must rise, and there must be one, got {shown(limits)}")
    return lambda value: bisect_right(rising, finite_number("the number to find a band for", value, minimum=-LARGEST))


def checked_names(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; raise unless there is one, and each is text and comes once."""
    if isinstance(names, str):
        raise TypeError(f"{kind}s must be several names, got {shown(names)}; put it in a list")
    found = tuple(names)
    if not found:
        raise ValueError(f"there must be a {kind}; got none")
    for index, name in enumerate(found):
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a {kind} must be text, got {shown(name)}")
        if name in found[:index]:
            raise ValueError(f"two {kind}s are named {name!r}; rename one")
    return found


def kept_each_time(half_life: float | None) -> float:
    """Return what share of what was noted is left after one more note; all of it for None."""
    if half_life is None:
        return 1.0
    return float(0.5 ** (1.0 / finite_number("half_life", half_life, above=0, remedy="use None to forget nothing")))


def _outcome(name: str, value: object) -> float:
    return finite_number(name, value, minimum=-1.0, maximum=1.0)


def _kind(feature: str, kind: object) -> str | int:
    if isinstance(kind, str):
        return kind
    try:
        return whole_number(f"what feature {feature!r} returns", kind, minimum=-MOST, maximum=MOST)
    except TypeError:
        raise TypeError(f"feature {feature!r} must return text or a whole number, got {shown(kind)}") from None
