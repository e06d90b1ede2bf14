"""One sensor's mind: it remembers, grows aware, and tells its owner."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ai_core.clock import TimeIndex
from ai_core.errors import shown
from ai_core.faults import FaultIsolation
from ai_core.senses.awareness import Awareness, AwarenessSettings, LevelChange
from ai_core.senses.memory import MemoryChange, SenseMemory
from ai_core.senses.sensation import Sensation
from ai_core.senses.showing import Shown

__all__ = ["Listeners", "Perceiver"]


@dataclass(frozen=True)
class Listeners:
    """Whom a sensor tells what; None is not told.

    Raises:
        TypeError: if one is neither callable nor None.
    """

    on_sensed: Callable[[Sensation], object] | None = None
    on_gained: Callable[[MemoryChange], object] | None = None
    on_lost: Callable[[MemoryChange], object] | None = None
    on_forgotten: Callable[[MemoryChange], object] | None = None
    on_awareness_changed: Callable[[LevelChange], object] | None = None

    def __post_init__(self) -> None:
        for name, listener in vars(self).items():
            if listener is not None and not callable(listener):
                raise TypeError(f"{name} must be a callable or None, got {shown(listener)}")


class Perceiver:
    """What a sensor makes of its sensations.

    Memory and awareness change first, then listeners are told, so that a
    listener that asks finds what it is told about.

    Args:
        sensor_id: whose mind it is.
        listeners: whom it tells.
        memory: where it remembers, or None.
        awareness: how it grows aware, or None.
        faults: where a listener that raises is reported.
    """

    def __init__(
        self,
        sensor_id: int,
        listeners: Listeners,
        memory: SenseMemory | None,
        awareness: AwarenessSettings | None,
        faults: FaultIsolation,
    ) -> None:
        self.sensor_id = sensor_id
        self.memory = memory
        self._awareness = awareness
        self._listeners = listeners
        self._faults = faults
        self.meters: dict[int, Awareness] = {}

    @property
    def listener_names(self) -> tuple[str, ...]:
        """What its listeners are called: "on_sensed" and so on."""
        return tuple(vars(self._listeners))

    @property
    def is_busy(self) -> bool:
        """True while something is remembered or a meter is not at rest."""
        return bool(self.meters) or (self.memory is not None and len(self.memory) > 0)

    def notice(self, sensation: Sensation, now: TimeIndex) -> None:
        """Take in what is sensed once: a signal that arrived."""
        changes = self._remember(sensation)
        levels: list[LevelChange] = []
        if self._awareness is not None:
            meter = self._meter(sensation.source_id, self._awareness, now)
            levels = meter.startle(sensation.intensity, now.seconds)
        self._tell_of(changes, now)
        self._tell("on_sensed", sensation, now)
        self._tell_levels(levels, now)

    def look(self, shown: Sequence[Shown], told: Sequence[Sensation], now: TimeIndex) -> None:
        """Take in all that shows itself now, and let time pass.

        Args:
            shown: all of it, each followed by memory and awareness.
            told: what the listener is to be told of it.
            now: this moment.
        """
        changes: list[MemoryChange] = []
        memory = self.memory
        if memory is not None:
            for target, modality, intensity, position, is_seen, _, _ in shown:
                changes += memory.sense(
                    target, modality, intensity, position, now.seconds, is_seen=is_seen
                )
            changes += memory.advance(now.seconds)
            changes.sort(key=lambda change: (change.at_s, change.target))
        levels = self._grow_aware(shown, now)
        self._tell_of(changes, now)
        for sensation in told:
            self._tell("on_sensed", sensation, now)
        self._tell_levels(levels, now)

    def new_meter(self, target: int, now_s: float) -> Awareness | None:
        """Return a meter as this sensor has them, or None if it does not grow aware."""
        return None if self._awareness is None else Awareness(self._awareness, target, now_s)

    def forget_all(self) -> None:
        """Drop every memory and meter, which is no change to be told of."""
        self.meters = {}
        if self.memory is not None:
            self.memory.forget_all()

    def failures_of(self, listener_name: str) -> tuple[int, bool]:
        """Return how often a listener failed in a row, and whether it is quarantined."""
        return self._faults.failures_of((self, listener_name))

    def put_failures(self, listener_name: str, in_a_row: int, *, is_quarantined: bool) -> None:
        """Set what ``failures_of`` returns."""
        self._faults.put_failures(
            (self, listener_name), in_a_row, is_quarantined=is_quarantined
        )

    def release(self) -> None:
        """Let listeners that were quarantined be told again."""
        for name in vars(self._listeners):
            self._faults.release((self, name))

    def retire(self) -> None:
        """Tell nobody anything more: the sensor was removed."""
        self.release()
        self._listeners = Listeners()

    def _remember(self, sensation: Sensation) -> list[MemoryChange]:
        if self.memory is None:
            return []
        return self.memory.sense(
            sensation.source_id, sensation.modality, sensation.intensity, sensation.position,
            sensation.at, sent_at_s=sensation.sent_at,
        )

    def _grow_aware(self, shown: Sequence[Shown], now: TimeIndex) -> list[LevelChange]:
        if self._awareness is None:
            return []
        visible: dict[int, float] = {}
        for target, _, intensity, *_ in shown:
            visible[target] = max(intensity, visible.get(target, 0.0))
        for target in visible:
            self._meter(target, self._awareness, now)
        levels: list[LevelChange] = []
        for target, meter in sorted(self.meters.items()):
            levels += meter.expose(visible.get(target, 0.0), now.seconds)
            if meter.is_at_rest:
                del self.meters[target]
        levels.sort(key=lambda change: (change.at_s, change.target))
        return levels

    def _meter(self, target: int, settings: AwarenessSettings, now: TimeIndex) -> Awareness:
        if target not in self.meters:
            self.meters[target] = Awareness(settings, target, now.seconds)
        return self.meters[target]

    def _tell_of(self, changes: Sequence[MemoryChange], now: TimeIndex) -> None:
        for change in changes:
            self._tell(f"on_{change.kind}", change, now)

    def _tell_levels(self, levels: Sequence[LevelChange], now: TimeIndex) -> None:
        for level in levels:
            self._tell("on_awareness_changed", level, now)

    def _tell(self, name: str, what: object, now: TimeIndex) -> None:
        listener = getattr(self._listeners, name)
        key = (self, name)
        if listener is None or self._faults.is_quarantined(key):
            return
        try:
            listener(what)
        except Exception as error:  # a listener's fault must not deafen the others
            self._faults.failed(key, f"{name} of sensor {self.sensor_id}", now.frame, error)
        else:
            self._faults.succeeded(key)
