"""Capabilities of members, and the strength of a group against another."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ai_core.errors import check_type, checked_name, finite_number, shown
from ai_core.saving.kinds import MapOf, Number, Optional, Record, Text

__all__ = ["CAPABILITIES_STATE", "Capabilities", "Force", "power_ratio"]

FIGHT_S = 10.0
"""Assumed duration of a fight (s): damage healed in this time counts as toughness.

A longer duration makes healers worth more; below a few seconds they are worth nothing."""

LARGEST = 1e9
"""Largest strength of one member (no unit); sums over an army keep enough precision in a float."""


@dataclass(frozen=True)
class Capabilities:
    """Kind, attack, toughness and healing of one member.

    Attributes:
        kind: kind of target it is for an enemy, such as "ground", "air" or "armor".
        attack: damage per second against each kind; kinds that are left out cannot be hit.
        toughness: damage it withstands, above 0.
        heals: damage per second it heals on others, 0 or more.
        range_m: range of its attack (m), 0 or more.

    Raises:
        TypeError, ValueError: if a strength is not a number, negative or NaN, or a kind is not a string.

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
            raise TypeError(
                f"attack must map kinds to damage per second, got {shown(self.attack)}; use {{'ground': 3.0}}")
        attack = {}
        for kind in sorted(self.attack, key=str):
            _check_kind("a kind in attack", kind)
            attack[kind] = _strength(f"attack on {kind!r}", self.attack[kind])
        set_ = object.__setattr__
        set_(self, "attack", attack)
        set_(self, "toughness", finite_number("toughness", self.toughness, above=0, maximum=LARGEST))
        set_(self, "heals", _strength("heals", self.heals))
        set_(self, "range_m", _strength("range_m", self.range_m))

    def can_hit(self, kind: str) -> bool:
        """Return whether the attack damages a kind."""
        return self.attack.get(kind, 0.0) > 0


CAPABILITIES_STATE = Optional(Record(
    Capabilities, kind=Text(), attack=MapOf(Number()), toughness=Number(), heals=Number(), range_m=Number()))
"""How capabilities, or None, are saved."""


class Force:
    """A group of members, counted by their capabilities.

    Args:
        rows: pairs (capabilities, count); counts of equal capabilities are added up.

    Raises:
        TypeError: if a row does not hold Capabilities and a number.
        ValueError: if a count is negative or not finite.

    Cost: O(rows).

    >>> force = Force.of_members([Capabilities(attack={"ground": 2.0})] * 3)
    >>> force.count, force.can_hit("ground"), force.can_hit("air")
    (3.0, 3.0, 0.0)
    """

    def __init__(self, rows: Iterable[tuple[Capabilities, float]] = ()) -> None:
        counts: dict[Capabilities, float] = {}
        for row in rows:
            if not isinstance(row, tuple | list) or len(row) != 2:
                raise TypeError(f"rows of a force must be pairs (capabilities, count), got {shown(row)}")
            capabilities, count = row
            if not isinstance(capabilities, Capabilities):
                raise TypeError(f"rows of a force must hold Capabilities, got {shown(capabilities)}")
            number = finite_number("count", count, minimum=0, maximum=LARGEST)
            if number:
                counts[capabilities] = counts.get(capabilities, 0.0) + number
        self.rows: tuple[tuple[Capabilities, float], ...] = tuple(counts.items())
        self.count: float = sum(count for _, count in self.rows)

    @classmethod
    def of_members(cls, members: Iterable[Capabilities]) -> Force:
        """Return the force of individual members, each counted once."""
        return cls((one, 1) for one in members)

    def __add__(self, other: Force) -> Force:
        return Force((*self.rows, *other.rows))

    def __repr__(self) -> str:
        return f"<Force of {self.count:g}: {', '.join(f'{n:g} {kind}' for kind, n in self.counts_by_kind().items())}>"

    @property
    def toughness(self) -> float:
        """Damage that the force withstands in a fight, healing included."""
        return sum(count * (one.toughness + one.heals * FIGHT_S) for one, count in self.rows)

    @property
    def heals(self) -> float:
        """Damage per second that the force heals."""
        return sum(count * one.heals for one, count in self.rows)

    def counts_by_kind(self) -> dict[str, float]:
        """Return the number of members of each kind, sorted by kind."""
        counts: dict[str, float] = {}
        for one, count in self.rows:
            counts[one.kind] = counts.get(one.kind, 0.0) + count
        return dict(sorted(counts.items()))

    def can_hit(self, kind: str) -> float:
        """Return the number of members that can hit a kind."""
        return sum(count for one, count in self.rows if one.can_hit(kind))

    def attack_against(self, other: Force) -> float:
        """Return the damage per second done to another force.

        Each member spreads its attack over the kinds it can hit, by their numbers.

        Cost: O(rows of one * kinds of the other).
        """
        there = other.counts_by_kind()
        total = 0.0
        for one, count in self.rows:
            hit = [(one.attack[kind], number) for kind, number in there.items() if one.can_hit(kind)]
            if hit:
                total += count * sum(damage * number for damage, number in hit) / sum(number for _, number in hit)
        return total

    def unanswered_attack_share(self, other: Force) -> float:
        """Return the share of another force's attack that comes from kinds this force cannot hit, 0 to 1."""
        whole = other.attack_against(self)
        if not whole:
            return 0.0
        safe = Force((one, count) for one, count in other.rows if not self.can_hit(one.kind))
        return safe.attack_against(self) / whole


def check_force(name: str, force: object) -> None:
    """Raise TypeError if ``force`` is not a Force."""
    check_type(f"{name}", force, Force, "create one with Force.of_members(capabilities)")


def power_ratio(own: Force, other: Force) -> float:
    """Return the power of one force relative to another; 1 if they are equal.

    The ratio follows Lanchester's square law: 2 equals twice the numbers. Kinds that a force cannot
    hit reduce its power by their share of the other force's attack.

    Returns:
        0 or more; ``inf`` if the other force cannot damage it, 1 if neither can damage the other.

    Raises:
        TypeError: if ``own`` or ``other`` is not a Force.

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
    return own.attack_against(other) * own.toughness * (1 - own.unanswered_attack_share(other))


def _strength(name: str, value: object) -> float:
    return finite_number(name, value, minimum=0, maximum=LARGEST, remedy="use 0 for none")


def _check_kind(name: str, kind: object) -> None:
    checked_name(f"{name}", kind)
