"""Nodes that a test leaves behind."""
from __future__ import annotations

from typing import Any, NamedTuple

NODE_COUNT, ORPHAN_COUNT = 9, 10
"""Performance.OBJECT_NODE_COUNT and OBJECT_ORPHAN_NODE_COUNT; orphans are counted in debug builds."""


class NodeCensus(NamedTuple):
    """Which nodes there are: children of the root by id, and counts of all and of orphans."""

    top_level: dict[int, str]
    nodes: int
    orphans: int


def take_census(root: Any, performance: Any) -> NodeCensus:
    """Count the nodes of this moment. Cost: O(children of the root)."""
    top_level = {
        child.get_instance_id(): f"{child.get_class()} '/root/{child.get_name()}'" for child in root.get_children()
    }
    return NodeCensus(
        top_level, int(performance.get_monitor(NODE_COUNT)), int(performance.get_monitor(ORPHAN_COUNT))
    )


def leak_report(before: NodeCensus, after: NodeCensus) -> str:
    """Say which nodes are left over, "" if none."""
    left = [name for instance_id, name in after.top_level.items() if instance_id not in before.top_level]
    lines = [f"left in the tree: {name}" for name in left]
    if after.nodes > before.nodes and not left:
        lines.append(f"{after.nodes - before.nodes} nodes left in the tree")
    if after.orphans > before.orphans:
        count = after.orphans - before.orphans
        lines.append(f"{count} nodes left outside the tree (never added, or removed and not freed)")
    if not lines:
        return ""
    return "The test leaked nodes; free them, or make them with the fixtures node and scene.\n" + "\n".join(lines)


def free_left_over(root: Any, before: NodeCensus) -> None:
    """Free what a test left below the root, so that the next one does not meet it."""
    for child in root.get_children():
        if child.get_instance_id() not in before.top_level:
            child.queue_free()
