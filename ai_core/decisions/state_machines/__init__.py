"""State machines: nested states, history and guards."""

__all__: list[str] = []
