"""Sending signals: sounds, smells, blows; and what they go through: wind and noise."""
from __future__ import annotations

from array import array
from math import inf, isfinite

from ai_core.clock import Clock
from ai_core.errors import finite_number, point, shown
from ai_core.senses.emitted_signals import EmittedSignals
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.signal_queue import Signal
from ai_core.senses.source_table import SourceTable

__all__ = ["Signalling"]


class Signalling:
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
        slot = self._sources.ids.slot(source_id)
        number = self._modalities.number(modality_name)
        if self._modalities[number].is_continuous:
            raise ValueError(
                f"modality_name must be one that is emitted, got {modality_name!r}, which is"
                " looked for all the time; change the strength of the source in it instead"
            )
        if strength is None:
            strength = float(self._sources.strength[slot, number])
            if strength < 0:
                raise ValueError(
                    f"strength must be given: source {source_id} has none of its own"
                    f" in {modality_name!r}"
                )
        elif type(strength) is not float or not 0 <= strength < inf:
            strength = finite_number("strength", strength, minimum=0)
        place, affiliation, tag = self._origin(slot, source_id, position, tag, channel)
        now_s = self.clock.now.seconds
        self._emitted.emit(int(source_id), affiliation, number, strength, place, now_s, tag, channel)

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
        place, affiliation, tag = self._origin(slot, source_id, position, tag, "")
        now_s = self.clock.now.seconds
        signal = Signal(0, int(source_id), number, strength, place, now_s, affiliation, tag)
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

    def _origin(
        self, slot: int, source_id: int, position: object, tag: str | None, channel: str
    ) -> tuple[Point, int, str]:
        """Return from where and from whom a signal comes, and what it is called; everything is checked."""
        tag = self._sources.details_of(source_id).tag if tag is None else tag
        if not (type(tag) is str and type(channel) is str):
            for name, text in (("tag", tag), ("channel", channel)):
                if not isinstance(text, str):
                    raise TypeError(f"{name} must be a text, got {shown(text)}")
        x, y, z = self._sources.position[slot].tolist() if position is None else _place(position)
        return (x, y, z), int(self._sources.affiliation[slot]), tag


def _place(position: object) -> list[float]:
    """Return three coordinates, rounded as those of sensors are; the common case first."""
    if type(position) is tuple and len(position) == 3:
        x, y, z = position
        if type(x) is type(y) is type(z) is float:
            rounded = array("f", position).tolist()
            if isfinite(rounded[0] + rounded[1] + rounded[2]):
                return rounded
    found: list[float] = point("position", position).tolist()
    return found
