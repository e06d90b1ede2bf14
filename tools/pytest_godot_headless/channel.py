"""Messages between the two halves: one JSON object per line over a socket on this machine."""
from __future__ import annotations

import json
import socket
from typing import Any

Message = dict[str, Any]


class ChannelClosed(ConnectionError):
    """The other half is gone."""


class Channel:
    """One end of the connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._pending = b""

    def send(self, kind: str, **values: Any) -> None:
        """Send one message; raises ChannelClosed if the other half is gone."""
        line = json.dumps({"kind": kind, **values}, default=repr).encode() + b"\n"
        try:
            self._connection.sendall(line)
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    def receive(self, limit_s: float | None = None) -> Message:
        """Return the next message.

        Args:
            limit_s: longest wait (s); None waits for ever.

        Raises:
            TimeoutError: if none came in time.
            ChannelClosed: if the other half is gone.
        """
        self._connection.settimeout(limit_s)
        while b"\n" not in self._pending:
            try:
                received = self._connection.recv(65536)
            except TimeoutError:
                raise
            except OSError as error:
                raise ChannelClosed(str(error)) from error
            if not received:
                raise ChannelClosed("the other half closed the connection")
            self._pending += received
        line, self._pending = self._pending.split(b"\n", 1)
        message: Message = json.loads(line)
        return message

    def close(self) -> None:
        self._connection.close()


def connect(port: int, token: str) -> Channel:
    """Connect to the outer half; the token tells it that we are the Godot it started."""
    channel = Channel(socket.create_connection(("127.0.0.1", port)))
    channel.send("hello", token=token)
    return channel
