"""The state of a behavioral level of detail: what runs, what is forced, what fails."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ai_core.faults import NO_FAILURES, Failures
from ai_core.level_of_detail.lod_behavior import Force
from ai_core.saving.fields import Fields, State
from ai_core.saving.inner_state import inner_state, prepared_inner

if TYPE_CHECKING:
    from ai_core.level_of_detail.behavioral_lod import BehavioralLOD

__all__ = ["prepared_lod", "saved_lod"]

VERSION = 1


def saved_lod(lod: BehavioralLOD) -> State:
    """Return the state between two turns."""
    force = lod._forced
    failing = {one.name: lod._faults.failures_of((lod, one.name)) for one in lod._behaviors}
    return {
        "version": VERSION,
        "current": lod.current,
        "importance": lod._importance,
        "level": lod._level,
        "forced": None if force is None else {
            "name": force.behavior.name, "has_begun": force.has_begun,
            "left_s": None if force.left_s == math.inf else force.left_s,
        },
        "switches": lod.switches,
        "failing": [{"name": name, **one.saved()} for name, one in failing.items() if one != NO_FAILURES],
        "works": {one.name: inner_state(one.work) for one in lod._behaviors},
    }


def prepared_lod(lod: BehavioralLOD, state: object) -> Callable[[], None]:
    """Check a state against the behaviors that are here; return what loads it."""
    here = {one.name: one for one in lod._behaviors}
    names = tuple(here)
    fields = Fields.versioned(state, version=VERSION)
    importance = fields.number("importance", minimum=0, maximum=1)
    level = None if fields.anything("level") is None else fields.whole("level")
    is_none = fields.anything("current") is None
    current = None if is_none else here[fields.one_of("current", names)]
    forced = None
    if fields.anything("forced") is not None:
        one = fields.group("forced")
        left_s = one.number_or("left_s", math.inf, minimum=0)
        forced = Force(here[one.one_of("name", names)], left_s, one.flag("has_begun"))
        one.end()
    switches = fields.whole("switches")
    failing = _read_failing(fields, names)
    works = fields.group("works")
    loads = [(name, prepared_inner(here[name].work, works.anything(name), f"work of {name!r}")) for name in names]
    works.end()
    fields.end()

    def change() -> None:
        raised = _raised_by([(name, runner.close) for name, runner in lod._runners.items()])  # half done: of before
        lod._importance, lod._level, lod._forced, lod._current = importance, level, forced, current
        lod.switches = switches
        lod._tell()
        for name in here:
            lod._faults.put_failures((lod, name), failing.get(name, NO_FAILURES))
        for name, error in [*raised, *_raised_by(loads)]:
            lod._faults.report_of_the_past(name, lod._frame, error)

    return change


def _raised_by(steps: list[tuple[str, Callable[[], object]]]) -> list[tuple[str, Exception]]:
    """Make all steps, each for a behavior; return what the clean-up of its work raised meanwhile."""
    raised = []
    for name, step in steps:
        try:
            step()
        except Exception as error:  # the others are loaded all the same
            raised.append((name, error))
    return raised


def _read_failing(fields: Fields, names: tuple[str, ...]) -> dict[str, Failures]:
    failing = {}
    for one in fields.groups("failing"):
        name = one.one_of("name", names)
        if name in failing:
            one.refuse("name", "comes again")
        failing[name] = Failures.read(one)
        one.end()
    return failing
