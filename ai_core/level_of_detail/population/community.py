"""A population, and the people in it who must stay themselves."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ai_core.errors import finite_number, shown, whole_number
from ai_core.level_of_detail.population.people import (
    FACTS,
    NamedPerson,
    People,
    checked_facts,
    checked_name,
    checked_until,
)
from ai_core.level_of_detail.population.population import Columns, Population
from ai_core.level_of_detail.population.population_state import read_population, saved_population
from ai_core.saving.fields import LATEST_S, Fields, State

__all__ = ["Community"]


class Community:
    """People as counts and distributions while closed, and as themselves while open.

    What was seen again is consistent with what was seen before: whoever was
    remembered comes back with the facts they were left with, for as long as
    was said; then they are one of the many, and no total changes.

    Args:
        population: everybody but those who are pinned.
    """

    def __init__(self, population: Population) -> None:
        if not isinstance(population, Population):
            raise TypeError(f"population must be a Population, got {shown(population)}")
        self.population = population
        self.known: dict[str, NamedPerson] = {}

    @property
    def count(self) -> int:
        """How many people there are, known ones included."""
        return self.population.count + len(self.known)

    def total(self, name: str) -> float:
        """Return what all have together of a numeric property."""
        return self.population.total(name) + math.fsum(
            one.facts[name] for one in self.known.values()
        )

    def pin(self, name: str, facts: Mapping[str, Any], *, until_s: float = math.inf) -> None:
        """Add a person who stays themselves; one more than there were.

        Args:
            name: unique here.
            facts: a value for every property of the population, and anything else.
            until_s: game time until which (s); for ever unless given.

        Raises:
            TypeError: if name is no text, or facts are no dict.
            ValueError: if a property is missing, not finite, or the name is taken.
        """
        if checked_name(name) in self.known:
            raise ValueError(f"{name!r} is known here already; names must differ")
        person = NamedPerson(name, checked_facts(facts), checked_until(until_s))
        self._alone(person)
        self.known[name] = person

    def lapse(self, now_s: float) -> None:
        """Let those whose time is over be among the many again. Cost: O(known).

        Raises:
            ValueError: if what is known of one does not fit; then nothing has changed.
        """
        now_s = finite_number("now_s", now_s)
        population = self.population
        over = sorted(name for name, one in self.known.items() if one.until_s <= now_s)
        for name in over:
            population = population.merged(self._alone(self.known[name]))
        self.population = population
        for name in over:
            del self.known[name]

    def open(self, generator: Any, now_s: float = 0.0) -> People:
        """Return everybody as individuals. The community keeps what it was until ``close``."""
        self.lapse(now_s)
        names = sorted(self.known)
        many = self.population.expand(generator)
        columns: Columns = {
            key: np.concatenate((np.array([self.known[name].facts[key] for name in names], column.dtype), column))
            for key, column in many.items()
        }
        properties = self.population.properties
        extras = {
            name: {key: one for key, one in self.known[name].facts.items() if key not in properties}
            for name in names
        }
        return People(columns, extras, {name: self.known[name].until_s for name in names})

    def close(self, people: People, now_s: float = 0.0) -> None:
        """Keep counts and distributions of people, and those who are known as they are.

        Who is known until now, or until a moment that is over, is one of the many.

        Raises:
            TypeError: if people are not what ``open`` returned, or a value is of another kind.
            ValueError: if a value does not fit its property; says whose. Then nothing
                has changed, and the people are as they were.
        """
        if not isinstance(people, People):
            raise TypeError(f"people must be what open returned, got {shown(people)}")
        now_s = finite_number("now_s", now_s)
        known = {
            name: NamedPerson(name, people.facts_of(name), people.until_s_of(name))
            for name in people.known if people.until_s_of(name) > now_s
        }
        for one in known.values():
            self._alone(one)
        many = np.ones(len(people), np.bool_)
        many[[people.row_of(name) for name in known]] = False
        try:
            population = self.population.compressed(
                {key: np.asarray(column)[many] for key, column in people.columns.items()}
            )
        except (IndexError, TypeError, ValueError):
            self.population.compressed(people.columns)  # says it with the rows of everybody
            raise
        self.population, self.known = population, known

    def split(
        self, sizes: Sequence[int], generator: Any, *, place: Callable[[NamedPerson], int] | None = None
    ) -> list[Community]:
        """Return communities of these sizes, known people included.

        Args:
            sizes: people in each, together ``count``.
            place: into which part a known person goes; None fills the parts in order.
        """
        left = [whole_number("size", size, minimum=0) for size in sizes]
        if sum(left) != self.count:
            raise ValueError(f"sizes must add up to {self.count}, got {sum(left)}")
        homes: dict[str, int] = {}
        for name, person in sorted(self.known.items()):
            home = next(n for n, one in enumerate(left) if one) if place is None else place(person)
            home = whole_number("place", home, minimum=0, maximum=len(left) - 1)
            if not left[home]:
                raise ValueError(f"part {home} of {sizes[home]} has no room for {name!r}")
            left[home] -= 1
            homes[name] = home
        parts = [Community(one) for one in self.population.split(left, generator)]
        for name, home in homes.items():
            parts[home].known[name] = self.known[name]
        return parts

    @classmethod
    def merged(cls, parts: Sequence[Community]) -> Community:
        """Return all parts together.

        Raises:
            ValueError: if there are none, or a name is known in two of them.
        """
        if not parts:
            raise ValueError("parts must be at least one, got none")
        together = cls(parts[0].population)
        for one in parts[1:]:
            together.population = together.population.merged(one.population)
        for one in parts:
            for name in one.known:
                if name in together.known:
                    raise ValueError(f"{name!r} is known in two parts; names must differ")
            together.known.update(one.known)
        return together

    def _alone(self, person: NamedPerson) -> Population:
        """Return the population that one person is.

        Raises:
            ValueError: if the facts lack a property, or one does not fit.
        """
        name, facts = person.name, person.facts
        missing = [key for key in self.population.properties if key not in facts]
        if missing:
            raise ValueError(f"facts of {name!r} must have every property, {missing[0]!r} is missing")
        try:
            return self.population.compressed({key: [facts[key]] for key in self.population.properties})
        except (TypeError, ValueError) as error:
            said = str(error).removesuffix(" in row 0")
            raise type(error)(f"facts of {name!r} do not fit: {said}") from None

    def save_state(self) -> State:
        """Return the population and known people, as plain data."""
        return {
            "version": 1,
            "population": saved_population(self.population),
            "known": [
                {"name": name, "facts": FACTS.plain(dict(one.facts), "facts"),
                 "until_s": None if math.isinf(one.until_s) else one.until_s}
                for name, one in sorted(self.known.items())
            ],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        population = read_population(fields.group("population"))
        loaded = Community(population)
        for one in fields.groups("known"):
            facts = FACTS.value(one.anything("facts"), one.place_of("facts"))
            until_s = one.number_or("until_s", math.inf, maximum=LATEST_S)
            try:
                loaded.pin(one.text("name"), facts, until_s=until_s)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                one.refuse("facts", f"do not fit: {error}")
            one.end()
        fields.end()

        def change() -> None:
            self.population, self.known = population, loaded.known

        return change
