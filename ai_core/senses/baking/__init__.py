"""Regions and portals made from a level."""

__all__: list[str] = []
