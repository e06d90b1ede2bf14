"""Snapshots: the state of many parts at one time, as plain data and as text."""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError, check_type, shown
from ai_core.saving.fields import State, StateError, brief, check_names, check_version, checked_dict, refuse
from ai_core.saving.inner_state import is_saveable
from ai_core.saving.plain_data import (
    FEWER,
    MAXIMUM_DEPTH,
    MAXIMUM_VALUES,
    DuplicateKeys,
    JsonConstant,
    check_plain,
    room_after,
)

__all__ = [
    "MAXIMUM_CHARACTERS",
    "MAXIMUM_DEPTH",
    "MAXIMUM_VALUES",
    "PartFailedError",
    "SnapshotError",
    "SnapshotPart",
    "from_json",
    "restore",
    "take",
    "to_json",
]

FORMAT = "ai_core snapshot"
VERSION = 1

MAXIMUM_CHARACTERS = 32_000_000
"""Longest text that is read or written (characters).

Nine times the size of a large game: 500 guards with senses, memories and habits take
2 kB each, and 5 kB more if each has a random generator. A larger limit lets a damaged
or hostile file use up memory and seconds.
"""

CARELESS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors that a part outside this library may raise instead of StateError; the message still names the part."""


class SnapshotError(StateError):
    """A snapshot cannot be taken or restored; the message names the part and the place."""


class PartFailedError(SnapshotError):
    """Parts failed while their checked states were applied.

    Args:
        failures: the exception of each failed part, by its name.
        restored: names of the parts that have their saved state now.
        then: the resulting state of the parts, for the message.
    """

    def __init__(self, failures: Mapping[str, Exception], restored: Sequence[str], then: str) -> None:
        self.failures = dict(failures)
        self.restored = tuple(restored)
        named = "; ".join(f"{name}: {_described(error)}" for name, error in [*failures.items()][:3])
        more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
        super().__init__(f"{named}{more}: failed while the checked state was applied; {then}")


class SnapshotPart(Protocol):
    """Interface of a part that can be saved and restored."""

    def save_state(self) -> State:
        """Return the state as plain data, with its "version"."""
        ...

    def prepare_state(self, state: Any) -> Callable[[], object]:
        """Check a state completely, change nothing, and return a function that applies it.

        Raises:
            StateError: if the state cannot be loaded; the message gives the place and the reason.
        """
        ...


def take(parts: Mapping[str, SnapshotPart]) -> State:
    """Return the state of all parts; call it between two frames.

    Args:
        parts: the objects to save, by name; ``restore`` needs the same names.

    Raises:
        SnapshotError: if a part is not saveable, or its state is not plain data; the
            message names the part and the place.
        TypeError: if a name is no string.
        RuntimeError: if a part is in the middle of a frame.
    """
    states = {}
    for name, part in parts.items():
        check_type("a name in parts", name, str)
        _check_saveable(name, part)
        try:
            states[name] = part.save_state()
        except (StateError, TypeError) as error:
            raise SnapshotError(f"{name}: {error}") from error
        except CARELESS as error:
            raise SnapshotError(f"{name}: {type(error).__name__}: {error}") from error
    for problem in _not_plain(states).values():
        raise problem
    return {"format": FORMAT, "version": VERSION, "parts": states}


def restore(
    snapshot: Mapping[str, object], parts: Mapping[str, SnapshotPart], *, skip_broken: bool = False,
    roll_back: bool = False,
) -> dict[str, str]:
    """Restore all parts to their saved states; return the skipped parts and the reasons.

    All states are checked completely before the first part is changed.

    Args:
        snapshot: the result of ``take``.
        parts: the same parts, by the same names.
        skip_broken: skip a part whose state cannot be read, that is not among ``parts`` or not
            in the snapshot, and restore the others. A skipped part keeps its state. A clock is
            never skipped: the states of the other parts refer to its time.
        roll_back: take a snapshot of ``parts`` first, and restore it if a part fails while
            its state is applied.

    Returns:
        The reason, by name, for each part that was skipped, or that failed while its state
        was applied; always empty without ``skip_broken``.

    Raises:
        SnapshotError: if a state cannot be restored; the message names the part and the
            place. Nothing is changed then.
        PartFailedError: if a part raised an exception while its state was applied. With
            ``skip_broken`` alone it is not raised; with ``roll_back`` it is always raised,
            after all parts were rolled back.

    Cost: that of the parts; ``roll_back`` adds one ``take``.
    """
    states = _states_in(snapshot)
    problems = _strangers(states, parts, skip_broken=skip_broken)
    not_plain = _not_plain({name: states[name] for name in parts if name in states})
    changes: dict[str, Callable[[], object]] = {}
    for name, part in parts.items():
        if name in states:
            try:
                if name in not_plain:
                    raise not_plain[name]
                changes[name] = _prepared(name, part, states[name])
            except SnapshotError as error:
                if not skip_broken:
                    raise
                problems[name] = error
    problems |= _wrong_moments(states, {name: parts[name] for name in changes})
    reasons = {name: str(problem).removeprefix(f"{name}: ") for name, problem in problems.items()}
    used = {id(getattr(one, "clock", None)) for one in parts.values()}
    clocks = {name for name, part in parts.items() if isinstance(part, ManualClock) or id(part) in used}
    for name, reason in reasons.items():
        if not skip_broken or name in clocks:
            raise SnapshotError(f"{name}: {reason}") from problems[name]
        changes.pop(name, None)
    chosen = {name: parts[name] for name in changes}
    before = _taken_first(chosen) if roll_back else None
    failures = _make(changes)
    if failures and before is not None:
        raise _put_back(before, chosen, failures) from next(iter(failures.values()))
    if failures and not skip_broken:
        restored = [name for name in changes if name not in failures]
        then = f"it may be partly changed; the other {len(restored)} parts were restored"
        raise PartFailedError(failures, restored, then) from next(iter(failures.values()))
    return reasons | {
        name: f"failed while its state was applied, and may be partly changed: {_described(error)}"
        for name, error in failures.items()
    }


def to_json(snapshot: State) -> str:
    """Return a snapshot as JSON text; floats are restored from it bit for bit.

    Raises:
        SnapshotError: if it is not plain data, or larger than the limits of ``from_json``.
    """
    _check_plain(snapshot)
    text = json.dumps(snapshot, allow_nan=False, separators=(",", ":"))
    _check_size(text)
    return text


def from_json(text: str) -> State:
    """Return the snapshot in a JSON text; check that it is plain data within the size limits.

    The content is checked by ``restore``.

    Raises:
        SnapshotError: if the text is not valid JSON, too long, nested too deeply or has too
            many values, or if it has a duplicate key, NaN or an infinity; the message gives
            the place.
    """
    if not isinstance(text, str):
        raise SnapshotError(f"the text of a snapshot must be a string, got {brief(text)}")
    _check_size(text)
    try:
        snapshot = json.loads(text, object_pairs_hook=_pairs, parse_constant=JsonConstant)
    except RecursionError:
        raise SnapshotError(
            f"the text is nested deeper than {MAXIMUM_DEPTH}, so it is no snapshot; load a text of to_json()") from None
    except ValueError as error:
        raise SnapshotError(f"the text is not valid JSON: {error}; load a text of to_json(), complete") from None
    _check_plain(snapshot)
    if not isinstance(snapshot, dict):
        raise SnapshotError(f"a snapshot must be a dict, got {brief(snapshot)}")
    return snapshot


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen = set()
    twice = DuplicateKeys(found)
    for key, _ in pairs:
        if key in seen:
            twice.key = key
        seen.add(key)
    return twice


def _check_size(text: str) -> None:
    if len(text) > MAXIMUM_CHARACTERS:
        raise SnapshotError(f"a snapshot must hold at most {MAXIMUM_CHARACTERS} characters, got {len(text)}")
    values = sum(map(text.count, ",[{"))
    if values > MAXIMUM_VALUES:
        raise SnapshotError(f"a snapshot must hold at most {MAXIMUM_VALUES} values, got {values}; {FEWER}")


def _states_in(snapshot: object) -> dict[str, Any]:
    try:
        fields = checked_dict("", snapshot)
        if fields.get("format") != FORMAT:
            refuse("format", f"must be {FORMAT!r}; this is not an ai_core snapshot")
        check_version("", fields, VERSION)
        check_names("", fields, ("format", "version", "parts"))
        states = checked_dict("parts", fields["parts"])
        if not all(type(name) is str for name in states):
            refuse("parts", "must have only strings as keys")
    except SnapshotError:
        raise
    except StateError as error:
        raise SnapshotError(f"snapshot: {error}") from error
    return states


def _check_saveable(name: str, part: object) -> None:
    if not is_saveable(part):
        raise SnapshotError(f"{name}: must be an object with save_state and prepare_state, got {shown(part)}")


def _check_plain(snapshot: object) -> None:
    try:
        check_plain(snapshot)
    except StateError as error:
        raise SnapshotError(str(error)) from None


def _not_plain(states: Mapping[str, object]) -> dict[str, SnapshotError]:
    """Return an error for each part whose state is not plain data, or holds more values than the rest may."""
    problems: dict[str, SnapshotError] = {}
    if room_after(states) is None:      # all at once is faster than one by one
        room = MAXIMUM_VALUES
        for name, state in states.items():
            try:
                room = check_plain(state, room)
            except StateError as error:
                problems[name] = SnapshotError(f"{name}: {error}")
    return problems


def _prepared(name: str, part: SnapshotPart, state: object) -> Callable[[], object]:
    _check_saveable(name, part)
    try:
        change = part.prepare_state(state)
    except StateError as error:
        raise SnapshotError(f"{name}: {error}") from error
    except CARELESS as error:
        raise SnapshotError(f"{name}: {type(error).__name__}: {error}") from error
    if not callable(change):
        raise SnapshotError(
            f"{name}: prepare_state must return the function that applies the state, got {shown(change)}"
        )
    return change


def _strangers(
    states: Mapping[str, Any], parts: Mapping[str, SnapshotPart], *, skip_broken: bool
) -> dict[str, SnapshotError]:
    """Return an error for each part that is only in the snapshot or only in ``parts``; raise the first otherwise."""
    gone = [name for name in states if name not in parts]
    if gone and not skip_broken:      # a hint is for one name: it takes as long as there are names
        unknown = UnknownNameError("part", gone[0], parts)
        raise SnapshotError(f"{unknown}; it is in the snapshot but not among the parts: add it before loading")
    new = [name for name in parts if name not in states]
    if new and not skip_broken:
        raise SnapshotError(f"{new[0]}: is not in the snapshot; leave it out of the parts to keep its state")
    return {
        **dict.fromkeys(gone, SnapshotError("is not among the parts")),
        **dict.fromkeys(new, SnapshotError("is not in the snapshot")),
    }


def _wrong_moments(states: Mapping[str, Any], parts: Mapping[str, SnapshotPart]) -> dict[str, SnapshotError]:
    """Return an error for each part whose saved time differs from the time of its clock.

    Only a part that has a ``clock`` and saves its ``now`` is checked.
    """
    names = {id(part): name for name, part in parts.items()}
    found = {}
    for name, part in parts.items():
        clock, now = getattr(part, "clock", None), _now_in(states[name])
        if clock is None or now is None:
            continue
        if id(clock) in names:
            then = _now_in(states[names[id(clock)]])
            what = f"but {names[id(clock)]!r} is at {then}: they were saved at different times"
        elif hasattr(clock, "prepare_state"):
            then = list(clock.now)
            what = f"but its clock is at {then}; include the clock among the parts"
        else:
            continue
        if now != then:
            found[name] = SnapshotError(f"{name}: 'now' is {now}, {what}")
    return found


def _now_in(state: object) -> object:
    return state.get("now") if isinstance(state, dict) else None


def _make(changes: Mapping[str, Callable[[], object]]) -> dict[str, Exception]:
    """Apply all changes, even if one raises; return the exception of each failed part."""
    failures: dict[str, Exception] = {}
    for name, change in changes.items():
        try:
            change()
        except Exception as error:  # reported when the others are made
            failures[name] = error
    return failures


def _taken_first(parts: Mapping[str, SnapshotPart]) -> State:
    try:
        return take(parts)
    except SnapshotError as error:
        raise SnapshotError(f"roll_back needs a snapshot of the present state, which failed: {error}") from error


def _put_back(before: State, parts: Mapping[str, SnapshotPart], failures: Mapping[str, Exception]) -> PartFailedError:
    """Restore the states before loading; return the error to raise."""
    try:
        restore(before, parts)
    except SnapshotError as error:
        return PartFailedError(failures, (), f"rolling back failed, too: {error}")
    return PartFailedError(failures, (), "all parts were rolled back to their previous states")


def _described(error: Exception) -> str:
    return str(error) if isinstance(error, StateError) else f"{type(error).__name__}: {error}"
