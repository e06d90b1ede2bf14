"""AgentWalk: walking along the path of the NavigationAgent below an actor."""
from __future__ import annotations

import math
from typing import Any

from addons.ai_core.bridge.gd import singleton
from addons.ai_core.nodes.paths.navigation_path_provider import ends_at, right_on_map
from addons.ai_core.nodes.walking.path_follower import PathFollower, forget_progress
from addons.ai_core.nodes.walking.path_height import HeightAbovePath

SAME_M = 1e-3
"""Distance within which the present target of the agent equals the target that was set (m)."""

AIM_SLACK = 0.2
"""Share of its distance by which a goal may move before the agent gets another target (no unit): the path to a target
that runs would otherwise be searched in every few frames, however far away it is. The direction is off by at most 12
degrees."""


class AgentWalk:
    """A walk along the path of a navigation agent.

    The agent finds the path, and another path if the mover leaves it; the walk follows its points. In 3D
    path_height_offset of the agent is set to the height of the path above the mover, unless it was set by hand.

    Args:
        agent: the NavigationAgent3D or 2D.
        memory: plain values that the caller keeps between calls.
        is_flat: whether it is a NavigationAgent2D.
        falls: whether floors carry the mover, as ``HeightAbovePath``.
    """

    def __init__(
        self, agent: Any, memory: dict[str, Any], *, is_flat: bool = False, falls: bool = False,
    ) -> None:
        self._agent, self._memory, self._is_flat, self._falls = agent, memory, is_flat, falls
        self._server = singleton("NavigationServer2D" if self._is_flat else "NavigationServer3D")
        self._map = agent.get_navigation_map()

    def begin(self, arrival_m: float) -> None:
        """Set up the agent."""
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
            stands, is_blocked: as in ``PathFollower``; a mover that is off its path gets another path.
        """
        agent, memory = self._agent, self._memory
        if not self._server.map_get_iteration_id(self._map):      # no answers until the map is built
            return here, "going"
        self._aim(here, goal, arrival_m)
        agent.get_next_path_position()                            # makes the agent update its path
        points = agent.get_current_navigation_path()
        if not len(points):                                       # the map is still empty
            del memory["aimed"]
            return here, "going"
        path = [len(points), points[0].tolist(), points[-1].tolist()]
        if path != memory.get("path"):
            memory["path"] = path
            forget_progress(memory)
        stop, came = PathFollower(memory, falls=self._falls).next(
            points, here, arrival_m, stands=stands, is_blocked=is_blocked)
        if memory.get("sets_offset"):
            agent.set_path_height_offset(-HeightAbovePath(memory, falls=self._falls).above_m)
        if came == "arrived":
            leads_there = ends_at(self._server, self._map, points[-1].tolist(), goal, arrival_m)
            return here, "arrived" if leads_there else "failed"
        if came == "off_path":
            del memory["aimed"], memory["path"]
        return stop, "going"

    def end(self) -> None:
        """Restore the settings of the agent."""
        if self._memory.get("sets_offset"):
            self._agent.set_path_height_offset(0.0)

    def _aim(self, here: Any, goal: Any, arrival_m: float) -> None:
        """Set the target of the agent: the place of the map right below or above the goal."""
        aimed = self._memory.get("aimed")
        if aimed and math.dist(aimed[0], goal) <= max(arrival_m / 2, AIM_SLACK * math.dist(goal, here)) \
                and math.dist(aimed[1], self._agent.get_target_position()) <= SAME_M:
            return
        on_map = None
        if not self._is_flat:
            on_map = right_on_map(self._server, self._map, goal, self._server.map_get_closest_point(self._map, goal))
        place = goal if on_map is None else on_map
        self._memory["aimed"] = [list(goal), list(place)]
        self._agent.set_target_position(place)
