"""Questions about the world, answered once for all who ask: PollingStation, and topics of your own."""

__all__: list[str] = []
