"""Many people as counts and distributions, and the few who must stay themselves."""

__all__: list[str] = []
