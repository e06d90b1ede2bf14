"""What members can do against what is met, and how strong that makes a group."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ai_core.errors import finite_number, shown

__all__ = ["Capabilities", "Force", "power_ratio"]

FIGHT_S = 10.0
"""How long a fight is taken to last (s): what healers mend in it counts as toughness.

Longer makes healers worth more; below some seconds they are worth nothing."""

LARGEST = 1e9
"""Largest strength of one member; sums over an army stay far inside what floats tell apart."""


@dataclass(frozen=True)
class Capabilities:
    """What one member is, and can do.

    Attributes:
        kind: what it is, to whoever meets it: "ground", "air", "armor".
        attack: damage a second it does to each kind; what is not named it cannot hit.
        toughness: damage it stands, above 0.
        heals: damage a second it mends on others.
        range_m: how far its attack reaches (m).

    Raises:
        TypeError, ValueError: if a strength is negative, NaN or no number, or a kind no text.

    >>> Capabilities("ground", attack={"ground": 3.0}).can_hit("air")
    False
    """

    kind: str = "ground"
    attack: Mapping[str, float] = field(default_factory=dict, hash=False)
    toughness: float = 1.0
    heals: float = 0.0
    range_m: float = 1.0

    def __post_init__(self) -> None:
        _check_kind("kind", self.kind)
        if not isinstance(self.attack, Mapping):
            raise TypeError(f"attack must say damage a second by kind, got {shown(self.attack)}; use {{'ground': 3.0}}")
        attack = {}
        for kind in sorted(self.attack, key=str):
            _check_kind("a kind in attack", kind)
            attack[kind] = _strength(f"attack on {kind!r}", self.attack[kind])
        set_ = object.__setattr__
        set_(self, "attack", MappingProxyType(attack))
        set_(self, "toughness", finite_number("toughness", self.toughness, above=0, maximum=LARGEST))
        set_(self, "heals", _strength("heals", self.heals))
        set_(self, "range_m", _strength("range_m", self.range_m))

    def can_hit(self, kind: str) -> bool:
        """Return whether it does any damage to a kind."""
        return self.attack.get(kind, 0.0) > 0


class Force:
    """Many members, counted by what they can do.

    Args:
        rows: (capabilities, count) each; counts of equal capabilities are added up.

    Raises:
        TypeError, ValueError: if a count is negative or no number.

    Cost: O(rows).

    >>> force = Force.of_members([Capabilities(attack={"ground": 2.0})] * 3)
    >>> force.count, force.can_hit("ground"), force.can_hit("air")
    (3.0, 3.0, 0.0)
    """

    def __init__(self, rows: Iterable[tuple[Capabilities, float]] = ()) -> None:
        counts: dict[Capabilities, float] = {}
        for capabilities, count in rows:
            if not isinstance(capabilities, Capabilities):
                raise TypeError(f"a force is made of Capabilities, got {shown(capabilities)}")
            number = finite_number("count", count, minimum=0, maximum=LARGEST)
            if number:
                counts[capabilities] = counts.get(capabilities, 0.0) + number
        self.rows: tuple[tuple[Capabilities, float], ...] = tuple(counts.items())
        self.count: float = sum(count for _, count in self.rows)

    @classmethod
    def of_members(cls, members: Iterable[Capabilities]) -> Force:
        """Return the force of members, one each."""
        return cls((one, 1) for one in members)

    def __add__(self, other: Force) -> Force:
        return Force((*self.rows, *other.rows))

    def __repr__(self) -> str:
        return f"<Force of {self.count:g}: {', '.join(f'{n:g} {kind}' for kind, n in self.counts_by_kind().items())}>"

    @property
    def toughness(self) -> float:
        """Damage all together stand in a fight, with what healers mend meanwhile."""
        return sum(count * (one.toughness + one.heals * FIGHT_S) for one, count in self.rows)

    @property
    def heals(self) -> float:
        """Damage a second that all together mend."""
        return sum(count * one.heals for one, count in self.rows)

    def counts_by_kind(self) -> dict[str, float]:
        """Return how many there are of each kind, sorted by kind."""
        counts: dict[str, float] = {}
        for one, count in self.rows:
            counts[one.kind] = counts.get(one.kind, 0.0) + count
        return dict(sorted(counts.items()))

    def can_hit(self, kind: str) -> float:
        """Return how many can hit a kind."""
        return sum(count for one, count in self.rows if one.can_hit(kind))

    def attack_against(self, other: Force) -> float:
        """Return the damage a second done to another force.

        Each attacks those it can hit, spread over them by their numbers.

        Cost: O(rows of one * kinds of the other).
        """
        there = other.counts_by_kind()
        total = 0.0
        for one, count in self.rows:
            hit = [(one.attack[kind], number) for kind, number in there.items() if one.can_hit(kind)]
            if hit:
                total += count * sum(damage * number for damage, number in hit) / sum(number for _, number in hit)
        return total

    def untouchable(self, other: Force) -> float:
        """Return the share of another force's attack on this one that comes from kinds nobody here can hit, 0..1."""
        whole = other.attack_against(self)
        if not whole:
            return 0.0
        safe = Force((one, count) for one, count in other.rows if not self.can_hit(one.kind))
        return safe.attack_against(self) / whole


def check_force(name: str, force: object) -> None:
    """Raise TypeError for what is no force."""
    if not isinstance(force, Force):
        raise TypeError(f"{name} must be a Force, got {shown(force)}; make one by Force.of_members(capabilities)")


def power_ratio(own: Force, other: Force) -> float:
    """Return how strong one force is against another, 1 if they are equal.

    By Lanchester's square law, so that 2 means: as strong as twice the numbers. What
    cannot be hit weakens whoever meets it by its share of the attack.

    Returns:
        0 or more; ``inf`` if the other cannot hurt it at all, 1 if neither can hurt the other.

    Cost: O(rows * kinds).

    >>> knight = Capabilities(attack={"ground": 2.0}, toughness=5.0)
    >>> power_ratio(Force([(knight, 6)]), Force([(knight, 3)]))
    2.0
    """
    check_force("own", own)
    check_force("other", other)
    ours, theirs = _power(own, other), _power(other, own)
    if theirs == 0:
        return 1.0 if ours == 0 else math.inf
    return math.sqrt(ours / theirs)


def _power(own: Force, other: Force) -> float:
    return own.attack_against(other) * own.toughness * (1 - own.untouchable(other))


def _strength(name: str, value: object) -> float:
    return finite_number(name, value, minimum=0, maximum=LARGEST, remedy="use 0 for what it cannot do")


def _check_kind(name: str, kind: object) -> None:
    if not isinstance(kind, str) or not kind:
        raise TypeError(f"{name} must be a text that is not empty, got {shown(kind)}")
