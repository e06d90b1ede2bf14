"""Walking by ticket: what a HabitMoveTo does with a PathService."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import RefusedValue

STATES = {"waiting": "going", "running": "going", "found": "arrived", "partial": "failed"}
"""What a walk has come to at the end of its way, by the state of its ticket."""

STANDS_WITHIN_M = 2.0
"""A mover stands on its way if it is this near to where that begins, seen from above and in height (m).

Ways over grids begin in the middle of a cell, and origins of characters may be in their middles. Less than a floor.
"""


class TicketWalk:
    """A walk, from call to call.

    Args:
        paths: the PathService.
        memory: kept between calls, plain values; a ticket that is not known any more is asked for anew.
    """

    def __init__(self, paths: Any, memory: dict[str, Any]) -> None:
        self._paths, self._memory = paths, memory
        self._name = paths.mark                          # tickets of another scene, in a save, are not ours

    def next(self, here: Any, goal: Any, reach: float) -> tuple[Any, str]:
        """Return where to go next, and "going", "arrived" or "failed".

        Args:
            here: where it stands.
            goal: where to; if it is elsewhere than it was, another way is asked for.
            reach: a point of the way is reached when it is so near, heights left aside.
        """
        memory = self._memory
        if memory.get("service") != self._name or is_elsewhere(memory["asked_for"], goal, reach):
            self._ask(here, goal)
        try:
            state = self._paths.get_state(memory["ticket"])
        except RefusedValue:
            self._ask(here, goal)
            state = self._paths.get_state(memory["ticket"])
        if state in ("waiting", "running"):
            place = self._paths.get_place_meanwhile(memory["ticket"], here)
            is_near = len(tuple(here)) == 3 and abs(place.y - here.y) <= STANDS_WITHIN_M
            return (type(here)(place.x, here.y, place.z) if is_near else place), "going"
        if state not in STATES:
            return here, "failed"
        points = self._paths.check_path(memory["ticket"])
        if "lift" not in memory:
            memory["lift"] = lifted(memory.get("began", here), points[0].tolist())
        step = memory.get("step")
        if step is None:                                 # it went on meanwhile: join the way where it is nearest
            step = int(np.argmin(np.linalg.norm(points - np.array(tuple(here)), axis=1)))
        while step < len(points) and apart(points[step].tolist(), here) <= reach:
            step += 1
        memory["step"] = step
        if step == len(points):
            return here, STATES[state]
        place = points[step].tolist()
        if len(place) == 3:
            place[1] += memory["lift"]
        return type(here)(*place), "going"

    def end(self) -> None:
        """Let go of the ticket."""
        ticket, name = (self._memory.pop(key, None) for key in ("ticket", "service"))
        self._memory.pop("step", None)
        if ticket is not None and name == self._name and self._paths.is_valid():
            try:
                self._paths.release(ticket)
            except RefusedValue:
                return                                   # it is forgotten already

    def _ask(self, here: Any, goal: Any) -> None:
        self.end()
        self._memory["ticket"] = self._paths.request_path(here, goal)
        self._memory["asked_for"], self._memory["began"], self._memory["service"] = goal, here, self._name


def apart(one: Any, other: Any) -> float:
    """Return how far two places are apart; in 3D seen from above, for a character's middle is above the ground."""
    first, second = tuple(one), tuple(other)
    return math.hypot(first[0] - second[0], first[-1] - second[-1])


def lifted(here: Any, start: list[float]) -> float:
    """Return how high a mover stands above its way (m), as it is to go on; 0 in 2D, and if it stands elsewhere.

    A map is baked some of its cells above the floor, and grids' ways lead through the middles of cells.
    """
    if len(start) < 3 or is_elsewhere(here, start, STANDS_WITHIN_M):
        return 0.0
    return here.y - start[1]


def is_elsewhere(one: Any, other: Any, reach: float) -> bool:
    """Return whether two places are farther apart than ``reach``, or on different floors."""
    first, second = tuple(one), tuple(other)
    return apart(first, second) > reach or (len(first) == 3 and abs(first[1] - second[1]) > STANDS_WITHIN_M)
