"""BlackboardScopes: the blackboards of squads and of the world, around those of the characters."""
from __future__ import annotations

from typing import Any

from ai_core.decisions.blackboard import Blackboard
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import GameDict, MapOf

WORLD, SQUAD = "world", "squad"


class BlackboardScopes(Saveable):
    """The blackboards of the world and the squads of one AIScheduler, which saves them.

    Args:
        values: converts values of the game.
    """

    STATE = DeclaredState(
        world=GameDict("_values", at="_in_world"), squads=MapOf(GameDict("_values"), at="_in_squads"))

    def __init__(self, values: Any) -> None:
        self._values = values
        self.world = Blackboard(name=WORLD)
        self._squads: dict[str, Blackboard] = {}

    def around(self, squad: str) -> Blackboard:
        """Return the blackboard around those of the trees of a squad; "" is no squad."""
        if not squad:
            return self.world
        if squad not in self._squads:
            self._squads[squad] = Blackboard(name=SQUAD, parent=self.world)
        return self._squads[squad]

    @property
    def _in_world(self) -> dict[str, Any]:
        return dict(self.world)

    @_in_world.setter
    def _in_world(self, values: dict[str, Any]) -> None:
        self.world.replace_values(values)()

    @property
    def _in_squads(self) -> dict[str, dict[str, Any]]:
        return {name: dict(board) for name, board in self._squads.items()}

    @_in_squads.setter
    def _in_squads(self, squads: dict[str, dict[str, Any]]) -> None:
        for name in {**self._squads, **squads}:
            self.around(name).replace_values(squads.get(name, {}))()


def scopes_of(scheduler: Any) -> BlackboardScopes:
    """Return the scopes of an AIScheduler; nested AISchedulers share those of the outermost one."""
    top = scheduler.top
    scopes: BlackboardScopes | None = top.shared.get(BlackboardScopes)
    if scopes is None:
        scopes = top.shared[BlackboardScopes] = BlackboardScopes(top.values)
    return scopes
