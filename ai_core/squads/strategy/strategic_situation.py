"""What a strategist is told, and what it says: plain values, so that it can think on another thread."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, positions, shown
from ai_core.maps.map_snapshot import MapSnapshot
from ai_core.squads.capabilities import Capabilities, Force

__all__ = [
    "DefenseReport", "EnemyReport", "Mission", "MissionKind", "Purchase", "SquadReport", "StrategicPlan",
    "StrategicSituation",
]

Place = tuple[float, float]

MissionKind = Literal["scout", "gather", "attack", "search", "defend", "retreat", "regroup"]
"""What a squad is sent to do."""

SquadRole = Literal["army", "scouts", "gatherers"]


class EnemyReport(NamedTuple):
    """One enemy as it was seen last.

    Attributes:
        id: of the game, 0 or more.
        place: where (m).
        seen_s: when (s).
        capabilities: of one that fights, None for others.
        is_objective: whether it is worth an attack by itself: a base, an outpost.
    """

    id: int
    place: Place
    seen_s: float
    capabilities: Capabilities | None = None
    is_objective: bool = False


class SquadReport(NamedTuple):
    """One squad of ours.

    Attributes:
        id: of the game, 0 or more.
        role: what it is for.
        place: where it is (m).
        force: who is in it.
        is_idle: whether it has done what it was sent for.
    """

    id: int
    role: SquadRole
    place: Place
    force: Force
    is_idle: bool = True


class DefenseReport(NamedTuple):
    """One defense of ours that stands: the name of its product, and where (m)."""

    name: str
    place: Place


@dataclass(frozen=True)
class StrategicSituation:
    """What a side knows at one moment.

    Attributes:
        now_s: game time (s).
        picture: its decision map, with the layers "resources", "threat", "conflict" and "exploration".
        base: where it lives (m).
        squads: all of its squads.
        sightings: what is known of the enemy.
        stock: resources in store.
        owned: by name of a product, how many there are.
        is_open: (height, width) bool, cells one can go to; None for all.
        losses, kills: worth of own and enemy units lost so far.
        narrow_places: where few can hold many up (m), such as the middles of ``choke_points`` of the ground.
        defenses: of ours, that stand.

    Raises:
        TypeError, ValueError: if something is not what it must be.
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
        told = [self.base, *self.narrow_places]
        for reports in (self.squads, self.sightings, self.defenses):
            told += [one.place for one in reports]
        positions("places", told, dimensions=(2,))
        is_open, shape = self.is_open, self.picture.area.shape
        if is_open is not None and (
            not isinstance(is_open, np.ndarray) or is_open.dtype != np.bool_
            or is_open.shape != shape
        ):
            raise ValueError(f"is_open must be bool of shape {shape}, got {shown(is_open)}")


class Mission(NamedTuple):
    """What a squad is to do, where (m), and why."""

    squad_id: int
    kind: MissionKind
    place: Place
    why: str


class Purchase(NamedTuple):
    """What to make next, and why; where (m), if it is a defense."""

    name: str
    why: str
    place: Place | None = None


class StrategicPlan(NamedTuple):
    """What a strategist decided.

    Attributes:
        posture: "opening", "building", "attacking", "defending" or "retreating".
        missions: one for each squad that has something to do.
        purchases: what to make, the first first.
        enemy_expands_at: where it expects the enemy to expand next (m), None if it knows nothing.
        clash_at: where it expects both to fight over resources (m), None if nowhere.
        reasons: why, in words.
    """

    posture: str
    missions: tuple[Mission, ...]
    purchases: tuple[Purchase, ...]
    enemy_expands_at: Place | None
    clash_at: Place | None
    reasons: tuple[str, ...]
