"""`Population`: counts and distributions in place of the people of a closed group."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, check_kind, check_type, named, shown, whole_number
from ai_core.level_of_detail.population.categorical import CATEGORICAL_STATE, Categorical
from ai_core.level_of_detail.population.chance import checked_generator
from ai_core.level_of_detail.population.dependence import arranged, checked_dependences, measured
from ai_core.level_of_detail.population.distributions import NORMAL_STATE, POWER_LAW_STATE, Distribution, checked_values
from ai_core.saving.kinds import MapOf, Number, OneRecordOf, Record, Row, Text, Whole

__all__ = ["POPULATION_STATE", "Columns", "Population"]

Columns = dict[str, NDArray[Any]]
"""People as arrays by property, with a number or label for each person."""


class Population:
    """A number of people and the distribution of each property. Immutable.

    Args:
        count: number of people, 0 or more.
        properties: for each name a Distribution, or a Categorical whose counts add up to ``count``.
        dependences: rank correlations of pairs of numeric properties, -1 to 1; pairs that are left out
            are independent.

    Raises:
        TypeError: if a property is neither a Distribution nor a Categorical.
        ValueError: if counts do not add up, or dependences contradict each other.
    """

    __slots__ = ("count", "dependences", "properties")

    def __init__(
        self, count: int, properties: Mapping[str, Distribution | Categorical], *,
        dependences: Mapping[tuple[str, str], float] | None = None,
    ) -> None:
        self.count = whole_number("count", count, minimum=0)
        check_type("properties", properties, Mapping, "use {'age': Normal(30, 5)}")
        check_kind("dependences", dependences, Mapping)
        self.properties = dict(sorted(properties.items()))
        for name, one in self.properties.items():
            if not isinstance(one, Distribution | Categorical):
                raise TypeError(f"property {name!r} must be a Distribution or a Categorical, got {shown(one)}")
            if isinstance(one, Categorical) and one.total != self.count:
                raise ValueError(f"counts of {name!r} must add up to {self.count} people, got {one.total}")
        self.dependences = checked_dependences(dependences or {}, self.numeric)

    def __repr__(self) -> str:
        return f"Population({self.count}, {self.properties}, dependences={self.dependences})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Population) and (self.count, self.properties, self.dependences) == (
            other.count, other.properties, other.dependences)

    __hash__ = None  # type: ignore[assignment]

    @property
    def numeric(self) -> dict[str, Distribution]:
        """Numeric properties by name."""
        return {name: one for name, one in self.properties.items() if isinstance(one, Distribution)}

    def total(self, name: str) -> float:
        """Return the total of a numeric property over all people.

        Raises:
            UnknownNameError: if no numeric property has this name.
        """
        return named("numeric property", name, self.numeric).mean * self.count

    def expand(self, generator: Any) -> Columns:
        """Return people with the counts, totals, distributions and dependences of the population.

        Args:
            generator: a ``random.Random`` or a NumPy ``Generator``.

        Cost: O(people log people).
        """
        checked_generator(generator)
        drawn = {name: one.values(self.count, generator) for name, one in self.numeric.items()}
        people: Columns = dict(arranged(drawn, self.dependences, generator))
        for name, one in self.properties.items():
            if isinstance(one, Categorical):
                people[name] = one.values(generator)
        return {name: people[name] for name in self.properties}

    def compressed(self, people: Mapping[str, Any]) -> Population:
        """Return the population of ``people``, with properties of the same kinds as this one.

        Args:
            people: array with a number or label for each person, by property; any number of people.

        Raises:
            TypeError: if a value has a wrong type; names the property and the row.
            ValueError: if a property is missing or of another length, or a value is out of range; names the
                property and the row.
            UnknownNameError: if the population has no property of a name.
        """
        for name in people:
            if name not in self.properties:
                raise UnknownNameError("property", name, self.properties)
        missing = [name for name in self.properties if name not in people]
        if missing:
            raise ValueError(f"every property needs a value for each of the people; {missing[0]!r} has none")
        columns = {name: np.asarray(people[name]) for name in self.properties}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"every property needs a value for each of the people, got {lengths}")
        count = next(iter(lengths.values()), self.count)
        if not count:
            empty = {name: Categorical({}) if isinstance(one, Categorical) else one
                     for name, one in self.properties.items()}
            return Population(0, empty, dependences=self.dependences)
        properties = {name: _refitted(name, one, columns[name]) for name, one in self.properties.items()}
        return self._with(count, properties, measured(self.dependences, columns))

    def merged(self, other: Population) -> Population:
        """Return the union of two populations; counts and totals are exact.

        Dependences are averaged by the numbers of people, which is exact if both have equal distributions.

        Raises:
            TypeError: if ``other`` is not a Population.
            ValueError: if the properties are not of the same names and kinds.
        """
        check_type("other", other, Population)
        kinds = [{name: type(one) for name, one in each.properties.items()} for each in (self, other)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"both must have the same properties, got {kinds[0]} and {kinds[1]}")
        if not other.count or not self.count:
            return self if self.count else other
        properties: dict[str, Distribution | Categorical] = {}
        for name, one in self.properties.items():
            also: Any = other.properties[name]
            properties[name] = (
                one.merged(also) if isinstance(one, Categorical) else one.merged(self.count, also, other.count))
        count = self.count + other.count
        pairs = sorted({*self.dependences, *other.dependences})
        return self._with(count, properties, {
            pair: _weighted(self.dependences.get(pair, 0.0), other.dependences.get(pair, 0.0),
                            other.count / count)
            for pair in pairs})

    def split(self, sizes: Sequence[int], generator: Any) -> list[Population]:
        """Return parts of given sizes; merged, the parts equal this population.

        Numbers have the same distribution in every part; labels are divided in proportion, rounded at random.

        Raises:
            ValueError: if a size is negative, or the sizes do not add up to ``count``.

        Cost: O(parts), independent of the number of people.
        """
        checked_generator(generator)
        sizes = [whole_number("size", size, minimum=0) for size in sizes]
        if sum(sizes) != self.count:
            raise ValueError(f"sizes must add up to {self.count}, got {sum(sizes)}")
        labels = {
            name: one.split(sizes, generator) for name, one in self.properties.items() if isinstance(one, Categorical)}
        return [
            self._with(size, {
                name: labels[name][number] if name in labels else one
                for name, one in self.properties.items()}, self.dependences)
            for number, size in enumerate(sizes)]

    def with_property(self, name: str, one: Distribution | Categorical) -> Population:
        """Return the population with another distribution of one property, for example after time has passed.

        Raises:
            UnknownNameError: if no property has this name.
            ValueError: if the distribution is of another kind, or counts do not add up.
        """
        if name not in self.properties:
            raise UnknownNameError("property", name, self.properties)
        if type(one) is not type(self.properties[name]):
            raise ValueError(f"property {name!r} must stay a {type(self.properties[name]).__name__}, got {shown(one)}")
        changed = Population(self.count, {**self.properties, name: one})
        return self._with(self.count, changed.properties, self.dependences)

    def with_dependences(self, pairs: Mapping[tuple[str, str], float]) -> Population:
        """Return the population with measured dependences.

        Measured dependences may contradict each other slightly by rounding; ``expand`` then comes as close
        as possible.

        Raises:
            TypeError: if ``pairs`` does not map pairs of names to numbers.
            ValueError: if a dependence is of an unknown property.
        """
        check_type("dependences", pairs, Mapping)
        found: dict[tuple[str, str], float] = {}
        for pair, value in pairs.items():
            found |= checked_dependences({pair: value}, self.numeric)
        return self._with(self.count, self.properties, dict(sorted(found.items())))

    def _with(
        self, count: int, properties: Mapping[str, Distribution | Categorical],
        dependences: Mapping[tuple[str, str], float],
    ) -> Population:
        """Return a population with measured dependences, without the check for contradictions."""
        made = object.__new__(Population)
        made.count, made.properties = count, dict(properties)
        made.dependences = dict(dependences)
        return made


POPULATION_STATE = Record(
    lambda count, properties, dependences: Population(count, properties).with_dependences(dependences), count=Whole(),
    properties=MapOf(OneRecordOf(
        normal=NORMAL_STATE, power_law=POWER_LAW_STATE, categorical=CATEGORICAL_STATE)),
    dependences=MapOf(Number(-1, 1), key=Row(lambda one, other: (one, other), Text(), Text())))
"""How a population is saved."""


def _refitted(name: str, one: Distribution | Categorical, column: NDArray[Any]) -> Distribution | Categorical:
    try:
        if isinstance(one, Categorical):
            return Categorical.of(column.tolist())
        return one.refitted(checked_values(column))
    except (TypeError, ValueError) as error:
        raise type(error)(f"property {name!r}: {error}") from None


def _weighted(one: float, other: float, share: float) -> float:
    return one if one == other else one + (other - one) * share
