"""Snapshots: the state of many parts at one moment, as plain data and as text.

``take`` asks each part for its state; ``restore`` checks every part's state to
the end before it changes the first of them; a part that fails all the same
while its state is applied is named, and can be put back. ``to_json`` and ``from_json`` are
for files: what they read may be damaged, and was perhaps written by somebody
else, so it is only ever data and never code, and has limits.
"""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError, shown
from ai_core.saving.fields import Fields, State, StateError, brief
from ai_core.saving.inner_state import is_saveable
from ai_core.saving.plain_data import MAXIMUM_DEPTH, MAXIMUM_VALUES, DuplicateKeys, JsonConstant, check_plain

__all__ = [
    "MAXIMUM_CHARACTERS",
    "MAXIMUM_DEPTH",
    "MAXIMUM_VALUES",
    "PartFailedError",
    "Saveable",
    "SnapshotError",
    "from_json",
    "restore",
    "take",
    "to_json",
]

FORMAT = "ai_core snapshot"
VERSION = 1

MAXIMUM_CHARACTERS = 32_000_000
"""Longest text that is read or written (characters).

Nine times a large game: 500 guards with senses, memories and habits take 2 kB
each, and 5 kB more where each draws from a generator of chance. More lets a
damaged or hostile file take memory and seconds.
"""

CARELESS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a part that is not ours may raise if it checks less carefully; its name is told all the same."""


class SnapshotError(StateError):
    """A snapshot that cannot be taken or restored; names the part and the place."""


class PartFailedError(SnapshotError):
    """Parts failed while their states, which had been checked, were applied.

    Args:
        failures: what each part raised, by its name.
        restored: names of the parts that have their saved state now.
        then: what became of the parts, for the message.
    """

    def __init__(self, failures: Mapping[str, Exception], restored: Sequence[str], then: str) -> None:
        self.failures = dict(failures)
        self.restored = tuple(restored)
        named = "; ".join(f"{name}: {_told(error)}" for name, error in [*failures.items()][:3])
        more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
        super().__init__(f"{named}{more}: failed while a checked state was applied; {then}")


class Saveable(Protocol):
    """What lives across frames; whoever has these two methods is saveable."""

    def save_state(self) -> State:
        """Return the state as plain data, with its "version"."""
        ...

    def prepare_state(self, state: Any) -> Callable[[], object]:
        """Check a state to the end, change nothing, and return what makes the change.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        ...


def take(parts: Mapping[str, Saveable]) -> State:
    """Return the state of all parts, between two frames.

    Args:
        parts: what is saved, by the name it will be restored by.

    Raises:
        SnapshotError: naming the part that is not saveable, or the place in it
            that is not plain data.
        RuntimeError: if a part is in the middle of a frame.
    """
    states, room = {}, MAXIMUM_VALUES
    for name, part in parts.items():
        _check_saveable(name, part)
        try:
            states[name] = part.save_state()
            room = check_plain(states[name], room)
        except (StateError, TypeError) as error:
            raise SnapshotError(f"{name}: {error}") from error
        except CARELESS as error:
            raise SnapshotError(f"{name}: {type(error).__name__}: {error}") from error
    return {"format": FORMAT, "version": VERSION, "parts": states}


