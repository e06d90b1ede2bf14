"""A commander of commanders: what to make, where to go, when to attack."""

__all__: list[str] = []
