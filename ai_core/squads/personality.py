"""Personality: in what strategists differ."""
from __future__ import annotations

from dataclasses import dataclass

from ai_core.errors import finite_number

__all__ = ["Personality"]


@dataclass(frozen=True, slots=True)
class Personality:
    """Four numbers of 0 to 1; what follows from them is below, each in its unit.

    Attributes:
        aggression: how small an advantage it attacks with, and whether it goes on while its home is threatened.
        caution: how early it breaks an attack off, how little makes it defend, and how much it builds for that.
        greed: how much it invests in gathering before it arms.
        curiosity: how fresh it keeps its maps, and with how many scouts.

    Raises:
        TypeError, ValueError: if one is no number of 0 to 1.
    """

    aggression: float = 0.5
    caution: float = 0.5
    greed: float = 0.5
    curiosity: float = 0.5

    def __post_init__(self) -> None:
        for name in ("aggression", "caution", "greed", "curiosity"):
            finite_number(name, getattr(self, name), minimum=0, maximum=1)

    @property
    def attack_at(self) -> float:
        """Power ratio from which it attacks: 2 to 0.9."""
        return 2.0 - 1.1 * self.aggression

    @property
    def retreat_below(self) -> float:
        """Power ratio below which it breaks an attack off: 0.3 to 0.9."""
        return 0.3 + 0.6 * self.caution

    @property
    def nerve(self) -> float:
        """Threat to its home, as a share of its own power, from which it defends: 0.5 to 0.05."""
        return 0.5 - 0.45 * self.caution

    @property
    def stale_after_s(self) -> float:
        """Age of what it knows of a cell from which a scout is sent (s): 120 to 20."""
        return 120.0 - 100.0 * self.curiosity

    @property
    def most_scouts(self) -> int:
        """Squads that scout at once (count): 0 to 4."""
        return round(4 * self.curiosity)

    @property
    def defenses_share(self) -> float:
        """What it puts into defenses, as a share of the army it aims at: 0 to 0.4, for the careful who are not bold."""
        return 0.4 * self.caution * (1 - self.aggression)

    @property
    def gatherers_share(self) -> float:
        """Share of its units that gather, as long as there is something to gather: 0.1 to 0.4."""
        return 0.1 + 0.3 * self.greed
