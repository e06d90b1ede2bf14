"""Where a sensor sees: in one cone of its own, or in an ordered list of cones."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from addons.ai_core.bridge.declarations import array_of
from addons.ai_core.bridge.gd import RefusedValue, construct, export
from addons.ai_core.nodes.senses.sight_cone import NAMES, SightCone, made_cone
from ai_core.saving.fields import Fields, StateError
from ai_core.senses.sight import SightCone as Cone

MOST_CONES = 100
"""Cones that a save may hold for a sensor (count): what is more was not made by a designer."""


class SensorCones:
    """The cones of Sensor3D and Sensor2D; a part of those classes."""

    dimensions: int
    vertical_angle: Any
    _change: Callable[[], None]

    sight_cones = export(
        list, (), hint=array_of("SightCone"), group="Sight", on_set="_cones_set",
        doc="An ordered list: the first cone that contains a target counts. In place of sight_range_m,"
            " horizontal_angle, vertical_angle and lose_sight_range_m; none: these are its only cone.")
    sight_range_m = export(
        float, 20.0, range=(0.1, 500, 0.1), or_greater=True, unit="m", on_set="_change",
        shown_when=("sight_cones", ()), doc="How far its cone of sight reaches.")
    horizontal_angle = export(
        float, math.radians(110), range=(math.radians(0.5), math.tau, math.radians(0.1)), as_degrees=True,
        on_set="_change", shown_when=("sight_cones", ()),
        doc="Full angle of its cone from left to right.")
    lose_sight_range_m = export(
        float, 0.0, range=(0, 500, 0.1), or_greater=True, unit="m", on_set="_change",
        shown_when=("sight_cones", ()),
        doc="What it sees already it goes on seeing up to here; 0, or less than sight_range_m, is sight_range_m.")
    near_range_m = export(
        float, 2.0, range=(0, 50, 0.1), unit="m", on_set="_change",
        doc="Within this distance it notices in every direction, unless a cone counts there; 0 switches that off.")
    is_searching = export(
        bool, False, on_set="_change", doc="Switch it on while it searches: its cones are wider then.")
    searching_factor = export(
        float, 1.5, range=(0.1, 5, 0.01), on_set="_change", shown_when=("is_searching", True),
        doc="How many times wider the angles of its cones are while it searches.")

    _watched: Sequence[SightCone] = ()

    def chosen_cones(self) -> list[SightCone]:
        """Return the cones of its list, without those that are none."""
        return [one for one in self.sight_cones if isinstance(one, SightCone)]

    def _cones(self) -> list[Cone]:
        """Return its cones for the library; the first that contains a target counts."""
        is_flat = self.dimensions == 2
        cones = [one.cone(is_flat=is_flat) for one in self.chosen_cones()] or [made_cone(
            self.sight_range_m, self.horizontal_angle, self.vertical_angle, 1.0, self.lose_sight_range_m)]
        if self.is_searching:
            cones = [one.widened(self.searching_factor) for one in cones]
        if self.near_range_m > 0:
            cones.append(Cone.close_by(self.near_range_m))
        return cones

    def _cone_warnings(self) -> list[str]:
        warnings, chosen = [], self.sight_cones
        for place, one in enumerate(chosen):
            if not isinstance(one, SightCone):
                said = "is empty" if one is None else f"is {one!r}"
                warnings.append(f"sight_cones[{place}] {said}, and does not count; choose a SightCone")
        good = [(place, one) for place, one in enumerate(chosen) if isinstance(one, SightCone)]
        for place, one in good:
            for earlier, other in good:
                if earlier < place and other.contains(one, is_flat=self.dimensions == 2):
                    warnings.append(
                        f"sight_cones[{place}] never counts: sight_cones[{earlier}], which comes before it, contains"
                        " all of it; put the smaller one first")
                    break
        return warnings

    def _cones_set(self) -> None:
        self._watch()
        self._change()

    def _watch(self) -> None:
        """Hear of it when a cone of the list changes."""
        for one in self._watched:
            one.disconnect("changed", self._change)
        self._watched = list(dict.fromkeys(self.chosen_cones()))
        for one in self._watched:
            one.connect("changed", self._change)

    def _saved_cones(self) -> list[list[float]]:
        return [[getattr(one, name) for name in NAMES] for one in self.chosen_cones()]

    def _prepared_cones(self, fields: Fields) -> Callable[[], None]:
        """Check saved cones; return what has them. Cones that are as saved stay the resources that they are."""
        if fields.anything("sight_cones") is None or self._saved_cones() == fields.anything("sight_cones"):
            return lambda: None
        rows = fields.items("sight_cones")
        if len(rows) > MOST_CONES:
            fields.refuse("sight_cones", f"must be at most {MOST_CONES}, got {len(rows)}")
        cones = [_read(row, fields.place_of(f"sight_cones[{place}]")) for place, row in enumerate(rows)]

        def change() -> None:
            self.__dict__[type(self).sight_cones.slot] = cones
            self._watch()

        return change


def _read(row: object, place: str) -> SightCone:
    cone: SightCone = construct("SightCone")
    numbers = Fields({"cone": row}, place).numbers("cone", count=len(NAMES))
    try:
        for name, value in zip(NAMES, numbers, strict=True):
            setattr(cone, name, value)
    except RefusedValue as error:
        raise StateError(f"{place!r}: {error}") from None
    return cone
