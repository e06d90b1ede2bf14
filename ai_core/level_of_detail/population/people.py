"""People of an open group, and what is remembered of those who were seen."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ai_core.errors import finite_number, named, shown, whole_number
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.chance import checked_generator
from ai_core.level_of_detail.population.population import Columns, Population
from ai_core.saving.fields import LATEST_S, Fields, State
from ai_core.saving.values import SavedValues

__all__ = [
    "FACTS", "CharacterDraft", "NamedPerson", "People", "checked_facts", "checked_name", "checked_until",
    "made_characters",
]

VERSION = 1

FACTS = SavedValues()
"""Facts may be whatever arguments of events may be: numbers, text, lists, dicts, arrays and so on."""


class NamedPerson(NamedTuple):
    """Somebody who is kept as an individual while the group is closed.

    Attributes:
        name: by which they are found again.
        facts: every property of the population, and whatever else was last
            known: plain data.
        until_s: game time until which they stay themselves (s); infinite for
            characters of the story.
    """

    name: str
    facts: Mapping[str, Any]
    until_s: float


class People:
    """The people of an open group: known ones first, by name, then all others.

    Attributes:
        columns: by property, a number or label for each; the game may write.
        known: facts of the known ones, by name, in their order.
    """

    def __init__(self, columns: Columns, known: Mapping[str, Mapping[str, Any]], until_s: Mapping[str, float]) -> None:
        self.columns = columns
        self.known = {name: dict(facts) for name, facts in known.items()}
        self._row_of = {name: row for row, name in enumerate(self.known)}
        self._until_s = dict(until_s)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def row_of(self, name: str) -> int:
        """Return the row of a known person.

        Raises:
            UnknownNameError: if nobody of that name is known here.
        """
        return named("known person", name, self._row_of)

    def remember(
        self, row: int, name: str, *, until_s: float = math.inf,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Let somebody stay themselves after closing: they were seen, or matter.

        Args:
            row: whose.
            name: unique; known from now on.
            until_s: game time until which (s), the group open or closed; for ever
                unless given.
            facts: what is to be true of them when they are met again; a property
                is written into their row.

        Raises:
            TypeError: if the name is no text, or a fact is of another kind than its property.
            ValueError: if the row or the name is another's, or a number is not finite;
                then nothing has changed.
        """
        row = whole_number("row", row, minimum=0, maximum=len(self) - 1)
        checked_name(name)
        until_s = checked_until(until_s)
        told = checked_facts(facts or {})
        for key in told.keys() & self.columns.keys():
            _check_kind(key, told[key], self.columns[key][row])
        taken = next((one for one, other in self._row_of.items() if other == row), name)
        if taken != name or self._row_of.get(name, row) != row:
            raise ValueError(f"row {row} is {taken!r}, or {name!r} is another row; names must differ")
        for key in told.keys() & self.columns.keys():
            self.columns[key][row] = told.pop(key)
        self._until_s[name] = until_s
        self._row_of[name] = row
        self.known[name] = {**self.known.get(name, {}), **told}

    def forget(self, name: str) -> None:
        """Let a known person be one of the many again."""
        self.row_of(name)
        del self._row_of[name], self._until_s[name], self.known[name]

    def facts_of(self, name: str) -> dict[str, Any]:
        """Return what is true of a known person now."""
        row = self.row_of(name)
        return {**self.known[name], **{key: _plain(one[row]) for key, one in self.columns.items()}}

    def until_s_of(self, name: str) -> float:
        """Return the game time until which a known person stays themselves (s)."""
        self.row_of(name)
        return self._until_s[name]

    def save_state(self) -> State:
        """Return everybody, as plain data; what ``from_state`` reads."""
        return {
            "version": VERSION,
            "columns": {name: np.asarray(one).tolist() for name, one in self.columns.items()},
            "known": [
                {"name": name, "row": self._row_of[name], "facts": FACTS.plain(facts, "facts"),
                 "until_s": None if math.isinf(self._until_s[name]) else self._until_s[name]}
                for name, facts in self.known.items()
            ],
        }

    @classmethod
    def from_state(cls, state: object, population: Population) -> People:
        """Return the people in a save.

        Args:
            state: what ``save_state`` returned.
            population: says which properties there are, and of which kinds.

        Raises:
            StateError: if they cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=VERSION)
        group = fields.group("columns")
        columns = {name: _read_column(group, name, one) for name, one in population.properties.items()}
        group.end()
        people = cls(columns, {}, {})
        if len({len(one) for one in columns.values()}) > 1:
            fields.refuse("columns", "must all be of one length")
        for one in fields.groups("known"):
            until_s = one.number_or("until_s", math.inf)
            row = one.whole("row", maximum=max(0, len(people) - 1))
            facts = FACTS.value(one.anything("facts"), one.place_of("facts"))
            try:
                people.remember(row, one.text("name"), until_s=until_s, facts=facts)
            except (TypeError, ValueError) as error:
                one.refuse("name", f"does not fit: {error}")
            one.end()
        fields.end()
        return people


class CharacterDraft(NamedTuple):
    """What a maker of characters is told.

    Attributes:
        people: everybody, with their properties.
        district: what the game says of the place.
        time_of_day_s: seconds since midnight (s).
        generator: where chance comes from.
    """

    people: People
    district: Mapping[str, Any]
    time_of_day_s: float
    generator: Any


def made_characters(
    people: People, make: Callable[[CharacterDraft], Sequence[Any]], generator: Any, *,
    district: Mapping[str, Any] | None = None, time_of_day_s: float = 0.0,
) -> list[Any]:
    """Return the game's own characters for people, one each, in their order.

    Args:
        people: what ``Community.open`` returned.
        make: returns a character for each; may go by their properties, by the
            place and the time of day, or make them up and write into
            ``people.columns`` what is to be kept of them.
        generator: handed on to ``make``.
        district: properties of the place.
        time_of_day_s: seconds since midnight (s), 0 or more.

    Raises:
        ValueError: if not exactly one character was made for each.
    """
    checked_generator(generator)
    time_of_day_s = finite_number("time_of_day_s", time_of_day_s, minimum=0)
    made = list(make(CharacterDraft(people, district or {}, time_of_day_s, generator)))
    if len(made) != len(people):
        raise ValueError(f"make must return a character for each of {len(people)} people, got {len(made)}")
    return made


def _read_column(fields: Fields, name: str, kind: object) -> Any:
    if not isinstance(kind, Categorical):
        return np.array(fields.numbers(name), np.float64)
    labels = fields.items(name)
    if not all(type(one) is str and one for one in labels):
        fields.refuse(name, "must be a list of labels")
    return np.array(labels, np.object_)


def checked_name(name: object) -> str:
    """Return ``name`` if it may be a person's."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a text that is not empty, got {shown(name)}")
    return name


def checked_until(until_s: float) -> float:
    """Return ``until_s`` if it is a game time (s), or infinite."""
    return math.inf if until_s == math.inf else finite_number(
        "until_s", until_s, maximum=LATEST_S, remedy="leave it out for ever"
    )


def checked_facts(facts: object) -> dict[str, Any]:
    """Return a copy of ``facts`` if they are a mapping from names to what can be saved."""
    if not isinstance(facts, Mapping) or not all(isinstance(key, str) and key for key in facts):
        raise TypeError(f"facts must be a dict with text as keys, got {shown(facts)}")
    for key, one in facts.items():
        FACTS.plain(one, f"facts.{key}")
    return dict(facts)


def _check_kind(name: str, value: object, before: object) -> None:
    if not isinstance(before, str):
        finite_number(f"fact {name!r}", value)
    elif not isinstance(value, str) or not value:
        raise TypeError(f"fact {name!r} must be a text that is not empty, got {shown(value)}")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
