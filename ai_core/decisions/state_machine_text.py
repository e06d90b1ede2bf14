"""The live view of a state machine: which states are active, since when, and why."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ai_core.decisions.state_machine_plan import Node

if TYPE_CHECKING:
    from ai_core.decisions.state_machine_definition import StateMachineDefinition

__all__ = ["live_view"]


def live_view(
    definition: StateMachineDefinition, name: str, leaf: Node | None, time_in_state_s: float, reason: str
) -> str:
    """Return one line per state, the active ones marked, with the events the leaf waits for.

    Args:
        definition: of the machine.
        name: of the character.
        leaf: the innermost active state, None while none is.
        time_in_state_s: since it began (s).
        reason: why it did.

    Cost: O(states).
    """
    active = [] if leaf is None else leaf.up()
    lines = [name if leaf is not None else f"{name}: in no state; it begins with start, send or update"]
    for node in definition.nodes:
        indent = "  " * (node.depth - 1)
        if node not in active:
            lines.append(f"{indent}  {node.name}")
        elif node is not leaf:
            lines.append(f"{indent}* {node.name}")
        else:
            waits = ", ".join(event for event, routes in node.table.items() if routes) or "nothing"
            lines.append(f"{indent}* {node.name}: for {time_in_state_s:.2f} s, {reason}; waits for {waits}")
    return "\n".join(lines)
