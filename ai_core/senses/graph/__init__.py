"""Senses through regions and portals, so that walls count."""

__all__: list[str] = []
