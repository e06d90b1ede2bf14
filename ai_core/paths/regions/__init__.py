"""Regions of a grid: searches for long paths, and reachability."""

__all__: list[str] = []
