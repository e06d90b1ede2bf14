"""The state of signals under way: what was emitted, and whom it will reach when."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from ai_core.saving.fields import LATEST_S, Fields, State, brief
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.source_table import ALL_AFFILIATIONS
from ai_core.senses.stimuli.emitted_signals import EmittedSignals
from ai_core.senses.stimuli.muffled_lines import PendingLine
from ai_core.senses.stimuli.signal_fronts import StimulusFront
from ai_core.senses.stimuli.signal_queue import Arrival, Signal, SignalQueue

__all__ = ["prepared_signals", "saved_signals"]

Entry = tuple[float, int, int, Signal, list[Arrival]]


def saved_signals(emitted: EmittedSignals) -> State:
    """Return signals in the order of their next arrivals; of each, the latest first."""
    emitted.settle()
    modalities = emitted._modalities
    entries = sorted(emitted._queue._next, key=lambda entry: entry[:3])
    return {
        "sent": emitted.sent,
        "under_way": [
            {**_saved_signal(signal, modalities), "arrivals": [list(one) for one in arrivals]}
            for *_, signal, arrivals in entries
        ],
        "arrived": [
            {**_saved_signal(signal, modalities), "arrivals": [list(arrival)]}
            for signal, arrival in emitted._arrived
        ],
        "lines": [
            {**_saved_signal(line.signal, modalities), "arrivals": [list(line.arrival)],
             "start": list(line.start), "end": list(line.end)}
            for line in emitted.lines.waiting
        ],
        "fronts": [
            {**_saved_signal(front.signal, modalities), "arrivals": [],
             "drift_m": list(front.drift_m), "passed": sorted(front.passed)}
            for front in emitted.fronts.fronts
        ],
        "followed": emitted.fronts.followed,
        "noise": emitted.noise.save_state(),
        "wind": emitted.wind.save_state(),
    }


def prepared_signals(
    emitted: EmittedSignals, fields: Fields, latest_s: float
) -> Callable[[], None]:
    """Check saved signals; return what loads them."""
    modalities = emitted._modalities
    sent = fields.whole("sent")
    queue = SignalQueue()
    for one in fields.groups("under_way"):
        signal, arrivals = _read_signal(one, modalities, sent, latest_s)
        if not arrivals:
            one.refuse("arrivals", "must hold at least one")
        due_s, sensor_id = arrivals[-1][:2]
        if queue._next and (due_s, sensor_id, signal.order) < queue._next[-1][:3]:
            one.refuse("arrivals", "must not be due before earlier items: signals are sorted by due time")
        queue._push(signal, arrivals)
    arrived: deque[tuple[Signal, Arrival]] = deque()
    for one in fields.groups("arrived"):
        signal, arrivals = _read_signal(one, modalities, sent, latest_s)
        if len(arrivals) != 1:
            one.refuse("arrivals", "must hold exactly one")
        arrived.append((signal, arrivals[0]))
    lines = deque(_read_line(one, modalities, sent, latest_s) for one in fields.groups("lines"))
    fronts = [_read_front(one, modalities, sent, latest_s) for one in fields.groups("fronts")]
    followed = fields.whole("followed", maximum=len(fronts))
    noise = emitted.noise.loaded(fields.group("noise"))
    wind = emitted.wind.loaded(fields.group("wind"), latest_s)
    fields.end()

    def change() -> None:
        emitted.sent, emitted._queue, emitted._arrived, emitted.waiting = sent, queue, arrived, []
        emitted._offered = None
        emitted.lines.waiting = lines
        emitted.fronts.fronts, emitted.fronts.followed = fronts, followed
        emitted.noise, emitted.wind = noise, wind

    return change


def _saved_signal(signal: Signal, modalities: ModalitySet) -> dict[str, Any]:
    return {
        **signal._asdict(),
        "modality": modalities[signal.modality].name,
        "position": list(signal.position),
    }


def _read_line(fields: Fields, modalities: ModalitySet, sent: int, latest_s: float) -> PendingLine:
    start, end = fields.point("start"), fields.point("end")
    signal, arrivals = _read_signal(fields, modalities, sent, latest_s)
    if len(arrivals) != 1:
        fields.refuse("arrivals", "must hold exactly one")
    return PendingLine(signal, arrivals[0], start, end)


def _read_front(fields: Fields, modalities: ModalitySet, sent: int, latest_s: float) -> StimulusFront:
    drift_m = fields.point("drift_m")
    passed = set(fields.wholes("passed", maximum=LARGEST_ID))
    signal, _ = _read_signal(fields, modalities, sent, latest_s)
    if not modalities[signal.modality].is_slow:
        fields.refuse("modality", "must be a slow modality")
    return StimulusFront(signal, drift_m, passed)


def _read_signal(
    fields: Fields, modalities: ModalitySet, sent: int, latest_s: float
) -> tuple[Signal, list[Arrival]]:
    names = [modalities[number].name for number in range(len(modalities))]
    signal = Signal(
        order=fields.whole("order", maximum=sent - 1),
        source_id=fields.whole("source_id", maximum=LARGEST_ID),
        modality=names.index(fields.one_of("modality", tuple(names))),
        strength=fields.number("strength", minimum=0),
        position=fields.point("position"),
        sent_at_s=fields.seconds("sent_at_s", latest_s=latest_s),
        affiliation=fields.whole("affiliation", maximum=ALL_AFFILIATIONS),
        tag=fields.text("tag"),
        channel=fields.text("channel"),
    )
    arrivals = []
    for index, row in enumerate(fields.items("arrivals")):
        place = fields.place_of(f"arrivals[{index}]")
        if not isinstance(row, list) or len(row) != len(Arrival._fields):
            fields.refuse(f"arrivals[{index}]", f"must be [due, sensor, distance, intensity, share kept,"
                                                f" is final], got {brief(row)}")
        one = Fields(dict(zip(Arrival._fields, row, strict=True)), place)
        arrivals.append(Arrival(
            one.number("due_s", minimum=-LATEST_S, maximum=LATEST_S),
            one.whole("sensor_id", maximum=LARGEST_ID),
            one.number("distance_m", minimum=0),
            one.number("intensity", minimum=0),
            one.number("kept", minimum=0, maximum=1),
            one.flag("is_final"),
        ))
    if any(later[:2] < sooner[:2] for later, sooner in pairwise(arrivals)):
        fields.refuse("arrivals", "must be sorted by descending due time and sensor")
    fields.end()
    return signal, arrivals
