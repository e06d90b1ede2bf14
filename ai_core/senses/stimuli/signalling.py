"""Sending signals, such as sounds, smells and hits; wind and background noise."""
from __future__ import annotations

from ai_core.clock import Clock
from ai_core.errors import finite_number, point, shown
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.sight_loops import plain_signal
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.emitted_signals import EmittedSignals
from ai_core.senses.stimuli.signal import Signal

__all__ = ["StimulusEmitter"]


class StimulusEmitter:
    """The part of ``RegionalSenseManager`` that sends signals."""

    clock: Clock
    _modalities: ModalitySet
    _sensors: SensorTable
    _sources: SourceTable
    _emitted: EmittedSignals

    def emit(
        self,
        source_id: int,
        modality_name: str,
        strength: float | None = None,
        position: object = None,
        *,
        tag: str | None = None,
        channel: str = "",
    ) -> None:
        """Send a signal that travels and is sensed once, such as a sound.

        Args:
            source_id: the source that emits it.
            modality_name: an emitted modality.
            strength: at its origin, 0 or more; None for the strength of the source.
            position: its origin (m); None for the position of the source.
            tag: kind of signal, for listeners; None for the tag of the source.
            channel: of the signals of a source on the same channel that reach a sensor in an
                advance, only the last is reported; "" for none.

        Raises:
            TypeError: if a number, string or position is of another type.
            ValueError: if a value is out of range, the modality is continuous, or
                the source has no strength in it.
            UnknownNameError: if the source or the modality is unknown.

        Cost: O(1) here. Signals emitted while no sensor moves are offered
            together: O(sensors) for each, below 1 ns for a sensor far away.
        """
        emitted = self._emitted
        signal = None if tag is not None else plain_signal(
            self._sources.voices, emitted.sent, source_id, modality_name, strength, position, self.clock.now.seconds,
            channel)
        emitted.take(signal or self._signal(
            source_id, self._emitted_number(source_id, modality_name), strength, position, tag, channel))

    def act(
        self, source_id: int, action: str, modality_name: str = "hearing", position: object = None
    ) -> None:
        """Emit the signal of an action with the strength that the source has for it.

        The action is the tag and the channel of the signal: footsteps replace footsteps.

        Raises:
            UnknownNameError: if the source, its action or the modality is unknown.
            TypeError, ValueError: as ``emit``.
        """
        level = self._sources.level_of(source_id, action)
        self.emit(source_id, modality_name, level, position, tag=action, channel=action)

    def touch(
        self,
        sensor_id: int,
        source_id: int,
        modality_name: str = "touch",
        strength: float = 1.0,
        position: object = None,
        *,
        tag: str | None = None,
    ) -> None:
        """Deliver a collision, hit or damage to one sensor.

        The signal takes the normal signal path: threshold, affiliation and memory count, and it
        is delivered in the next advance. Any modality is allowed.

        Args:
            sensor_id: the sensor that is hit.
            source_id: the cause.
            modality_name: modality of the signal.
            strength: how strong it is, 0 or more.
            position: where it happened (m); None for the position of the source.
            tag: kind of signal: "collision", "damage"; None for the tag of the source.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is invalid.
        """
        self._sensors.ids.slot(sensor_id)
        number = self._modalities.number(modality_name)
        self._emitted.touch(self._signal(source_id, number, strength, position, tag, ""), sensor_id)

    def set_wind(self, velocity: object) -> None:
        """Set the wind: slow signals, such as smells, drift with it.

        Args:
            velocity: direction and speed (m/s), 3 or 2 coordinates.

        Raises:
            TypeError, ValueError: if it is not a velocity.
        """
        self._emitted.wind.set(velocity, self.clock.now.seconds)

    def add_noise(self, modality_name: str, level: float, position: object = None) -> int:
        """Add a background noise, which masks signals that are weaker than it at the sensor.

        Args:
            modality_name: an emitted modality.
            level: at its origin, or everywhere; 0 or more.
            position: its origin (m), from which it weakens; None for everywhere.

        Returns:
            An id for ``remove_noise``.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is invalid.

        Cost: O(noises) for each signal at a sensor.
        """
        return self._emitted.noise.add(modality_name, level, position)

    def remove_noise(self, noise_id: int) -> None:
        """Remove a background noise.

        Raises:
            UnknownNameError: if no noise has this id.
        """
        self._emitted.noise.remove(noise_id)

    def _emitted_number(self, source_id: int, modality_name: str) -> int:
        """Return the number of an emitted modality, and keep in ``voices`` what its signals have from their source."""
        sources, number = self._sources, self._modalities.number(modality_name)
        slot = sources.ids.slot(source_id)
        if self._modalities[number].is_continuous:
            raise ValueError(
                f"modality_name must be an emitted modality, got {shown(modality_name)}, which is"
                " continuous; change the strength of the source in that modality instead"
            )
        sources.voices[int(source_id), modality_name] = (
            number, int(sources.affiliation[slot]), sources.details_of(source_id).tag)
        return number

    def _signal(
        self, source_id: int, number: int, strength: float | None, position: object, tag: str | None, channel: str,
    ) -> Signal:
        """Return a signal of a source; everything is checked. Its place is rounded as places of sensors are."""
        sources, slot = self._sources, self._sources.ids.slot(source_id)
        if strength is not None:
            strength = finite_number("strength", strength, minimum=0)
        elif (strength := float(sources.strength[slot, number])) < 0:
            raise ValueError(
                f"strength must be a number, got None: source {source_id} has no strength"
                f" in {self._modalities[number].name!r}"
            )
        tag = sources.details_of(source_id).tag if tag is None else tag
        for name, text in (("tag", tag), ("channel", channel)):
            if not isinstance(text, str):
                raise TypeError(f"{name} must be a string, got {shown(text)}")
        x, y, z = (sources.position[slot] if position is None else point("position", position)).tolist()
        return Signal(
            self._emitted.sent, int(source_id), number, strength, (x, y, z), self.clock.now.seconds,
            int(sources.affiliation[slot]), tag, channel)
