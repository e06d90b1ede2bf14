"""Queries to a sense manager: what a sensor senses and remembers, and why."""
from __future__ import annotations

from ai_core.clock import Clock
from ai_core.errors import shown
from ai_core.senses.clues import Clues
from ai_core.senses.modality import ModalitySet
from ai_core.senses.percepts.awareness import Awareness
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.percepts.perception import Perception
from ai_core.senses.scent.scent_trails import ScentMark, TrailSmelling
from ai_core.senses.sensation import Sensation
from ai_core.senses.sense_reasons import FactorsBetween, SenseReasons
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.continuous_sensing import ContinuousSensing
from ai_core.senses.sight.pairs_in_view import ids_of, key_of
from ai_core.senses.sight.query_ages import PASSES_TIMED
from ai_core.senses.sight.visibility import Visibility
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stage_shares import StageShares
from ai_core.senses.stimuli.emitted_signals import EmittedSignals

__all__ = ["SenseQueries"]


class SenseQueries:
    """The part of ``RegionalSenseManager`` that answers queries."""

    clock: Clock
    maximum_rays: int
    _modalities: ModalitySet
    _sensors: SensorTable
    _sources: SourceTable
    _perception: Perception
    _continuous: ContinuousSensing
    _visibility: Visibility
    _emitted: EmittedSignals
    _shares: StageShares
    _clues: Clues
    _smelling: TrailSmelling | None
    _rays_asked: int

    def memory_of(self, sensor_id: int) -> SenseMemory | None:
        """Return a sensor's memory, or None if it has none."""
        return self._perception.memory_of(self._known_sensor(sensor_id))

    def awareness_of(self, sensor_id: int, target: int) -> Awareness | None:
        """Return how aware a sensor is of a target; None if it is not aware of it."""
        return self._perception.awareness_of(self._known_sensor(sensor_id), target)

    def last_sensation(self, sensor_id: int) -> Sensation | None:
        """Return the newest sensation of a sensor, also if it has no listener.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        return self._perception.last_sensation(self._known_sensor(sensor_id))

    def sensed_by(self, sensor_id: int, modality_name: str = "sight") -> list[int]:
        """Return the ids of the sources that a sensor senses now in a continuous modality, ascending."""
        self._known_sensor(sensor_id)
        pairs = self._continuous.pairs.get(self._modalities.number(modality_name))
        if pairs is None:
            raise ValueError(
                f"modality_name must be a continuous modality, got {shown(modality_name)};"
                " an emitted signal is sensed once: look it up in memory_of"
            )
        _, found = ids_of(pairs.keys[pairs.sensed_by(sensor_id)])
        known: list[int] = found[self._sources.ids.are_known(found)].tolist()
        return known

    def seen_parts(self, sensor_id: int, source_id: int, modality_name: str = "sight") -> tuple[str, ...]:
        """Return the names of the parts of a source that a sensor saw at its last line of sight query.

        None for a source without parts, or one that is not seen.

        Raises:
            UnknownNameError: if an id or the modality is unknown.
        """
        if source_id not in self.sensed_by(sensor_id, modality_name):
            self._sources.ids.slot(source_id)
            return ()
        number = self._modalities.number(modality_name)
        bits = self._sources.views.parts(number, key_of(sensor_id, source_id))
        return () if bits is None else self._visibility.names_of(source_id, bits)

    def why(self, sensor_id: int, target: int) -> SenseReasons:
        """Return why a sensor senses a target as it does, or does not; for tools and for hints.

        Args:
            sensor_id: the sensor.
            target: id of a source, which may have been removed.

        Raises:
            UnknownNameError: if the sensor is unknown.

        Cost: that of a signal of each emitted modality; no ray is traced.
        """
        self._known_sensor(sensor_id)
        factors = {}
        if self._sources.ids.knows(target):
            occlusion = FactorsBetween(
                self._modalities, self._sensors, self._sources, self._continuous, self._emitted,
                self._visibility.names_of)
            factors = {
                self._modalities[number].name: occlusion.of(number, sensor_id, target)
                for number in range(len(self._modalities))
            }
        return SenseReasons(int(sensor_id), int(target), factors, self._perception.why(int(sensor_id), int(target)))

    def track(self, sensor_id: int, scent: int | None = None) -> ScentMark | None:
        """Return the newest mark of a scent trail that a sensor smells at its position.

        Moving to the mark and calling this again follows the trail to the source that left it.

        Args:
            sensor_id: the sensor.
            scent: id of the source to track; None for any source but its own.

        Raises:
            UnknownNameError: if the sensor is unknown.
            RuntimeError: if the manager was made without ``scent_trails``.
        """
        slot = self._sensors.ids.slot(sensor_id)
        if self._smelling is None:
            raise RuntimeError("the sense manager has no scent trails; pass scent_trails to its constructor")
        return self._smelling.track(slot, scent, self.clock.now.seconds)

    def statistics(self) -> dict[str, float]:
        """Return counts, and how well the rays keep up with the pairs in view, by name.

        - ``sensors``, ``sources``, ``clues``, ``arrivals_under_way``, ``slow_signals``,
          ``scent_marks``, ``pairs_in_view`` (which take turns for a ray): current counts.
        - ``arrivals_given_up``: total of signals at sensors that were dropped because occlusion
          had no ray for them in time; a higher ``maximum_rays`` prevents that.
        - ``stimuli_waiting``: signals that have not begun: new ones, and those that wait for the budget.
        - ``stimuli_merged``, ``stimuli_dropped``: totals of signals, and of signals at sensors, that merged
          with an earlier one of their source and channel because it had waited, or were dropped because
          they came too late; a larger budget prevents that.
        - ``rays_asked``: rays of the last advance, those of the background included.
        - ``passes``: completed passes over all pairs; one per advance while the budget suffices.
        - ``oldest_query_passes``, ``oldest_query_s``: how long the pair with the longest wait has
          waited by now.
        - ``longest_wait_passes``, ``longest_wait_s``: the longest wait of any pair so far.
        - ``advances_until_all_are_asked``: the current upper bound on the wait, in passes.
        - ``noticed_within_s``: the same in seconds, at the pace of the slowest of the last
          passes: a target in view that is not hidden is noticed within this time.
        """
        continuous = self._continuous
        pairs_at_once = max(1, self.maximum_rays // self._visibility.most_rays_per_pair)
        bound = continuous.passes_until_noticed(continuous.ages.fewest(pairs_at_once))
        now_s, ages = self.clock.now.seconds, continuous.ages
        slowest_pass_s = max(ages.slowest_pass_s, ages.age_s(ages.new, now_s))      # or the one under way
        # Interrupted, a pass may have come by a sensor just before a target comes into its view.
        passes = bound + (self._shares.uncut[1] < PASSES_TIMED)
        return {
            "sensors": len(self._sensors.ids),
            "sources": len(self._sources.ids),
            "clues": len(self._clues),
            **self._emitted.statistics(),
            "scent_marks": 0 if self._smelling is None else len(self._smelling.trails),
            "pairs_in_view": continuous.pairs_needing_rays,
            "rays_asked": self._rays_asked,
            "passes": continuous.ages.passes,
            "oldest_query_passes": continuous.oldest_query_passes,
            "oldest_query_s": continuous.oldest_query_s(now_s),
            "longest_wait_passes": continuous.ages.longest_wait_passes,
            "longest_wait_s": continuous.ages.longest_wait_s,
            "advances_until_all_are_asked": bound,
            "noticed_within_s": passes * slowest_pass_s,
        }

    def _known_sensor(self, sensor_id: int) -> int:
        """Return the id of a sensor; raise UnknownNameError if it is not in use."""
        self._sensors.ids.slot(sensor_id)
        return int(sensor_id)
