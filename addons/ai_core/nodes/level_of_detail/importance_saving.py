"""Saved state of an ImportanceManager; agents and viewers are saved by their paths."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.nodes.saving.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.saving.scene_values import path_of
from ai_core.saving.fields import Fields, State

VERSION = 1


def saved_manager(manager: Any) -> State:
    """Return importances, last positions, and the levels of crowds."""
    places, viewer_places = manager.agent_places, manager.viewer_places
    return {
        "version": VERSION,
        "importance": manager.core.save_state(),
        "agents": [
            {"id": one, "path": path_of(manager.scheduler, node), "seen": places.seen(row),
             "is_valued": one in manager.values}
            for row, (one, node) in enumerate(manager.agents.items())
        ],
        "viewers": [
            {"path": path_of(manager.scheduler, node), "seen": viewer_places.seen(row),
             "settings": saved_settings(node)}
            for row, node in enumerate(manager.viewers.values())
        ],
        "crowds": [
            {"name": name, **one.save_state()} for name, one in sorted(manager.crowds.items())
        ],
        "pacing": manager.pacing.save_state(_path_from(manager)),
    }


def prepared_manager(manager: Any, state: object) -> Callable[[], None]:
    """Check a state; return a function that loads it. Agents that are not in the state are added again.

    Raises:
        StateError: if the state is invalid, or a node is not in the scene.
    """
    fields = Fields.versioned(state, version=VERSION)
    importance = fields.anything("importance")
    change_importance = manager.core.prepare_state(importance)
    agents = _read(fields, "agents", {path_of(manager.scheduler, one): one for one in manager.agents.values()})
    viewers = _read(fields, "viewers", {path_of(manager.scheduler, one): one for one in manager.viewers.values()})
    dimensions = manager.agent_places.positions.shape[1]
    seen = {one["node"].instance_id: _position(one["row"], dimensions) for one in (*agents, *viewers)}
    ids, valued = _read_ids(agents)
    if sorted(ids.values()) != importance["ids"]:
        fields.refuse("agents", "must have the ids of importance")
    changes = [
        prepared_settings(one["node"], one["row"].group("settings")) for one in viewers
    ]
    for one in (*agents, *viewers):
        one["row"].end()
    later = [manager.pacing.prepare_state(fields, "pacing", _path_from(manager)), _prepared_crowds(manager, fields)]
    fields.end()

    def change() -> None:
        manager.arrange_places()
        change_importance()
        _take_ids(manager, ids)
        manager.to_settle = later
        for one in (*changes, *later):
            one()
        for places, nodes in ((manager.agent_places, manager.agents), (manager.viewer_places, manager.viewers)):
            for row, node in enumerate(nodes.values()):
                places.restore_seen(row, seen.get(node.instance_id))
        shown = dict(zip(manager.core.ids.tolist(), manager.core.values.tolist(), strict=True))
        manager.values = {one: shown[one] for one in valued}

    return change


def _prepared_crowds(manager: Any, fields: Fields) -> Callable[[], None]:
    """Check the saved crowds; return a function that loads those with members."""
    saved: dict[str, Fields] = {}
    for row in fields.groups("crowds"):
        name = row.text("name")
        crowd = manager.crowds.get(name) or next(
            (one.new_crowd() for one in manager.agents.values() if getattr(one, "crowd", "") == name), None)
        if crowd is None:
            row.refuse("name", f"is the crowd {name!r}, which has no members in this scene")
        crowd.prepare_state(row)
        saved[name] = row
        row.end()

    def change() -> None:
        for name, row in saved.items():
            if name in manager.crowds:
                manager.crowds[name].prepare_state(row)()

    return change


def _path_from(manager: Any) -> Callable[[Any], str]:
    return lambda node: path_of(manager.scheduler, node)


def _read(fields: Fields, name: str, here: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a save, each with its node."""
    found = []
    for row in fields.groups(name):
        path = row.text("path")
        if path not in here:
            row.refuse("path", f"is {path!r}, which is not in the scene, or is repeated")
        found.append({"row": row, "node": here.pop(path)})
    return found


def _read_ids(agents: list[dict[str, Any]]) -> tuple[dict[int, int], list[int]]:
    """Return saved ids by present ids, and the saved ids of evaluated agents."""
    ids, valued = {}, []
    for one in agents:
        saved = one["row"].whole("id")
        if saved in ids.values():
            one["row"].refuse("id", "must not be repeated")
        ids[one["node"].agent_id] = saved
        if one["row"].flag("is_valued"):
            valued.append(saved)
    return ids, valued


def _position(row: Fields, dimensions: int) -> list[float] | None:
    if row.anything("seen") is None:
        return None
    found: list[float] = row.numbers("seen", count=dimensions)
    return found


def _take_ids(manager: Any, ids: dict[int, int]) -> None:
    """Give agents the ids of a save; agents that are not in it get new ids."""
    ids = dict(ids)
    for one, node in manager.agents.items():
        if one not in ids:
            [ids[one]] = manager.core.add(role=node.role, size_m=node.size / manager.unit).tolist()
    manager.take_ids(ids)
