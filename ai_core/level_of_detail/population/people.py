"""People of an open group, with the facts of named people."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ai_core.errors import checked_name, finite_number, named, shown, whole_number
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.chance import checked_generator
from ai_core.level_of_detail.population.population import Columns, Population
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import ArrayOf, GameValue, MapOf, Number, Record, Text, Whole
from ai_core.saving.values import SavedValues

__all__ = [
    "FACTS", "PERSON_STATE", "CharacterDraft", "NamedPerson", "People", "checked_facts",
    "checked_until", "make_characters",
]

FACTS = SavedValues()
"""Values allowed as facts, the same as for arguments of events: numbers, strings, lists, dicts, arrays."""


class NamedPerson(NamedTuple):
    """A person that stays an individual while the group is closed.

    Attributes:
        name: unique name.
        facts: every property of the population, and any other facts, as plain data.
        until_s: game time until which the person stays named (s); infinite for characters of the story.
    """

    name: str
    facts: Mapping[str, Any]
    until_s: float


UNTIL_S = Number(maximum=LATEST_S, absent=math.inf)
PERSON_STATE = Record(NamedPerson, name=Text(), facts=GameValue(FACTS, at="facts"), until_s=UNTIL_S)
"""How a named person of a closed group is saved."""
NUMBERS, LABELS = ArrayOf(), ArrayOf(object)


class People(Saveable):
    """The people of an open group: first the named people, sorted by name, then all others.

    Attributes:
        columns: array with a number or label for each person, by property; the game may write to it.
        known: facts of named people by name, other than properties.
    """

    STATE = DeclaredState(
        columns=MapOf(
            lambda people, name: LABELS if np.asarray(people.columns[name]).dtype.kind in "OU" else NUMBERS,
            names=lambda people: people.columns),
        known=MapOf(GameValue(FACTS, at="known")), rows=MapOf(Whole(), at="_row_of"),
        until_s=MapOf(UNTIL_S, at="_until_s"))

    def __init__(self, columns: Columns, known: Mapping[str, Mapping[str, Any]], until_s: Mapping[str, float]) -> None:
        self.columns = columns
        self.known = {name: dict(facts) for name, facts in known.items()}
        self._row_of = {name: row for row, name in enumerate(self.known)}
        self._until_s = dict(until_s)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def row_of(self, name: str) -> int:
        """Return the row of a named person.

        Raises:
            UnknownNameError: if no named person has this name.
        """
        return named("person", name, self._row_of)

    def remember(
        self, row: int, name: str, *, until_s: float = math.inf,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Name a person, so that it stays an individual after closing, for example because the player saw it.

        Args:
            row: row of the person.
            name: unique name.
            until_s: game time until which the person stays named (s), whether the group is open or closed;
                the default is forever.
            facts: facts to keep; a property is written into the row of the person.

        Raises:
            TypeError: if ``name`` is not a non-empty string, or a fact has another type than its property.
            ValueError: if the row has another name, the name belongs to another row, or a number is not
                finite; nothing changes then.
        """
        row = whole_number("row", row, minimum=0, maximum=len(self) - 1)
        checked_name("name", name)
        until_s = checked_until(until_s)
        given = checked_facts(facts or {})
        for key in given.keys() & self.columns.keys():
            _check_kind(key, given[key], self.columns[key][row])
        taken = next((one for one, other in self._row_of.items() if other == row), name)
        if taken != name or self._row_of.get(name, row) != row:
            raise ValueError(f"row {row} is named {taken!r}, or {name!r} names another row; names must differ")
        for key in given.keys() & self.columns.keys():
            self.columns[key][row] = given.pop(key)
        self._until_s[name] = until_s
        self._row_of[name] = row
        self.known[name] = {**self.known.get(name, {}), **given}

    def forget(self, name: str) -> None:
        """Remove the name of a person, which becomes part of the population on closing.

        Raises:
            UnknownNameError: if no named person has this name.
        """
        self.row_of(name)
        del self._row_of[name], self._until_s[name], self.known[name]

    def facts_of(self, name: str) -> dict[str, Any]:
        """Return the present facts and properties of a named person.

        Raises:
            UnknownNameError: if no named person has this name.
        """
        row = self.row_of(name)
        return {**self.known[name], **{key: _plain(one[row]) for key, one in self.columns.items()}}

    def until_s_of(self, name: str) -> float:
        """Return the game time until which a named person stays named (s).

        Raises:
            UnknownNameError: if no named person has this name.
        """
        self.row_of(name)
        return self._until_s[name]

    @classmethod
    def from_state(cls, state: object, population: Population) -> People:
        """Return the people in a save.

        Args:
            state: result of ``save_state``.
            population: population with the properties of the people.

        Raises:
            StateError: if the state cannot be loaded; names the field and the reason.
        """
        columns = {name: np.zeros(0, object if isinstance(one, Categorical) else np.float64)
                   for name, one in population.properties.items()}
        people = cls(columns, {}, {})
        people.prepare_state(state)()
        return people

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        lengths = {name: len(column) for name, column in values.columns.items()}
        if len(set(lengths.values())) > 1:
            refuse("columns", f"must all have the same length, got {lengths}")
        for name in ("rows", "until_s"):
            if vars(values)[name].keys() != values.known.keys():
                refuse(name, "must have the people of 'known'")
        count, taken = next(iter(lengths.values()), len(values.known)), set()
        for name, facts in values.known.items():
            try:
                checked_name("name", name)
                checked_facts(facts)
            except (TypeError, ValueError) as error:
                refuse(f"known.{name}", str(error))
            row = values.rows[name]
            if row >= count or row in taken:
                refuse(f"rows.{name}", f"must be below {count} and the row of no other person, got {row}")
            taken.add(row)


