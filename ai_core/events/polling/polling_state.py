"""Saving of a polling station: cached answers and waiting queries.

Loading creates no topics; they must exist before, and are identified by code. The
cache lifetime of a loaded answer is that of the present topic.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ai_core.clock import TimeIndex
from ai_core.errors import UnknownNameError
from ai_core.events.polling.polling_topic import EXPIRED, Kept, Key, Topic
from ai_core.faults import Failures
from ai_core.saving.fields import Fields, State, StateError, brief

if TYPE_CHECKING:
    from ai_core.events.polling.polling_station import PollingStation

__all__ = ["prepared_station", "saved_station"]

VERSION = 1

COUNTS = ("hits", "misses", "computations", "failures", "stale", "refused")


class _SavedTopic(NamedTuple):
    topic: Topic
    counts: dict[str, int]
    kept: dict[Key, Kept]
    failures: Failures


def saved_station(station: PollingStation) -> State:
    """Return the state of a polling station while it computes nothing."""
    _check_at_rest(station)
    waiting = []
    for topic, key in station._answering.waiting:
        try:
            waiting.append([topic.code, station.values.plain([*key], "key")])
        except StateError:
            continue  # the agent polls again
    return {
        "version": VERSION,
        "now": list(station.clock.now),
        "topics": [_saved_topic(station, topic) for topic in station._topics.values()],
        "waiting": waiting,
    }


def prepared_station(station: PollingStation, state: object) -> Callable[[], None]:
    """Check a state against the present topics; return a function that loads it."""
    _check_at_rest(station)
    fields = Fields.versioned(state, version=VERSION)
    fields.moment("now")
    saved = [_read_topic(station, one) for one in fields.groups("topics")]
    if len({one.topic for one in saved}) < len(saved):
        fields.refuse("topics", "must not contain a topic twice")
    waiting = _read_waiting(station, fields)
    fields.end()

    def change() -> None:
        for topic, counts, kept, failures in saved:
            for name, count in counts.items():
                setattr(topic, name, count)
            topic.load(kept)
            station.faults.put_failures((station, topic.code), failures)
        station._answering.waiting.replace(waiting)

    return change


def _check_at_rest(station: PollingStation) -> None:
    if station._answering.computing.is_busy:
        raise RuntimeError("an answer is being computed; save and load between two frames")


def _saved_topic(station: PollingStation, topic: Topic) -> State:
    failures = station.faults.failures_of((station, topic.code))
    rows = []
    for key, (answer, computed_at, until) in topic.kept.items():
        try:
            row = [station.values.plain([*key], "key"), station.values.plain(answer, "answer")]
        except StateError:
            continue  # it is only a cache: an answer that cannot be saved is computed again
        rows.append([*row, [*computed_at], until == EXPIRED])
    return {
        "code": topic.code,
        "counts": {name: getattr(topic, name) for name in COUNTS},
        "answers": rows,
        "failures_in_a_row": failures.in_a_row,
        "is_quarantined": failures.is_quarantined,
    }


def _read_topic(station: PollingStation, fields: Fields) -> _SavedTopic:
    topic = _found(station, fields)
    totals = fields.group("counts")
    counts = {name: totals.whole(name) for name in COUNTS}
    totals.end()
    saved = _SavedTopic(
        topic, counts, _read_answers(station, topic, fields),
        Failures(fields.whole("failures_in_a_row"), fields.flag("is_quarantined")),
    )
    fields.end()
    return saved


def _found(station: PollingStation, fields: Fields) -> Topic:
    code = fields.text("code")
    topic = station._topics.get(code)
    if topic is None:
        unknown = UnknownNameError("topic", code, station.codes)
        fields.refuse("code", f"is not valid: {unknown}; add the topic before loading")
    return topic


def _read_key(station: PollingStation, topic: Topic, fields: Fields) -> Key:
    key = tuple(station.values.value(fields.items("key"), fields.place_of("key")))
    try:
        hash(key)
    except TypeError as error:
        fields.refuse("key", f"must be hashable: {error}")
    if topic.is_symmetric and len(key) != 2:
        fields.refuse("key", f"must be a pair, got {brief([*key])}")
    return key


def _read_answers(station: PollingStation, topic: Topic, fields: Fields) -> dict[Key, Kept]:
    kept: dict[Key, Kept] = {}
    for index, row in enumerate(fields.items("answers")):
        place = f"answers[{index}]"
        if not isinstance(row, list) or len(row) != 4:
            fields.refuse(place, f"must be [key, answer, computed_at, is_expired], got {brief(row)}")
        one = Fields(
            dict(zip(("key", "answer", "computed_at", "is_expired"), row, strict=True)),
            fields.place_of(place),
        )
        key = _read_key(station, topic, one)
        if key in kept or (topic.is_symmetric and key[::-1] in kept):
            one.refuse("key", "occurs twice")
        computed_at = TimeIndex(*one.moment("computed_at"))
        until = EXPIRED if one.flag("is_expired") else topic.until(computed_at)
        answer = station.values.value(one.anything("answer"), one.place_of("answer"))
        kept[key] = (answer, computed_at, until)
    return kept if topic.lifetime else {}


def _read_waiting(station: PollingStation, fields: Fields) -> list[tuple[Topic, Key]]:
    waiting = []
    for index, row in enumerate(fields.items("waiting")):
        place = f"waiting[{index}]"
        if not isinstance(row, list) or len(row) != 2:
            fields.refuse(place, f"must be [code, key], got {brief(row)}")
        one = Fields({"code": row[0], "key": row[1]}, fields.place_of(place))
        topic = _found(station, one)
        waiting.append((topic, _read_key(station, topic, one)))
    return waiting
