"""Choices that learn: what went well, and what an opponent will do next."""

__all__: list[str] = []
