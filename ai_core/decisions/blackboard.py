"""The blackboard: typed and observable values of a character, a squad or a world."""
from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NoReturn, Protocol

from ai_core.errors import CycleError, UnknownNameError, check_callable, check_kind, check_type, shown

__all__ = ["Blackboard", "Watch"]

ABSENT: Any = object()


class Listener(Protocol):
    """Interface of an object that is notified of changed keys: a ``HabitTree``."""

    def _notice(self, name: str) -> None: ...


class Watch:
    """A callback that is called when a key changes; made by ``Blackboard.watch``."""

    __slots__ = ("_board", "callback", "key")

    def __init__(self, board: Blackboard, key: str, callback: Callable[[str, Any], object]) -> None:
        self._board, self.key, self.callback = board, key, callback

    def cancel(self) -> None:
        """Stop calling the callback. Cancelling twice is harmless."""
        for scope in _scopes(self._board):
            scope._remove_watches([self])


class Blackboard(dict[str, Any]):
    """A dict with typed keys that notifies observers of changes.

    Scopes: a key that is not found here is looked up in ``parent``: character,
    squad, world. Writing and iteration apply to this scope only;
    ``scope("squad")["alarm"] = True`` writes to the squad's. The values of a single
    habit are in its context.

    Notification: observers are notified when the value of a key is replaced by an
    unequal value, or when the key is removed. A change inside a value, such as an
    item appended to a list, is not detected: assign the value again, or call
    ``touch``. Waiting observers cost nothing. If watches raise exceptions, all others
    are called, and every value is written; then the first exception is raised to the
    writer, with the key and the other exceptions in its notes.

    Args:
        values: initial values.
        parent: the enclosing scope.
        name: name for ``scope`` and for messages.
        types: allowed type by key: a type, or several as ``float | None``; an
            integer is converted to float where float is allowed and int is not.
            Other keys may hold any value.

    Raises:
        TypeError: if a value has a wrong type; nothing is changed then.

    Cost: reading a key of this scope is a dict access; a change is O(observers of the key).
    """

    __slots__ = ("__weakref__", "_parent", "_trees", "_types", "_watches", "name")

    def __init__(
        self, values: Mapping[str, Any] | None = None, *, parent: Blackboard | None = None, name: str = "blackboard",
        types: Mapping[str, Any] | None = None,
    ) -> None:
        check_kind("parent", parent, Blackboard)
        check_type("name", name, str)
        self.name = name
        self._parent = parent
        self._types: dict[str, tuple[type, ...]] | None = None
        self._watches: dict[str, tuple[Watch, ...]] | None = None
        self._trees: dict[str, list[weakref.ref[Any]]] | None = None
        super().__init__()
        if types is not None:
            check_kind("types", types, Mapping)
            self._types = {key: _kinds(key, one) for key, one in types.items()}
        if values is not None:
            check_kind("values", values, Mapping)
            super().update(self.checked(values))

    @property
    def parent(self) -> Blackboard | None:
        """The enclosing scope, or None; set it to move the blackboard to another squad."""
        return self._parent

    @parent.setter
    def parent(self, parent: Blackboard | None) -> None:
        """Move to another parent, with all waiting trees and watches.

        Waiting trees are notified of every key they wait for. Watches are called for
        the keys whose value differs under the new parent; none is called without a parent.
        """
        if parent is self._parent:
            return
        check_kind("parent", parent, Blackboard)
        scope = parent
        while scope is not None:
            if scope is self:
                raise CycleError(
                    f"{self.name!r} must not be its own parent, directly or through other scopes;"
                    f" set the parent to a scope outside it, or to None")
            scope = scope._parent
        if not self._watches and not self._trees:
            self._parent = parent
            return
        watches = [watch for of_key in (self._watches or {}).values() for watch in of_key]
        before = [watch._board.get(watch.key) for watch in watches]
        waiting = {
            key: [tree for one in trees if (tree := one()) is not None] for key, trees in (self._trees or {}).items()}
        for scope in _scopes(self._parent):
            scope._remove_watches(watches)
            scope._forget_trees(waiting)
        self._parent = parent
        for scope in _scopes(parent):
            for watch in watches:
                scope._add_watch(watch)
        for key, trees in waiting.items():
            for tree in trees:
                if parent is not None:
                    parent.notify_tree(tree, (key,))
                tree._notice(key)
        if parent is not None:
            _call(
                watch for watch, value in zip(watches, before, strict=True)
                if watch in (self._watches or {}).get(watch.key, ())    # otherwise an earlier callback cancelled it
                and not _is_same(value, watch._board.get(watch.key)))

    def scope(self, name: str) -> Blackboard:
        """Return the scope of a name: this one or one of its parents.

        Raises:
            UnknownNameError: if no scope has this name.
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
        """Return the value of a key in this scope or its parents; ``default`` if it is absent."""
        scope: Blackboard | None = self
        while scope is not None:
            found = dict.get(scope, key, ABSENT)
            if found is not ABSENT:
                return found
            scope = scope._parent
        return default

    def has(self, key: str) -> bool:
        """Return True if this scope or one of its parents has the key."""
        return self.get(key, ABSENT) is not ABSENT

    def missing_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of the values whose keys neither this scope nor its parents have."""
        found = dict(values)
        scope: Blackboard | None = self
        while scope is not None:
            for key in found.keys() & dict.keys(scope) if dict.__len__(scope) else ():
                del found[key]
            scope = scope._parent
        return found

    def __setitem__(self, key: str, value: Any) -> None:
        if self._types is not None and key in self._types:
            value = self.checked({key: value})[key]
        trees, watches = self._trees, self._watches
        is_observed = (trees is not None and key in trees) or (watches is not None and key in watches)
        before = dict.get(self, key, ABSENT) if is_observed else value
        dict.__setitem__(self, key, value)
        if is_observed and not _is_same(before, value):
            self._notify_all((key,))

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._notify_all((key,))

    def pop(self, key: str, *default: Any) -> Any:
        """Remove a key from this scope and return its value."""
        was_here = dict.__contains__(self, key)
        value = super().pop(key, *default)
        if was_here:
            self._notify_all((key,))
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the key added last, with its value."""
        key, value = super().popitem()
        self._notify_all((key,))
        return key, value

    def clear(self) -> None:
        """Remove all keys of this scope; parents are unchanged."""
        keys = list(self)
        super().clear()
        self._notify_all(keys)

    def update(self, *others: Any, **values: Any) -> None:
        """Write several values, or none if a value has a wrong type."""
        checked = dict(*others, **values)
        if self._types is not None:
            checked = self.checked(checked)
        if self._trees is None and self._watches is None:
            super().update(checked)
            return
        failed: Exception | None = None
        for key, value in checked.items():
            try:
                self[key] = value
            except RecursionError:
                raise
            except Exception as error:  # of a watch; the other values are written
                failed = _first(failed, error)
        if failed is not None:
            raise failed

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key in this scope or its parents; write ``default`` here if it is absent."""
        if not self.has(key):
            self[key] = default
        return self[key]

    def __ior__(self, other: Any) -> Blackboard:  # type: ignore[override,misc]
        self.update(other)
        return self

    def copy(self) -> NoReturn:
        """Raise TypeError: observers of this blackboard would not observe a copy."""
        raise TypeError(f"{self.name!r} cannot be copied or pickled; use dict(board) for its values")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self.copy()

    def replace_values(self, values: Mapping[str, Any]) -> Callable[[], None]:
        """Replace all values, as when a game is loaded.

        Trees that wait for a changed key are notified at once; the returned function calls the watches.
        """
        before, now = dict(self), self.checked(values)
        super().clear()
        super().update(now)
        changed = [key for key in {**now, **before} if not _is_same(before.get(key, ABSENT), now.get(key, ABSENT))]
        for key in changed:
            self._notify_trees(key)

        return lambda: self._notify_watches(changed)

    def touch(self, key: str) -> None:
        """Notify the observers of a key of a change inside its value."""
        self._notify_all((key,))

    def watch(self, key: str, callback: Callable[[str, Any], object]) -> Watch:
        """Call ``callback(key, value)`` when a key of this scope or its parents changes.

        The value is None if the key was removed. The callback may write values and cancel
        watches. It should not raise: the writer gets the exception, after all other watches.
        """
        check_callable("callback", callback)
        watch = Watch(self, key, callback)
        for scope in _scopes(self):
            scope._add_watch(watch)
        return watch

    def notify_tree(self, tree: Listener, keys: Collection[str]) -> None:
        """Notify a habit tree, held weakly, when one of these keys changes; called by trees."""
        scope: Blackboard | None = self
        new = weakref.ref(tree)
        while scope is not None:
            known = scope._trees = scope._trees or {}
            for key in keys:
                trees = known.get(key)
                if trees is None:
                    trees = known[key] = []
                elif len(trees) & (len(trees) - 1) == 0:  # at each doubling: drop freed trees
                    trees[:] = [one for one in trees if one() is not None]
                trees.append(new)
            scope = scope._parent

    def _forget_trees(self, waiting: Mapping[str, list[Listener]]) -> None:
        for key, gone in waiting.items():
            numbers = {id(tree) for tree in gone}
            trees = (self._trees or {}).get(key, [])
            trees[:] = [one for one in trees if (found := one()) is not None and id(found) not in numbers]

    def _add_watch(self, watch: Watch) -> None:
        self._watches = self._watches or {}
        self._watches[watch.key] = (*self._watches.get(watch.key, ()), watch)

    def _remove_watches(self, watches: list[Watch]) -> None:
        known = self._watches if self._watches is not None else {}
        for watch in watches:
            rest = tuple(one for one in known.pop(watch.key, ()) if one is not watch)
            if rest:
                known[watch.key] = rest

    def _notify_all(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._notify_trees(key)
        self._notify_watches(keys)

    def _notify_trees(self, key: str) -> None:
        trees = None if self._trees is None else self._trees.get(key)
        if not trees:
            return
        for one in tuple(trees):
            tree = one()
            if tree is None:
                trees.remove(one)
            else:
                tree._notice(key)

    def _notify_watches(self, keys: Iterable[str]) -> None:
        if self._watches is not None:
            _call(watch for key in keys for watch in (self._watches or {}).get(key, ()))

    def declare(self, types: Mapping[str, Any]) -> None:
        """Declare the types of further keys; present values must match.

        Args:
            types: allowed type by key, as for the constructor; replaces earlier types.

        Raises:
            TypeError: if ``types`` is no mapping, or a value has a wrong type; nothing is changed then.
        """
        check_type("types", types, Mapping)
        before = self._types
        self._types = {**(before or {}), **{key: _kinds(key, one) for key, one in types.items()}}
        try:
            fitting = self.checked({key: self[key] for key in types if dict.__contains__(self, key)})
        except TypeError:
            self._types = before
            raise
        super().update(fitting)

    def takes(self, key: str, value: Any) -> bool:
        """Return whether a value has the declared type of a key."""
        try:
            self.checked({key: value})
        except TypeError:
            return False
        return True

    def checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values converted to the declared types, a whole number to int or float; nothing is written.

        Raises:
            TypeError: if a value has a wrong type.
        """
        checked = dict(values)
        for key, value in checked.items():
            if self._types is None or key not in self._types:
                continue
            kinds = self._types[key]
            if type(value) is int and float in kinds and int not in kinds:
                checked[key] = float(value)
            elif type(value) is float and int in kinds and float not in kinds and value.is_integer():
                checked[key] = int(value)       # JSON of Godot has no whole numbers
            elif not isinstance(value, kinds) or (type(value) is bool and not {bool, object} & set(kinds)):
                wanted = " or ".join(kind.__name__ for kind in kinds)
                raise TypeError(
                    f"blackboard {self.name!r}: {key!r} must be {wanted}, got {shown(value)}; set a value of the"
                    " declared type (values of a HabitTree, types of a Blackboard), or declare another")
        return checked


def _scopes(board: Blackboard | None) -> list[Blackboard]:
    found = []
    while board is not None:
        found.append(board)
        board = board._parent
    return found


def _call(watches: Iterable[Watch]) -> None:
    """Call all watches; raise the first exception at the end."""
    failed: Exception | None = None
    for watch in watches:
        try:
            watch.callback(watch.key, watch._board.get(watch.key))
        except RecursionError:          # of watches that write each other: the others would take exponentially long
            raise
        except Exception as error:  # the others are still called
            error.add_note(f"raised by a watch of {watch.key!r} of {watch._board.name!r}; the value is written")
            failed = _first(failed, error)
    if failed is not None:
        raise failed


def _first(failed: Exception | None, error: Exception) -> Exception:
    """Return the first of two exceptions, with the other in its notes."""
    if failed is None or failed is error:
        return error
    failed.add_note(f"another watch raised {error!r}")
    return failed


def _is_same(before: Any, value: Any) -> bool:
    if before is value:
        return not isinstance(value, list | dict | set)  # the same object, assigned again to report a change
    try:
        return type(before) is type(value) and bool(before == value)
    except Exception:  # what cannot be compared, such as arrays, counts as changed
        return False


def _kinds(key: str, kind: Any) -> tuple[type, ...]:
    kinds: tuple[Any, ...] = getattr(kind, "__args__", kind if isinstance(kind, tuple) else (kind,))
    if not kinds or not all(isinstance(one, type) for one in kinds):
        raise TypeError(f"types[{key!r}] must be a type or a union such as float | None, got {shown(kind)}")
    return kinds
