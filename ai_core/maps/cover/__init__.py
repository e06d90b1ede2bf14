"""Cover: spots along walls and behind movable objects, and the search for the best against given threats."""

__all__: list[str] = []
