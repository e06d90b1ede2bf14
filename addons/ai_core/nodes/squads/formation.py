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
        float, 2.0, range=(0.1, 100, 0.05), or_greater=True, unit="m",
        doc="Distance of neighbors; of slots of your own, of one lot to the next.")
    files = export(
        int, 0, range=(0, 100, 1), or_greater=True, shown_when=("pattern", Pattern.COLUMN, Pattern.PHALANX),
        doc="Members abreast; 0 chooses by their number.")
    custom_slots = export(
        PackedVector2Array, (), shown_when=("pattern", Pattern.CUSTOM),
        doc="Slots in metres: x ahead of the commander, y to his right. The first is the commander's; with more"
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
        float, 6.0, range=(0, 1000, 0.1), or_greater=True, unit="m",
        doc="What standing where one should not costs, as if it were so much farther.")

    @method
    def get_slots(self, count: int) -> PackedVector2Array:
        """Return the slots of so many members in metres: x ahead, y to the right."""
        if count < 0:
            raise RefusedValue(f"count must be 0 or more, got {count}")
        return self.formation().slots(count).astype(np.float32)

    def formation(self) -> core.Formation:
        """Return it as the library's.

        Raises:
            RefusedValue: if its settings do not fit together; says which.
        """
        try:
            return core.Formation(
                PATTERNS[self.pattern], self.spacing, self.files,
                tuple(self._slot(number, one) for number, one in enumerate(self.custom_slots)),
                {str(role): str(place) for role, place in self.role_places.items()}, self.mismatch_cost)
        except (LookupError, TypeError, ValueError) as error:
            raise RefusedValue(f"its formation cannot be used: {error}") from None

    def _slot(self, number: int, place: Vector2) -> core.FormationSlot:
        return core.FormationSlot(
            float(place[0]), float(place[1]), _roles(self.only_roles, number), _roles(self.preferred_roles, number))


def _roles(texts: PackedStringArray, number: int) -> tuple[str, ...]:
    text = texts[number] if number < len(texts) else ""
    return tuple(filter(None, (one.strip() for one in str(text).split(","))))