def restore(
    snapshot: object, parts: Mapping[str, Saveable], *, skip_broken: bool = False, roll_back: bool = False
) -> dict[str, str]:
    """Put all parts back to where they were; return which parts were left out, and why.

    Every state is checked to the end before the first part is changed.

    Args:
        snapshot: what ``take`` returned.
        parts: the same parts, by the same names.
        skip_broken: leave out a part that cannot be read, that is not here or that is not in
            the snapshot, and restore the others. A part that is left out keeps its state. A
            clock is never left out: the states of the other parts refer to its time.
        roll_back: take a snapshot of ``parts`` first, and restore that one if a part fails
            while its state is applied.

    Returns:
        Why, by the name of each part that was left out, or that failed while its state was
        applied; always empty without ``skip_broken``.

    Raises:
        SnapshotError: naming the part and the place that is wrong; nothing is
            changed then.
        PartFailedError: if a part raised while its state was applied: not with
            ``skip_broken`` alone; always with ``roll_back``, after all were put back.

    Cost: that of the parts; ``roll_back`` adds one ``take``.
    """
    states = _states_in(snapshot)
    problems = _strangers(states, parts, skip_broken=skip_broken)
    changes: dict[str, Callable[[], object]] = {}
    room = MAXIMUM_VALUES
    for name, part in parts.items():
        if name in states:
            try:
                room = _checked(name, states[name], room)
                changes[name] = _prepared(name, part, states[name])
            except SnapshotError as error:
                if not skip_broken:
                    raise
                problems[name] = error
    problems |= _wrong_moments(states, {name: parts[name] for name in changes})
    reasons = {name: str(problem).removeprefix(f"{name}: ") for name, problem in problems.items()}
    for name, reason in reasons.items():
        if not skip_broken or _is_clock(parts.get(name), parts):
            raise SnapshotError(f"{name}: {reason}") from problems[name]
        changes.pop(name, None)
    chosen = {name: parts[name] for name in changes}
    before = _taken_first(chosen) if roll_back else None
    failures = _make(changes)
    if failures and before is not None:
        raise _put_back(before, chosen, failures) from next(iter(failures.values()))
    if failures and not skip_broken:
        restored = [name for name in changes if name not in failures]
        then = f"it may be changed in part, the other {len(restored)} parts were restored"
        raise PartFailedError(failures, restored, then) from next(iter(failures.values()))
    return reasons | {
        name: f"failed while its state was applied, and may be changed in part: {_told(error)}"
        for name, error in failures.items()
    }


def to_json(snapshot: State) -> str:
    """Return a snapshot as text; floats come back from it bit for bit.

    Raises:
        SnapshotError: if it is not plain data, or larger than ``from_json`` reads.
    """
    _checked("", snapshot)
    text = json.dumps(snapshot, allow_nan=False, separators=(",", ":"))
    _check_size(text)
    return text


def from_json(text: str) -> State:
    """Return the snapshot in a text; checks that it is data of a sane size.

    What it says is checked by ``restore``.

    Raises:
        SnapshotError: if it is no JSON, too long, too deep or holds too much, has
            a key twice, NaN or an infinity; with the place where that is so.
    """
    if not isinstance(text, str):
        raise SnapshotError(f"a snapshot's text must be text, got {brief(text)}")
    _check_size(text)
    try:
        snapshot = json.loads(text, object_pairs_hook=_pairs, parse_constant=JsonConstant)
    except RecursionError:
        raise SnapshotError(f"nested deeper than {MAXIMUM_DEPTH}") from None
    except ValueError as error:
        raise SnapshotError(f"this is no JSON: {error}") from None
    _checked("", snapshot)
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
        raise SnapshotError(f"a snapshot has at most {MAXIMUM_CHARACTERS} characters, got {len(text)}")
    values = sum(map(text.count, ",[{"))
    if values > MAXIMUM_VALUES:
        raise SnapshotError(f"a snapshot has at most {MAXIMUM_VALUES} values, got {values}")


def _states_in(snapshot: object) -> dict[str, Any]:
    try:
        fields = Fields(snapshot)
        if fields.text("format") != FORMAT:
            fields.refuse("format", f"must be {FORMAT!r}: this is no snapshot of ai_core")
        fields = Fields.versioned(snapshot, version=VERSION)
        fields.anything("format")
        states = fields.anything("parts")
        if not isinstance(states, dict):
            fields.refuse("parts", f"must be a dict, got {brief(states)}")
        if not all(type(name) is str for name in states):
            fields.refuse("parts", "must have text as keys alone")
        fields.end()
    except SnapshotError:
        raise
    except StateError as error:
        raise SnapshotError(f"snapshot: {error}") from error
    return states


def _check_saveable(name: str, part: object) -> None:
    if not is_saveable(part):
        raise SnapshotError(f"{name}: must be an object with save_state and prepare_state, got {shown(part)}")


