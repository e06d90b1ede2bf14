"""Populations: many people as counts and distributions, and a few named people with facts."""

__all__: list[str] = []
