"""Saving and loading of populations as plain data."""
from __future__ import annotations

from collections.abc import Callable

from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.distributions import Distribution, Normal, PowerLaw, Quantiles
from ai_core.level_of_detail.population.population import Population
from ai_core.saving.fields import Fields, State

__all__ = ["read_population", "saved_population"]

LONGEST = 10_000
"""Largest number of points of a ``Quantiles`` in a save (count)."""


def saved_population(population: Population) -> State:
    """Return a population as plain data."""
    return {
        "count": population.count,
        "properties": [
            {"name": name, **_saved(one)} for name, one in population.properties.items()
        ],
        "dependences": [[*pair, value] for pair, value in population.dependences.items()],
    }


def read_population(fields: Fields) -> Population:
    """Return the population from saved fields.

    Raises:
        StateError: if the fields cannot be loaded; names the field and the reason.
    """
    count = fields.whole("count")
    properties: dict[str, Distribution | Categorical] = {}
    for one in fields.groups("properties"):
        name = one.text("name")
        if name in properties:
            one.refuse("name", "occurs twice")
        kind = one.one_of("kind", tuple(READERS))
        try:
            properties[name] = READERS[kind](one)
        except (ArithmeticError, TypeError, ValueError) as error:
            one.refuse("kind", f"{kind!r} cannot be created: {error}")
        one.end()
    pairs = {}
    for index, row in enumerate(fields.items("dependences")):
        place = f"dependences[{index}]"
        if not isinstance(row, list) or len(row) != 3:
            fields.refuse(place, "must be [property, property, rank correlation]")
        one = Fields(dict(zip(("one", "other", "value"), row, strict=True)), fields.place_of(place))
        pairs[one.text("one"), one.text("other")] = one.number("value", minimum=-1, maximum=1)
    fields.end()
    try:
        return Population(count, properties).with_dependences(pairs)
    except ValueError as error:
        fields.refuse("count", f"does not fit the properties or dependences: {error}")


def _saved(one: Distribution | Categorical) -> State:
    if isinstance(one, Categorical):
        return {"kind": "categorical", "counts": dict(one.counts)}
    if isinstance(one, Normal):
        return {"kind": "normal", "average": one.average, "deviation": one.deviation}
    if isinstance(one, PowerLaw):
        return {"kind": "power_law", "exponent": one.exponent, "lower": one.lower, "average": one.mean}
    if isinstance(one, Quantiles):
        return {"kind": "quantiles", "points": list(one.points), "average": one.mean}
    raise TypeError(f"a {type(one).__name__} cannot be saved; use Normal, PowerLaw, Quantiles or Categorical")


def _read_categorical(fields: Fields) -> Categorical:
    counts = fields.group("counts")
    found = Categorical({label: counts.whole(label) for label in counts.names()})
    counts.end()
    return found


def _read_quantiles(fields: Fields) -> Quantiles:
    if len(fields.items("points")) > LONGEST:
        fields.refuse("points", f"must have at most {LONGEST} numbers")
    return Quantiles(tuple(fields.numbers("points")), fields.number("average"))


READERS: dict[str, Callable[[Fields], Distribution | Categorical]] = {
    "normal": lambda one: Normal(one.number("average"), one.number("deviation")),
    "power_law": lambda one: PowerLaw(
        one.number("exponent"), one.number("lower"), one.number("average")
    ),
    "quantiles": _read_quantiles,
    "categorical": _read_categorical,
}
