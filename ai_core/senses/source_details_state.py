"""The state of what belongs to a source beside numbers, and of how clearly sources are seen."""
from __future__ import annotations

from typing import Any

import numpy as np

from ai_core.saving.fields import LATEST_S, Fields, State
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sight.pairs_in_view import ids_of, keys_of
from ai_core.senses.sight.views import Views
from ai_core.senses.source_details import MOST_PARTS, Clue, SourceDetails, VisiblePart

__all__ = ["read_details", "read_views", "saved_details", "saved_views"]


def saved_details(details: SourceDetails) -> State:
    """Return tag, actions, parts and clue."""
    clue = details.clue
    return {
        "tag": details.tag,
        "actions": dict(details.actions),
        "parts": [
            {"name": one.name, "offset": list(one.offset), "share": one.share} for one in details.parts
        ],
        "clue": None if clue is None else
        {"about": clue.about, "left_at_s": clue.left_at_s, "until_s": clue.until_s},
    }


def read_details(fields: Fields) -> SourceDetails:
    """Return what was saved; raises StateError if it cannot be."""
    actions = fields.group("actions")
    levels = {name: actions.number(name, minimum=0) for name in actions.names()}
    parts = []
    for one in fields.groups("parts"):
        parts.append(VisiblePart(one.text("name"), one.point("offset"), one.number("share", minimum=1e-9)))
        one.end()
    if len(parts) > MOST_PARTS:
        fields.refuse("parts", f"must hold at most {MOST_PARTS} parts")
    if len({one.name for one in parts}) < len(parts):
        fields.refuse("parts", "must have unique names")
    clue = None
    if fields.anything("clue") is not None:
        one = fields.group("clue")
        about = one.whole("about", minimum=-1, maximum=LARGEST_ID)
        until_s = one.number("until_s", minimum=-LATEST_S, maximum=LATEST_S)
        clue = Clue(about, one.seconds("left_at_s"), until_s)
        one.end()
    return SourceDetails(fields.text("tag"), levels, tuple(parts), clue)


def saved_views(views: Views, modalities: ModalitySet) -> State:
    """Return how clearly each pair was seen, by modality."""
    saved: dict[str, Any] = {}
    for number, by_key in views.by_modality.items():
        keys = sorted(by_key)
        sensors, sources = ids_of(np.array(keys, np.int64))
        saved[modalities[number].name] = {
            "sensor_ids": sensors.tolist(),
            "source_ids": sources.tolist(),
            "clarity": [by_key[key][0] for key in keys],
            "parts": [by_key[key][1] for key in keys],
        }
    return saved


def read_views(fields: Fields, modalities: ModalitySet) -> Views:
    """Return what was saved; raises StateError if it cannot be."""
    views = Views()
    for name in fields.names():
        try:
            number = modalities.number(name)
        except LookupError as error:
            fields.refuse(name, f"is an unknown modality: {error}")
        one = fields.group(name)
        sensors = one.wholes("sensor_ids", maximum=LARGEST_ID)
        sources = one.wholes("source_ids", count=len(sensors), maximum=LARGEST_ID)
        clarity = one.numbers("clarity", count=len(sensors), minimum=0)
        parts = one.wholes("parts", count=len(sensors), maximum=(1 << MOST_PARTS) - 1)
        one.end()
        keys = keys_of(np.array(sensors, np.int32), np.array(sources, np.int32)).tolist()
        views.note(number, keys, clarity, parts)
    return views
