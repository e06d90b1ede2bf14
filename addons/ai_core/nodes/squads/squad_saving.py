"""Saved state of a Squad: the state of the library's squad, and the nodes of its members."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.nodes.saving.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.saving.scene_values import path_of
from ai_core.errors import UnknownNameError
from ai_core.saving.fields import Fields, State


def saved_squad(squad: Any) -> State:
    """Return the state; members and enemies are named by their paths."""
    scheduler = squad._scheduler
    squad.place_all()
    return {
        "version": 1, "settings": saved_settings(squad),
        "members": [[number, path_of(scheduler, one)] for number, one in squad._members.items()],
        "enemies": [
            [number, path_of(scheduler, node)] for number in sorted(squad._enemies)
            if (node := squad.enemy(number)) is not None and node.is_inside_tree()],
        "last_enemy": squad._last_enemy, "unmarched_s": squad._unmarched_s, "frames": squad._frames,
        "is_resting": squad._is_resting, "core": squad.core.save_state(),
    }


def prepared_squad(squad: Any, state: object) -> Callable[[], None]:
    """Check a state against the nodes of the scene; return a function that applies it."""
    fields = Fields.versioned(state, version=1)
    change_settings = prepared_settings(squad, fields.group("settings"))
    members = _nodes(squad, fields, "members", "SquadMember")
    enemies = _nodes(squad, fields, "enemies", "Node")
    last_enemy, frames = fields.whole("last_enemy"), fields.whole("frames")
    unmarched_s, is_resting = fields.number("unmarched_s", minimum=0), fields.flag("is_resting")
    core = fields.anything("core")
    change_core = squad.core.prepare_state(core)
    saved_ids = sorted(one["member_id"] for one in core["members"])
    if saved_ids != sorted(members):
        fields.refuse("members", f"must name the members of the squad, {saved_ids}, got {sorted(members)}")
    fields.end()

    def change() -> None:
        change_settings()
        squad.replace_members(members)
        change_core()
        squad._enemies = {number: node.instance_id for number, node in enemies.items()}
        squad._last_enemy, squad._frames, squad._unmarched_s = last_enemy, frames, unmarched_s
        squad._is_resting = is_resting
        squad.wake()

    return change


def _nodes(squad: Any, fields: Fields, name: str, class_name: str) -> dict[int, Any]:
    """Return nodes by id, from their saved paths relative to the scheduler."""
    found: dict[int, Any] = {}
    for index, row in enumerate(fields.items(name)):
        number, path = Fields({"row": row}, f"{name}[{index}]").items("row", count=2)
        one = Fields({"id": number, "path": path}, f"{name}[{index}]")
        node = squad._scheduler.get_node_or_null(one.text("path"))
        if node is None or not node.is_class(class_name):
            one.refuse("path", f"{UnknownNameError(class_name, path, ())}; it must be in the scene before loading")
        found[one.whole("id")] = node
    return found
