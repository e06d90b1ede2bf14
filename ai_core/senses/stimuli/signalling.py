"""Sending signals: sounds, smells, blows; and what they go through: wind and noise."""
from __future__ import annotations

import ai_core.senses.sight.sight_kernels as sight_kernels
from ai_core.clock import Clock
from ai_core.errors import finite_number, point, shown
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.emitted_signals import EmittedSignals
from ai_core.senses.stimuli.signal_queue import Signal

__all__ = ["StimulusEmitter"]


class StimulusEmitter:
    """What a ``RegionalSenseManager`` does with signals."""

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
            source_id: who emits it.
            modality_name: in what modality; not a continuous one.
            strength: at its origin, 0 or more; None for the source's own.
            position: its origin (m); None for where the source is.
            tag: what it is, for listeners; None for the source's own tag.
            channel: of signals of one source on one channel that reach a sensor
                in one advance only the last is told; "" for none.

        Raises:
            TypeError: if a number, text or position is of another type.
            ValueError: if one is out of range, the modality is continuous, or
                the source has no strength of its own in it.
            UnknownNameError: if the source or the modality is unknown.

        Cost: O(1) here. Signals emitted while no sensor moves are offered
            together: O(sensors near each) if they are many, else O(sensors).
        """
        emitted = self._emitted
        signal = None if tag is not None else sight_kernels.plain_signal(
            self._sources.voices, emitted.sent, source_id, modality_name, strength, position, self.clock.now.seconds,
            channel)
        emitted.take(signal or self._signal(source_id, modality_name, strength, position, tag, channel))

    def act(
        self, source_id: int, action: str, modality_name: str = "hearing", position: object = None
    ) -> None:
        """Emit the signal of an action at the level that the source has for it.

        The action is its tag and its channel: footsteps replace footsteps.

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
        """Tell one sensor what happened to it: a collision, a blow, damage.

        It goes the road of all signals: threshold, affiliation and memory count,
        and it is told in the next advance. Any modality will do.

        Args:
            sensor_id: whom it happened to.
            source_id: who or what did it.
            modality_name: by what sense.
            strength: how strong it was, 0 or more.
            position: where (m); None for where the source is.
            tag: what it was: "collision", "damage"; None for the source's own tag.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is wrong.
        """
        self._sensors.ids.slot(sensor_id)
        number = self._modalities.number(modality_name)
        strength = finite_number("strength", strength, minimum=0)
        slot = self._sources.ids.slot(source_id)
        tag = self._sources.details_of(source_id).tag if tag is None else tag
        _check_texts(tag, "")
        place, affiliation = self._origin(source_id, position), int(self._sources.affiliation[slot])
        signal = Signal(0, int(source_id), number, strength, place, self.clock.now.seconds, affiliation, tag)
        self._emitted.touch(signal, sensor_id)

    def blow(self, velocity: object) -> None:
        """Let the wind blow: slow signals, such as smells, drift with it.

        Args:
            velocity: where to, how fast (m/s), 3 or 2 coordinates.

        Raises:
            TypeError, ValueError: if it is no velocity.
        """
        self._emitted.wind.blow(velocity, self.clock.now.seconds)

    def add_noise(self, modality_name: str, level: float, position: object = None) -> int:
        """Let there be a background noise: what is weaker where the sensor is goes under.

        Args:
            modality_name: in what modality, an emitted one.
            level: at its origin, or everywhere; 0 or more.
            position: its origin (m), from where it weakens; None for everywhere.

        Returns:
            An id for ``remove_noise``.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is wrong.

        Cost: each signal at a sensor O(noises).
        """
        self._emitted.offer()
        return self._emitted.noise.add(modality_name, level, position)

    def remove_noise(self, noise_id: int) -> None:
        """Let a background noise end.

        Raises:
            UnknownNameError: if there is none of this id.
        """
        self._emitted.offer()
        self._emitted.noise.remove(noise_id)

    def _signal(
        self, source_id: int, modality_name: str, strength: float | None, position: object, tag: str | None,
        channel: str,
    ) -> Signal:
        """Return what ``emit`` is to send; everything is checked."""
        number, affiliation, own_tag = self._voice(source_id, modality_name)
        if strength is None:
            strength = self._own_strength(source_id, number)
        else:
            strength = finite_number("strength", strength, minimum=0)
        tag = own_tag if tag is None else tag
        _check_texts(tag, channel)
        return Signal(
            self._emitted.sent, int(source_id), number, strength, self._origin(source_id, position),
            self.clock.now.seconds, affiliation, tag, channel)

    def _voice(self, source_id: int, modality_name: str) -> tuple[int, int, str]:
        """Return what a signal has from its source, as ``SourceTable.voices`` keeps it; everything is checked."""
        sources = self._sources
        slot = sources.ids.slot(source_id)
        number = self._modalities.number(modality_name)
        if self._modalities[number].is_continuous:
            raise ValueError(
                f"modality_name must be one that is emitted, got {shown(modality_name)}, which is"
                " looked for all the time; change the strength of the source in it instead"
            )
        voice = number, int(sources.affiliation[slot]), sources.details_of(source_id).tag
        sources.voices[int(source_id), modality_name] = voice
        return voice

    def _own_strength(self, source_id: int, number: int) -> float:
        strength = float(self._sources.strength[self._sources.ids.slot(source_id), number])
        if strength < 0:
            raise ValueError(
                f"strength must be given: source {source_id} has none of its own"
                f" in {self._modalities[number].name!r}"
            )
        return strength

    def _origin(self, source_id: int, position: object) -> Point:
        """Return where a signal comes from, rounded as places of sensors are; it is checked."""
        if position is None:
            x, y, z = self._sources.position[self._sources.ids.slot(source_id)].tolist()
        else:
            x, y, z = point("position", position).tolist()
        return (x, y, z)


def _check_texts(tag: object, channel: object) -> None:
    for name, text in (("tag", tag), ("channel", channel)):
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a text, got {shown(text)}")