class CharacterDraft(NamedTuple):
    """Input of a function that creates characters.

    Attributes:
        people: all people with their properties.
        district: properties of the place, given by the game.
        time_of_day_s: time since midnight (s).
        generator: source of random numbers.
    """

    people: People
    district: Mapping[str, Any]
    time_of_day_s: float
    generator: Any


def make_characters(
    people: People, make: Callable[[CharacterDraft], Sequence[Any]], generator: Any, *,
    district: Mapping[str, Any] | None = None, time_of_day_s: float = 0.0,
) -> list[Any]:
    """Return one character of the game for each person, in the order of people.

    Args:
        people: result of ``Community.open``.
        make: returns a character for each person. It may use properties, place and time of day, or invent
            values and write those to keep into ``people.columns``.
        generator: random generator for ``make``.
        district: properties of the place; None for none.
        time_of_day_s: time since midnight (s), 0 or more.

    Raises:
        TypeError: if ``generator`` is not a random generator.
        ValueError: if ``make`` does not return exactly one character for each person.
    """
    checked_generator(generator)
    time_of_day_s = finite_number("time_of_day_s", time_of_day_s, minimum=0)
    made = list(make(CharacterDraft(people, district or {}, time_of_day_s, generator)))
    if len(made) != len(people):
        raise ValueError(f"make must return a character for each of {len(people)} people, got {len(made)}")
    return made


def checked_until(until_s: float) -> float:
    """Return ``until_s`` if it is a valid game time (s) or infinite."""
    return math.inf if until_s == math.inf else finite_number(
        "until_s", until_s, maximum=LATEST_S, remedy="omit it for no limit")


def checked_facts(facts: object) -> dict[str, Any]:
    """Return a copy of ``facts`` if it maps names to values that can be saved."""
    if not isinstance(facts, Mapping) or not all(isinstance(key, str) and key for key in facts):
        raise TypeError(f"facts must be a dict with non-empty strings as keys, got {shown(facts)}")
    for key, one in facts.items():
        FACTS.plain(one, f"facts.{key}")
    return dict(facts)


def _check_kind(name: str, value: object, before: object) -> None:
    if not isinstance(before, str):
        finite_number(f"fact {name!r}", value)
    else:
        checked_name(f"fact {name!r}", value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
