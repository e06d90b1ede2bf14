"""How important is each agent to those who watch? One number, 0 to 1, and why."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown
from ai_core.level_of_detail.agent_rows import AgentRows
from ai_core.level_of_detail.importance_kernel import BLOCK_ROWS
from ai_core.level_of_detail.importance_settings import PARTS, VIEWER_PARTS, ImportanceSettings
from ai_core.level_of_detail.importance_state import prepared_importance, saved_importance
from ai_core.level_of_detail.viewer import Viewer, ViewerContributions
from ai_core.saving.fields import State

__all__ = ["Importance"]

Floats = NDArray[np.float32]

OWN_PARTS = PARTS[len(VIEWER_PARTS) :]

COLUMNS = {
    "role": (np.float32, 0.0), "size_m": (np.float32, 1.0), "noticed": (np.float32, 0.0),
    "damaged": (np.float32, 0.0), "value": (np.float32, -1.0),
}
"""What is kept of an agent; a value below 0 was never computed, and is not smoothed."""


TRACE = 1e-30
"""Boosts and values below this are none (no unit).

They fade by halves and would never end: float32 stays at 1e-45 for ever, and takes
eight times as long for every step with numbers below 1e-38.
"""

LARGEST_SIZE_M = 1e30
"""Largest diameter (m): float32 ends at 3e38."""


class Importance:
    """Importance of all agents for any number of viewers, in one call a frame.

    It is the sum of what the best viewer sees (distance, view, approach, size)
    and of what is the agent's own (role, noticed, damaged), each times its
    weight, clamped to 0 to 1, then smoothed. Arrays line up with ``ids``.

    Args:
        settings: weights and ranges; None takes the defaults.
    """

    def __init__(self, settings: ImportanceSettings | None = None) -> None:
        if settings is not None and not isinstance(settings, ImportanceSettings):
            raise TypeError(f"settings must be ImportanceSettings, got {shown(settings)}")
        self.settings = settings or ImportanceSettings()
        self._opinions = ViewerContributions(self.settings)
        self._scratch = np.zeros(BLOCK_ROWS, np.float32)
        self._flags = np.zeros(BLOCK_ROWS, np.bool_)
        self._rows = AgentRows("agent", COLUMNS)
        self._forced: dict[int, tuple[float, float]] = {}
        self._make_room()

    @property
    def ids(self) -> NDArray[np.int32]:
        """Every agent's id, ascending; positions and results come in this order."""
        return self._rows.ids

    @property
    def values(self) -> Floats:
        """Importance as last updated, (n,); 0 before. Not to be written to."""
        shown: Floats = self._shown
        return shown

    def add(self, count: int = 1, *, role: float = 0.0, size_m: float = 1.0) -> NDArray[np.int32]:
        """Return the ids of new agents.

        Args:
            count: how many.
            role: part in the story: 0 for a passer-by, 1 for a main character.
            size_m: what of them is seen from afar: a diameter (m), above 0.

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

    def remove(self, ids: object) -> None:
        """Forget one agent or many.

        Raises:
            UnknownNameError: if one is not there; then none is removed.

        Cost: O(agents).
        """
        rows = self._rows.rows(ids)
        gone = self._rows.ids[rows].tolist()
        self._rows.remove(ids)
        for one in gone:
            self._forced.pop(one, None)
        self._make_room()

    def set_role(self, ids: object, role: float) -> None:
        """Change the part that agents have in the story, 0 to 1."""
        role = finite_number("role", role, minimum=0, maximum=1)
        self._rows.columns["role"][self._rows.rows(ids)] = role

    def notice(self, ids: object, amount: float = 1.0) -> None:
        """Note that the player noticed agents: a boost of 0 to 1 that fades."""
        self._boost("noticed", ids, amount)

    def damage(self, ids: object, amount: float = 1.0) -> None:
        """Note that agents were hurt: a boost of 0 to 1 that fades."""
        self._boost("damaged", ids, amount)

    def force(self, ids: object, value: float, *, for_s: float | None = None) -> None:
        """Make agents as important as a script says, at once.

        Args:
            ids: one or many.
            value: 0 to 1.
            for_s: how long (s), above 0; None until ``unforce``.
        """
        value = finite_number("value", value, minimum=0, maximum=1)
        left_s = math.inf if for_s is None else finite_number("for_s", for_s, above=0)
        for one in self._rows.ids[self._rows.rows(ids)].tolist():
            self._forced[one] = (value, left_s)

    def unforce(self, ids: object) -> None:
        """Let importance be computed again; does nothing for who was not forced."""
        for one in self._rows.ids[self._rows.rows(ids)].tolist():
            self._forced.pop(one, None)

    def update(
        self, viewers: Sequence[Viewer], positions: Floats, elapsed_s: float, *,
        velocities: Floats | None = None, out: Floats | None = None,
    ) -> Floats:
        """Compute importance anew, and return it in the order of ``ids``.

        Args:
            viewers: any number of them.
            positions: (n, 2) or (n, 3) float32 (m).
            elapsed_s: game time since the last update (s), 0 or more.
            velocities: as positions (m/s); None: agents stand still.
            out: optional (n,) float32, overwritten and returned.

        Raises:
            ValueError: if a shape does not fit or a number is not finite; then
                nothing has changed.

        Cost: O(agents * viewers), no allocation per agent.
        """
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        self._check(viewers, positions, velocities, out)
        columns, target = self._rows.columns, self._target
        wrong = self._opinions.write(viewers, positions, velocities, columns["size_m"], target)
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

    def of(self, ids: object) -> Floats:
        """Return the importance of one agent or many, in their order."""
        found: Floats = self.values[self._rows.rows(ids)]
        return found

    def parts(self, ids: object = None) -> Floats:
        """Return what each of PARTS adds for agents, (len(PARTS), n): why are they so important?

        Args:
            ids: one or many; None for all.

        It is computed for them from what the last update was told; there is
        nothing a viewer adds before the first update, and after agents have
        come or gone.

        Cost: O(asked * viewers).
        """
        rows = np.arange(len(self._rows)) if ids is None else self._rows.rows(ids)
        columns, weights = self._rows.columns, self.settings.weights()
        parts = np.zeros((len(PARTS), len(rows)), np.float32)
        seen, viewer_parts = self._seen, parts[: len(VIEWER_PARTS)]
        if seen.positions is not None:
            velocities = None if seen.velocities is None else seen.velocities[rows]
            self._opinions.write(
                seen.viewers, seen.positions[rows], velocities, columns["size_m"][rows],
                np.zeros(len(rows), np.float32), viewer_parts,
            )
        for part, name in enumerate(OWN_PARTS, len(VIEWER_PARTS)):
            np.multiply(columns[name][rows], weights[part], out=parts[part])
        return parts

    def explain(self, agent_id: int) -> dict[str, float]:
        """Return what each part adds to an agent's importance; see ``parts``.

        ``total`` is their clamped sum, what smoothing moves towards; ``value``
        is what came of it. ``forced`` is there while a script decides.
        """
        (row,) = self._rows.rows(agent_id).tolist()
        told = dict(zip(PARTS, self.parts(agent_id)[:, 0].tolist(), strict=True))
        told["total"] = min(1.0, sum(told.values()))
        told["value"] = float(self.values[row])
        if int(self._rows.ids[row]) in self._forced:
            told["forced"] = self._forced[int(self._rows.ids[row])][0]
        return told

    def save_state(self) -> State:
        """Return agents, roles, boosts, smoothed values and forced ones, as plain data."""
        return saved_importance(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. Agents are those of the save.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        return prepared_importance(self, state)

    def _boost(self, column: str, ids: object, amount: float) -> None:
        self._is_boosted = True
        amount = finite_number("amount", amount, minimum=0, maximum=1)
        rows = self._rows.rows(ids)
        values = self._rows.columns[column]
        values[rows] = np.maximum(values[rows], amount)

    def _make_room(self) -> None:
        self._target = np.zeros(len(self._rows), np.float32)
        self._has_new = True
        self._is_boosted = self._has_boosts()
        self._seen = _Seen()
        self._show(np.maximum(self._rows.columns["value"], 0))

    def _show(self, values: Floats) -> None:
        self._shown = values.view()
        self._shown.flags.writeable = False

    def _fade(self, elapsed_s: float) -> None:
        if not self._is_boosted:
            return
        for name, lasts_s in (("noticed", self.settings.noticed_s), ("damaged", self.settings.damaged_s)):
            boosts = self._rows.columns[name]
            share = math.exp(-elapsed_s / lasts_s)
            for begin in range(0, len(boosts), BLOCK_ROWS):
                some = boosts[begin : begin + BLOCK_ROWS]
                np.multiply(some, share, out=some)
                self._drop_traces(some)
        self._is_boosted = self._has_boosts()

    def _has_boosts(self) -> bool:
        columns = self._rows.columns
        return bool(columns["noticed"].max(initial=0) or columns["damaged"].max(initial=0))

    def _drop_traces(self, some: Floats) -> None:
        np.copyto(some, 0, where=np.less(some, TRACE, out=self._flags[: len(some)]))

    def _add_own_parts(self, target: Floats) -> None:
        weights, columns = self.settings.weights(), self._rows.columns
        names = OWN_PARTS if self._is_boosted else OWN_PARTS[:1]
        for begin in range(0, len(target), BLOCK_ROWS):
            some = target[begin : begin + BLOCK_ROWS]
            scratch = self._scratch[: len(some)]
            for part, name in enumerate(names, len(VIEWER_PARTS)):
                np.multiply(columns[name][begin : begin + BLOCK_ROWS], weights[part], out=scratch)
                np.add(some, scratch, out=some)
            np.minimum(some, 1, out=some)

    def _follow(self, target: Floats, value: Floats, elapsed_s: float) -> None:
        """Move a share of the way that depends on time alone, not on how it is cut up."""
        if self._has_new:
            np.copyto(value, target, where=value < 0)
            self._has_new = False
        lasts_s = self.settings.smoothing_s
        share = 1.0 if lasts_s == 0 else -math.expm1(-elapsed_s / lasts_s)
        for begin in range(0, len(target), BLOCK_ROWS):
            wanted, have = target[begin : begin + BLOCK_ROWS], value[begin : begin + BLOCK_ROWS]
            scratch = self._scratch[: len(have)]
            np.subtract(wanted, have, out=scratch)
            np.multiply(scratch, share, out=scratch)
            np.add(have, scratch, out=have)
            self._drop_traces(have)

    def _apply_forced(self, value: Floats, elapsed_s: float) -> None:
        for one, (wanted, left_s) in list(self._forced.items()):
            (row,) = self._rows.rows(one).tolist()
            value[row] = wanted
            if left_s - elapsed_s <= 0:
                del self._forced[one]
            else:
                self._forced[one] = (wanted, left_s - elapsed_s)

    def _check(
        self, viewers: Sequence[Viewer], positions: Any, velocities: Any, out: Any
    ) -> None:
        count = len(self._rows)
        self._check_array("positions", positions, (2, 3))
        dimensions = positions.shape[1]
        if velocities is not None:
            self._check_array("velocities", velocities, (dimensions,))
        if out is not None and (
            not isinstance(out, np.ndarray) or out.shape != (count,) or out.dtype != np.float32
            or not out.flags.writeable
        ):
            raise ValueError(f"out must be float32 of shape ({count},) that may be written to, got {shown(out)}")
        for viewer in viewers:
            if not isinstance(viewer, Viewer):
                raise TypeError(f"viewers must be Viewer, got {shown(viewer)}")
            if len(viewer.position) != dimensions:
                raise ValueError(
                    f"a viewer has {len(viewer.position)} coordinates, and agents {dimensions};"
                    " give both in 2D or both in 3D"
                )
            viewer.range_m(self.settings.near_m, self.settings.far_m)

    def _check_array(self, name: str, array: Any, dimensions: tuple[int, ...]) -> None:
        count = len(self._rows)
        if not isinstance(array, np.ndarray) or array.dtype != np.float32:
            raise TypeError(f"{name} must be a float32 array, got {shown(array)}; use astype")
        if array.ndim != 2 or array.shape[0] != count or array.shape[1] not in dimensions:
            wanted = " or ".join(f"({count}, {d})" for d in dimensions)
            raise ValueError(f"{name} must have shape {wanted}, a row for each of ids, got {array.shape}")

    def _refuse(self, row: int, positions: Floats, velocities: Floats | None) -> NoReturn:
        name, array = "positions", positions
        if velocities is not None and np.isfinite(positions[row]).all():
            name, array = "velocities", velocities
        raise ValueError(
            f"{name} must be finite, got {array[row].tolist()} for agent {self.ids[row]}"
        )


class _Seen:
    """What the last update was told, to explain it; copied, as the game writes its arrays anew."""

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
