"""The log of a PollingStation: who asked what, for people."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import export, method
from ai_core.events.polling_log import PollingLog


class PollingLogNode:
    """What of a PollingStation shows what was asked; a part of that class."""

    answers: Any
    _answers: Any

    logged_polls = export(
        int, 0, range=(0, 10000, 1), or_greater=True, group="Debug", on_set="apply_log",
        doc="How many polls are kept in the log; 0 keeps none. With a log each poll takes some microseconds.")

    def apply_log(self) -> None:
        """Keep a log if one is wanted by now."""
        if self._answers is not None:
            self._answers.log = PollingLog(self.logged_polls) if self.logged_polls else None

    @method
    def get_log(self, code: str = "", how: str = "", since_frame: int = 0) -> list:
        """Return polls as Dictionaries, the oldest first: of one topic, answered in one way, or all."""
        return [
            {"frame": one.frame, "seconds": one.seconds, "question": one.question, "asker": one.asker, "how": one.how,
             "age_frames": -1 if one.age_frames is None else one.age_frames, "answer": one.answer}
            for one in self._log().entries(code=code or None, how=how or None, since_frame=since_frame)
        ]

    @method
    def print_log(self, code: str = "", how: str = "", since_frame: int = 0) -> None:
        """Print polls as a table."""
        print(self._log().table(code=code or None, how=how or None, since_frame=since_frame))

    def _log(self) -> PollingLog:
        return self.answers.log or PollingLog()