def _checked(name: str, state: object, room: int = MAXIMUM_VALUES) -> int:
    """Return how many values more there may be; raise SnapshotError unless it is plain data."""
    try:
        return check_plain(state, room)
    except StateError as error:
        raise SnapshotError(f"{name}: {error}" if name else str(error)) from None


def _prepared(name: str, part: Saveable, state: object) -> Callable[[], object]:
    _check_saveable(name, part)
    try:
        change = part.prepare_state(state)
    except StateError as error:
        raise SnapshotError(f"{name}: {error}") from error
    except CARELESS as error:
        raise SnapshotError(f"{name}: {type(error).__name__}: {error}") from error
    if not callable(change):
        raise SnapshotError(
            f"{name}: prepare_state must return the function that makes the change, got {shown(change)}"
        )
    return change


def _strangers(
    states: Mapping[str, Any], parts: Mapping[str, Saveable], *, skip_broken: bool
) -> dict[str, SnapshotError]:
    """Return what is wrong with each part that is only in the snapshot, or only here; or raise it."""
    gone = [name for name in states if name not in parts]
    if gone and not skip_broken:      # a hint is for one name: it takes as long as there are names
        unknown = UnknownNameError("part", gone[0], parts)
        raise SnapshotError(f"{unknown}; it was saved and is not here: bring it before loading")
    new = [name for name in parts if name not in states]
    if new and not skip_broken:
        raise SnapshotError(f"{new[0]}: is not in the snapshot; leave it out of the parts to keep it as it is")
    return {**dict.fromkeys(gone, SnapshotError("is not here")), **dict.fromkeys(new, SnapshotError("was not saved"))}


def _is_clock(part: object, parts: Mapping[str, Saveable]) -> bool:
    is_one_of_ours = isinstance(part, ManualClock)
    return is_one_of_ours or any(getattr(one, "clock", None) is part is not None for one in parts.values())


def _wrong_moments(states: Mapping[str, Any], parts: Mapping[str, Saveable]) -> dict[str, SnapshotError]:
    """Return what is wrong with each part that would find itself at another moment than it was saved at.

    A part takes part in this by having a ``clock`` and saving its ``now``.
    """
    names = {id(part): name for name, part in parts.items()}
    found = {}
    for name, part in parts.items():
        clock, now = getattr(part, "clock", None), _now_in(states[name])
        if clock is None or now is None:
            continue
        if id(clock) in names:
            then = _now_in(states[names[id(clock)]])
            what = f"and {names[id(clock)]!r} at {then}: they are not of one moment"
        elif hasattr(clock, "prepare_state"):
            then = list(clock.now)
            what = f"and its clock stands at {then}; hand in the clock as a part, too"
        else:
            continue
        if now != then:
            found[name] = SnapshotError(f"{name}: 'now' is {now}, {what}")
    return found


def _now_in(state: object) -> object:
    return state.get("now") if isinstance(state, dict) else None


def _make(changes: Mapping[str, Callable[[], object]]) -> dict[str, Exception]:
    """Make all changes, even if one raises; return what each part raised."""
    failures: dict[str, Exception] = {}
    for name, change in changes.items():
        try:
            change()
        except Exception as error:  # reported when the others are made
            failures[name] = error
    return failures


def _taken_first(parts: Mapping[str, Saveable]) -> State:
    try:
        return take(parts)
    except SnapshotError as error:
        raise SnapshotError(f"a load that can be rolled back needs what is here saved first: {error}") from error


def _put_back(before: State, parts: Mapping[str, Saveable], failures: Mapping[str, Exception]) -> PartFailedError:
    """Restore what was before loading; return what is to be raised."""
    try:
        restore(before, parts)
    except SnapshotError as error:
        return PartFailedError(failures, (), f"putting back what was before failed, too: {error}")
    return PartFailedError(failures, (), "all parts were put back to what was before")


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, StateError) else f"{type(error).__name__}: {error}"
