"""Where to hide: spots along walls and behind things that move, searched for the best from some threats."""

__all__: list[str] = []
