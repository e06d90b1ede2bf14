"""Formation: the pattern of a squad's slots, as a resource."""
from __future__ import annotations

from enum import IntEnum

import numpy as np

from addons.ai_core.bridge.declarations import PIXELS_PER_METER
from addons.ai_core.bridge.gd import (
    PackedStringArray,
    PackedVector2Array,
    RefusedValue,
    Resource,
    Vector2,
    export,
    gdclass,
    method,
)
from addons.ai_core.nodes.saving.node_settings import core_settings
from ai_core.squads import formation as core

DEFAULT_SPACING_M = 2.0


@gdclass(icon="res://addons/ai_core/icons/formation.svg")
class Formation(Resource):
    """A pattern of slots around a commander, for any number of members.

    Assign it to formation of Squad nodes. Slots lie along the path of the commander: members behind it follow
    the path. A change of the resource takes effect at once in all squads that use it.
    """

    class Pattern(IntEnum):
        LINE = 0
        COLUMN = 1
        WEDGE = 2
        PHALANX = 3
        CIRCLE = 4
        CUSTOM = 5

    pattern = export(
        Pattern, Pattern.WEDGE, core="pattern", on_set="_notify",
        doc="Pattern of slots. Line: abreast. Column: in a file. Wedge: a triangle with the commander at the tip."
            " Phalanx: a block. Circle: a ring. Custom: custom_slots.")
    spacing = export(
        float, 0.0, range=(0, 100, 0.05), or_greater=True, on_set="_notify",
        doc="Distance between neighbors, in m, in 2D in px; with custom slots, the distance between two repetitions"
            " of the pattern. 0 is 2 m, or their length in px.")
    files = export(
        int, 0, range=(0, 100, 1), or_greater=True, shown_when=("pattern", Pattern.COLUMN, Pattern.PHALANX),
        core="files", on_set="_notify",
        doc="Number of members abreast; 0 chooses it by the number of members.")
    custom_slots = export(
        PackedVector2Array, (), shown_when=("pattern", Pattern.CUSTOM), on_set="_notify",
        doc="Positions of slots, in m, in 2D in px: x ahead of the commander, y to its right. The first slot is the"
            " commander's. With more members than slots, the pattern repeats behind.")
    only_roles = export(
        PackedStringArray, (), group="Roles", shown_when=("pattern", Pattern.CUSTOM), on_set="_notify",
        doc="Roles admitted to each slot, separated by commas; other members are excluded. Empty admits all members.")
    preferred_roles = export(
        PackedStringArray, (), shown_when=("pattern", Pattern.CUSTOM), on_set="_notify",
        doc="Roles preferred for each slot, separated by commas.")
    role_places = export(
        dict, {}, core="places", on_set="_notify",
        doc="Preferred part of the formation by role: \"front\", \"rear\", \"center\" or \"flank\".")
    mismatch_cost = export(
        float, 3.0, range=(0, 1000, 0.1), or_greater=True, on_set="_notify",
        doc="Cost of a slot that does not suit a role, in spacings of additional distance.")

    @method
    def get_slots(self, count: int, in_2d: bool = False) -> PackedVector2Array:
        """Return the slots for a number of members, x ahead and y to the right, in m, with ``in_2d`` in px."""
        if count < 0:
            raise RefusedValue(f"count must be 0 or more, got {count}")
        unit = PIXELS_PER_METER if in_2d else 1.0
        return (self.formation(unit).slots(count) * unit).astype(np.float32)

    def formation(self, unit: float) -> core.Formation:
        """Return the library's formation; ``unit`` is the length of a metre in the scene.

        Raises:
            RefusedValue: if a setting is invalid, or settings contradict each other.
        """
        spacing_m = self.spacing / unit or DEFAULT_SPACING_M
        try:
            return core.Formation(
                **core_settings(self), spacing_m=spacing_m, mismatch_m=self.mismatch_cost * spacing_m,
                custom_slots=tuple(self._slot(number, one, unit) for number, one in enumerate(self.custom_slots)))
        except (LookupError, TypeError, ValueError) as error:
            raise RefusedValue(f"its formation is invalid: {error}") from None

    def _notify(self) -> None:
        self.emit_changed()

    def _slot(self, number: int, place: Vector2, unit: float) -> core.FormationSlot:
        return core.FormationSlot(
            float(place[0]) / unit, float(place[1]) / unit,
            _roles(self.only_roles, number), _roles(self.preferred_roles, number))


def _roles(texts: PackedStringArray, number: int) -> tuple[str, ...]:
    text = texts[number] if number < len(texts) else ""
    return tuple(filter(None, (one.strip() for one in str(text).split(","))))
