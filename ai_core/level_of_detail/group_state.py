"""Saving and loading of a GroupLOD: whether it is open, its members, and their states."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ai_core.faults import Failures
from ai_core.saving.fields import Fields, State, StateError
from ai_core.saving.inner_state import inner_state, prepared_inner

if TYPE_CHECKING:
    from ai_core.level_of_detail.group_lod import GroupLOD

__all__ = ["prepared_group", "saved_group"]

VERSION = 1

FAULT_KEYS = ("work", "expand", "compress")


def saved_group(group: GroupLOD) -> State:
    """Return the state between two turns; the states of saveable members are part of the scheduler's."""
    scheduler = group._scheduler
    return {
        "version": VERSION,
        "name": group.name,
        "passing": list(group._temporary),
        "scheduler": None if scheduler is None else scheduler.save_state(),
        "failing": {what: group._faults.failures_of((group, what)).saved() for what in FAULT_KEYS},
        "work": inner_state(group._work),
    }


def prepared_group(group: GroupLOD, state: object) -> Callable[[], None]:
    """Check a state and return the function that restores it.

    The check creates the members of an open group in a new scheduler, which replaces the present one.
    """
    fields = Fields.versioned(state, version=VERSION)
    if fields.text("name") != group.name:
        fields.refuse("name", f"must be {group.name!r}, the name of this group")
    names = [Fields({"name": one}, "passing").text("name") for one in fields.items("passing")]
    saved = fields.anything("scheduler")
    all_failing = fields.group("failing")
    failing = {}
    for what in FAULT_KEYS:
        one = all_failing.group(what)
        failing[what] = Failures.read(one)
        one.end()
    all_failing.end()
    load_work = prepared_inner(group._work, fields.anything("work"), f"work of {group.name!r}")
    fields.end()
    if saved is None and names:
        fields.refuse("passing", "must be empty for a closed group")
    start = group.drop_members if saved is None else _prepared_members(group, names, saved)

    def change() -> None:
        start()
        load_work()
        for what, failures in failing.items():
            group._faults.put_failures((group, what), failures)

    return change


def _prepared_members(group: GroupLOD, names: list[str], saved: object) -> Callable[[], None]:
    here, group._temporary = group._temporary, {}  # names in use now may occur in the save
    try:
        passing = group.make_temporary_members(names)
        scheduler, tasks = group.scheduled(passing)
        load = scheduler.prepare_state(saved)
    except StateError as error:
        raise StateError(f"group {group.name!r}: {error}") from error
    except (LookupError, TypeError, ValueError) as error:
        raise StateError(f"group {group.name!r}: members cannot be created: {error}") from error
    finally:
        group._temporary = here

    def start() -> None:
        group.drop_members()
        group.start(scheduler, passing, tasks)
        load()

    return start
