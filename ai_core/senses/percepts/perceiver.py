"""One sensor's mind: it remembers, grows aware, and tells its owner."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ai_core.clock import TimeIndex
from ai_core.errors import shown
from ai_core.faults import Failures, FaultIsolation
from ai_core.senses.percepts.awareness import Awareness, AwarenessReasons, AwarenessSettings, LevelChange
from ai_core.senses.percepts.in_view import VisibleTarget
from ai_core.senses.percepts.memory import MemoryChange, SenseMemory
from ai_core.senses.sensation import Point, Sensation

__all__ = ["Listeners", "PerceptionHost", "SensorMind"]


@dataclass(frozen=True)
class Listeners:
    """Whom a sensor tells what; None is not told.

    Args:
        listens: asked before ``on_sensed`` is called: if False, it is not; None is always True.

    Raises:
        TypeError: if one is neither callable nor None.
    """

    on_sensed: Callable[[Sensation], object] | None = None
    on_gained: Callable[[MemoryChange], object] | None = None
    on_lost: Callable[[MemoryChange], object] | None = None
    on_forgotten: Callable[[MemoryChange], object] | None = None
    on_awareness_changed: Callable[[LevelChange], object] | None = None
    on_expired: Callable[[MemoryChange], object] | None = None
    on_reported: Callable[[MemoryChange], object] | None = None
    listens: Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        for name, listener in vars(self).items():
            if listener is not None and not callable(listener):
                raise TypeError(f"{name} must be a callable or None, got {shown(listener)}")


class PerceptionHost(Protocol):
    """Where perceivers live: it moves on, in arrays, what stays in view of them."""

    @property
    def now(self) -> TimeIndex:
        """This moment."""

    def settle(self, perceiver: SensorMind) -> None:
        """Bring a perceiver's memory and meters up to date."""

    def stop_following(self, perceiver: SensorMind) -> None:
        """Learn that somebody changed a perceiver's memory or meters: look at it anew."""

    def reset(self) -> None:
        """Learn that a saved game was loaded."""

    def take_last_sensation(self, sensor_id: int) -> Sensation | None:
        """Return what a sensor was told since this was asked last, the newest of it; None if nothing."""


