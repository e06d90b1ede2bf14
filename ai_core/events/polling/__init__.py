"""Polling: a PollingStation answers queries about the world from topics, and caches the answers."""

__all__: list[str] = []
