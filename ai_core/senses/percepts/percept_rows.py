"""How rows of percepts are saved: as columns."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import LARGEST, LATEST_S
from ai_core.saving.kinds import ArrayOf, Columns, ListOf, MapOf, Record, Seconds
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.percepts.percept_loops import (
    MEMORY_NUMBERS,
    METER_NUMBERS,
    NO_SENSE,
    NOT_IN_VIEW,
    KnownTarget,
    PerceptTable,
)
from ai_core.senses.sensation import FARTHEST_M

__all__ = ["ROWS", "SavedRows", "put_rows", "saved_rows"]

LONG_AGO = 2
"""Stands for at least so many among saved numbers of looks. The last look may be under way."""

SENSE = ("strength", "sensed_at_s", "shown", "stimulus_gain")
MEMORY = ("is_known", "looked_ago", *MEMORY_NUMBERS)
METER = ("has_meter", "shown_ago", *METER_NUMBERS)
"""Columns of a modality, of memories and of meters."""


class SavedRows(NamedTuple):
    """Rows as they are saved.

    Attributes:
        targets: (n,) int64.
        memory, meters: (n,) columns by name, zeros in rows without.
        reacts_at_s: for each row when the levels above its own are reported (s).
        senses: (n,) columns of ``SENSE_COLUMNS`` by name, by modality.
    """

    targets: NDArray[np.int64]
    memory: dict[str, NDArray[Any]]
    meters: dict[str, NDArray[Any]]
    reacts_at_s: list[list[float]]
    senses: dict[str, dict[str, NDArray[np.float64]]]

    @classmethod
    def checked(cls, **columns: Any) -> SavedRows:
        """Return rows of a save."""
        rows = cls(**columns)
        memory, count = rows.memory, len(rows.targets)
        lengths = {
            "memory": len(memory["is_known"]), "meters": len(rows.meters["level"]),
            "reacts_at_s": len(rows.reacts_at_s),
            **{f"senses.{modality}": len(one["strength"]) for modality, one in rows.senses.items()}}
        for name, length in lengths.items():
            if length != count:
                raise ValueError(f"{name} must have {count} rows as targets, got {length}")
        if (np.isnan(memory["first_seen_s"]) != np.isnan(memory["last_seen_s"])).any():
            raise ValueError("memory.first_seen_s must be None where last_seen_s is, and only there")
        was_sensed = memory["is_known"] == 0
        for one in rows.senses.values():
            was_sensed |= one["sensed_at_s"] > -math.inf
        if not was_sensed.all():
            raise ValueError(f"senses must hold when target [{int(was_sensed.argmin())}] was sensed, in one at least")
        if (memory["noticed_s"] > memory["last_sensed_s"]).any():
            raise ValueError("memory.noticed_s must not be later than last_sensed_s")
        if any(one != sorted(one) for one in rows.reacts_at_s):
            raise ValueError("reacts_at_s must ascend")
        return rows

    def refusal(self, levels: NDArray[np.integer], latest_s: float) -> str:
        """Return why rows do not fit their owner; empty if they do."""
        reached = self.meters["level"] + np.array([*map(len, self.reacts_at_s)], np.int64)
        if (reached > levels).any():
            row = int((reached > levels).argmax())
            return f"meters.level[{row}] must be at most {levels[row]} with its reactions, got {reached[row]}"
        for columns in (self.memory, self.meters, *self.senses.values()):
            for name, column in columns.items():
                if name.endswith("_s") and (column > latest_s).any():
                    return f"{name} must not be later than the save, at {latest_s:g} s"
        return ""


def saved_rows(rows: Sequence[KnownTarget], looks: float) -> SavedRows:
    """Return rows for saving, at a number of looks."""
    known, aware = ([one.is_known for one in rows], [one.has_meter for one in rows])
    senses: dict[str, Any] = {}
    for row, (one, is_known, is_aware) in enumerate(zip(rows, known, aware, strict=True)):
        for name, four in one.by_modality().items():
            four = (*(four if is_known else NO_SENSE)[:2], *(four if is_aware else NO_SENSE)[2:])
            if four != NO_SENSE:
                senses.setdefault(name, [NO_SENSE] * len(rows))[row] = four
    return SavedRows(
        np.array([one.target for one in rows], np.int64),
        _columns_of(MEMORY, [(1, min(looks - one.looked, LONG_AGO), *one.memory_numbers()) if is_known else None
                             for one, is_known in zip(rows, known, strict=True)]),
        _columns_of(METER, [(1, min(looks - one.shown_at, LONG_AGO), *one.meter_numbers()) if is_aware else None
                            for one, is_aware in zip(rows, aware, strict=True)]),
        [one.pending_s if is_aware else [] for one, is_aware in zip(rows, aware, strict=True)],
        {name: dict(zip(SENSE, np.array(fours).T, strict=True)) for name, fours in sorted(senses.items())})


def _columns_of(names: Sequence[str], rows: Sequence[tuple[float, ...] | None]) -> dict[str, NDArray[Any]]:
    nothing = (0, LONG_AGO) + (0.0,) * (len(names) - 2)
    values = np.array([nothing if one is None else one for one in rows]).reshape(-1, len(names))
    return dict(zip(names, values.T, strict=True))


def put_rows(table: PerceptTable, keys: NDArray[np.int64], saved: SavedRows) -> None:
    """Have these rows and no others of the sensors of their keys; ended rows must have been dropped."""
    for modality in saved.senses:
        table.number(modality)
    for place, key in enumerate(keys.tolist()):
        row = table.row(key)
        looked, shown_at = (
            NOT_IN_VIEW if (ago := int(columns[name][place])) == LONG_AGO else table.looks - ago
            for columns, name in ((saved.memory, "looked_ago"), (saved.meters, "shown_ago")))
        if saved.memory["is_known"][place]:
            row.put_memory([saved.memory[name][place] for name in MEMORY_NUMBERS], looked)
        if saved.meters["has_meter"][place]:
            row.put_meter([saved.meters[name][place] for name in METER_NUMBERS], shown_at, saved.reacts_at_s[place])
        row.put_senses({
            name: four for name, columns in saved.senses.items()
            if (four := tuple(float(columns[one][place]) for one in SENSE)) != NO_SENSE})
    table.insert_new()


def _kind_of(name: str) -> ArrayOf:
    if name.endswith("_ago"):
        return ArrayOf(np.uint8, maximum=LONG_AGO)
    if name.startswith(("is_", "has_")):
        return ArrayOf(np.uint8, maximum=1)
    if name == "level":
        return ArrayOf(np.uint16)
    if name.endswith("_s"):
        never = {"first_seen_s": math.nan, "last_seen_s": math.nan, "sensed_at_s": -math.inf}
        return ArrayOf(minimum=-LATEST_S, maximum=LATEST_S, absent=never.get(name))
    if name.endswith(("x", "y", "z")):
        most = LARGEST if name.startswith("v") else FARTHEST_M
        return ArrayOf(minimum=-most, maximum=most)
    return ArrayOf(minimum=0, maximum=1 if name.endswith("value") else LARGEST)


def _columns(names: Iterable[str]) -> Columns:
    kinds: dict[str, Any] = {name: _kind_of(name) for name in names}
    return Columns(**kinds)


ROWS = Record(
    SavedRows.checked, at="_saved_rows", targets=ArrayOf(np.int64, minimum=0, maximum=LARGEST_ID),
    memory=_columns(MEMORY), meters=_columns(METER),
    reacts_at_s=ListOf(ListOf(Seconds())), senses=MapOf(_columns(SENSE)))
"""How rows are saved, for an owner with ``_saved_rows``."""