class SensorMind:
    """What a sensor makes of its sensations.

    Memory and awareness change first, then listeners are told, so that a
    listener that asks finds what it is told about.

    Args:
        sensor_id: whose mind it is.
        listeners: whom it tells.
        memory: where it remembers, or None.
        awareness: how it grows aware, or None.
        faults: where a listener that raises is reported.

    Attributes:
        meters: by target.
        in_view: targets that showed themselves at the last look.
        looked_s: when memory and meters were last up to date (s).
        owns_memory: False if the memory is another sensor's as well.
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
        self.in_view: frozenset[int] = frozenset()
        self.looked_s = -math.inf
        self.owns_memory = memory is None or memory.belong_to(self)
        self.home: PerceptionHost | None = None
        self._last_told: Sensation | None = None
        # What it does itself to memory and meters needs nobody's attention.
        self._is_at_work = False

    @property
    def last_sensation(self) -> Sensation | None:
        """The newest sensation that it was told, or would have been if it listened."""
        newer = None if self.home is None else self.home.take_last_sensation(self.sensor_id)
        if newer is not None:
            self._last_told = newer
        return self._last_told

    @last_sensation.setter
    def last_sensation(self, sensation: Sensation | None) -> None:
        if self.home is not None:
            self.home.take_last_sensation(self.sensor_id)      # which is older
        self._last_told = sensation

    @property
    def is_mindless(self) -> bool:
        """True if it neither remembers nor grows aware: it only tells what it senses."""
        return self.memory is None and self._awareness is None

    @property
    def grows_aware(self) -> bool:
        """True if it has a meter for each target that it senses."""
        return self._awareness is not None

    @property
    def listener_names(self) -> tuple[str, ...]:
        """What its listeners are called: "on_sensed" and so on."""
        return tuple(name for name in vars(self._listeners) if name != "listens")

    @property
    def listens(self) -> bool:
        """Whether somebody is told what it senses."""
        listeners, faults = self._listeners, self._faults
        if listeners.on_sensed is None or listeners.listens is None:
            return listeners.on_sensed is not None
        key = (self, "listens")
        if faults.has_quarantined and faults.is_quarantined(key):
            return True
        try:
            found = bool(listeners.listens())
        except Exception as error:  # who cannot say is told
            frame = 0 if self.home is None else self.home.now.frame
            faults.failed(key, f"listens of sensor {self.sensor_id}", frame, error)
            return True
        if faults.has_failing:
            faults.succeeded(key)
        return found

    def needs_looks(self, now_s: float) -> bool:
        """Return True if it must be looked at in every pass."""
        if self.in_view or (self.memory is not None and not self.owns_memory):
            return True
        return self.memory is not None and bool(self.memory.followed_freely(now_s))

    def next_change_s(self) -> float:
        """Return when something happens to what is not in view (s); ``inf`` if nothing."""
        memory, in_view = self.memory, self.in_view
        next_s = math.inf if memory is None else memory.next_change_s(in_view)
        for target, meter in self.meters.items():
            at_s = meter.next_reaction_s() if target in in_view else meter.next_change_s()
            next_s = min(next_s, at_s)
        return next_s

    def notice(self, sensation: Sensation, now: TimeIndex) -> Awareness | None:
        """Take in what is sensed once: a signal that arrived; return the meter it raised."""
        self.catch_up()
        self._is_at_work = True
        changes = self._remember(sensation)
        levels: list[LevelChange] = []
        meter = None
        if self._awareness is not None:
            meter = self._meter(sensation.source_id, self._awareness, now)
            levels = meter.add_stimulus(sensation.intensity, now.seconds, sensation.modality)
        self._is_at_work = False
        self.tell(changes, now)
        self.tell_sensed([sensation], now)
        self._tell_levels(levels, now)
        return meter

    def look(
        self,
        shown: Sequence[VisibleTarget],
        told: Sequence[Sensation],
        now: TimeIndex,
        place_of: Callable[[int], Point | None],
    ) -> None:
        """Take in all that shows itself now, and let time pass.

        Args:
            shown: all of it, each followed by memory and awareness.
            told: what the listener is to be told of it.
            now: this moment.
            place_of: says where a target is (m), None if it has gone.
        """
        self.catch_up()
        self._is_at_work = True
        changes: list[MemoryChange] = []
        memory, before = self.memory, self.in_view
        self.in_view = frozenset([one.target for one in shown])
        if memory is not None:
            for one in shown:
                if one.target in before:
                    memory.hold(one.target, now.seconds)
                changes += memory.sense(
                    one.target, one.modality, one.intensity, one.position, now.seconds,
                    is_seen=one.is_seen,
                )
            changes += memory.advance(now.seconds)
            changes.sort(key=lambda change: (change.at_s, change.target))
            for target in memory.followed_freely(now.seconds):
                place = None if target in self.in_view else place_of(target)
                if place is not None:
                    memory.follow(target, place, now.seconds)
        levels = self._grow_aware(shown, now)
        self.looked_s = now.seconds
        self._is_at_work = False
        self.tell(changes, now)
        self.tell_sensed(told, now)
        self._tell_levels(levels, now)

    def why(self, target: int) -> AwarenessReasons | None:
        """Return what makes it as aware of a target as it is; None if not at all."""
        meter = self.meters.get(target)
        return None if meter is None else meter.why()

    def new_meter(self, target: int, now_s: float) -> Awareness | None:
        """Return a meter as this sensor has them, or None if it does not grow aware."""
        return None if self._awareness is None else Awareness(self._awareness, target, now_s)

    def put_meters(self, meters: Mapping[int, Awareness], in_view: frozenset[int]) -> None:
        """Have these meters and no others, as a saved game has them."""
        for meter in self.meters.values():
            meter._mind = None
        for meter in meters.values():
            meter._mind = self
        self.meters, self.in_view = dict(meters), in_view
        self.last_sensation = None
        self.looked_s = -math.inf
        if self.home is not None:
            self.home.reset()

    def forget_all(self) -> None:
        """Drop every memory and meter, which is no change to be told of."""
        if self.memory is not None:
            self.memory.forget_all()
        self.put_meters({}, frozenset())

    def let_pass(self, now_s: float) -> None:
        """Let time pass in which nothing happens to it."""
        self.looked_s = now_s
        for meter in self.meters.values():
            meter.drift(now_s)

    def catch_up(self) -> None:
        """Bring memory and meters up to date with what stayed in view."""
        if self.home is not None and not self._is_at_work:
            self.home.settle(self)

    def was_changed(self) -> None:
        """Learn that somebody else changed the memory or a meter."""
        if self.home is not None and not self._is_at_work:
            self.home.stop_following(self)

    def failures_of(self, listener_name: str) -> Failures:
        """Return how a listener fails."""
        return self._faults.failures_of((self, listener_name))

    def put_failures(self, listener_name: str, failures: Failures) -> None:
        """Set what ``failures_of`` returns."""
        self._faults.put_failures((self, listener_name), failures)

    def release(self) -> None:
        """Let listeners that were quarantined be told again."""
        for name in vars(self._listeners):
            self._faults.release((self, name))

    def retire(self) -> None:
        """Tell nobody anything more: the sensor was removed."""
        self.release()
        self._listeners = Listeners()
        self.home = None
        if self.memory is not None and self.owns_memory:
            self.memory.belong_to_nobody()

    def tell(self, changes: Sequence[MemoryChange], now: TimeIndex | None = None) -> None:
        """Tell listeners of changes of the memory.

        Args:
            changes: in order.
            now: this moment, None for what it is where the perceiver lives.
        """
        if now is None and self.home is not None:
            now = self.home.now
        if now is not None:
            for change in changes:
                self._tell(f"on_{change.kind}", change, now)

    def tell_sensed(self, told: Sequence[Sensation], now: TimeIndex) -> None:
        """Tell the listener of sensations."""
        if told:
            self.last_sensation = told[-1]
            if self.listens:
                for sensation in told:
                    self._tell("on_sensed", sensation, now)

    def _remember(self, sensation: Sensation) -> list[MemoryChange]:
        if self.memory is None:
            return []
        return self.memory.sense(
            sensation.source_id, sensation.modality, sensation.intensity, sensation.position,
            sensation.at, sent_at_s=sensation.sent_at,
        )

    def _grow_aware(self, shown: Sequence[VisibleTarget], now: TimeIndex) -> list[LevelChange]:
        if self._awareness is None:
            return []
        visible: dict[int, dict[str, float]] = {}
        for one in shown:
            visible.setdefault(one.target, {})[one.modality] = one.intensity
        for target in visible:
            self._meter(target, self._awareness, now)
        levels: list[LevelChange] = []
        for target, meter in sorted(self.meters.items()):
            by_modality = visible.get(target, {})
            levels += meter.expose(max(by_modality.values(), default=0.0), now.seconds, by_modality)
            if meter.is_at_rest:
                meter._mind = None
                del self.meters[target]
        levels.sort(key=lambda change: (change.at_s, change.target))
        return levels

    def _meter(self, target: int, settings: AwarenessSettings, now: TimeIndex) -> Awareness:
        if target not in self.meters:
            meter = self.meters[target] = Awareness(settings, target, now.seconds)
            meter._mind = self
        return self.meters[target]

    def _tell_levels(self, levels: Sequence[LevelChange], now: TimeIndex) -> None:
        for level in levels:
            self._tell("on_awareness_changed", level, now)

    def _tell(self, name: str, what: object, now: TimeIndex) -> None:
        listener = getattr(self._listeners, name)
        if listener is None:
            return
        faults = self._faults
        if faults.has_quarantined and faults.is_quarantined((self, name)):
            return
        try:
            listener(what)
        except Exception as error:  # a listener's fault must not deafen the others
            faults.failed((self, name), f"{name} of sensor {self.sensor_id}", now.frame, error)
        else:
            if faults.has_failing:
                faults.succeeded((self, name))
