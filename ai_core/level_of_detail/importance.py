"""Importance of agents to viewers: one number per agent, 0 to 1, with its parts."""
from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import check_kind, finite_number, shown, whole_number
from ai_core.level_of_detail.agent_rows import LARGEST_ID, MOST_AGENTS, AgentRows
from ai_core.level_of_detail.importance_settings import PARTS, VIEWER_PARTS, ImportanceSettings
from ai_core.level_of_detail.viewer import Viewer, ViewerContributions
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import ArrayOf, Columns, MapOf, Number, Row, Seconds, Whole

__all__ = ["Importance"]

Floats = NDArray[np.float32]

OWN_PARTS = PARTS[len(VIEWER_PARTS) :]

COLUMNS = {
    "role": (np.float32, 0.0), "size_m": (np.float32, 1.0), "noticed": (np.float32, 0.0),
    "damaged": (np.float32, 0.0), "value": (np.float32, -1.0)}
"""Columns of an agent; a value below 0 has not been computed yet, and the first value is not smoothed."""


TRACE = 1e-30
"""Boosts and values below this are set to 0 (no unit).

They fade exponentially and would never reach 0: float32 stays at 1e-45, and every operation on
numbers below 1e-38 takes eight times as long.
"""

LARGEST_SIZE_M = 1e30
"""Largest diameter (m): float32 ends at 3e38."""


SHARE = ArrayOf(np.float32, minimum=0, maximum=1)


