"""Adaptation: choices that learn from outcomes, and prediction of an opponent's moves."""

__all__: list[str] = []
