"""Notifications of the engine to instances of Python classes: the overrides of all bases run.

A class that overrides ``on_exit_tree`` adds to its bases' overrides, with or without ``super()``, so that
subclasses cannot break a base.

Rejected: calling only the last override, as Python does. A base that is not notified when a node
leaves the tree would keep calling it after it is freed.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

NOTIFICATIONS = {
    "on_predelete": 1,  # the last moment at which the node can be used
    "on_reloaded": 2,
    "on_enter_tree": 10,
    "on_exit_tree": 11,
    "on_ready": 13,
    "on_paused": 14,    # the node can no longer process: the tree was paused, or a node above was disabled
    "on_unpaused": 15,
    "on_renamed": 23,   # the node, or a node above
    "on_process": 25,  # the internal one: a script's own _process does not silence it
    "on_physics_process": 26,
    "on_entered": 27,  # each time the whole branch is in the tree; on_enter_tree comes before that of siblings
}
LEAVING = {"on_predelete", "on_exit_tree"}
"""Overrides that run before those of the bases, which still work then. All others run after the bases."""

BRANCH_PART = "_branch_part"
"""Name of an attribute of ``on_entered``: 1 where it reads a branch below the node, 2 where it is of a node in such a
branch."""

DONE, ONCE = "_done_of_notification", "_is_done_once"

Part = Callable[[Any], object]


def reads_branch(on_entered: Part) -> Part:
    """Mark an ``on_entered`` that reads the ``branch_member`` nodes below."""
    setattr(on_entered, BRANCH_PART, 1)
    return on_entered


def branch_member(on_entered: Part) -> Part:
    """Mark an ``on_entered`` that is not called where the parent is of the same branch and enters with the node."""
    setattr(on_entered, BRANCH_PART, 2)
    return on_entered


def notification_part(cls: type, name: str) -> Part | None:
    """Return a callable that runs the overrides of a class and its bases, None if there are none.

    Each declared class's override runs once, even if another calls ``super()``; an exception in one does not
    stop the others.
    """
    parts: list[Part] = []
    level, found_in = cls, None
    for base in cls.__mro__:
        if "__declared__" in base.__dict__:
            level = base
        part = base.__dict__.get(name)
        if part is None or level is found_in:    # of the plain bases of a declared class, the first
            continue
        if parts and getattr(part, ONCE, None) is not part:    # a decorator may have copied the mark
            part = _once(part)
            setattr(level, name, part)           # where super() finds it
        parts.append(part)
        found_in = level
    if len(parts) < 2:
        return parts[0] if parts else None
    return _all_of(parts if name in LEAVING else parts[::-1])


def notify(node: Any, name: str) -> None:
    """Run the overrides of an instance, as a notification of the engine does."""
    part = notification_part(type(node), name)
    if part is not None:
        part(node)


def _once(part: Part) -> Part:
    @functools.wraps(part)
    def do(node: Any) -> None:
        done = node.__dict__.get(DONE)
        if done is None:
            part(node)
        elif part not in done:
            done.add(part)
            part(node)

    setattr(do, ONCE, do)
    return do


def _all_of(parts: list[Part]) -> Part:
    def do(node: Any) -> None:
        outer, errors = node.__dict__.get(DONE), []
        node.__dict__[DONE] = set[Part]()
        try:
            for part in parts:
                try:
                    part(node)
                except Exception as error:      # raised after all parts have run
                    errors.append(error)
        finally:
            node.__dict__[DONE] = outer
        if len(errors) > 1:
            raise ExceptionGroup(f"{len(errors)} classes failed", errors)
        if errors:
            raise errors[0]

    return do
