"""Walking by navigation agent: what a HabitMoveTo does with the NavigationAgent below its actor."""
from __future__ import annotations

import math
from typing import Any

from addons.ai_core.bridge.gd import singleton
from addons.ai_core.nodes.paths.navigation_ends import ends_at, right_on_map
from addons.ai_core.nodes.walking.way_height import HeightAbovePath
from addons.ai_core.nodes.walking.way_walk import PathFollower, forget_way

SAME_M = 1e-3
"""The agent's target is still the one it was given if it is this near (m)."""


class AgentWalk:
    """A walk, from call to call.

    The agent finds the way, and finds another where its mover leaves it; each point of it is gone to. In 3D
    its path_height_offset becomes how far the way lies above the mover, unless it was set by hand.

    Args:
        agent: the NavigationAgent3D or 2D.
        memory: kept between calls, plain values.
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
        """Set the agent up."""
        self._agent.set_target_desired_distance(arrival_m)
        self._memory["sets_offset"] = not self._is_flat and self._agent.get_path_height_offset() == 0

    def next(
        self, here: Any, goal: Any, arrival_m: float, *, stands: bool, is_barred: bool = False,
    ) -> tuple[Any, str]:
        """Return where to go next, and "going", "arrived" or "failed".

        Args:
            here: where it stands.
            goal: where to.
            arrival_m: how near to the goal a way must end that leads there, and how near it is there.
            stands, is_barred: as ``PathFollower``; who is astray gets another way.
        """
        agent, memory = self._agent, self._memory
        if not self._server.map_get_iteration_id(self._map):      # until its map is built it answers nothing
            return here, "going"
        self._aim(goal, arrival_m)
        agent.get_next_path_position()                            # so that it looks where it is, and tells
        points = agent.get_current_navigation_path()
        if not len(points):                                       # nothing is on the map yet
            del memory["aimed"]
            return here, "going"
        way = [len(points), points[0].tolist(), points[-1].tolist()]
        if way != memory.get("way"):
            memory["way"] = way
            forget_way(memory)
        stop, came = PathFollower(memory, falls=self._falls).next(
            points, here, arrival_m, stands=stands, is_barred=is_barred)
        if memory.get("sets_offset"):
            agent.set_path_height_offset(-HeightAbovePath(memory, falls=self._falls).above_m)
        if came == "arrived":
            leads_there = ends_at(self._server, self._map, points[-1].tolist(), goal, arrival_m)
            return here, "arrived" if leads_there else "failed"
        if came == "astray":
            del memory["aimed"], memory["way"]
        return stop, "going"

    def end(self) -> None:
        """Give the agent its own settings back."""
        if self._memory.get("sets_offset"):
            self._agent.set_path_height_offset(0.0)

    def _aim(self, goal: Any, arrival_m: float) -> None:
        """Tell the agent where to: right below or above the goal, where the map is."""
        aimed = self._memory.get("aimed")
        if aimed and math.dist(aimed[0], tuple(goal)) <= arrival_m / 2 \
                and math.dist(aimed[1], tuple(self._agent.get_target_position())) <= SAME_M:
            return
        on_map = None
        if not self._is_flat:
            on_map = right_on_map(self._server, self._map, goal, self._server.map_get_closest_point(self._map, goal))
        place = goal if on_map is None else on_map
        self._memory["aimed"] = [list(goal), list(place)]
        self._agent.set_target_position(place)
