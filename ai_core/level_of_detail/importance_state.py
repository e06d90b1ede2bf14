"""Saving and loading of Importance: agents and their columns as plain data."""
from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ai_core.level_of_detail.agent_rows import LARGEST_ID, MOST_AGENTS
from ai_core.saving.fields import Fields, State

if TYPE_CHECKING:
    from ai_core.level_of_detail.importance import Importance

__all__ = ["prepared_importance", "read_ids", "saved_importance"]

VERSION = 1

# Rounded to float32, the largest size is slightly more than 1e30.
LIMITS = {
    "role": (0.0, 1.0), "size_m": (0.0, 1.000001e30), "noticed": (0.0, 1.0), "damaged": (0.0, 1.0),
    "value": (-1.0, 1.0),
}


def saved_importance(importance: Importance) -> State:
    """Return the state of importance between two updates."""
    rows = importance._rows
    return {
        "version": VERSION,
        "next_id": rows.next_id,
        "ids": rows.ids.tolist(),
        "columns": {name: rows.columns[name].tolist() for name in LIMITS},
        "forced": [
            [one, value, None if left_s == math.inf else left_s]
            for one, (value, left_s) in sorted(importance._forced.items())
        ],
    }


def prepared_importance(importance: Importance, state: object) -> Callable[[], None]:
    """Check a state and return the function that restores it."""
    fields = Fields.versioned(state, version=VERSION)
    next_id = fields.whole("next_id", maximum=LARGEST_ID)
    ids = read_ids(fields, "ids", next_id)
    group = fields.group("columns")
    columns = {
        name: np.array(group.numbers(name, count=len(ids), minimum=low, maximum=high), np.float32)
        for name, (low, high) in LIMITS.items()
    }
    group.end()
    forced = {}
    known = set(ids)
    for index, one in enumerate(fields.items("forced")):
        row = Fields({"row": one}, fields.place_of(f"forced[{index}]"))
        agent, value, left_s = row.numbers("row", count=3, minimum=0, absent=math.inf)
        if agent not in known or int(agent) in forced or value > 1:
            row.refuse("row", "must be [id of an agent, 0 to 1, seconds or None], each once")
        forced[int(agent)] = (value, left_s)
    fields.end()

    def change() -> None:
        importance._rows.put(np.array(ids, np.int32), next_id)
        importance._rows.columns = columns
        importance._forced = forced
        importance._make_room()

    return change


def read_ids(fields: Fields, name: str, next_id: int) -> list[int]:
    """Return saved ids: ascending without repeats, all below ``next_id``."""
    ids = fields.wholes(name, maximum=next_id - 1)
    if len(ids) > MOST_AGENTS:
        fields.refuse(name, f"must have at most {MOST_AGENTS} ids, got {len(ids)}")
    if any(one >= other for one, other in pairwise(ids)):
        fields.refuse(name, "must be ascending without repeats")
    return ids
