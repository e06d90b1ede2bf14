"""The strip at a character in AIDebugOverlay: what it does, and how aware it is, as plain data."""
from __future__ import annotations

from typing import Any

SENSORS = ("Sensor3D", "Sensor2D")
STRIPS = "res://addons/ai_core/debugging/character_strips.gd"
"""The control that draws strips."""

STRIPS_LAYER = 128
"""Canvas layer of strips, and of AIDebugOverlay: above those of games."""

NO_AWARENESS = -1.0
"""Awareness of a character without a sensor."""


def strip_of(character: Any) -> dict[str, Any]:
    """Return path, name, does, awareness, level, marks, sees and senses of a character.

    Keys: does (its active habits, or states), awareness (of the target of which it is most aware; -1 without a
    sensor), level (of that target), marks (awareness at which each level is reached), sees (whether a target is in
    view), senses (whether it knows a target by another sense).

    Cost: 20 to 60 µs.
    """
    sensors = [one for name in SENSORS for one in character.find_children("*", name, True, False)]
    known = [target for one in sensors for target in one.get_known_targets()]
    most = max(known, key=lambda one: one["awareness"], default=None)
    return {
        "path": str(character.get_path()),
        "name": str(character.get_name()),
        "does": _does(character),
        "awareness": (0.0 if most is None else float(most["awareness"])) if sensors else NO_AWARENESS,
        "level": 0 if most is None else int(most["level"]),
        "marks": sorted({rises_at for one in sensors for rises_at in one.level_marks()}),
        "sees": any(one["is_visible"] for one in known),
        "senses": any(not one["is_visible"] and one["modality"] != "sight" for one in known),
    }


def _does(character: Any) -> str:
    trees = character.find_children("*", "HabitTree", True, False)
    machines = character.find_children("*", "StateMachine", True, False)
    found = [path.rpartition("/")[2] for tree in trees for path in tree.get_active_paths()]
    found += [one.get_state() for one in machines]
    return ", ".join(one for one in found if one)
