"""Strategy for a whole side: production, missions of squads, and the time of attacks."""

__all__: list[str] = []
