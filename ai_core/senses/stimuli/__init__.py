"""Signals that are emitted, travel and arrive: sounds and smells."""

__all__: list[str] = []
