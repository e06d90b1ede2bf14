"""Formation: how a squad goes, as a resource."""
from __future__ import annotations

from enum import IntEnum

import numpy as np

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
from ai_core.squads import formation as core

DEFAULT_SPACING_M = 2.0
PATTERNS = ("line", "column", "wedge", "phalanx", "circle", "custom")


@gdclass(icon="res://addons/ai_core/icons/formation.svg")
class Formation(Resource):
    """A pattern of slots around a commander, for any number of members.

    Give it to the Squad nodes that go so. Slots lie beside the commander's path: who is behind goes where
    the commander went. What changes in it while a squad goes so counts when it is given to the Squad again.
    """

    class Pattern(IntEnum):
        LINE = 0
        COLUMN = 1
        WEDGE = 2
        PHALANX = 3
        CIRCLE = 4
        CUSTOM = 5

    pattern = export(
        Pattern, Pattern.WEDGE,
        doc="Abreast; one behind the other; a triangle with the commander at its point; a block; a ring; slots of"
            " your own.")
    spacing = export(
        float, 0.0, range=(0, 100, 0.05), or_greater=True,
        doc="Distance between neighbors (m, in 2D px); with custom slots the distance between two sets of them. 0: 2 m,"
            " or as many pixels.")
    files = export(
        int, 0, range=(0, 100, 1), or_greater=True, shown_when=("pattern", Pattern.COLUMN, Pattern.PHALANX),
        doc="Members abreast; 0 chooses by their number.")
    custom_slots = export(
        PackedVector2Array, (), shown_when=("pattern", Pattern.CUSTOM),
        doc="Positions of slots (m, in 2D px): x ahead of the commander, y to its right. The first is the commander's;"
            " with more"
            " members they come again behind.")
    only_roles = export(
        PackedStringArray, (), group="Roles", shown_when=("pattern", Pattern.CUSTOM),
        doc="By slot, roles that may stand there and nobody else, with commas; empty for everybody.")
    preferred_roles = export(
        PackedStringArray, (), shown_when=("pattern", Pattern.CUSTOM),
        doc="By slot, roles that should stand there, with commas.")
    role_places = export(
        dict, {}, doc="Where roles like to stand: \"front\", \"rear\", \"center\" or \"flank\", by role.")
    mismatch_cost = export(
        float, 3.0, range=(0, 1000, 0.1), or_greater=True,
        doc="What a slot that does not suit a role costs, as if it were so many spacings farther away.")

    @method
    def get_slots(self, count: int) -> PackedVector2Array:
        """Return the slots of so many members in the units of spacing, or in metres if that is 0: x ahead, y right."""
        if count < 0:
            raise RefusedValue(f"count must be 0 or more, got {count}")
        return self.formation(1.0).slots(count).astype(np.float32)

    def formation(self, unit: float) -> core.Formation:
        """Return it as the library's; ``unit`` is how long a metre is in the scene.

        Raises:
            RefusedValue: if its settings do not fit together; says which.
        """
        spacing_m = self.spacing / unit or DEFAULT_SPACING_M
        try:
            return core.Formation(
                PATTERNS[self.pattern], spacing_m, self.files,
                tuple(self._slot(number, one, unit) for number, one in enumerate(self.custom_slots)),
                {str(role): str(place) for role, place in self.role_places.items()}, self.mismatch_cost * spacing_m)
        except (LookupError, TypeError, ValueError) as error:
            raise RefusedValue(f"its formation cannot be used: {error}") from None

    def _slot(self, number: int, place: Vector2, unit: float) -> core.FormationSlot:
        return core.FormationSlot(
            float(place[0]) / unit, float(place[1]) / unit,
            _roles(self.only_roles, number), _roles(self.preferred_roles, number))


def _roles(texts: PackedStringArray, number: int) -> tuple[str, ...]:
    text = texts[number] if number < len(texts) else ""
    return tuple(filter(None, (one.strip() for one in str(text).split(","))))
