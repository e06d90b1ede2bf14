"""How many may be detailed at once: levels for a whole crowd, never more than k each.

Load is then bounded whatever the camera does: who does not find a place in a
level takes one in the next.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, as_array, finite_number, shown, whole_number
from ai_core.level_of_detail.agent_rows import LARGEST_ID
from ai_core.level_of_detail.behavior_ranges import BehaviorRanges
from ai_core.level_of_detail.importance_state import read_ids
from ai_core.saving.fields import Fields, State

if TYPE_CHECKING:
    from ai_core.level_of_detail.behavioral_lod import BehavioralLOD

__all__ = ["Level", "LevelLimits"]

FORCED = 4.0
"""Added to the importance of who is forced: more than importance and margin can be."""


class Level(NamedTuple):
    """One level of detail.

    Attributes:
        lowest, highest: importances for it; neighbours overlap by the hysteresis.
        most: how many may have it at once; None for any number.
    """

    lowest: float
    highest: float
    most: int | None = None


class LevelLimits:
    """Assigns levels of detail to agents by importance and by how many there may be.

    A level is kept while importance is in its range. Where more want a level
    than there is room for, the most important have it; who has it is displaced
    only by one who is more important by the margin. Ties go to who has it,
    then to the smallest id.

    Args:
        levels: most detailed first; their ranges cover 0 to 1.
        margin: by how much a newcomer must be more important, and hysteresis where
            ranges overlap by less than twice that, 0 to 0.5.
        spread_updates: updates over which agents that come together get their
            first level, so that a spawned crowd is not entered in one frame.

    Attributes:
        demoted, promoted: ids whose level changed in the last update.

    Cost: an update O(agents * levels) in NumPy.
    """

    def __init__(
        self, levels: Sequence[Level], *, margin: float = 0.05, spread_updates: int = 1
    ) -> None:
        self._levels = [_checked_level(one) for one in levels]
        ranges = BehaviorRanges([(one.lowest, one.highest) for one in self._levels])
        self._margin = finite_number("margin", margin, minimum=0, maximum=0.5)
        nowhere = (2.0, -1.0)       # nobody is kept off
        self._lowest_held, self._highest_held = np.array([*ranges.held(self._margin), nowhere]).T
        self._spread = whole_number("spread_updates", spread_updates, minimum=1, maximum=LARGEST_ID)
        self._ids = np.zeros(0, np.int32)
        self._level = np.zeros(0, np.int32)
        self._waits = np.zeros(0, np.int32)
        self._forced: dict[int, tuple[int, float]] = {}
        self.demoted = self.promoted = self._ids

    @property
    def off(self) -> int:
        """The level of who has none: after the last, or not yet let in."""
        return len(self._levels)

    @property
    def counts(self) -> list[int]:
        """How many have each level, those that are off last."""
        counts: list[int] = np.bincount(self._level, minlength=self.off + 1).tolist()
        return counts

    def force(self, agent_id: int, level: int, *, for_s: float | None = None) -> None:
        """Let an agent have a level before all who are not forced; limits still hold.

        Args:
            agent_id: one that was in the last update.
            level: number of the level, 0 the most detailed.
            for_s: how long (s), above 0; None until ``unforce``.
        """
        level = whole_number("level", level, minimum=0, maximum=self.off - 1)
        left_s = math.inf if for_s is None else finite_number("for_s", for_s, above=0)
        agent_id = whole_number("agent_id", agent_id, minimum=0)
        place = np.searchsorted(self._ids, agent_id)
        if place >= len(self._ids) or self._ids[place] != agent_id:
            raise UnknownNameError("agent id", agent_id, self._ids[:6].tolist())
        self._forced[agent_id] = (level, left_s)

    def unforce(self, agent_id: int) -> None:
        """Let importance decide again; does nothing if nobody forced it."""
        self._forced.pop(agent_id, None)

    def update(
        self, ids: object, values: object, elapsed_s: float = 0.0, *,
        characters: Mapping[int, BehavioralLOD] | None = None,
    ) -> NDArray[np.int32]:
        """Return the level of each agent, 0 the most detailed, ``off`` for none.

        Args:
            ids: (n,) ascending; who was not there before is new, who is
                missing is forgotten.
            values: (n,) importance of each, 0 to 1.
            elapsed_s: game time since the last update, for forces that expire (s).
            characters: by agent id; what is forced there comes first here, and whose
                behavior is quarantined asks for a place in the next level.

        Raises:
            ValueError: if ids are not ascending or beyond int32, or a value is NaN or
                outside 0 to 1.
        """
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        agents, wanted = _checked(ids, values, self._ids)
        if agents is not self._ids:
            self._take_in(agents)
        before = self._level
        forced, unable = _wishes(agents, characters or {}, self.off)
        desired, keys = self._desires(wanted.astype(np.float64), elapsed_s, forced)
        level = np.full(len(agents), self.off, np.int32)
        pending = np.ones(len(agents), np.bool_)
        for number, one in enumerate(self._levels):
            asks = pending & (desired <= number)
            if number in unable:
                asks[unable[number]] = False
            if one.most is not None and np.count_nonzero(asks) > one.most:
                best = self._best(np.flatnonzero(asks), keys, before == number, one.most)
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
        """Let those whose level is another now switch, who gives up a place first.

        Who has no level yet gets the one it was given, ``off`` too: else it
        would choose by itself, beyond every limit.

        Args:
            characters: by agent id; who is not in it is left out.

        Raises:
            ValueError: if one has more or fewer behaviors than there are levels.

        Cost: O(agents) for a look at each; work only for who switches.
        """
        ids, count = self._ids.tolist(), self.off
        found = [
            (one, level, character)
            for one, level, character in zip(ids, self._level.tolist(), map(characters.get, ids), strict=True)
            if character is not None and (character.level != level or len(character.behaviors) != count)
        ]
        for one, _, character in found:
            if len(character.behaviors) != count:
                raise ValueError(
                    f"character {one} has {len(character.behaviors)} behaviors, and there are"
                    f" {count} levels; give one for each, the fallback included"
                )
        leaving: list[tuple[int, int]] = []
        coming: list[tuple[int, int]] = []
        for one, level, character in found:
            has_place = character.level is not None and character.level > level
            (coming if has_place else leaving).append((-level, one))
        for level, one in (*sorted(leaving), *sorted(coming, key=lambda pair: pair[1])):
            characters[one].level = -level
            characters[one].settle()

    def save_state(self) -> State:
        """Return who has which level, as plain data."""
        return {
            "version": 1, "ids": self._ids.tolist(), "level": self._level.tolist(),
            "waits": self._waits.tolist(),
            "forced": [
                {"id": one, "level": level, "left_s": None if left_s == math.inf else left_s}
                for one, (level, left_s) in sorted(self._forced.items())
            ],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        ids = read_ids(fields, "ids", 1 << 31)
        level = fields.wholes("level", count=len(ids), maximum=self.off)
        waits = fields.wholes("waits", count=len(ids), maximum=1 << 30)
        forced: dict[int, tuple[int, float]] = {}
        known = set(ids)
        for one in fields.groups("forced"):
            agent = one.whole("id")
            if agent not in known or agent in forced:
                one.refuse("id", f"must be one of ids, each once, got {agent}")
            forced[agent] = (
                one.whole("level", maximum=self.off - 1), one.number_or("left_s", math.inf, minimum=0),
            )
            one.end()
        for number, one_level in enumerate(self._levels):
            if one_level.most is not None and level.count(number) > one_level.most:
                fields.refuse("level", f"has more than {one_level.most} at level {number}")
        fields.end()

        def change() -> None:
            self._ids, self._level = np.array(ids, np.int32), np.array(level, np.int32)
            self._waits, self._forced = np.array(waits, np.int32), forced
            self.demoted = self.promoted = np.zeros(0, np.int32)

        return change

    def _take_in(self, agents: NDArray[np.int32]) -> None:
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
        """Return the level that each would have if there were room, and its weight."""
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
        for row, level in {**rows, **forced}.items():  # who is in danger does not wait
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
        """Return who gets the places: the greatest keys, then who has one, then small ids."""
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
        raise TypeError(f"levels must be Level(lowest, highest, most), got {shown(level)}")
    one = Level(*level)
    if one.most is not None:
        whole_number("most", one.most, minimum=0, remedy="use None for no limit")
    return one


def _wishes(
    agents: NDArray[np.int32], characters: Mapping[int, BehavioralLOD], off: int
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Return by row which level is forced, and by level which rows cannot have it."""
    forced: dict[int, int] = {}
    unable: dict[int, list[int]] = {}
    wishing = {one: character for one, character in characters.items() if character.has_wishes}
    for row, one in enumerate(agents.tolist() if wishing else ()):
        character = wishing.get(one)
        if character is None:
            continue
        number = character.forced
        if number is not None and number < off:
            forced[row] = number
        for level in character.unable:
            unable.setdefault(level, []).append(row)
    return forced, unable


