"""The state of a polling station: the answers it keeps.

Topics are not made by loading; they are there already, found by their code.
"""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from ai_core.errors import UnknownNameError
from ai_core.saving.fields import MOST, Fields, State, StateError, brief

if TYPE_CHECKING:
    from ai_core.events.polling_station import PollingStation

__all__ = ["prepared_station", "saved_station"]

VERSION = 1

COUNTS = ("hits", "misses", "computations", "failures")

Answers = OrderedDict[tuple[Hashable, ...], tuple[Any, int, int]]


class _SavedTopic(NamedTuple):
    code: str
    counts: dict[str, int]
    answers: Answers
    failures_in_a_row: int
    is_quarantined: bool


def saved_station(station: PollingStation) -> State:
    """Return the state of a polling station while it computes nothing."""
    _check_at_rest(station)
    return {
        "version": VERSION,
        "now": list(station.clock.now),
        "topics": [_saved_topic(station, code) for code in station.codes],
    }


def prepared_station(station: PollingStation, state: object) -> Callable[[], None]:
    """Check a state against the topics that are here; return what loads it."""
    _check_at_rest(station)
    fields = Fields.versioned(state, version=VERSION)
    fields.moment("now")
    saved = [_read_topic(station, one) for one in fields.groups("topics")]
    if len({one.code for one in saved}) < len(saved):
        fields.refuse("topics", "holds a topic twice")
    fields.end()

    def change() -> None:
        for one in saved:
            topic = station._topics[one.code]
            for name, count in one.counts.items():
                setattr(topic, name, count)
            topic.answers = one.answers
            while len(topic.answers) > topic.maximum_keys:
                topic.answers.popitem(last=False)
            station.faults.put_failures(
                (station, one.code), one.failures_in_a_row, is_quarantined=one.is_quarantined
            )

    return change


def _check_at_rest(station: PollingStation) -> None:
    if station._computing:
        raise RuntimeError("an answer is being computed; save and load between two frames")


def _saved_topic(station: PollingStation, code: str) -> State:
    topic = station._topics[code]
    failures, is_quarantined = station.faults.failures_of((station, code))
    rows = []
    for key, (answer, frame, until) in topic.answers.items():
        try:
            row = [station.values.plain([*key], "key"), station.values.plain(answer, "answer")]
        except StateError:
            continue  # it is only a cache: what cannot be saved is computed anew
        rows.append([*row, frame, None if until > MOST else until])
    return {
        "code": code,
        "counts": {name: getattr(topic, name) for name in COUNTS},
        "answers": rows,
        "failures_in_a_row": failures,
        "is_quarantined": is_quarantined,
    }


def _read_topic(station: PollingStation, fields: Fields) -> _SavedTopic:
    code = fields.text("code")
    if code not in station.codes:
        unknown = UnknownNameError("topic", code, station.codes)
        fields.refuse("code", f"is wrong here: {unknown}; add the topic before loading")
    totals = fields.group("counts")
    counts = {name: totals.whole(name) for name in COUNTS}
    totals.end()
    topic = _SavedTopic(
        code, counts, _read_answers(station, fields),
        fields.whole("failures_in_a_row"), fields.flag("is_quarantined"),
    )
    fields.end()
    return topic


def _read_answers(station: PollingStation, fields: Fields) -> Answers:
    answers: Answers = OrderedDict()
    for index, row in enumerate(fields.items("answers")):
        place = f"answers[{index}]"
        if not isinstance(row, list) or len(row) != 4:
            fields.refuse(place, f"must be [key, answer, frame, until], got {brief(row)}")
        one = Fields(
            dict(zip(("key", "answer", "frame", "until"), row, strict=True)),
            fields.place_of(place),
        )
        key = tuple(station.values.value(one.items("key"), one.place_of("key")))
        try:
            is_new = key not in answers
        except TypeError as error:
            one.refuse("key", f"cannot be a key: {error}")
        if not is_new:
            one.refuse("key", "comes twice")
        frame = one.whole("frame")
        until = None if one.anything("until") is None else one.whole("until", minimum=frame)
        answer = station.values.value(one.anything("answer"), one.place_of("answer"))
        answers[key] = (answer, frame, station.forever if until is None else until)
    return answers
