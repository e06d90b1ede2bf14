"""Level limits: levels of detail for a crowd, with a largest number of agents per level."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import (
    UnknownNameError,
    as_array,
    check_kind,
    check_type,
    finite_number,
    several,
    shown,
    whole_number,
)
from ai_core.level_of_detail.agent_rows import LARGEST_ID, MOST_AGENTS
from ai_core.level_of_detail.behavior_ranges import BehaviorRanges
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import ArrayOf, MapOf, Row, Seconds, Whole

__all__ = ["Level", "LevelLimits"]

FORCED = 4.0
"""Added to the importance of forced agents (no unit); larger than importance plus margin."""


class Level(NamedTuple):
    """A level of detail.

    Attributes:
        lowest, highest: range of importances, 0 to 1; neighboring ranges overlap by the hysteresis.
        max_count: largest number of agents at this level, 0 or more; None for any number.
    """

    lowest: float
    highest: float
    max_count: int | None = None


class LevelLimits(Saveable):
    """Assigns levels of detail to agents by importance, with a limit per level.

    An agent keeps its level while its importance is in the range. If more agents qualify for a level
    than its limit, the most important get it; an agent is displaced only by one that is more important
    by the margin. On a tie the present holder keeps the level, then the smallest id wins.

    Args:
        levels: levels, most detailed first; their ranges cover 0 to 1.
        margin: least advantage of a newcomer, and hysteresis where ranges overlap by less than twice
            the margin, 0 to 0.5.
        spread_updates: number of updates over which agents added together get their first level, 1 or more,
            so that a spawned crowd does not enter its behaviors in one frame; 1 does not spread.

    Attributes:
        demoted, promoted: ids whose level changed in the last update.

    Raises:
        TypeError, ValueError: if a level is invalid, the ranges leave gaps, or a number is out of range.

    Cost: an update O(agents * levels) in NumPy.
    """

    SHOWN = ("counts",)

    STATE = DeclaredState(
        ids=ArrayOf(np.int32, minimum=0, is_ascending=True, at="_ids"),
        level=ArrayOf(np.int32, minimum=0, maximum=lambda limits: limits.off, at="_level"),
        waits=ArrayOf(np.int32, minimum=0, maximum=1 << 30, at="_waits"),
        forced=MapOf(Row(lambda level, left_s: (level, left_s), Whole(0, lambda limits: limits.off - 1),
            Seconds(0, absent=math.inf)), key=Whole(), at="_forced"))

    def __init__(self, levels: Sequence[Level], *, margin: float = 0.05, spread_updates: int = 1) -> None:
        self._levels = [_checked_level(one) for one in several("levels", levels, object)]
        ranges = BehaviorRanges([(one.lowest, one.highest) for one in self._levels])
        self._margin = finite_number("margin", margin, minimum=0, maximum=0.5)
        nowhere = (2.0, -1.0)       # an empty range: no agent is kept at the level `off`
        self._lowest_held, self._highest_held = np.array([*ranges.with_hysteresis(self._margin), nowhere]).T
        self._spread = whole_number("spread_updates", spread_updates, minimum=1, maximum=LARGEST_ID)
        self._ids = np.zeros(0, np.int32)
        self._level = np.zeros(0, np.int32)
        self._waits = np.zeros(0, np.int32)
        self._forced: dict[int, tuple[int, float]] = {}
        self.demoted = self.promoted = self._ids

    @property
    def off(self) -> int:
        """Level number of agents without a level: beyond all limits, or not yet admitted."""
        return len(self._levels)

    @property
    def counts(self) -> list[int]:
        """Number of agents at each level; the last entry counts agents without a level."""
        counts: list[int] = np.bincount(self._level, minlength=self.off + 1).tolist()
        return counts

    def force(self, agent_id: int, level: int, *, for_s: float | None = None) -> None:
        """Give an agent priority for a level over all agents that are not forced; limits still hold.

        Args:
            agent_id: id of an agent in the last update.
            level: number of the level, 0 for the most detailed.
            for_s: duration (s), above 0; None until ``unforce``.

        Raises:
            UnknownNameError: if the agent was not in the last update.
            TypeError, ValueError: if an argument has a wrong type or is out of range.
        """
        level = whole_number("level", level, minimum=0, maximum=self.off - 1)
        left_s = math.inf if for_s is None else finite_number("for_s", for_s, above=0, maximum=LATEST_S)
        agent_id = whole_number("agent_id", agent_id, minimum=0)
        place = np.searchsorted(self._ids, agent_id)
        if place >= len(self._ids) or self._ids[place] != agent_id:
            raise UnknownNameError("agent id", agent_id, self._ids[:6].tolist())
        self._forced[agent_id] = (level, left_s)

    def unforce(self, agent_id: int) -> None:
        """End a forced level; no effect if the agent is not forced."""
        self._forced.pop(agent_id, None)

    def update(
        self, ids: ArrayLike, values: ArrayLike, elapsed_s: float = 0.0, *,
        characters: Mapping[int, BehavioralLOD] | None = None,
    ) -> NDArray[np.int32]:
        """Return the level of each agent: 0 is the most detailed, ``off`` is none.

        Args:
            ids: ids of agents, shape (n,), ascending; ids not in the last update are new, missing ids
                are removed.
            values: importance of each agent, shape (n,), 0 to 1.
            elapsed_s: game time since the last update (s), 0 or more; forced levels expire by it.
            characters: characters by agent id; their forced behaviors have priority, and a character with
                a quarantined behavior gets the next level.

        Raises:
            TypeError: if ``ids`` does not hold integers.
            ValueError: if ids are not ascending or beyond int32, or a value is NaN or outside 0 to 1.
        """
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        agents, wanted = _checked(ids, values, self._ids)
        if agents is not self._ids:
            self._replace_agents(agents)
        before = self._level
        check_kind("characters", characters, Mapping)
        forced, unable = _overrides(agents, characters or {}, self.off)
        desired, keys = self._desires(wanted.astype(np.float64), elapsed_s, forced)
        level = np.full(len(agents), self.off, np.int32)
        pending = np.ones(len(agents), np.bool_)
        for number, one in enumerate(self._levels):
            asks = pending & (desired <= number)
            if number in unable:
                asks[unable[number]] = False
            if one.max_count is not None and np.count_nonzero(asks) > one.max_count:
                best = self._best(np.flatnonzero(asks), keys, before == number, one.max_count)
                asks[:] = False
                asks[best] = True
            np.copyto(level, number, where=asks)
            pending ^= asks
        self._level = level
        self.demoted = agents[level > before]
        self.promoted = agents[level < before]
        found = level.view()
        found.flags.writeable = False
        return found

    def apply(self, characters: Mapping[int, BehavioralLOD]) -> None:
        """Write the levels to characters and switch those that changed, demotions first.

        A character without a level also gets its assigned level, ``off`` included; otherwise it would
        choose by importance, beyond all limits.

        Args:
            characters: characters by agent id; agents left out are skipped.

        Raises:
            TypeError: if ``characters`` is no mapping.
            ValueError: if a character has more or fewer behaviors than there are levels.

        Cost: O(agents) for the comparison; switches only for changed characters.
        """
        check_type("characters", characters, Mapping)
        ids, count = self._ids.tolist(), self.off
        found = [
            (one, level, character)
            for one, level, character in zip(ids, self._level.tolist(), map(characters.get, ids), strict=True)
            if character is not None and (character.level != level or len(character.behaviors) != count)]
        for one, _, character in found:
            if len(character.behaviors) != count:
                raise ValueError(
                    f"character {one} has {len(character.behaviors)} behaviors for {count} levels;"
                    " give one for each level, the fallback included")
        leaving: list[tuple[int, int]] = []
        coming: list[tuple[int, int]] = []
        for one, level, character in found:
            has_place = character.level is not None and character.level > level
            (coming if has_place else leaving).append((-level, one))
        for level, one in (*sorted(leaving), *sorted(coming, key=lambda pair: pair[1])):
            characters[one].level = -level
            characters[one].switch_if_needed()

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if not len(values.ids) == len(values.level) == len(values.waits) <= MOST_AGENTS:
            refuse("ids", f"must be as many as levels and waits, and at most {MOST_AGENTS}")
        if not values.forced.keys() <= {*values.ids.tolist()}:
            refuse("forced", "must be agents of ids")
        for number, one in enumerate(self._levels):
            if one.max_count is not None and np.count_nonzero(values.level == number) > one.max_count:
                refuse("level", f"has more than {one.max_count} at level {number}")

    def _finish_load(self) -> None:
        self.demoted = self.promoted = np.zeros(0, np.int32)

    def _replace_agents(self, agents: NDArray[np.int32]) -> None:
        level, waits = np.full(len(agents), self.off, np.int32), np.zeros(len(agents), np.int32)
        new: NDArray[np.intp] = np.arange(len(agents))
        if len(self._ids):
            place = np.minimum(self._ids.searchsorted(agents), len(self._ids) - 1)
            new = np.flatnonzero(self._ids[place] != agents)
            level, waits = self._level[place], self._waits[place]
            level[new] = self.off
        waits[new] = np.arange(len(new)) % self._spread
        self._ids, self._level, self._waits = agents, level, waits
        here = set(agents.tolist()) if self._forced else set()
        self._forced = {one: force for one, force in self._forced.items() if one in here}

    def _desires(
        self, wanted: NDArray[np.float64], elapsed_s: float, forced: Mapping[int, int]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the level of each agent without limits, and its weight."""
        desired = np.full(len(wanted), self.off, np.int32)
        for number in reversed(range(self.off)):
            lowest, highest, _ = self._levels[number]
            np.copyto(desired, number, where=(wanted >= lowest) & (wanted <= highest))
        stays = (wanted >= self._lowest_held[self._level]) & (wanted <= self._highest_held[self._level])
        np.copyto(desired, self._level, where=stays)
        keys = wanted
        waiting = np.flatnonzero(self._waits)
        if len(waiting):
            self._waits[waiting] -= 1
            desired[waiting] = self.off
        rows = {int(np.searchsorted(self._ids, one)): force[0] for one, force in self._forced.items()}
        for row, level in {**rows, **forced}.items():  # a forced agent does not wait
            desired[row] = level
            keys[row] += FORCED
        for one, (level, left_s) in list(self._forced.items()):
            if left_s <= elapsed_s:
                del self._forced[one]
            else:
                self._forced[one] = (level, left_s - elapsed_s)
        return desired, keys

    def _best(
        self, asking: NDArray[np.intp], keys: NDArray[np.float64], has_it: NDArray[np.bool_], most: int
    ) -> NDArray[np.intp]:
        """Return the rows that get a place: largest keys first, then present holders, then smallest ids."""
        if most == 0:
            return asking[:0]
        has = has_it[asking]
        weights = keys[asking] + self._margin * has
        least = np.partition(weights, len(asking) - most)[len(asking) - most]
        sure = asking[weights > least]
        tied = weights == least
        rest = np.concatenate((asking[tied & has], asking[tied & ~has]))
        return np.concatenate((sure, rest[: most - len(sure)]))


