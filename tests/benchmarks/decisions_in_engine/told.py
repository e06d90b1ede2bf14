"""What calling a method written in Python costs at the least."""
from __future__ import annotations

from addons.ai_core.bridge.gd import Node, Variant, gdclass, method


@gdclass
class BenchTold(Node):
    """Is told of an event as a StateMachine is, and does nothing."""

    @method
    def send_event(self, event: str, payload: Variant = None) -> bool:
        """Return that it was heard."""
        return True
