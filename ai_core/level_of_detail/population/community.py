"""`Community`: a population and its named people."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ai_core.errors import check_type, checked_name, finite_number, several, shown, whole_number
from ai_core.level_of_detail.population.people import (
    PERSON_STATE,
    NamedPerson,
    People,
    checked_facts,
    checked_until,
)
from ai_core.level_of_detail.population.population import POPULATION_STATE, Columns, Population
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import ListOf

__all__ = ["Community"]


class Community(Saveable):
    """People as counts and distributions while closed, and as individuals while open.

    A named person keeps its facts while the community is closed, up to its time ``until_s``; then it
    becomes part of the population, without a change of any total. So the player meets the same person
    again.

    Args:
        population: all people but the named ones.

    Attributes:
        known: named people by name.

    Raises:
        TypeError: if ``population`` is not a Population.
    """

    SHOWN = ("count",)

    STATE = DeclaredState(population=POPULATION_STATE, known=ListOf(PERSON_STATE, at="_people"))

    def __init__(self, population: Population) -> None:
        check_type("population", population, Population)
        self.population = population
        self.known: dict[str, NamedPerson] = {}

    @property
    def count(self) -> int:
        """Number of people, named people included."""
        return self.population.count + len(self.known)

    def total(self, name: str) -> float:
        """Return the total of a numeric property over all people.

        Raises:
            UnknownNameError: if no numeric property has this name.
        """
        return self.population.total(name) + math.fsum(one.facts[name] for one in self.known.values())

    def pin(self, name: str, facts: Mapping[str, Any], *, until_s: float = math.inf) -> None:
        """Add a named person; the community has one person more afterwards.

        Args:
            name: unique name in this community.
            facts: a value for every property of the population, and any other facts.
            until_s: game time until which the person stays named (s); the default is forever.

        Raises:
            TypeError: if ``name`` is not a string, or ``facts`` is not a dict.
            ValueError: if a property is missing or not finite, or the name is taken.
        """
        if checked_name("name", name) in self.known:
            raise ValueError(f"the community already has a person {name!r}; names must differ")
        person = NamedPerson(name, checked_facts(facts), checked_until(until_s))
        self._alone(person)
        self.known[name] = person

    def release_expired(self, now_s: float) -> None:
        """Move named people whose time has passed into the population. Cost: O(named people).

        Raises:
            ValueError: if the facts of a person do not fit the properties; nothing changes then.
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
        """Return all people as individuals; the community keeps its state until ``close``.

        Args:
            generator: a ``random.Random`` or a NumPy ``Generator``.
            now_s: game time (s).
        """
        self.release_expired(now_s)
        names = sorted(self.known)
        many = self.population.expand(generator)
        columns: Columns = {
            key: np.concatenate((np.array([self.known[name].facts[key] for name in names], column.dtype), column))
            for key, column in many.items()}
        properties = self.population.properties
        extras = {
            name: {key: one for key, one in self.known[name].facts.items() if key not in properties} for name in names}
        return People(columns, extras, {name: self.known[name].until_s for name in names})

    def close(self, people: People, now_s: float = 0.0) -> None:
        """Compress people to counts and distributions, and keep named people with their facts.

        A named person whose time has passed becomes part of the population.

        Args:
            people: result of ``open``, possibly changed by the game.
            now_s: game time (s).

        Raises:
            TypeError: if ``people`` is not a People, or a value has a wrong type.
            ValueError: if a value does not fit its property; names the person or row. The community and
                ``people`` are unchanged then.
        """
        if not isinstance(people, People):
            raise TypeError(f"people must be the People that open() returned, got {shown(people)}")
        now_s = finite_number("now_s", now_s)
        known = {
            name: NamedPerson(name, people.facts_of(name), people.until_s_of(name))
            for name in people.known if people.until_s_of(name) > now_s}
        for one in known.values():
            self._alone(one)
        many = np.ones(len(people), np.bool_)
        many[[people.row_of(name) for name in known]] = False
        try:
            population = self.population.compressed(
                {key: np.asarray(column)[many] for key, column in people.columns.items()})
        except (IndexError, TypeError, ValueError):
            self.population.compressed(people.columns)  # raises with row numbers of all people
            raise
        self.population, self.known = population, known

    def split(
        self, sizes: Sequence[int], generator: Any, *, place: Callable[[NamedPerson], int] | None = None
    ) -> list[Community]:
        """Return communities of given sizes, named people included.

        Args:
            sizes: number of people in each part; the sum must be ``count``.
            generator: a ``random.Random`` or a NumPy ``Generator``.
            place: returns the number of the part for a named person; None fills the parts in order.

        Raises:
            TypeError: if a size or a result of ``place`` is not an integer.
            ValueError: if the sizes do not add up, or a part has no room for a named person.
        """
        left = [whole_number("size", size, minimum=0) for size in sizes]
        if sum(left) != self.count:
            raise ValueError(f"sizes must add up to {self.count}, got {sum(left)}")
        homes: dict[str, int] = {}
        for name, person in sorted(self.known.items()):
            home = next(n for n, one in enumerate(left) if one) if place is None else place(person)
            home = whole_number("place", home, minimum=0, maximum=len(left) - 1)
            if not left[home]:
                raise ValueError(
                    f"part {home} with {sizes[home]} people has no room for {name!r}; make it larger, or let place"
                    f" return another one")
            left[home] -= 1
            homes[name] = home
        parts = [Community(one) for one in self.population.split(left, generator)]
        for name, home in homes.items():
            parts[home].known[name] = self.known[name]
        return parts

    @classmethod
    def merged(cls, parts: Sequence[Community]) -> Community:
        """Return one community with the people of all parts.

        Raises:
            TypeError: if a part is not a Community.
            ValueError: if there are no parts, or a name occurs in two of them.
        """
        parts = several("parts", parts, Community)
        if not parts:
            raise ValueError("parts must have at least one community, got none")
        together = cls(parts[0].population)
        for one in parts[1:]:
            together.population = together.population.merged(one.population)
        for one in parts:
            for name in one.known:
                if name in together.known:
                    raise ValueError(f"two parts have a person {name!r}; names must differ")
            together.known.update(one.known)
        return together

    def _alone(self, person: NamedPerson) -> Population:
        """Return the population of one person."""
        name, facts = person.name, person.facts
        missing = [key for key in self.population.properties if key not in facts]
        if missing:
            raise ValueError(f"facts of {name!r} must have every property; {missing[0]!r} is missing")
        try:
            return self.population.compressed({key: [facts[key]] for key in self.population.properties})
        except (TypeError, ValueError) as error:
            said = str(error).removesuffix(" in row 0")
            raise type(error)(f"facts of {name!r} do not fit: {said}") from None

    @property
    def _people(self) -> list[NamedPerson]:
        return [person for _, person in sorted(self.known.items())]

    @_people.setter
    def _people(self, people: list[NamedPerson]) -> None:
        self.known = {one.name: one for one in people}

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        loaded = Community(values.population)
        for index, one in enumerate(values.known):
            try:
                loaded.pin(one.name, one.facts, until_s=one.until_s)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                refuse(f"known[{index}]", f"does not fit: {error}")
