"""What each sensor remembers and grows aware of."""

__all__: list[str] = []
