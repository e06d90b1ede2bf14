"""Sight and touch: cones, reach, lines of sight."""

__all__: list[str] = []
