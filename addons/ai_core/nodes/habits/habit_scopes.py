"""Scopes of blackboards: what a squad and the world know, shared by the habit trees of one AIScheduler."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from addons.ai_core.bridge.gd import GDCallable, RefusedValue, report_exception
from ai_core.decisions.blackboard import Blackboard, Watch
from ai_core.saving.fields import StateError

WORLD, SQUAD = "world", "squad"


class Scopes:
    """The world of one AIScheduler and its squads, each with the trees that use it, in their order."""

    def __init__(self) -> None:
        self.world = Blackboard(name=WORLD)
        self.squads: dict[str, Blackboard] = {}
        self.users: dict[int, dict[int, Any]] = {}

    def squad(self, name: str) -> Blackboard:
        if name not in self.squads:
            self.squads[name] = Blackboard(name=SQUAD, parent=self.world)
        return self.squads[name]


_of_schedulers: WeakKeyDictionary[Any, Scopes] = WeakKeyDictionary()


def join_scopes(tree: Any, own: Blackboard, scheduler: Any, squad: str) -> None:
    """Put a character's blackboard inside those of its squad and its world."""
    leave_scopes(tree, own)
    scopes = _of_schedulers.setdefault(scheduler.top, Scopes())
    own.parent = scopes.squad(squad) if squad else scopes.world
    for board in _around(own):
        scopes.users.setdefault(id(board), {})[tree.instance_id] = scopes
    tree.scopes = scopes


def leave_scopes(tree: Any, own: Blackboard) -> None:
    """Let a character's blackboard stand alone."""
    scopes = tree.__dict__.pop("scopes", None)
    for board in _around(own) if scopes is not None else ():
        scopes.users[id(board)].pop(tree.instance_id, None)
    own.parent = None


def scopes_saved_by(tree: Any, own: Blackboard) -> list[Blackboard]:
    """Return the scopes that are saved with a tree: those of which it is the first user."""
    users = tree.scopes.users
    return [board for board in _around(own) if next(iter(users[id(board)])) == tree.instance_id]


def prepared_scopes(own: Blackboard, saved: dict[str, Any], values: Any) -> Callable[[], None]:
    """Check the saved values of scopes; return what puts them."""
    boards = {board.name: board for board in _around(own)}
    read = {}
    for name, plain in saved.items():
        value = values.value(plain, f"scopes.{name}")
        if name not in boards or not isinstance(value, dict):
            raise StateError(f"'scopes' has {name!r}, which this tree has not; set its squad as in the saved game")
        read[name] = value

    def change() -> None:
        for name, value in read.items():
            boards[name].exchange(value)()

    return change


def watched(tree: Any, own: Blackboard, key: str, callback: Any) -> Watch:
    """Watch a value with a callback whose failures stop nobody, and that goes with its object."""

    def tell(key: str, value: Any) -> None:
        if isinstance(callback, GDCallable) and not callback.is_live():
            tree.unwatch_value(key, callback)
            return
        try:
            callback(key, value)
        except Exception as error:  # whatever it is, the others are told
            report_exception(error, f"who watches {key!r}", tree)

    return own.watch(key, tell)


@contextmanager
def refusing_values() -> Iterator[None]:
    """Let a scope that is not there, and a value of a wrong type, be a refusal of the node."""
    try:
        yield
    except LookupError as problem:
        raise RefusedValue(f"{problem}; a tree has \"world\", and \"squad\" if its squad is set") from None
    except TypeError as problem:
        raise RefusedValue(str(problem)) from None


def _around(own: Blackboard) -> list[Blackboard]:
    found, board = [], own.parent
    while board is not None:
        found.append(board)
        board = board.parent
    return found
