"""Sight and touch: sensors look all the time for sources with a strength in them."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget
from ai_core.errors import numbers, shown
from ai_core.saving.declared_state import DeclaredState, Inner, Refuse, Saveable
from ai_core.saving.fields import LATEST_S, MOST
from ai_core.saving.kinds import ArrayOf, Columns, Flag, ListOf, MapOf, Number, Optional, Seconds, Whole
from ai_core.senses.id_table import LARGEST_ID, SLOT_MASK
from ai_core.senses.modality import ByModality, ModalitySet
from ai_core.senses.sensation import ReachNumbers
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.pair_keys import ID_BITS, PairKey, PairKeys, ids_of, key_of, keys_of
from ai_core.senses.sight.pair_loops import PAIRS, LineQuery, Lines, PairsInView
from ai_core.senses.sight.sight_loops import NO_CONE
from ai_core.senses.source_table import SourceTable

__all__ = [
    "ANY_SOURCE", "NO_QUERY", "PASSES_TIMED", "PATIENCE_PASSES", "ContinuousSensing", "LineOfSight", "QueryAges",
    "RayTurns", "check_answers"]

Floats = NDArray[np.float64]

LineOfSight = Callable[
    [NDArray[np.float32], NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]], "NDArray[np.bool_] | None"]
"""Callable that takes many lines (from, to, sensor ids, source ids), shapes (n, 3), (n, 3), (n,),
(n,), and returns which are free, (n,) bool. None means "unknown at present": all pairs keep
their last answer and their turn. The arrays are valid during the call.
"""

PAIRS_PER_BLOCK, PAIR_IN_REACH = 16_384, 7
"""Pairs tested between two looks at the budget, if none is in reach (count): 30 to 60 µs; and how many more of them one
in reach costs. Where all were in reach in the last pass, a block is 2,048 pairs.

More overruns a small budget of time further; fewer pays for calls too often. A
budget of steps is kept exactly: a replay of granted steps stops at the same sensor.
"""

NO_KEYS = np.zeros(0, np.int64)

NO_QUERY = LineQuery(
    np.zeros(0, np.intp), NO_KEYS, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3), np.float32),
    np.zeros((0, 3), np.float32))
"""A question about no pair."""

NOTHING_IN_REACH: tuple[NDArray[np.int64], NDArray[np.float64], int] = (NO_KEYS, np.zeros(0), 0)

NO_LINES = Lines(*NO_QUERY[:2], NO_KEYS, NO_KEYS)

LAST_MOMENT = (1 << 16) - 1
"""Moments after that of the pair that waits longest from which on all pairs are equally late: 32,767 passes."""

MOST_PASSES_TIMED = 1000
"""Most passes whose times are kept (count): a pair that waits longer, because nothing answers, counts as this old."""

PASSES_TIMED = 32
"""Passes of which the slowest says how long a pass may take (count), half a second of frames."""

PAIRS_PER_ADVANCE = 4 * PAIRS_PER_BLOCK
"""Pairs tested in one advance, from which on the rest of a pass is left to the next (count).

Larger passes would keep rays waiting for frames; smaller ones let pairs come into view later.
"""

PATIENCE_PASSES = 8
"""Passes by which the most important pairs go ahead of the least important (count).