def _checked_level(level: object) -> Level:
    if not isinstance(level, tuple) or len(level) not in (2, 3):
        raise TypeError(f"levels must be Level(lowest, highest, max_count), got {shown(level)}")
    one = Level(*level)
    if one.max_count is not None:
        whole_number("max_count", one.max_count, minimum=0, remedy="use None for no limit")
    return one


def _overrides(
    agents: NDArray[np.int32], characters: Mapping[int, BehavioralLOD], off: int
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Return the forced level by row, and by level the rows with a quarantined behavior."""
    forced: dict[int, int] = {}
    unable: dict[int, list[int]] = {}
    overriding = {one: character for one, character in characters.items() if character.has_overrides}
    for row, one in enumerate(agents.tolist() if overriding else ()):
        character = overriding.get(one)
        if character is None:
            continue
        number = character.forced
        if number is not None and number < off:
            forced[row] = number
        for level in character.quarantined:
            unable.setdefault(level, []).append(row)
    return forced, unable


def _checked(
    ids: ArrayLike, values: ArrayLike, known: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return ids and values as arrays; the array of present ids itself if the ids are equal."""
    agents, wanted = as_array("ids", ids), as_array("values", values)
    if agents.ndim != 1 or (agents.size and agents.dtype.kind not in "iu"):
        raise TypeError(f"ids must be integers of shape (n,), got {shown(ids)}")
    if wanted.shape != agents.shape or (wanted.size and wanted.dtype.kind not in "iuf"):
        raise ValueError(f"values must be numbers of shape {agents.shape}, got {shown(values)}")
    is_known = np.array_equal(agents, known)
    if not is_known and len(agents) and (agents[0] < 0 or not (agents[1:] > agents[:-1]).all()):
        raise ValueError(
            f"ids must be ascending without repeats, and not negative, got {shown(ids)}; pass Importance.ids")
    if len(agents) and agents[-1] > LARGEST_ID:
        raise ValueError(f"ids must be at most {LARGEST_ID}, got {agents[-1]}; use the ids of Importance")
    if len(wanted) and not (wanted.min() >= 0 and wanted.max() <= 1):      # NaN is neither
        wrong = np.flatnonzero(~((wanted >= 0) & (wanted <= 1)))
        raise ValueError(f"importance must be 0 to 1, got {wanted[wrong[0]]} for agent {agents[wrong[0]]}")
    return known if is_known else agents.astype(np.int32), wanted
