"""Memory and awareness of each sensor."""

__all__: list[str] = []
