"""Scent trails, left and followed."""

__all__: list[str] = []