def _checked(
    ids: object, values: object, known: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return ids and values as arrays; the very array of known ids if these are the same."""
    agents, wanted = as_array("ids", ids), as_array("values", values)
    if agents.ndim != 1 or (agents.size and agents.dtype.kind not in "iu"):
        raise TypeError(f"ids must be whole numbers of shape (n,), got {shown(ids)}")
    if wanted.shape != agents.shape or (wanted.size and wanted.dtype.kind not in "iuf"):
        raise ValueError(f"values must be numbers of shape {agents.shape}, got {shown(values)}")
    is_known = np.array_equal(agents, known)
    if not is_known and len(agents) and (agents[0] < 0 or not (agents[1:] > agents[:-1]).all()):
        raise ValueError("ids must be ascending, each once, and not negative")
    if len(agents) and agents[-1] > LARGEST_ID:
        raise ValueError(f"ids must be at most {LARGEST_ID}, got {agents[-1]}; those of Importance are")
    if len(wanted) and not (wanted.min() >= 0 and wanted.max() <= 1):      # NaN is neither
        wrong = np.flatnonzero(~((wanted >= 0) & (wanted <= 1)))
        raise ValueError(
            f"importance must be 0 to 1, got {wanted[wrong[0]]} for agent {agents[wrong[0]]}"
        )
    return known if is_known else agents.astype(np.int32), wanted
