"""How nodes find what they run under."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import Node, report_error


def nearest(node: Node, class_name: str, group: str) -> Any:
    """Return the nearest ancestor of a class, else the first in its group, else None."""
    ancestor = node.get_parent()
    while ancestor is not None:
        if ancestor.is_class(class_name):
            return ancestor
        ancestor = ancestor.get_parent()
    return node.get_tree().get_first_node_in_group(group) if node.is_inside_tree() else None


def scheduler_of(node: Node) -> Any:
    """Return the AIScheduler a node runs under, or report how to get one and return None."""
    found = nearest(node, "AIScheduler", "ai_schedulers")
    if found is None:
        report_error(
            "found no AIScheduler and will not run; put an AIScheduler above it, or anywhere in the scene", node)
    return found
