"""Declared state: the fields of a class with their kinds; saving, checking and loading are generic.

A class lists its fields where it is defined:

    STATE = DeclaredState(
        stance=Optional(Record(Stance, kind=OneOf(STANCES), ratio=Number(0, 1), reasons=ListOf(Text()))),
        since_s=Seconds(at="_since_s"),
    )

``Saveable`` provides ``save_state`` and ``prepare_state``. A load checks everything first and changes
the object only if all fields are valid; errors name the place: "members[3].speed".
"""
from __future__ import annotations

from collections.abc import Callable, Collection
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, ClassVar, NoReturn

from ai_core.described import Described
from ai_core.errors import shown
from ai_core.saving.fields import (
    State,
    StateError,
    brief,
    check_names,
    check_version,
    checked_dict,
    place_in,
    refuse,
)
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.saving.kinds import Columns, Kind, Moment

__all__ = [
    "Change",
    "ClockNow",
    "DeclaredState",
    "Hook",
    "Inner",
    "Part",
    "Refuse",
    "Same",
    "Saveable",
]

Change = Callable[[], object]
"""Applies checked data; does not fail."""

Refuse = Callable[[str, str], NoReturn]
"""Raises a StateError for a field, given its name and the reason."""

class Same(Kind):
    """A setting that must be the same here as where it was saved; loading does not change it."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return the setting; a sequence as a list."""
        return list(value) if isinstance(value, tuple) else value

    def require(self, value: Any, plain: Any, place: str) -> Any:
        """Return the saved setting, for the checks of the object; raise a StateError if it is another."""
        here = self.save(value, None)
        if type(plain) is float and type(here) is int:
            here = float(here)
        if type(plain) is not type(here) or plain != here:
            refuse(place, f"must be {shown(here)} as in the present object, got {brief(plain)}")
        return plain


class ClockNow(Same):
    """The time of the clock, by which a snapshot notices a forgotten clock; loading does not change it."""

    def require(self, value: Any, plain: Any, place: str) -> Any:
        return Moment(lambda frame, seconds: SimpleNamespace(frame=frame, seconds=seconds)).read(plain, place, None)


class Part(Kind):
    """An object inside this one that has ``save_state`` and ``prepare_state`` and stays the same object.

    It may also be a dict of such objects by name; a save must have all of them.

    Args:
        if_saveable: whether it may be None or an object of the game without these methods, which is not saved.
    """

    def __init__(self, *, if_saveable: bool = False, at: str | None = None) -> None:
        super().__init__(at=at)
        self.if_saveable = if_saveable

    def save(self, value: Any, owner: Any) -> Any:
        """Return the part's state, or a dict of the states by name."""
        if isinstance(value, dict):
            return {name: self.save(one, owner) for name, one in value.items()}
        return inner_state(value) if self.if_saveable else value.save_state()

    def prepare(self, part: Any, plain: Any, place: str, within: SimpleNamespace | None = None) -> Change:
        """Check the state of a part; return the function that loads it.

        ``within`` has the fields read before; a part may set what later fields are checked against.
        """
        if isinstance(part, dict):
            check_names(place, checked_dict(place, plain), part)
            changes = [self.prepare(one, plain[name], place_in(place, name)) for name, one in part.items()]
            return lambda: [change() for change in changes]
        if self.if_saveable:
            return prepared_inner(part, plain, repr(place))
        try:
            change: Change = part.prepare_state(plain)
        except StateError as error:
            raise StateError(f"{place!r}: {error}") from error
        return change


class Inner(Part):
    """A part with a ``STATE`` that is saved only inside this object.

    Its ``_check_state`` finds the fields of this object that come before it as ``values.within``.
    """

    def save(self, value: Any, owner: Any) -> Any:
        return value.STATE.save(value)

    def prepare(self, part: Any, plain: Any, place: str, within: SimpleNamespace | None = None) -> Change:
        change: Change = part.STATE.prepare(part, plain, place, within)
        return change


