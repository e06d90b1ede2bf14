"""The scene that is open in the editor, where nodes only show configuration warnings."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import Node, get_object, is_in_editor, singleton

_found: dict[str, list[int]] = {}        # by class, ids of nodes: nodes would keep a closed scene's resources
_found_at: tuple[int, ...] = ()


def nodes_of(node: Node, class_name: str) -> list[Any]:
    """Return the nodes of a class in the edited scene of a node, in tree order.

    Cost: O(scene) once per frame and class; every node of a large scene calls this when the scene is opened.
    """
    global _found_at
    root = node.get_tree().get_edited_scene_root()
    if root is None or not node.is_part_of_edited_scene():
        return []
    now = (singleton("Engine").get_process_frames(), node.get_tree().get_node_count(), root.instance_id)
    if now != _found_at:
        _found.clear()
        _found_at = now
    if class_name not in _found:
        below = root.find_children("*", class_name, True, False)
        nodes = [*([root] if root.is_class(class_name) else []), *below]
        _found[class_name] = [one.instance_id for one in nodes]
    return [one for one in map(get_object, _found[class_name]) if one is not None]


def has_action(name: str) -> bool:
    """Return whether the project has an input action; the editor's own InputMap has other actions."""
    if is_in_editor():
        return bool(singleton("ProjectSettings").has_setting(f"input/{name}"))
    return bool(singleton("InputMap").has_action(name))


def is_a_part(node: Node) -> bool:
    """Return whether the edited scene is a part of other scenes, such as a character, rather than a level.

    Such a scene gets no warnings about nodes that a level provides. It has no AIScheduler, and is not the main scene
    of the project, if there is one. In a game the result is always False.
    """
    if not is_in_editor() or not node.is_part_of_edited_scene() or nodes_of(node, "AIScheduler"):
        return False
    main = singleton("ProjectSettings").get_setting("application/run/main_scene", "")
    if main.startswith("uid://"):
        main = singleton("ResourceUID").uid_to_path(main)
    return bool(main) and node.get_tree().get_edited_scene_root().scene_file_path != main
