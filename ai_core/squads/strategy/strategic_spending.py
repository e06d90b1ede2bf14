"""Purchases of a strategist: the build order first, then gatherers, defenses, and the army against the opponent."""
from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from ai_core.squads.capabilities import Force
from ai_core.squads.strategy.production import best_unit
from ai_core.squads.strategy.strategic_situation import Purchase, StrategicSituation
from ai_core.squads.strategy.territory import ResourceSite, next_defense

if TYPE_CHECKING:
    from ai_core.squads.strategy.strategist import Strategist

__all__ = ["plan_purchases"]


def plan_purchases(
    strategist: Strategist, situation: StrategicSituation, own: Force, opponent: Force, sites: list[ResourceSite]
) -> Generator[None, object, list[Purchase]]:
    """Choose purchases, most urgent first; a generator of two steps that returns the list.

    Cost: O(products × kinds).
    """
    owned, tree = situation.owned, strategist.tree
    found = []
    if strategist.build_order is not None and strategist.posture != "defending":
        step = strategist.build_order.next(owned)
        if step is not None:
            found.append(Purchase(step, "build order"))
    gatherer = next((one for one in tree.available(owned) if one.gathers), None)
    if gatherer is not None and _wants_gatherers(strategist, situation, own, gatherer.name, sites):
        found.append(Purchase(gatherer.name, f"{sum(site.amount for site in sites):.0f} left to gather"))
    saves = strategist.wealth != "plentiful"
    defense = next_defense(strategist, situation, opponent)
    if defense is not None:
        found.append(defense)
    fighters = [one for one in tree.available(owned) if one in tree.fighters]
    best = best_unit(fighters, own, opponent, most_cost=float("inf"), by_cost=saves)
    if best is not None:
        how = "most power for its cost" if saves else "most power"
        found.append(Purchase(best.name, f"{how} against {_named(opponent)}"))
        yield
        better = _locked(strategist, situation, own, opponent, best.name)
        if better is not None and strategist.wealth != "scarce":
            found.insert(0, better)
    return found


def _wants_gatherers(
    strategist: Strategist, situation: StrategicSituation, own: Force, name: str, sites: list[ResourceSite]
) -> bool:
    if strategist.posture in ("defending", "retreating") or not sites:
        return False
    there = situation.owned.get(name, 0)
    # Each gatherer earns its cost several times before a site of this size is empty.
    return there < strategist.personality.gatherers_share * (own.count + there) and strategist.wealth != "scarce"


def _locked(
    strategist: Strategist, situation: StrategicSituation, own: Force, opponent: Force, best: str
) -> Purchase | None:
    """Return the first missing requirement of a unit better than the best available one, None if there is none."""
    tree, owned = strategist.tree, situation.owned
    wanted = best_unit(tree.fighters, own, opponent, most_cost=float("inf"), by_cost=True)
    if wanted is None or wanted.name == best:
        return None
    missing = tree.missing(wanted.name, owned)
    return Purchase(missing[0], f"unlocks {wanted.name}, best against {_named(opponent)}") if missing else None


def _named(force: Force) -> str:
    kinds = force.counts_by_kind()
    return ", ".join(f"{count:.0f} {kind}" for kind, count in kinds.items()) or "an unknown enemy"
