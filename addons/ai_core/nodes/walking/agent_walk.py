"""AgentWalk: walking along the path of the NavigationAgent below an actor."""
from __future__ import annotations

from functools import cached_property
from typing import Any

from addons.ai_core.bridge.gd import AgentPath, first_below, singleton
from addons.ai_core.nodes.paths.navigation_path_provider import ends_at


def agent_below(actor: Any) -> Any:
    """Return the navigation agent below a character, None if there is none."""
    return first_below(actor, "NavigationAgent2D" if actor.is_class("Node2D") else "NavigationAgent3D")


class AgentWalk:
    """A walk along the path of a navigation agent.

    The agent finds the path, and another path if the mover leaves it; the walk follows its points.

    Args:
        agent: the NavigationAgent3D or 2D.
        memory: plain values that the caller keeps between calls.
        is_flat: whether it is a NavigationAgent2D.
        falls: whether floors carry the mover, as in ``follow_path``.

    """

    def __init__(
        self, agent: Any, memory: dict[str, Any], *, is_flat: bool = False, falls: bool = False,
    ) -> None:
        self._agent, self._memory, self._is_flat, self._falls = agent, memory, is_flat, falls

    @cached_property
    def path(self) -> AgentPath:
        """The path of the agent."""
        return AgentPath(self._agent, self._memory, self._falls)

    def begin(self, arrival_m: float) -> None:
        """Set up the agent; path_height_offset is set during the walk, unless it was set by hand."""
        self._agent.set_target_desired_distance(arrival_m)
        self._memory["sets_offset"] = not self._is_flat and self._agent.get_path_height_offset() == 0

    def next(
        self, here: Any, goal: Any, arrival_m: float, *, stands: bool, is_blocked: bool = False,
    ) -> tuple[Any, str]:
        """Return the next position to go to, and "going", "arrived" or "failed".

        Args:
            here: present position.
            goal: goal position.
            arrival_m: largest distance from the goal of the end of a complete path, and of the mover on arrival (m).
            stands, is_blocked: as in ``follow_path``; a mover that is off its path gets another path.
        """
        stop, came = self.path.next(here, goal, arrival_m, stands=stands, is_blocked=is_blocked)
        if came != "arrived":
            return stop, "going"
        server = singleton("NavigationServer2D" if self._is_flat else "NavigationServer3D")
        leads_there = ends_at(server, self._agent.get_navigation_map(), self.path.end, goal, arrival_m)
        return here, "arrived" if leads_there else "failed"

    def end(self) -> None:
        """Restore the settings of the agent."""
        if self._memory.get("sets_offset"):
            self._agent.set_path_height_offset(0.0)
