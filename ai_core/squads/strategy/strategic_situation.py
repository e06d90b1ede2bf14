"""Input and output of a strategist: plain values, so that it can think on another thread."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, positions, shown, whole_number
from ai_core.maps.map_snapshot import MapSnapshot
from ai_core.squads.capabilities import Capabilities, Force

__all__ = [
    "DefenseReport", "EnemyReport", "Mission", "MissionKind", "Purchase", "SquadReport", "StrategicPlan",
    "StrategicSituation",
]

Place = tuple[float, float]

MissionKind = Literal["scout", "gather", "attack", "search", "defend", "retreat", "regroup"]
"""Kinds of missions of a squad."""

SquadRole = Literal["army", "scouts", "gatherers"]


class EnemyReport(NamedTuple):
    """An enemy as last seen.

    Attributes:
        id: id given by the game, 0 or more; no other sighting has it.
        place: last seen position (m).
        seen_s: game time of the sighting (s).
        capabilities: capabilities of a fighter, None for other enemies.
        is_objective: whether the enemy is worth an attack by itself, such as a base or an outpost.
    """

    id: int
    place: Place
    seen_s: float
    capabilities: Capabilities | None = None
    is_objective: bool = False


class SquadReport(NamedTuple):
    """A squad of the own side.

    Attributes:
        id: id given by the game, 0 or more; no other squad has it.
        role: purpose of the squad: "army", "scouts" or "gatherers".
        place: position (m).
        force: capabilities of its members.
        is_idle: whether its last mission is completed.
    """

    id: int
    role: SquadRole
    place: Place
    force: Force
    is_idle: bool = True


class DefenseReport(NamedTuple):
    """A standing defense of the own side: the name of its product and its position (m)."""

    name: str
    place: Place


@dataclass(frozen=True)
class StrategicSituation:
    """The knowledge of a side at one time.

    Attributes:
        now_s: game time (s).
        picture: snapshot of the decision map, with the layers "resources", "threat", "conflict" and "exploration".
        base: position of the own base (m).
        squads: all own squads.
        sightings: known enemies.
        stock: resources in store, 0 or more.
        owned: number of each product owned, by name.
        is_open: cells that can be entered, shape (height, width), bool; None for all.
        losses, kills: cost of own and of enemy units lost so far (resources).
        narrow_places: positions where few can stop many (m), such as the centers of ``choke_points``.
        defenses: standing own defenses.

    Raises:
        TypeError, ValueError: if an attribute has a wrong type or shape or is out of range.
    """

    now_s: float
    picture: MapSnapshot
    base: Place
    squads: tuple[SquadReport, ...] = ()
    sightings: tuple[EnemyReport, ...] = ()
    stock: float = 0.0
    owned: Mapping[str, int] = field(default_factory=dict)
    is_open: NDArray[np.bool_] | None = None
    losses: float = 0.0
    kills: float = 0.0
    narrow_places: tuple[Place, ...] = ()
    defenses: tuple[DefenseReport, ...] = ()

    def __post_init__(self) -> None:
        for name in ("now_s", "losses", "kills"):
            finite_number(name, getattr(self, name))
        finite_number("stock", self.stock, minimum=0)
        for name, kind in (("picture", MapSnapshot), ("owned", Mapping)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} must be a {kind.__name__}, got {shown(getattr(self, name))}")
        for name, report in (("squads", SquadReport), ("sightings", EnemyReport), ("defenses", DefenseReport)):
            for one in getattr(self, name):
                if not isinstance(one, report):
                    raise TypeError(f"{name} must hold {report.__name__}, got {shown(one)}")
        places = [self.base, *self.narrow_places]
        for reports in (self.squads, self.sightings, self.defenses):
            places += [one.place for one in reports]
        positions("places", places, dimensions=(2,))
        _check_ids("squads", self.squads)
        _check_ids("sightings", self.sightings)
        is_open, shape = self.is_open, self.picture.area.shape
        if is_open is not None and (
            not isinstance(is_open, np.ndarray) or is_open.dtype != np.bool_ or is_open.shape != shape):
            raise ValueError(f"is_open must be bool of shape {shape}, got {shown(is_open)}")


def _check_ids(name: str, reports: Iterable[SquadReport | EnemyReport]) -> None:
    known: set[int] = set()
    for one in reports:
        if whole_number(f"id in {name}", one.id, minimum=0) in known:
            raise ValueError(f"id in {name} must be unique, got {one.id} twice; report each by an id of its own")
        known.add(one.id)


class Mission(NamedTuple):
    """A mission of a squad: kind, position (m) and reason."""

    squad_id: int
    kind: MissionKind
    place: Place
    why: str


class Purchase(NamedTuple):
    """A product to make, the reason, and for a defense its position (m)."""

    name: str
    why: str
    place: Place | None = None


class StrategicPlan(NamedTuple):
    """Decisions of a strategist.

    Attributes:
        posture: "opening", "building", "attacking", "defending" or "retreating".
        missions: missions of squads, at most one per squad; squads left out are idle.
        purchases: products to make, most urgent first.
        enemy_expands_at: position where the enemy is expected to expand next (m), None if unknown.
        clash_at: position where both sides are expected to fight over resources (m), None if unknown.
        reasons: reasons of the decisions, as strings.
    """

    posture: str
    missions: tuple[Mission, ...]
    purchases: tuple[Purchase, ...]
    enemy_expands_at: Place | None
    clash_at: Place | None
    reasons: tuple[str, ...]
