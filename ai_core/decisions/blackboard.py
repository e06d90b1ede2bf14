"""A blackboard: what a character, a squad or a world knows, typed and observable."""
from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NoReturn, Protocol

from ai_core.errors import CycleError, UnknownNameError, shown

__all__ = ["Blackboard", "Watch"]

ABSENT: Any = object()


class Listener(Protocol):
    """Who is told that a key has changed; a ``HabitTree``."""

    def _notice(self, name: str) -> None: ...


class Watch:
    """A callback that is called when a key changes; made by ``Blackboard.watch``."""

    __slots__ = ("_board", "callback", "key")

    def __init__(self, board: Blackboard, key: str, callback: Callable[[str, Any], object]) -> None:
        self._board, self.key, self.callback = board, key, callback

    def cancel(self) -> None:
        """Call it no more; again does nothing."""
        self._board._unwatch(self)


class Blackboard(dict[str, Any]):
    """A dict that knows what its keys may hold, and tells who waits for a key.

    Scopes: what is not found here is looked for in ``parent``: character,
    squad, world. Writing and iterating stay here; ``scope("squad")["alarm"] =
    True`` writes there. What a single habit knows stands in its context.

    Telling: who waits is told when a key's value is exchanged for one that is
    not equal, or when the key goes. What changes inside a value, such as an
    item put into a list, is not seen: assign it again, or call ``touch``.
    Until then waiting costs nothing.

    Args:
        values: what it knows at first.
        parent: the scope around it.
        name: by which ``scope`` finds it, and errors call it.
        types: by key, what it may hold: a type, or several as ``float | None``;
            a whole number is taken for a float. Other keys may hold anything.

    Raises:
        TypeError: if a value is none of its type; nothing is changed then.

    Cost: reading a key that stands here is reading a dict; a change is O(who waits for it).
    """

    __slots__ = ("__weakref__", "_parent", "_trees", "_types", "_watches", "name")

    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        parent: Blackboard | None = None,
        name: str = "blackboard",
        types: Mapping[str, Any] | None = None,
    ) -> None:
        if parent is not None and not isinstance(parent, Blackboard):
            raise TypeError(f"parent must be a Blackboard, got {shown(parent)}")
        self.name = name
        self._parent = parent
        self._types = None if types is None else {key: _kinds(key, one) for key, one in types.items()}
        self._watches: dict[str, tuple[Watch, ...]] | None = None
        self._trees: dict[str, list[weakref.ref[Any]]] | None = None
        super().__init__(self.checked(values or {}))

    @property
    def parent(self) -> Blackboard | None:
        """The scope around it, or None."""
        return self._parent

    @parent.setter
    def parent(self, parent: Blackboard | None) -> None:
        """Move to another squad, with whoever waits for or watches what stands there.

        Who waits here is told of every key. Who watches is told what another value has there; without
        a scope around, of nothing.
        """
        if any(scope is self for scope in _scopes(parent)):
            raise CycleError(f"{self.name!r} cannot stand inside itself")
        watches = [watch for of_key in (self._watches or {}).values() for watch in of_key]
        before = [watch._board.get(watch.key) for watch in watches]
        waiting = {key: _alive(trees) for key, trees in (self._trees or {}).items()}
        for scope in _scopes(self._parent):
            scope._leave_out(watches)
            scope._forget_trees(waiting)
        self._parent = parent
        for scope in _scopes(parent):
            for watch in watches:
                scope._add_watch(watch)
        for key, trees in waiting.items():
            for tree in trees:
                if parent is not None:
                    parent.tell_tree(tree, (key,))
                tree._notice(key)
        for watch, value in zip(watches, before, strict=True) if parent is not None else ():
            is_here = watch in (self._watches or {}).get(watch.key, ())      # or else cancelled by one told before
            if is_here and not _is_same(value, watch._board.get(watch.key)):
                watch.callback(watch.key, watch._board.get(watch.key))

    def scope(self, name: str) -> Blackboard:
        """Return this scope or the one around it that has a name.

        Raises:
            UnknownNameError: if there is none.
        """
        scope: Blackboard | None = self
        names = []
        while scope is not None:
            if scope.name == name:
                return scope
            names.append(scope.name)
            scope = scope._parent
        raise UnknownNameError("scope", name, names)

    def __missing__(self, key: str) -> Any:
        if self._parent is None:
            raise KeyError(key)
        return self._parent[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return what is known under a key, here or in a scope around; else ``default``."""
        scope: Blackboard | None = self
        while scope is not None:
            found = dict.get(scope, key, ABSENT)
            if found is not ABSENT:
                return found
            scope = scope._parent
        return default

    def knows(self, key: str) -> bool:
        """Return True if the key stands here or in a scope around."""
        return self.get(key, ABSENT) is not ABSENT

    def __setitem__(self, key: str, value: Any) -> None:
        if self._types is not None:
            value = self.checked({key: value})[key]
        before = dict.get(self, key, ABSENT)
        super().__setitem__(key, value)
        if (self._trees is not None or self._watches is not None) and not _is_same(before, value):
            self._tell(key)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._tell(key)

    def pop(self, key: str, *default: Any) -> Any:
        """Take a key out of this scope and return its value."""
        was_here = dict.__contains__(self, key)
        value = super().pop(key, *default)
        if was_here:
            self._tell(key)
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out the key that came last."""
        key, value = super().popitem()
        self._tell(key)
        return key, value

    def clear(self) -> None:
        """Know nothing; scopes around stay."""
        keys = list(self)
        super().clear()
        for key in keys:
            self._tell(key)

    def update(self, *others: Any, **values: Any) -> None:
        """Write several values, or none if one is not what it may be."""
        for key, value in self.checked(dict(*others, **values)).items():
            self[key] = value

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return what is known under a key; write ``default`` here if nothing is."""
        if not self.knows(key):
            self[key] = default
        return self[key]

    def __ior__(self, other: Any) -> Blackboard:  # type: ignore[override,misc]
        self.update(other)
        return self

    def copy(self) -> NoReturn:
        """Refuse: who waits for a key of this one would wait for no copy's."""
        raise TypeError(f"{self.name!r} cannot be copied; use dict(board) for its values")

    def exchange(self, values: Mapping[str, Any]) -> Callable[[], None]:
        """Know exactly these values instead, as a loaded game does.

        Trees that wait for what changed are told at once; who watches is told by what this returns.
        """
        before, now = dict(self), self.checked(values)
        super().clear()
        super().update(now)
        changed = [key for key in {**now, **before} if not _is_same(before.get(key, ABSENT), now.get(key, ABSENT))]
        for key in changed:
            self._tell_trees(key)

        def tell_watchers() -> None:
            for key in changed:
                self._tell_watches(key)

        return tell_watchers

    def touch(self, key: str) -> None:
        """Tell who waits for a key that something has changed inside its value."""
        self._tell(key)

    def watch(self, key: str, callback: Callable[[str, Any], object]) -> Watch:
        """Call ``callback(key, value)`` when a key of this scope or one around changes.

        The value is None if the key has gone. A callback that raises stops the
        writer; it may write itself, and may cancel watches.
        """
        if not callable(callback):
            raise TypeError(f"callback must be callable, got {shown(callback)}")
        watch = Watch(self, key, callback)
        for scope in _scopes(self):
            scope._add_watch(watch)
        return watch

    def tell_tree(self, tree: Listener, keys: Collection[str]) -> None:
        """Tell a habit tree, as long as it lives, when one of these changes; trees call this themselves."""
        scope: Blackboard | None = self
        while scope is not None:
            for key in keys:
                scope._trees = scope._trees or {}
                trees = scope._trees.setdefault(key, [])
                if trees and len(trees) & (len(trees) - 1) == 0:  # at each doubling: who is gone goes
                    trees[:] = [one for one in trees if one() is not None]
                trees.append(weakref.ref(tree))
            scope = scope._parent

    def _forget_trees(self, waiting: Mapping[str, list[Listener]]) -> None:
        for key, gone in waiting.items():
            numbers = {id(tree) for tree in gone}
            trees = (self._trees or {}).get(key, [])
            trees[:] = [one for one in trees if (found := one()) is not None and id(found) not in numbers]

    def _unwatch(self, watch: Watch) -> None:
        for scope in _scopes(self):
            scope._leave_out([watch])

    def _add_watch(self, watch: Watch) -> None:
        self._watches = self._watches or {}
        self._watches[watch.key] = (*self._watches.get(watch.key, ()), watch)

    def _leave_out(self, watches: list[Watch]) -> None:
        known = self._watches if self._watches is not None else {}
        for watch in watches:
            rest = tuple(one for one in known.pop(watch.key, ()) if one is not watch)
            if rest:
                known[watch.key] = rest

    def _tell(self, key: str) -> None:
        self._tell_trees(key)
        self._tell_watches(key)

    def _tell_trees(self, key: str) -> None:
        if self._trees is not None:
            trees = self._trees.get(key, [])
            alive = _alive(trees)
            if len(alive) < len(trees):
                trees[:] = [one for one in trees if one() is not None]
            for tree in alive:
                tree._notice(key)

    def _tell_watches(self, key: str) -> None:
        if self._watches is not None:
            for watch in self._watches.get(key, ()):
                watch.callback(key, watch._board.get(key))

    def declare(self, types: Mapping[str, Any]) -> None:
        """Say what more keys may hold; what stands there already must fit.

        Args:
            types: by key, as at the beginning; a key that had a type has this one.

        Raises:
            TypeError: if a value is none of its type; nothing is changed then.
        """
        before = self._types
        self._types = {**(before or {}), **{key: _kinds(key, one) for key, one in types.items()}}
        try:
            fitting = self.checked({key: self[key] for key in types if dict.__contains__(self, key)})
        except TypeError:
            self._types = before
            raise
        super().update(fitting)

    def checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values as they may stand here; nothing is written.

        Raises:
            TypeError: if one is none of its type.
        """
        checked = dict(values)
        for key, value in checked.items():
            if self._types is None or key not in self._types:
                continue
            kinds = self._types[key]
            if type(value) is int and float in kinds and int not in kinds:
                checked[key] = float(value)
            elif not isinstance(value, kinds) or (type(value) is bool and not {bool, object} & set(kinds)):
                wanted = " or ".join(kind.__name__ for kind in kinds)
                raise TypeError(f"{self.name!r}: {key!r} must be {wanted}, got {shown(value)}")
        return checked


def _scopes(board: Blackboard | None) -> list[Blackboard]:
    """Return a scope and those around it, from the inside out."""
    found = []
    while board is not None:
        found.append(board)
        board = board._parent
    return found


def _alive(trees: Iterable[weakref.ref[Listener]]) -> list[Listener]:
    return [found for one in trees if (found := one()) is not None]


def _is_same(before: Any, value: Any) -> bool:
    if before is value:
        return not isinstance(value, list | dict | set)  # the same one, assigned again to say it changed
    try:
        return type(before) is type(value) and bool(before == value)
    except Exception:  # what cannot be compared, such as arrays, counts as changed
        return False


def _kinds(key: str, kind: Any) -> tuple[type, ...]:
    kinds: tuple[Any, ...] = getattr(kind, "__args__", kind if isinstance(kind, tuple) else (kind,))
    if not kinds or not all(isinstance(one, type) for one in kinds):
        raise TypeError(f"types[{key!r}] must be a type or several, as float | None, got {shown(kind)}")
    return kinds
