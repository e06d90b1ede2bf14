"""The ticket of a call on a thread: when its result is available, and the result."""
from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from ai_core.clock import TimeIndex

__all__ = ["ThreadTicket"]


class ThreadTicket:
    """A submitted call; its result is available from its frame on, never before.

    Attributes:
        id: number within its ThreadedWork, never reused.
        arguments: arguments of the call.
        submitted_at: game time of the submission.
        due_frame: the frame of the clock on which the result is handed over.
    """

    __slots__ = ("_error", "_future", "_outcome", "_result", "arguments", "due_frame", "id", "submitted_at")

    def __init__(
        self, ticket_id: int, arguments: tuple[Any, ...], submitted_at: TimeIndex, due_frame: int
    ) -> None:
        self.id = ticket_id
        self.arguments = arguments
        self.submitted_at = submitted_at
        self.due_frame = due_frame
        self._outcome = "pending"
        self._future: Future[Any] | None = None
        self._result: Any = None
        self._error: Exception | None = None

    def __repr__(self) -> str:
        return f"<ThreadTicket {self.id} {self._outcome}, due in frame {self.due_frame}>"

    @property
    def is_done(self) -> bool:
        """True once it is handed over, with a result or an error."""
        return self._outcome in ("succeeded", "failed")

    @property
    def is_cancelled(self) -> bool:
        """True after ``ThreadedWork.cancel``, or when a save was loaded that does not have it."""
        return self._outcome == "cancelled"

    @property
    def error(self) -> Exception | None:
        """The exception that the function raised, once handed over; else None."""
        return self._error

    @property
    def result(self) -> Any:
        """The return value of the function.

        Raises:
            RuntimeError: if it is not handed over yet, or was cancelled.
            Exception: the exception that the function raised, if any.
        """
        if self._error is not None:
            raise self._error
        if self._outcome != "succeeded":
            raise RuntimeError(f"ticket {self.id} has no result, it is {self._outcome}; check is_done first")
        return self._result
