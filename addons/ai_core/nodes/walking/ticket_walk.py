"""TicketWalk: walking along the path of a ticket of a PathService."""
from __future__ import annotations

from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import STANDS_WITHIN_M, RefusedValue, follow_path, forget_progress
from addons.ai_core.nodes.walking.floors import is_elsewhere

STATES = {"waiting": "going", "running": "going", "found": "arrived", "partial": "failed"}
"""Result of a walk at the end of its path, by the state of its ticket."""


class TicketWalk:
    """A walk along the path of a ticket.

    Args:
        paths: the PathService.
        memory: plain values that the caller keeps between calls; a ticket that is not for them is requested again.
        walker: node of the habit, named by reports.
        falls: whether floors carry the mover, as in ``follow_path``.
    """

    def __init__(self, paths: Any, memory: dict[str, Any], walker: Any, *, falls: bool = False) -> None:
        self._paths, self._memory, self._walker, self._falls = paths, memory, walker, falls

    def next(
        self, here: Any, goal: Any, arrival: float, step: float = 0.0, *, stands: bool = True, is_blocked: bool = False,
    ) -> tuple[Any, str]:
        """Return the next position to go to, and "going", "arrived" or "failed".

        Args:
            here: present position.
            goal: goal position; if it has moved, another path is requested.
            arrival, stands, is_blocked: as in ``follow_path``; a mover that is off its path requests another path.
            step: distance per turn; a goal that moves less causes a request only at the end of the path, because
                a mover with few turns that follows another would otherwise request a path in each.
        """
        memory = self._memory
        state = None
        if "ticket" in memory and not is_elsewhere(memory["asked_for"], goal, max(arrival, step)):
            state = self._paths.state_between(memory["ticket"], memory.get("began"), memory["asked_for"])
        if state is None:
            if not self._ask(here, goal):
                return here, "failed"
            state = self._paths.get_state(memory["ticket"])
        if state in ("waiting", "running"):
            place = self._paths.get_fallback_position(memory["ticket"], here)
            is_near = len(tuple(here)) == 3 and abs(place.y - here.y) <= STANDS_WITHIN_M
            return (type(here)(place.x, here.y, place.z) if is_near else place), "going"
        if state in STATES and self._is_another_there(here, goal):
            state = self._paths.get_state(memory["ticket"])
        if state not in STATES:
            self.end()                                   # the next walk requests another: a way may open
            return here, "failed"
        points = self._paths.check_path(memory["ticket"])
        if self._paths.is_over_grid(memory["ticket"]):
            if state == "found" and self._paths.is_in_goal_of(memory["ticket"], goal):
                points = np.concatenate([points, [tuple(goal)]], dtype=np.float32)
                points[-1, 1:-1] = points[-2, 1:-1]
            if points.shape[1] == 3:                     # a grid is one floor, whatever the heights of its cell centers
                points[:, 1] += memory.get("began", here).y - points[0, 1]
        stop, came = follow_path(
            memory, points, here, arrival, falls=self._falls, stands=stands, is_blocked=is_blocked,
            began=memory.get("began"))
        has_moved = came == "arrived" and is_elsewhere(memory["asked_for"], goal, arrival)
        if (has_moved or came == "off_path") and not self._ask(here, goal):
            return here, "failed"
        return stop, STATES[state] if came == "arrived" and not has_moved else "going"

    def end(self) -> None:
        """Release the ticket."""
        memory = self._memory
        forget_progress(memory)
        known = [memory.pop("newer", None), [memory.pop("ticket", None), memory.get("began"), memory.get("asked_for")]]
        for one in filter(None, known):
            if self._paths.is_valid() and self._paths.state_between(*one) is not None:
                self._release_ticket(one[0])

    def _is_another_there(self, here: Any, goal: Any) -> bool:
        """Return whether the mover changed to another path, found after the ground changed."""
        memory = self._memory
        try:
            if "newer" not in memory:
                if self._paths.is_outdated(memory["ticket"]):
                    memory["newer"] = [self._paths.request_path(here, goal), here, goal]
                return False
            ticket, began, asked_for = memory["newer"]
            state = self._paths.state_between(ticket, began, asked_for)
        except RefusedValue:                             # outside the grid
            state = None
        if state is None:
            memory.pop("newer", None)
            return False
        if state in ("waiting", "running"):
            return False
        del memory["newer"]
        if state == "refused":
            self._release_ticket(ticket)
            return False
        self._release_ticket(memory["ticket"])
        forget_progress(memory)
        memory["ticket"], memory["began"], memory["asked_for"] = ticket, began, asked_for
        return True

    def _release_ticket(self, ticket: int) -> None:
        try:
            self._paths.release(ticket)
        except RefusedValue:
            return                                       # already released

    def _ask(self, here: Any, goal: Any) -> bool:
        """Request a path; return False if none can be requested, as to a goal that is not on the grid."""
        self.end()
        ticket = self._paths.request_for_walk(here, goal, self._walker)
        if ticket:
            self._memory["ticket"], self._memory["asked_for"], self._memory["began"] = ticket, goal, here
        return bool(ticket)