class Hook(Kind):
    """A field that its class saves and reads with methods of its own, because it refers to other objects.

    For a field "goal" the class has the methods ``_save_goal()``, which returns plain data, and
    ``_prepare_goal(plain, place)``, which checks such data and returns the function that loads it.
    """


class DeclaredState(Described):
    """The fields of a class, and its version.

    Args:
        version: raised with every change of the fields.
        fields: kind of each field, in the order in which they are saved and checked.

    Cost: saving and loading O(size of the state).
    """

    SHOWN = ("version",)

    def __init__(self, *, version: int = 1, **fields: Kind) -> None:
        self.version, self.fields = version, fields
        self._getters = {
            name: attrgetter(kind.at or name) for name, kind in fields.items() if not isinstance(kind, Hook)}

    def save(self, owner: Any) -> State:
        """Return the state of an object as plain data."""
        return {"version": self.version, **{
            name: kind.save(self._getters[name](owner), owner) if name in self._getters
            else getattr(owner, f"_save_{name}")()
            for name, kind in self.fields.items()}}

    def extended(self, **fields: Kind) -> DeclaredState:
        """Return the state of a class that extends this one's by fields, or has others of the same names."""
        return DeclaredState(version=self.version, **{**self.fields, **fields})

    def prepare(
        self, owner: Any, state: object, place: str = "", within: SimpleNamespace | None = None, *,
        without: Collection[str] = (),
    ) -> Change:
        """Check a saved state; return the function that loads it into the object.

        Args:
            owner: the object.
            state: its saved state.
            place: where that is in the whole state.
            within: fields of the object around this one, see ``Inner``.
            without: fields that keep their present values, whatever was saved.

        Raises:
            StateError: if the state cannot be loaded; names the place and the reason.
        """
        fields = checked_dict(place, state)
        check_version(place, fields, self.version)
        check_names(place, fields, ("version", *self.fields))
        values, changes = SimpleNamespace() if within is None else SimpleNamespace(within=within), []
        for name, kind in self.fields.items():
            if name in without:
                continue
            where, plain = place_in(place, name), fields[name]
            if isinstance(kind, Hook):
                changes.append(getattr(owner, f"_prepare_{name}")(plain, where))
            elif isinstance(kind, Same):
                setattr(values, name, kind.require(self._getters[name](owner), plain, where))
            elif isinstance(kind, Part):
                changes.append(kind.prepare(self._getters[name](owner), plain, where, values))
            else:
                setattr(values, name, kind.read(plain, where, owner))
        owner._check_state(values, lambda name, why: refuse(place_in(place, name), why))
        return lambda: self._load(owner, values, changes)

    def _load(self, owner: Any, values: SimpleNamespace, changes: list[Change]) -> None:
        for name, value in vars(values).items():
            kind = self.fields.get(name)    # "within" is not one of them
            if kind is None or isinstance(kind, (Same, Part)):
                continue
            if isinstance(kind, Columns) and not isinstance(table := self._getters[name](owner), dict):
                vars(table).update(value)
            else:
                *path, last = (kind.at or name).split(".")
                setattr(attrgetter(".".join(path))(owner) if path else owner, last, value)
        try:
            for change in changes:
                change()
        finally:    # also when a method of the game fails in one of them
            owner._finish_load()


class Saveable(Described):
    """Base of a class with a declared ``STATE``: provides ``save_state`` and ``prepare_state``."""

    __slots__ = ()

    STATE: ClassVar[DeclaredState]

    def save_state(self) -> State:
        """Return the state as plain data."""
        self._check_at_rest()
        return self.STATE.save(self)

    def prepare_state(self, state: object) -> Change:
        """Check a saved state completely; return the function that loads it.

        Raises:
            StateError: if the state cannot be loaded; names the place and the reason.
        """
        self._check_at_rest()
        return self.STATE.prepare(self, state)

    def _check_at_rest(self) -> None:
        """Raise RuntimeError if the object cannot be saved or loaded now, for example inside its own callbacks."""

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Raise by ``refuse(field, reason)`` if fields are inconsistent; ``values`` has the fields that were read."""

    def _finish_load(self) -> None:
        """Update data derived from the fields, after a load."""