It is also what the least important may have to wait longer: at one pass a frame an
eighth of a second. More prefers the important ones longer when there are too few rays.
"""

ANY_SOURCE = LARGEST_ID
"""Stands for all targets of a sensor among ids of sources."""


class QueryAges(Saveable):
    """The times at which passes ended, and so the age of a moment of the queue.

    Moments are those of ``PairsInView.waiting_since``: twice the number of a pass, and one more
    for pairs asked after it.

    Attributes:
        passes: passes that have ended (count).
        ended_s: when the last of them ended, as far back as is needed (s).
        longest_wait_passes: the most that any pair has waited until it was asked (count).
        longest_wait_s: likewise (s).
        interrupted_at: number of the pass in which the budget ended before looking and asking did; None for never.
        is_late: whether one of the last rounds of notices was interrupted by the budget.
    """

    STATE = DeclaredState(
        ended_s=ListOf(Seconds(), make=deque), longest_wait_passes=Whole(), longest_wait_s=Number(0),
        interrupted_at=Optional(Whole()), rounds_s=ListOf(Number(0), make=deque, at="_rounds_s"),
        round_began_s=Optional(Seconds(), at="_round_began_s"), is_late=Flag())

    def __init__(self) -> None:
        self.passes = 0
        self.longest_wait_passes = 0
        self.longest_wait_s = 0.0
        self.ended_s: deque[float] = deque()
        self._cut_short: deque[tuple[int, int]] = deque()  # which passes, and how many pairs each asked
        self.interrupted_at: int | None = None
        self.is_late = False
        self._rounds_s: deque[float] = deque()  # durations of the last rounds, 0 for one that was not interrupted
        self._round_began_s: float | None = None

    def note_interrupted(self) -> None:
        """Note that the budget of an advance ended before looking and asking did."""
        self.interrupted_at = self.passes

    @property
    def was_interrupted(self) -> bool:
        """Whether that happened in one of the last ``PASSES_TIMED`` passes."""
        return self.interrupted_at is not None and self.passes - self.interrupted_at < PASSES_TIMED

    @property
    def new(self) -> int:
        """Moment of pairs that this pass found: after all that were asked before, which are odd."""
        return 2 * self.passes

    def end_pass(self, now_s: float) -> int:
        """Note that a pass has ended; return the moment of pairs that it found."""
        self.ended_s.append(now_s)
        self.passes += 1
        return 2 * self.passes

    def forget_before(self, oldest: int | None) -> None:
        """Drop the times of passes before the oldest moment in the queue; None for an empty queue."""
        first = self.passes if oldest is None else oldest // 2
        kept = min(max(self.passes - first + 1, PASSES_TIMED), MOST_PASSES_TIMED)
        while len(self.ended_s) > kept:
            self.ended_s.popleft()

    def note_asked(self, oldest: int, now_s: float) -> None:
        """Note that pairs are asked that have waited since a moment at most."""
        passes, ended_s = self.passes - oldest // 2, self.ended_s
        if passes > self.longest_wait_passes:
            self.longest_wait_passes = passes
        if ended_s and now_s - ended_s[max(0, len(ended_s) - 1 - passes)] > self.longest_wait_s:
            self.longest_wait_s = self.age_s(oldest, now_s)

    def note_cut_short(self, pairs: int) -> None:
        """Note the number of pairs asked in a pass that could not ask all it should."""
        self._cut_short.append((self.passes, pairs))
        self._forget_cut_short()

    def fewest(self, pairs_at_once: int) -> int:
        """Return the fewest pairs asked in any of the last ``PASSES_TIMED`` passes that had enough."""
        self._forget_cut_short()
        return min((pairs for _, pairs in self._cut_short), default=pairs_at_once)

    def age_passes(self, moment: int) -> int:
        """Return the age of a moment (passes)."""
        return self.passes - moment // 2

    def age_s(self, moment: int, now_s: float) -> float:
        """Return the age of a moment (s), as far back as is known."""
        place = max(0, len(self.ended_s) - 1 - self.age_passes(moment))
        return max(0.0, now_s - self.ended_s[place]) if self.ended_s else 0.0

    @property
    def slowest_pass_s(self) -> float:
        """The longest time between the ends of two of the last ``PASSES_TIMED`` passes (s)."""
        ended_s = list(self.ended_s)[-PASSES_TIMED:]
        return max((b - a for a, b in pairwise(ended_s)), default=0.0)

    def note_round(self, now_s: float, *, is_done: bool) -> None:
        """Note that a round of notices has ended or was interrupted; call it for each advance while ``is_late``.

        A round passes over all percepts and notifies the listeners.
        """
        if self._round_began_s is None:
            self._round_began_s = now_s
        if is_done:
            self._rounds_s.append(now_s - self._round_began_s)
            self._round_began_s = None
            if len(self._rounds_s) > PASSES_TIMED:
                self._rounds_s.popleft()
        self.is_late = not is_done or any(self._rounds_s)

    def notice_s(self, now_s: float) -> float:
        """Return how long it takes at most to notify a listener of a target in view (s); 0 is at once."""
        if not self.is_late:
            return 0.0
        under_way_s = 0.0 if self._round_began_s is None else now_s - self._round_began_s
        # A target that comes into view when the round has passed its percept is found by the next round.
        return 2 * max(under_way_s, *self._rounds_s, 0.0) + self.slowest_pass_s

    def _forget_cut_short(self) -> None:
        while self._cut_short and self._cut_short[0][0] <= self.passes - PASSES_TIMED:
            self._cut_short.popleft()

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        looking = values.within
        if len(values.ended_s) > looking.passes:
            refuse("ended_s", "must not hold more items than passes")
        if values.interrupted_at is not None and values.interrupted_at > looking.passes:
            refuse("interrupted_at", f"must be at most {looking.passes}, the number of passes")
        if max(values.ended_s, default=-LATEST_S) > looking.within.now.seconds:
            refuse("ended_s", f"must be at most {looking.within.now.seconds:g}, the time of the save")

    def _finish_load(self) -> None:
        self._cut_short.clear()


class RayTurns(Saveable):
    """Orders questions by importance and age; a pair has that of its sensor, or its own if higher."""

    STATE = DeclaredState(importance=MapOf(Number(0, 1), key=PairKey()))

    def __init__(self, sensors: SensorTable, sources: SourceTable) -> None:
        self._sensors = sensors
        self._sources = sources
        self._importance: dict[int, float] = {}     # above 0, by key
        self._columns: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None      # the same
        self._removals = 0      # sensors and sources that were removed until removed ones were dropped last (count)

    @property
    def longest_patience(self) -> int:
        """How much longer the least important wait than by age alone (passes)."""
        return PATIENCE_PASSES if self._importance else 0

    def set_importance(
        self, sensor_ids: ArrayLike, importances: ArrayLike, source_ids: ArrayLike | None = None
    ) -> None:
        """Set the importance of sensors or pairs; see ``RegionalSenseManager.set_importance``."""
        sensors, values = np.asarray(sensor_ids), numbers("importances", importances)
        self._sensors.ids.slots(sensors)
        if values.shape != sensors.shape:
            raise ValueError(f"importances must have one element per id, got {values.shape} for {sensors.shape}")
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"importances must be from 0 to 1, got {shown(importances)}")
        sources = np.full(len(sensors), ANY_SOURCE) if source_ids is None else np.asarray(source_ids)
        if source_ids is not None:
            self._sources.ids.slots(sources)
        if sources.shape != sensors.shape:
            raise ValueError(f"source_ids must have one element per sensor id, got {sources.shape} for {sensors.shape}")
        keys = keys_of(sensors.astype(np.int32), sources.astype(np.int32)).tolist()
        importance = self.importance
        for key, value in zip(keys, values.tolist(), strict=True):
            if value > 0:
                importance[key] = value
            else:
                importance.pop(key, None)
        self._columns = None

    def since(self, waiting_since: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return since when pairs count as waiting: earlier for important ones.

        Cost: O(pairs log important ones) in NumPy.
        """
        if not self._importance:
            return waiting_since
        if self._columns is None:
            known = np.array(sorted(self._importance), np.int64)
            self._columns = known, np.array([self._importance[key] for key in known.tolist()])
        ahead = np.maximum(self._looked_up(keys | ANY_SOURCE), self._looked_up(keys))
        earlier: NDArray[np.int64] = waiting_since - 2 * np.rint(ahead * PATIENCE_PASSES).astype(np.int64)
        return earlier

    def of(self, sensor_id: int, source_id: int) -> float:
        """Return how important a pair is, 0 to 1."""
        return max(self._importance.get(key_of(sensor_id, one), 0.0) for one in (ANY_SOURCE, source_id))

    def _looked_up(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        assert self._columns is not None
        known, values = self._columns
        place = np.minimum(known.searchsorted(keys), len(known) - 1)
        return np.where(known[place] == keys, values[place], 0.0)

    @property
    def importance(self) -> dict[int, float]:
        """Importances above 0 by key, without those of removed sensors and sources; setting it replaces all."""
        removals = self._sensors.ids.removals + self._sources.ids.removals
        if removals != self._removals:
            self._removals = removals
            self._importance = {key: one for key, one in self._importance.items() if self._knows(key)}
            self._columns = None
        return self._importance

    @importance.setter
    def importance(self, importance: dict[int, float]) -> None:
        self._importance, self._columns, self._removals = importance, None, -1

    def _knows(self, key: int) -> bool:
        sensor_id, source_id = key >> ID_BITS, key & ANY_SOURCE
        return self._sensors.ids.knows(sensor_id) and (source_id == ANY_SOURCE or self._sources.ids.knows(source_id))

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Let sensors that are not in the save keep the importance of all their targets."""
        sensors = values.within.within.sensors
        saved = {*sensors.saved_ids}
        for key, one in self._importance.items():
            new = sensors.new_ids.get(key >> ID_BITS)
            if new is not None and new not in saved and key & ANY_SOURCE == ANY_SOURCE:
                values.importance[key_of(new, ANY_SOURCE)] = one


REACHES = (0, 4)
"""Columns of packed cones that are ranges (m): where a target is found, and where it is lost."""

ROUNDING = 1.0001
"""Factor on a reach, above what single precision may lose (no unit)."""


class ContinuousSensing(Saveable):
    """Finds the sources that each sensor senses, in passes that may be interrupted.

    Attributes:
        pairs: those in reach, by number of the modality.
        found_at_s: when the pass began that found them (s).
        pairs_needing_rays: how many of them take turns to be asked for a line of sight.
    """

    STATE = DeclaredState(
        passes=Whole(maximum=MOST // 4, at="ages.passes"),
        ages=Inner(),
        pairs=ByModality(PAIRS, attrgetter("pairs")),
        is_looking=Flag(),
        looked_in=Whole(-1, MOST),
        to_look=ArrayOf(np.int32, minimum=0, maximum=LARGEST_ID, is_ascending=True, at="_to_look"),
        found=ByModality(Columns(keys=PairKeys(is_ascending=True), intensity=ArrayOf(minimum=0))),
        importance=Inner(at="turns"))

    def __init__(self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable) -> None:
        self._modalities = modalities
        self._sensors = sensors
        self._sources = sources
        self.pairs = {number: PairsInView() for number, kind in enumerate(modalities.all) if kind.is_continuous}
        self._needs_ray = {number: modalities[number].needs_line_of_sight for number in self.pairs}
        self._by_rays = [number for number, needs_ray in self._needs_ray.items() if needs_ray]
        self.turns = RayTurns(sensors, sources)
        self._to_look = np.zeros(0, np.int32)
        self.is_looking = False
        self.looked_in = -1       # the turn of the pass under way, or of the last
        # How many had been removed when the pass began that found the pairs; and the one under way.
        self._removals = self._removals_before = 0
        self.pairs_needing_rays = 0
        self._began_at_s = self.found_at_s = -math.inf     # of the last pass, and of that which found the pairs
        self._asked_after = 0     # how many passes had ended when pairs were asked last
        self.ages = QueryAges()
        self._whole, self._whole_of = NO_LINES, NO_KEYS     # the lines of all pairs, and their keys

    def look(self, budget: Budget, now_s: float) -> bool:
        """Find the pairs in reach; return False if the budget ended before that.

        A pass over more than ``PAIRS_PER_ADVANCE`` pairs continues in the next advance, while lines of
        sight of the pairs found before are asked: then one pass takes several passes of asking.

        Cost: O(sensors * sources); a step is one sensor. Nothing if no modality is continuous.
        """
        if not self.pairs:
            return True
        is_unlimited, sources, found = budget.is_unlimited, 1 + len(self._sources.ids.names), 0
        sensors, ages, removals = self._sensors, self.ages, self._sensors.ids.removals + self._sources.ids.removals
        looking = sensors.ids.ids
        for pairs in self.pairs.values():
            found += pairs.count
        tested = 1 + len(looking) * sources
        block = 1 + PAIRS_PER_BLOCK * tested // (sources * (tested + PAIR_IN_REACH * found))
        most = 1 + PAIRS_PER_ADVANCE // sources
        if self.is_looking:
            return self._look_on(budget, now_s, block, most, removals)
        if sensors.period > 1 and self.looked_in == sensors.turn:
            return True
        if len(ages.ended_s) > 2 * PASSES_TIMED:        # then it is worth forgetting some
            ages.forget_before(self.oldest_moment)
        # ``peek``, because a replay must query the budget as often as the recorded game did.
        if len(looking) > (most if is_unlimited else block) or not (
                is_unlimited or budget.stopwatch or budget.peek() >= len(looking)):
            self._to_look = looking
            for pairs in self.pairs.values():
                pairs.begin_pass()
            self.looked_in, self.is_looking, self._removals_before = sensors.turn, True, removals
            self._began_at_s = now_s
            return self._look_on(budget, now_s, block, most, removals)
        if not is_unlimited:
            if budget.is_spent:
                return False
            budget.spend(len(looking))
        self.looked_in, self._removals, self.pairs_needing_rays = sensors.turn, removals, 0
        moment, shown, self.found_at_s = ages.end_pass(now_s), self._sources.shown, now_s
        for number, pairs in self.pairs.items():
            needs_ray = self._needs_ray[number]
            reached = self._in_reach(number, looking) if shown[number] else NOTHING_IN_REACH
            if pairs.count or reached[2]:
                pairs.begin_pass()
                pairs.add(*reached)
                pairs.end_pass(moment, needs_ray)
            if needs_ray:
                self.pairs_needing_rays += pairs.count
        return True

    def _look_on(self, budget: Budget, now_s: float, block: int, most: int, removals: int) -> bool:
        """Continue a pass, which is interrupted between blocks of sensors, and after ``most`` of them."""
        enough = len(self._to_look) - most
        while len(self._to_look):
            if len(self._to_look) <= enough:
                self.ages.end_pass(now_s)       # of asking
                return True
            if budget.is_spent:
                return False
            end = min(max(1, len(self._to_look) - enough), budget.steps_at_once(block))
            looking, self._to_look = self._to_look[:end], self._to_look[end:]
            budget.spend(len(looking))
            if self._removals_before != removals:
                looking = looking[self._sensors.ids.are_known(looking)]
            for number, pairs in self.pairs.items():
                pairs.add(*self._in_reach(number, looking))
        self.is_looking, self._removals, self.found_at_s = False, self._removals_before, self._began_at_s
        moment = self.ages.end_pass(now_s)
        for number, pairs in self.pairs.items():
            pairs.end_pass(moment, self._needs_ray[number])
        self.pairs_needing_rays = sum(self.pairs[number].count for number in self._by_rays)
        return True

    def next_question(self, max_rays: int, unordered: int = 0) -> LineQuery:
        """Return the pairs whose turn it is, by importance and age, ties by sensor, then source.

        Up to ``unordered`` pairs are returned in any order, if all of them are asked.
        """
        asked = [number for number in self._by_rays if self.pairs[number].count]
        parts = []
        for number in asked:
            pairs = self.pairs[number]
            rows, keys, since = self._in_turn(pairs), pairs.keys, pairs.waiting_since
            if rows is None and len(asked) == 1 and pairs.count <= min(max_rays, unordered):
                if keys is not self._whole_of:
                    every = np.arange(pairs.count)
                    self._whole_of, self._whole = keys, Lines(np.full(pairs.count, number), every, keys, every)
                return self._written(self._whole)
            if rows is None:
                rows = np.arange(pairs.count)
            else:
                keys, since = keys[rows], since[rows]
            parts.append((self.turns.since(since, keys), keys, np.full(len(rows), number), rows))
        if not parts:
            return NO_QUERY
        since, keys, kind, rows = parts[0]      # these are by sensor, then source, as keys are
        if len(parts) > 1:
            since, keys, kind, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
            order = np.lexsort((kind, keys))
            since, keys, kind, rows = since[order], keys[order], kind[order], rows[order]
        # Those that have waited longest, ties by row; small numbers sort fastest.
        moments = np.minimum(since - since.min(initial=MOST), LAST_MOMENT).astype(np.uint16)
        first = moments.argsort(kind="stable")[:max_rays]
        return self._written(Lines(kind.take(first), rows.take(first), keys, first))

    def _written(self, lines: Lines) -> LineQuery:
        """Return pairs with the lines between them now; a graph moves the ends of some."""
        lines.write(self._sensors.position, self._sources.position)
        question: LineQuery = lines.query
        return question

    def _in_turn(self, pairs: PairsInView) -> NDArray[np.intp] | None:
        """Return the rows of pairs that wait for an answer of this pass, neither of them removed; None for all."""
        rows = None
        if self._asked_after == self.ages.passes:
            rows = np.flatnonzero(pairs.waiting_since <= self.ages.new)
            if len(rows) == pairs.count:
                rows = None
        if self._removals != self._sensors.ids.removals + self._sources.ids.removals:
            sensor_ids, source_ids = ids_of(pairs.keys if rows is None else pairs.keys[rows])
            alive = self._sensors.ids.are_known(sensor_ids) & self._sources.ids.are_known(source_ids)
            rows = np.flatnonzero(alive) if rows is None else rows[alive]
        return rows

    def drop_distant(self) -> None:
        """Set pairs of an earlier advance as not sensed whose targets are beyond all cones by now, as after a teleport.

        Cost: O(pairs) in NumPy.
        """
        for number, pairs in self.pairs.items():
            if not pairs.count:
                continue
            eyes, targets = (ids & SLOT_MASK for ids in ids_of(pairs.keys))
            kind, reach_m = self._modalities.all[number], np.full(len(eyes), self._modalities.all[number].range_m)
            if kind.needs_cone:
                reach_m = np.minimum(reach_m, self._sensors.cones[eyes][:, :, REACHES].max(axis=(1, 2), initial=0.0))
            offset = self._sources.position[targets].astype(np.float64) - self._sensors.position[eyes]
            is_far = (offset ** 2).sum(axis=1) > (ROUNDING * reach_m * self._sources.size[targets]) ** 2
            pairs.is_sensed[is_far] = False

    def see_all(self) -> None:
        """Set all pairs in reach as sensed, where nothing blocks sight."""
        for pairs in self.pairs.values():
            pairs.is_sensed[:], pairs.waiting_since[:] = True, self.ages.new + 1

    def ask(self, question: LineQuery, line_of_sight: LineOfSight, now_s: float) -> None:
        """Ask one batch of lines of sight, and note the answers."""
        answers = line_of_sight(question.eyes, question.targets, question.sensor_ids, question.source_ids)
        if answers is None:
            return
        row = question.row
        if type(answers) is not np.ndarray or answers.dtype != np.bool_ or answers.shape != row.shape:
            check_answers(answers, len(row))
        ages, by_rays = self.ages, self._by_rays
        self._asked_after = ages.passes
        for number in by_rays:
            rows, mine = None if question is self._whole.query else row, answers
            if len(by_rays) > 1:
                rows, mine = row[question.modality == number], answers[question.modality == number]
            if len(mine):
                ages.note_asked(self.pairs[number].note(rows, mine, 2 * ages.passes + 1), now_s)

    def offsets(self, question: LineQuery) -> Floats:
        """Return the offset at which each target is visible from its sensor, divided by its size (n, 3) (m)."""
        sources = question.source_ids & SLOT_MASK
        offset: Floats = self._sources.position[sources].astype(np.float64)
        offset -= self._sensors.position[question.sensor_ids & SLOT_MASK]
        offset /= self._sources.size[sources, np.newaxis]
        return offset

    def passes_until_noticed(self, pairs_at_once: int) -> int:
        """Return the largest number of passes until a pair in view is asked (count), from when its sensor may look."""
        passes = max(-(-self.pairs_needing_rays // pairs_at_once), self._sensors.period > 1)
        return passes + self.turns.longest_patience

    def cones(self, slots: NDArray[np.integer], offsets: Floats) -> NDArray[np.int64]:
        """Return which cone of sensors contains each target, at offsets (n, 3) (m); ``NO_CONE`` for none."""
        found: NDArray[np.int64] = self._sensors.loops.cones_towards(self._sensors, slots.astype(np.int64), offsets)
        return found

    def acuity(self, slots: NDArray[np.integer], offsets: Floats) -> Floats:
        """Return the acuity at offsets (n, 3) from sensors (m); negative outside every cone."""
        first, found = self.cones(slots, offsets), np.full(len(slots), -1.0)
        inside = np.flatnonzero(first != NO_CONE)
        found[inside] = self._sensors.cones[slots[inside], first[inside], 3]
        return found

    def reach_of(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return distance and share kept from a source, by its row, to a sensor; None if none reaches it."""
        kind, size = self._modalities[number], float(self._sources.size[target])
        offset = self._sources.position[target].astype(np.float64) - self._sensors.position[eye]
        x, y, z = (offset / size).tolist()
        distance_m = math.sqrt(x * x + y * y + z * z)
        return ReachNumbers(distance_m, kind.kept_per_m**distance_m, (x, y, z))

    def answer(self, number: int, sensor_id: int, source_id: int) -> bool | None:
        """Return the last answer for a pair, None if it was never asked."""
        pairs = self.pairs[number]
        row = pairs.row_of(sensor_id, source_id)
        if row is None:
            return None
        was_asked = bool(pairs.waiting_since[row] & 1) or bool(pairs.is_sensed[row])
        return bool(pairs.is_sensed[row]) if was_asked else None

    def waits_passes(self, number: int, sensor_id: int, source_id: int) -> int | None:
        """Return the wait of a pair for its line of sight (passes), None if it does not wait."""
        if not self._needs_ray.get(number):
            return None
        row = self.pairs[number].row_of(sensor_id, source_id)
        return None if row is None else self.ages.age_passes(int(self.pairs[number].waiting_since[row]))

    @property
    def oldest_moment(self) -> int | None:
        """Since when the pair with the longest wait waits, None for no pair."""
        waiting = [self.pairs[number].waiting_since for number in self._by_rays]
        return min((int(since.min()) for since in waiting if len(since)), default=None)

    @property
    def found(self) -> dict[int, dict[str, NDArray[Any]]]:
        """Pairs that an interrupted pass has found so far, by number of the modality, for a save."""
        found = self.pairs if self.is_looking else {}
        return {number: pairs.found_so_far() for number, pairs in found.items()}

    @found.setter
    def found(self, found: dict[int, dict[str, NDArray[Any]]]) -> None:
        for number, one in found.items():
            self.pairs[number].add(one["keys"], one["intensity"], len(one["keys"]))

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        now_s, newest = values.within.now.seconds, 2 * values.passes + 1
        for number, pairs in values.pairs.items():
            place = f"pairs.{self._modalities[number].name}"
            if (pairs.waiting_since > newest).any():
                refuse(f"{place}.waiting_since", f"must be at most {newest}, the moment after the last pass")
            if (pairs.reported_at_s > now_s).any():
                refuse(f"{place}.reported_at_s", f"must be at most {now_s:g}, the time of the save")
        if values.found.keys() != ({*self.pairs} if values.is_looking else set()):
            refuse("found", "must hold all modalities of the pairs while is_looking, otherwise none")
        tables = values.within.sensors.ids, values.within.sources.ids
        keys = [("pairs", one.keys) for one in values.pairs.values()]
        for name, some in (*keys, *(("found", one["keys"]) for one in values.found.values())):
            for ids, table in zip(ids_of(some), tables, strict=True):
                for one in np.unique(ids).tolist():
                    if not (table.knows(one) or table.was_removed(one)):
                        refuse(name, f"contain the {table.noun} id {one}, which never existed")

    def _finish_load(self) -> None:
        self._removals = self._removals_before = -1       # some pairs may have been removed
        self.pairs_needing_rays = sum(self.pairs[number].count for number in self._by_rays)
        self._asked_after = self.ages.passes        # perhaps

    def _in_reach(
        self, number: int, sensor_ids: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
        """Return keys and intensities of pairs that pass every test but the ray, and how many; valid until the next."""
        found: tuple[NDArray[np.int64], NDArray[np.float64], int] = self._sensors.loops.pairs_in_reach(
            self._sensors, sensor_ids, self._sources, self._sources.ids.ids, number, self._modalities.all[number])
        return found


def check_answers(answers: object, wanted: int) -> None:
    """Refuse what ``line_of_sight`` returned, unless it is one bool for each line."""
    if not isinstance(answers, np.ndarray) or answers.dtype != np.bool_:
        raise TypeError(f"line_of_sight must return a NumPy array of bool, or None, got {shown(answers)}")
    if answers.shape != (wanted,):
        raise ValueError(f"line_of_sight must return shape ({wanted},), one element per line, got {answers.shape}")

