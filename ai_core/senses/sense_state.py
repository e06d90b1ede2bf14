"""The state of a regional sense manager: tables, signals, pairs in view, minds.

Sensors and sources are not made by loading. They are here already, found by
their names; they get their saved ids back.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from ai_core.faults import Failures
from ai_core.saving.declared_state import Part
from ai_core.saving.fields import Fields, State
from ai_core.senses.percepts.perception import Perception
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.looking_state import prepared_looking, saved_looking
from ai_core.senses.source_details_state import read_views, saved_views
from ai_core.senses.source_table import SourceTable
from ai_core.senses.table_state import (
    read_sensors,
    read_sources,
    saved_sensors,
    saved_sources,
)

if TYPE_CHECKING:
    from ai_core.senses.regional_sense_manager import RegionalSenseManager

__all__ = ["SaveableSenses"]

VERSION = 1

RAYS = ("line_of_sight", "occlusion")
"""What is asked of the world, and may fail."""

Change = Callable[[], object]


class SaveableSenses:
    """What makes a ``RegionalSenseManager`` saveable."""

    _sensors: SensorTable
    _sources: SourceTable
    _perception: Perception

    @property
    def sensor_names(self) -> Mapping[int, str]:
        """Names of sensors by id, in the order of adding; loading may change the ids."""
        return self._sensors.ids.names

    @property
    def source_names(self) -> Mapping[int, str]:
        """Names of sources by id, as ``sensor_names``; without clues, which loading makes itself."""
        details = self._sources.details
        if not any(one.clue is not None for one in details.values()):
            return self._sources.ids.names
        return {
            one: name for one, name in self._sources.ids.names.items()
            if one not in details or details[one].clue is None
        }

    def forget_all(self) -> None:
        """Clear all memories and meters, for a clock that was set back without the senses."""
        for sensor_id in self.sensor_names:
            self._perception.forget_all(sensor_id)

    def save_state(self) -> State:
        """Return all state that lives across frames, as plain data.

        Raises:
            RuntimeError: if called from a listener.
        """
        return _saved(cast("RegionalSenseManager", self))

    def prepare_state(self, state: object) -> Change:
        """Check a save against the current sensors and sources; return the function that loads it.

        They are matched by name, those of one name by the order of adding, and
        get their saved ids back; those that are not in the save are kept, under new
        ids and without memories.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
            RuntimeError: if called from a listener.
        """
        return _prepared(cast("RegionalSenseManager", self), state)


def _saved(manager: RegionalSenseManager) -> State:
    """Return the state of a sense manager between two frames."""
    _check_between_frames(manager)
    signals = manager._emitted.save_state()
    sensors = saved_sensors(manager._sensors)
    return {
        "version": VERSION,
        "now": list(manager.clock.now),
        "modalities": _modality_names(manager),
        "shares": manager._shares.save_state(),
        "rays_asked": manager._rays_asked,
        **{name: manager.faults.failures_of((manager, name)).saved() for name in RAYS},
        "sensors": sensors,
        "sources": saved_sources(manager._sources),
        "signals": signals,
        "sensitivity": manager._sensitivity.save_state(),
        "views": saved_views(manager._sources.views, manager._modalities),
        "changed_modalities": manager._changed_modalities(),
        "smelling": None if manager._smelling is None else manager._smelling.save_state(),
        "looking": saved_looking(manager._continuous),
        "percepts": manager._perception.save_state(),
    }


def _prepared(manager: RegionalSenseManager, state: object) -> Change:
    """Check a state against sensors and sources that are here; return what loads it."""
    _check_between_frames(manager)
    fields = Fields.versioned(state, version=VERSION)
    _, now_s = fields.moment("now")
    if fields.items("modalities") != _modality_names(manager):
        fields.refuse("modalities", f"must be the current ones, {_modality_names(manager)}")
    load_shares = manager._shares.STATE.prepare(manager._shares, fields.anything("shares"), "shares")
    rays_asked = fields.whole("rays_asked")
    failures = {name: _read_failures(fields.group(name)) for name in RAYS}
    sources = read_sources(manager._sources, fields.group("sources"))
    sensors = read_sensors(manager._sensors, fields.group("sensors"), sources.new_ids)
    changes: list[Change] = [
        manager._perception.prepare_state(fields.group("percepts"), sensors.new_ids, sensors.saved_ids, now_s),
        manager._emitted.prepare_at(fields.anything("signals"), "signals", now_s)]
    changes.append(prepared_looking(
        manager._continuous, fields.group("looking"), sensors.table.ids, sources.table.ids, now_s
    ))
    changes += _prepared_others(manager, fields, now_s)
    sources.table.views = read_views(fields.group("views"), manager._modalities)
    fields.end()

    def change() -> None:
        manager._rays_asked = rays_asked
        load_shares()
        for name, of_it in failures.items():
            manager.faults.put_failures((manager, name), of_it)
        for here, loaded in ((manager._sensors, sensors), (manager._sources, sources)):
            vars(here).update(vars(loaded.table))
        manager._clues.collect(manager._sources)
        for one in changes:
            one()

    return change


def _read_failures(fields: Fields) -> Failures:
    found = Failures.read(fields)
    fields.end()
    return found


def _prepared_others(manager: RegionalSenseManager, fields: Fields, now_s: float) -> list[Change]:
    """Return what loads dulled senses, weather and trails."""
    sensitivity = manager._sensitivity.loaded(fields, "sensitivity")
    travel = _read_travel(manager, fields.group("changed_modalities"))

    def change() -> None:
        manager._sensitivity = sensitivity
        for name, (range_m, kept_per_m) in travel.items():
            manager.change_modality(name, range_m=range_m, kept_per_m=kept_per_m)

    smelling = manager._smelling
    if (smelling is None) != (fields.anything("smelling") is None):
        fields.refuse("smelling", "must be saved if, and only if, the sense manager has scent_trails")
    if smelling is None:
        return [change]
    load_smelling = Part().prepare(smelling, fields.anything("smelling"), fields.place_of("smelling"))
    return [change, load_smelling]


def _read_travel(manager: RegionalSenseManager, fields: Fields) -> dict[str, tuple[float, float]]:
    """Return range and share kept per metre of every modality: as saved if it was changed, else as made."""
    travel = {one.name: (one.range_m, one.kept_per_m) for one in manager._modalities.at_first}
    for name in fields.names():
        one = fields.group(name)
        if name not in travel:
            fields.refuse(name, f"must be one of {sorted(travel)}")
        travel[name] = (
            one.number("range_m", minimum=1e-9), one.number("kept_per_m", minimum=0, maximum=1)
        )
        one.end()
    return travel


def _check_between_frames(manager: RegionalSenseManager) -> None:
    if manager._is_advancing:
        raise RuntimeError("a listener is being called; save and load between two frames")


def _modality_names(manager: RegionalSenseManager) -> list[str]:
    modalities = manager._sensors._modalities
    return [modalities[number].name for number in range(len(modalities))]
