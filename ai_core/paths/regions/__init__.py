"""Long ways over regions, and what can be reached at all."""

__all__: list[str] = []
