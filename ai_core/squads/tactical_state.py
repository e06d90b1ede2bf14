"""Saving and loading of a squad's tactics: enemies, tactic, tasks and attack tokens as plain data."""
from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

import numpy as np

from ai_core.errors import UnknownNameError
from ai_core.saving.fields import Fields, State
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.situation import Sighting
from ai_core.squads.tactics import SquadTask

if TYPE_CHECKING:
    from ai_core.squads.squad import Squad

__all__ = ["prepared_tactics", "read_capabilities", "saved_capabilities", "saved_tactics"]


def saved_tactics(squad: Squad) -> State:
    """Return the enemies met, the tactic in use and its progress, tasks and tokens."""
    return {
        "met": [
            {"id": one.enemy_id, "position": list(one.position), "threat": one.threat,
             "capabilities": saved_capabilities(one.capabilities)}
            for one in squad.sightings],
        "tactic": squad.tactic,
        "begun": None if squad._tactic is None else squad._tactic.save_state(),
        "tasks": [
            {"id": number, "kind": task.kind, "position": None if task.position is None else list(task.position),
             "target": task.target}
            for number, task in squad.tasks.items()],
        "tokens": squad.tokens.save_state(),
        "choice": inner_state(squad.choose_tactic),
    }


def prepared_tactics(squad: Squad, fields: Fields, members: Container[int]) -> Callable[[], None]:
    """Check the saved fields and return the function that restores them in the squad."""
    met = [_read_sighting(one, squad.dimensions) for one in fields.groups("met")]
    if len({one.enemy_id for one in met}) != len(met):
        fields.refuse("met", "must name each enemy once")
    name, begun = fields.anything("tactic"), fields.anything("begun")
    change_tactic: Callable[[], object] = int
    if name is not None:
        if fields.text("tactic") not in squad._tactics:
            fields.refuse("tactic", f"{UnknownNameError('tactic', name, squad._tactics)}; add_tactic() before loading")
        change_tactic = squad._tactics[name].prepare_state(begun)
    tasks: dict[int, SquadTask] = {}
    for one in fields.groups("tasks"):
        number, task = _read_task(one, squad.dimensions)
        if number in tasks or number not in members:
            one.refuse("id", f"must be the id of a member, each once, got {number}")
        tasks[number] = task
    change_tokens = squad.tokens.prepare_state(fields.anything("tokens"))
    change_choice = prepared_inner(squad.choose_tactic, fields.anything("choice"), "choice")
    fields.end()

    def change() -> None:
        squad._met, squad._tactic, squad._tasks = tuple(met), None if name is None else squad._tactics[name], tasks
        squad.marchers.is_detached[:] = np.isin(squad.marchers.ids, list(tasks))
        for one in (change_tactic, change_tokens, change_choice):
            one()

    return change


def saved_capabilities(can: Capabilities | None) -> State | None:
    """Return capabilities as plain data."""
    if can is None:
        return None
    return {"kind": can.kind, "attack": dict(can.attack), "toughness": can.toughness, "heals": can.heals,
            "range_m": can.range_m}


def read_capabilities(fields: Fields) -> Capabilities | None:
    """Return the capabilities saved in the field "capabilities", or None."""
    if fields.anything("capabilities") is None:
        return None
    one = fields.group("capabilities")
    attack = one.group("attack")
    terms: dict[str, Any] = {name: one.number(name) for name in ("toughness", "heals", "range_m")}
    terms["kind"] = one.text("kind")
    terms["attack"] = {kind: attack.number(kind) for kind in attack.names()}
    one.end()
    try:
        return Capabilities(**terms)
    except (TypeError, ValueError) as error:
        fields.refuse("capabilities", str(error))


def _read_sighting(fields: Fields, dimensions: int) -> Sighting:
    place = tuple(fields.numbers("position", count=dimensions))
    sighting = Sighting(
        fields.whole("id"), place, read_capabilities(fields), fields.number("threat", minimum=0, maximum=1e6))
    fields.end()
    return sighting


def _read_task(fields: Fields, dimensions: int) -> tuple[int, SquadTask]:
    place = None
    if fields.anything("position") is not None:
        place = tuple(fields.numbers("position", count=dimensions))
    target = None if fields.anything("target") is None else fields.whole("target")
    found = fields.whole("id"), SquadTask(fields.text("kind"), place, target)
    fields.end()
    return found
