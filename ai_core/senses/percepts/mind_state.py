"""The state of what sensors make of their sensations: memories and awareness meters."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ai_core.faults import NO_FAILURES, Failures
from ai_core.saving.fields import LATEST_S, MOST, Fields, State
from ai_core.senses.sensation import Sensation

if TYPE_CHECKING:
    from ai_core.senses.percepts.awareness import Awareness
    from ai_core.senses.percepts.memory import SenseMemory
    from ai_core.senses.percepts.perceiver import SensorMind
    from ai_core.senses.percepts.remembered import KnownTarget

__all__ = [
    "prepared_memory",
    "prepared_meter",
    "prepared_mind",
    "saved_memory",
    "saved_meter",
    "saved_mind",
]

MEMORY_VERSION = 1
METER_VERSION = 1


def saved_memory(memory: SenseMemory) -> State:
    """Return what is remembered; how long it lasts belongs to the program."""
    return {"version": MEMORY_VERSION, "known": [_saved_record(one) for one in memory._known.values()]}


def prepared_memory(
    memory: SenseMemory, state: object, *, place: str = "", latest_s: float = LATEST_S
) -> Callable[[], None]:
    """Check a saved memory; return what loads it."""
    fields = Fields.versioned(
        state, version=MEMORY_VERSION, place=place
    )
    known = {}
    for one in fields.groups("known"):
        record = _read_record(one, latest_s)
        if record.target in known:
            one.refuse("target", f"comes twice: {record.target}")
        known[record.target] = record
    fields.end()

    def change() -> None:
        memory.replace(known)  # and forget what time it was: a loaded game may go back

    return change


def saved_meter(meter: Awareness) -> State:
    """Return where a meter stands, and the straight line it moves along."""
    return {
        "version": METER_VERSION,
        "target": meter.target,
        "value": meter.value,
        "level": meter.level,
        "visibility": meter.visibility,
        "line_from": list(meter._line_from),
        "reacts_at_s": list(meter._reacts_at_s),
        "shown": dict(meter._shown),
        "stimulus_gain": dict(meter._startled),
    }


def prepared_meter(
    meter: Awareness, state: object, *, place: str = "", latest_s: float = LATEST_S
) -> Callable[[], None]:
    """Check a saved meter; return what loads it."""
    fields = Fields.versioned(
        state, version=METER_VERSION, place=place
    )
    target = fields.whole("target", minimum=-MOST)
    value = fields.number("value", minimum=0, maximum=1)
    level = fields.whole("level", maximum=len(meter.settings.levels))
    visibility = fields.number("visibility", minimum=0)
    begun_s, begun = fields.numbers("line_from", count=2)
    if not -LATEST_S <= begun_s <= latest_s or not 0 <= begun <= 1:
        fields.refuse("line_from", f"must be a time (s) and a value from 0 to 1, got"
                                   f" {[begun_s, begun]}")
    reacts_at_s = fields.numbers("reacts_at_s", minimum=-LATEST_S)
    if len(reacts_at_s) > len(meter.settings.levels) - level or reacts_at_s != sorted(reacts_at_s):
        fields.refuse("reacts_at_s", "must rise, and hold at most one time per higher level")
    shown, stimulus_gain = (_read_strengths(fields.group(name)) for name in ("shown", "stimulus_gain"))
    fields.end()

    def change() -> None:
        meter.target, meter._value, meter.level = target, value, level
        meter._visibility, meter._line_from = visibility, (begun_s, begun)
        meter._reacts_at_s, meter._shown, meter._startled = reacts_at_s, shown, stimulus_gain
        meter._now_s = -math.inf  # a loaded game may go back in time

    return change


def saved_mind(perceiver: SensorMind) -> State:
    """Return memory, meters and failing listeners of one sensor."""
    perceiver.catch_up()
    failing = {name: perceiver.failures_of(name) for name in perceiver.listener_names}
    return {
        "memory": None if perceiver.memory is None else perceiver.memory.save_state(),
        "meters": [saved_meter(meter) for meter in perceiver.meters.values()],
        "in_view": sorted(perceiver.in_view),
        "last_sensation": None if perceiver.last_sensation is None else _saved_sensation(perceiver.last_sensation),
        "failing": {name: list(one) for name, one in failing.items() if one != NO_FAILURES},
    }


def prepared_mind(perceiver: SensorMind, fields: Fields, latest_s: float) -> Callable[[], None]:
    """Check a saved mind against the sensor it belongs to; return what loads it."""
    changes: list[Callable[[], object]] = []
    memory = fields.anything("memory")
    if memory is not None and perceiver.memory is None:
        fields.refuse("memory", "was saved, but the current sensor has no memory")
    if memory is not None and perceiver.memory is not None:
        changes.append(prepared_memory(
            perceiver.memory, memory, place=fields.place_of("memory"), latest_s=latest_s
        ))
    meters: dict[int, Awareness] = {}
    for index, state in enumerate(fields.items("meters")):
        place = f"{fields.place_of('meters')}[{index}]"
        meter = perceiver.new_meter(0, 0.0)
        if meter is None:
            fields.refuse("meters", "were saved, but the current sensor has no awareness")
        prepared_meter(meter, state, place=place, latest_s=latest_s)()  # of a new one
        if meter.target in meters:
            fields.refuse("meters", f"hold the target {meter.target} twice")
        meters[meter.target] = meter
    in_view = frozenset(fields.wholes("in_view"))
    failing = _read_failing(fields.group("failing"), perceiver.listener_names)
    last = None
    if fields.anything("last_sensation") is not None:
        last = _read_sensation(fields.group("last_sensation"), latest_s)
    fields.end()

    def change() -> None:
        for one in changes:
            one()
        perceiver.put_meters(meters, in_view)
        perceiver.last_sensation = last
        for name in perceiver.listener_names:
            perceiver.put_failures(name, failing.get(name, NO_FAILURES))

    return change


def _saved_sensation(sensation: Sensation) -> State:
    plain = sensation._asdict()
    del plain["sensor_id"]           # whose it is says the place
    return {**plain, "position": list(sensation.position)}


def _read_sensation(fields: Fields, latest_s: float) -> Sensation:
    found = Sensation(
        0, fields.whole("source_id", minimum=-MOST), fields.text("modality"), fields.number("intensity", minimum=0),
        fields.point("position"), fields.seconds("sent_at", latest_s=latest_s),
        fields.seconds("at", latest_s=latest_s), fields.text("tag"))
    fields.end()
    return found


def _read_failing(fields: Fields, listener_names: tuple[str, ...]) -> Mapping[str, Failures]:
    failing = {}
    for name in fields.names():
        if name not in listener_names:
            fields.refuse(name, f"must be one of {', '.join(listener_names)}")
        row = fields.items(name, count=2)
        failing[name] = Failures.read(Fields(Failures(*row).saved(), fields.place_of(name)))
    return failing


def _saved_record(record: KnownTarget) -> State:
    seen = record._last_seen_position
    return {
        "target": record.target,
        "first_sensed_s": record.first_sensed_s,
        "last_sensed_s": record._last_sensed_s,
        "noticed_s": record._noticed_s,
        "last_known_position": list(record._last_known_position),
        "known_at_s": record._known_at_s,
        "first_seen_s": record.first_seen_s,
        "last_seen_position": None if seen is None else list(seen),
        "last_seen_s": record._last_seen_s,
        "velocity": list(record._velocity),
        "is_noticed": record.is_noticed,
        "is_expired": record.is_expired,
        "strengths": dict(record._strengths),
        "sensed_at_s": dict(record._sensed_at_s),
    }


def _read_record(fields: Fields, latest_s: float) -> KnownTarget:
    from ai_core.senses.percepts.remembered import KnownTarget

    record = KnownTarget(
        fields.whole("target", minimum=-MOST),
        fields.seconds("first_sensed_s", latest_s=latest_s),
        fields.point("last_known_position"),
        fields.seconds("known_at_s", latest_s=latest_s),
    )
    record._last_sensed_s = fields.seconds("last_sensed_s", latest_s=latest_s)
    record._noticed_s = fields.seconds("noticed_s", latest_s=record._last_sensed_s)
    if fields.anything("last_seen_position") is not None:
        record._last_seen_position = fields.point("last_seen_position")
        record._last_seen_s = fields.seconds("last_seen_s", latest_s=latest_s)
        record.first_seen_s = fields.seconds("first_seen_s", latest_s=latest_s)
    else:
        for name in ("first_seen_s", "last_seen_s"):
            if fields.anything(name) is not None:
                fields.refuse(name, "must be None without a last seen position")
    record._velocity = fields.point("velocity")
    record.is_noticed, record.is_expired = fields.flag("is_noticed"), fields.flag("is_expired")
    sensed_at = fields.group("sensed_at_s")
    record._strengths = _read_strengths(fields.group("strengths"))
    if not record._strengths or set(record._strengths) != set(sensed_at.names()):
        fields.refuse("sensed_at_s", "must have the modalities of strengths, at least one")
    for name in record._strengths:
        record._sensed_at_s[name] = sensed_at.seconds(name, latest_s=latest_s)
    fields.end()
    return record


def _read_strengths(fields: Fields) -> dict[str, float]:
    """Return numbers by modality."""
    return {name: fields.number(name, minimum=0) for name in fields.names()}