class Importance(Saveable):
    """Importance of all agents for any number of viewers, computed in one call per frame.

    Importance is the weighted sum of the best viewer's parts (distance, view, approach, size) and the
    agent's own parts (role, noticed, damaged), clamped to 0 to 1, then smoothed over time. Arrays line up
    with ``ids``.

    Args:
        settings: weights and ranges; None for the defaults.

    Raises:
        TypeError: if ``settings`` is not ImportanceSettings.
    """

    SHOWN = ("ids",)

    STATE = DeclaredState(
        next_id=Whole(0, LARGEST_ID, at="_rows.next_id"),
        ids=ArrayOf(np.int32, minimum=0, is_ascending=True, at="_rows.loaded_ids"),
        columns=Columns(
            at="_rows.columns", role=SHARE, size_m=ArrayOf(np.float32, minimum=0, maximum=1.000001e30), noticed=SHARE,
            damaged=SHARE, value=ArrayOf(np.float32, minimum=-1, maximum=1)),
        forced=MapOf(Row(lambda value, left_s: (value, left_s), Number(0, 1), Seconds(0, absent=math.inf)), key=Whole(),
            at="_forced"))

    def __init__(self, settings: ImportanceSettings | None = None) -> None:
        check_kind("settings", settings, ImportanceSettings)
        self.settings = settings or ImportanceSettings()
        self._contributions = ViewerContributions(self.settings)
        self._rows = AgentRows(COLUMNS)
        self._forced: dict[int, tuple[float, float]] = {}
        self._make_room()

    @property
    def ids(self) -> NDArray[np.int32]:
        """Ids of all agents, ascending; positions and results are in this order."""
        return self._rows.ids

    @property
    def values(self) -> Floats:
        """Importance after the last update, shape (n,), 0 before the first; read only."""
        shown: Floats = self._shown
        return shown

    def add(self, count: int = 1, *, role: float = 0.0, size_m: float = 1.0) -> NDArray[np.int32]:
        """Add agents and return their ids.

        Args:
            count: number of agents, 0 or more.
            role: part in the story, from 0 for a passer-by to 1 for a main character.
            size_m: visible diameter (m), above 0.

        Raises:
            TypeError, ValueError: if an argument is out of range, or there would be too many agents.

        Cost: O(agents).
        """
        role = finite_number("role", role, minimum=0, maximum=1)
        size_m = finite_number("size_m", size_m, above=0, maximum=LARGEST_SIZE_M)
        ids = self._rows.add(count)
        begin = len(self._rows) - len(ids)
        self._rows.columns["role"][begin:] = role
        self._rows.columns["size_m"][begin:] = size_m
        self._make_room()
        return ids

    def remove(self, ids: ArrayLike) -> None:
        """Remove one agent or several.

        Raises:
            UnknownNameError: if an id is not in use; no agent is removed then.

        Cost: O(agents).
        """
        rows = self._rows.rows(ids)
        gone = self._rows.ids[rows].tolist()
        self._rows.remove(ids)
        for one in gone:
            self._forced.pop(one, None)
        self._make_room()

    def set_role(self, ids: ArrayLike, role: float) -> None:
        """Set the part in the story of one agent or several, 0 to 1."""
        role = finite_number("role", role, minimum=0, maximum=1)
        self._rows.columns["role"][self._rows.rows(ids)] = role

    def notice(self, ids: ArrayLike, amount: float = 1.0) -> None:
        """Boost one agent or several because the player noticed them; ``amount`` is 0 to 1 and fades."""
        self._boost("noticed", ids, amount)

    def damage(self, ids: ArrayLike, amount: float = 1.0) -> None:
        """Boost one agent or several because they were hurt; ``amount`` is 0 to 1 and fades."""
        self._boost("damaged", ids, amount)

    def force(self, ids: ArrayLike, value: float, *, for_s: float | None = None) -> None:
        """Set the importance of agents to a fixed value from the next update on, without smoothing.

        Args:
            ids: one id or several.
            value: importance, 0 to 1.
            for_s: duration (s), above 0; None until ``unforce``.

        Raises:
            UnknownNameError: if an id is not in use.
            TypeError, ValueError: if an argument is out of range.
        """
        value = finite_number("value", value, minimum=0, maximum=1)
        left_s = math.inf if for_s is None else finite_number("for_s", for_s, above=0, maximum=LATEST_S)
        for one in self._rows.ids[self._rows.rows(ids)].tolist():
            self._forced[one] = (value, left_s)

    def unforce(self, ids: ArrayLike) -> None:
        """End forced importance; no effect on agents that are not forced."""
        for one in self._rows.ids[self._rows.rows(ids)].tolist():
            self._forced.pop(one, None)

    def update(
        self, viewers: Sequence[Viewer], positions: Floats, elapsed_s: float, *,
        velocities: Floats | None = None, out: Floats | None = None,
    ) -> Floats:
        """Compute the importance of all agents, and return it in the order of ``ids``.

        Args:
            viewers: any number of viewers.
            positions: positions of agents, float32 of shape (n, 2) or (n, 3) (m).
            elapsed_s: game time since the last update (s), 0 or more.
            velocities: velocities of agents, as ``positions`` (m/s); None for agents at rest.
            out: optional (n,) float32, overwritten and returned.

        Raises:
            TypeError: if an array is not float32, or a viewer is not a Viewer.
            ValueError: if a shape does not fit or a number is not finite; nothing changes then.

        Cost: O(agents * viewers), no allocation per agent.
        """
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        self._check(viewers, positions, velocities, out)
        columns, target = self._rows.columns, self._target
        wrong = self._contributions.write(viewers, positions, velocities, columns["size_m"], target)
        if wrong >= 0:
            self._refuse(wrong, positions, velocities)
        self._seen.keep(viewers, positions, velocities)
        self._fade(elapsed_s)
        self._add_own_parts(target)
        self._follow(target, columns["value"], elapsed_s)
        self._apply_forced(columns["value"], elapsed_s)
        self._show(columns["value"])
        if out is None:
            return self.values
        np.copyto(out, columns["value"])
        return out

    def values_of(self, ids: ArrayLike) -> Floats:
        """Return the importance of one agent or several, in the order of ``ids``."""
        found: Floats = self.values[self._rows.rows(ids)]
        return found

    def parts(self, ids: ArrayLike | None = None) -> Floats:
        """Return what each of ``PARTS`` adds to the importance of agents, shape (len(PARTS), n).

        The parts are computed from the input of the last update. Before the first update, and after agents
        were added or removed, viewers add nothing.

        Args:
            ids: one id or several; None for all.

        Raises:
            UnknownNameError: if an id is not in use.

        Cost: O(ids * viewers).
        """
        rows = np.arange(len(self._rows)) if ids is None else self._rows.rows(ids)
        columns, weights = self._rows.columns, self.settings.weights()
        parts = np.zeros((len(PARTS), len(rows)), np.float32)
        seen, viewer_parts = self._seen, parts[: len(VIEWER_PARTS)]
        if seen.positions is not None:
            velocities = None if seen.velocities is None else seen.velocities[rows]
            self._contributions.write(
                seen.viewers, seen.positions[rows], velocities, columns["size_m"][rows],
                np.zeros(len(rows), np.float32), viewer_parts)
        for part, name in enumerate(OWN_PARTS, len(VIEWER_PARTS)):
            np.multiply(columns[name][rows], weights[part], out=parts[part])
        return parts

    def explain(self, agent_id: int) -> dict[str, float]:
        """Return what each part adds to an agent's importance, by name; see ``parts``.

        ``total`` is the clamped sum of the parts, the target of smoothing; ``value`` is the importance;
        ``forced`` is present while the importance is forced.

        Raises:
            TypeError, ValueError: if the id is not an integer of at least 0.
            UnknownNameError: if it is not in use.
        """
        (row,) = self._rows.rows(whole_number("agent_id", agent_id, minimum=0)).tolist()
        explained = dict(zip(PARTS, self.parts(agent_id)[:, 0].tolist(), strict=True))
        explained["total"] = min(1.0, sum(explained.values()))
        explained["value"] = float(self.values[row])
        if int(self._rows.ids[row]) in self._forced:
            explained["forced"] = self._forced[int(self._rows.ids[row])][0]
        return explained

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        count = len(values.ids)
        if count > MOST_AGENTS or (count and values.ids[-1] >= values.next_id):
            refuse("ids", f"must be at most {MOST_AGENTS}, all below next_id")
        if len(values.columns["role"]) != count:
            refuse("columns", f"must have a row for each of the {count} ids")
        if not values.forced.keys() <= {*values.ids.tolist()}:
            refuse("forced", "must be agents of ids")

    def _finish_load(self) -> None:
        self._make_room()

    def _boost(self, column: str, ids: ArrayLike, amount: float) -> None:
        self._is_boosted = True
        amount = finite_number("amount", amount, minimum=0, maximum=1)
        rows = self._rows.rows(ids)
        values = self._rows.columns[column]
        values[rows] = np.maximum(values[rows], amount)

    def _make_room(self) -> None:
        self._target, self._scratch = np.zeros((2, len(self._rows)), np.float32)
        self._flags = np.zeros(len(self._rows), np.bool_)
        self._has_new = True
        self._is_boosted = self._has_boosts()
        self._seen = _LastUpdate()
        self._show(np.maximum(self._rows.columns["value"], 0))

    def _show(self, values: Floats) -> None:
        self._shown = values.view()
        self._shown.flags.writeable = False

    def _fade(self, elapsed_s: float) -> None:
        if not self._is_boosted:
            return
        for name, lasts_s in (("noticed", self.settings.noticed_s), ("damaged", self.settings.damaged_s)):
            boosts = self._rows.columns[name]
            boosts *= math.exp(-elapsed_s / lasts_s)
            self._drop_traces(boosts)
        self._is_boosted = self._has_boosts()

    def _drop_traces(self, values: Floats) -> None:
        np.copyto(values, 0, where=np.less(values, TRACE, out=self._flags))

    def _has_boosts(self) -> bool:
        columns = self._rows.columns
        return bool(columns["noticed"].max(initial=0) or columns["damaged"].max(initial=0))

    def _add_own_parts(self, target: Floats) -> None:
        weights, columns = self.settings.weights(), self._rows.columns
        names = OWN_PARTS if self._is_boosted else OWN_PARTS[:1]
        for part, name in enumerate(names, len(VIEWER_PARTS)):
            target += np.multiply(columns[name], weights[part], out=self._scratch)
        np.minimum(target, 1, out=target)

    def _follow(self, target: Floats, value: Floats, elapsed_s: float) -> None:
        """Smooth values towards their targets, independent of how the time is divided into updates."""
        if self._has_new:
            np.copyto(value, target, where=value < 0)
            self._has_new = False
        lasts_s = self.settings.smoothing_s
        share = 1.0 if lasts_s == 0 else -math.expm1(-elapsed_s / lasts_s)
        change = np.subtract(target, value, out=self._scratch)
        change *= share
        value += change
        self._drop_traces(value)

    def _apply_forced(self, value: Floats, elapsed_s: float) -> None:
        for one, (wanted, left_s) in list(self._forced.items()):
            (row,) = self._rows.rows(one).tolist()
            value[row] = wanted
            if left_s - elapsed_s <= 0:
                del self._forced[one]
            else:
                self._forced[one] = (wanted, left_s - elapsed_s)

    def _check(self, viewers: Sequence[Viewer], positions: Any, velocities: Any, out: Any) -> None:
        count = len(self._rows)
        self._check_array("positions", positions, (2, 3))
        dimensions = positions.shape[1]
        if velocities is not None:
            self._check_array("velocities", velocities, (dimensions,))
        if out is not None and (
            not isinstance(out, np.ndarray) or out.shape != (count,) or out.dtype != np.float32
            or not out.flags.writeable):
            raise ValueError(f"out must be a writable float32 array of shape ({count},), got {shown(out)}")
        for viewer in viewers:
            if not isinstance(viewer, Viewer):
                raise TypeError(f"viewers must hold Viewer, got {shown(viewer)}")
            if len(viewer.position) != dimensions:
                raise ValueError(
                    f"a viewer has {len(viewer.position)} coordinates and agents have {dimensions};"
                    " give both in 2D or both in 3D")
            viewer.range_m(self.settings.near_m, self.settings.far_m)

    def _check_array(self, name: str, array: Any, dimensions: tuple[int, ...]) -> None:
        count = len(self._rows)
        if not isinstance(array, np.ndarray) or array.dtype != np.float32:
            raise TypeError(f"{name} must be a float32 array, got {shown(array)}; use array.astype(np.float32)")
        if array.ndim != 2 or array.shape[0] != count or array.shape[1] not in dimensions:
            wanted = " or ".join(f"({count}, {d})" for d in dimensions)
            raise ValueError(f"{name} must have shape {wanted}, one row for each id, got {array.shape}")

    def _refuse(self, row: int, positions: Floats, velocities: Floats | None) -> NoReturn:
        name, array = "positions", positions
        if velocities is not None and np.isfinite(positions[row]).all():
            name, array = "velocities", velocities
        raise ValueError(f"{name} must be finite, got {array[row].tolist()} for agent {self.ids[row]}")


class _LastUpdate:
    """Input of the last update, for ``parts``; copied because the game reuses its arrays."""

    def __init__(self) -> None:
        self.viewers: tuple[Viewer, ...] = ()
        self.positions: Floats | None = None
        self.velocities: Floats | None = None

    def keep(self, viewers: Sequence[Viewer], positions: Floats, velocities: Floats | None) -> None:
        self.viewers = tuple(viewers)
        self.positions = _copied(positions, self.positions)
        self.velocities = None if velocities is None else _copied(velocities, self.velocities)


def _copied(array: Floats, into: Floats | None) -> Floats:
    if into is None or into.shape != array.shape:
        return array.copy()
    np.copyto(into, array)
    return into
