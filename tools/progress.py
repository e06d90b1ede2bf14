"""What a person at the terminal sees: steps with elapsed time, and failures that say what to do."""
from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class StepFailed(Exception):
    """A step of the tools could not be done.

    Args:
        step: what was being done, as a person would say it.
        why: what went wrong.
        remedy: what to do about it.
    """

    def __init__(self, step: str, why: str, remedy: str) -> None:
        super().__init__(step, why, remedy)
        self.step, self.why, self.remedy = step, why.strip(), remedy

    def __str__(self) -> str:
        return f"failed: {self.step}\n  why: {_indented(self.why)}\n  what to do: {_indented(self.remedy)}"


class Step:
    """A running step; ``note`` says what it is busy with."""

    # Seconds between signs of life where the output is a file: often enough that
    # no CI system calls the job stuck, seldom enough that logs stay readable.
    QUIET_INTERVAL_S = 15.0

    def __init__(self, title: str) -> None:
        self.title = title
        self.started = time.monotonic()
        self._note = ""
        self._done = threading.Event()
        self._live = sys.stderr.isatty()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def note(self, text: str) -> None:
        """Say what the step is busy with now; shown with the next sign of life."""
        self._note = without_colours(text).strip()[:60]

    def begin(self) -> None:
        if not self._live:
            _say(f"-- {self.title}")
        self._ticker.start()

    def end(self, outcome: str) -> None:
        self._done.set()
        self._ticker.join()
        start = "\r\033[K" if self._live else ""
        _say(f"{start}-- {self.title}: {outcome} ({self._elapsed_s():.1f} s)")

    def _elapsed_s(self) -> float:
        return time.monotonic() - self.started

    def _tick(self) -> None:
        while not self._done.wait(0.2 if self._live else self.QUIET_INTERVAL_S):
            text = f"-- {self.title} ({self._elapsed_s():.0f} s) {self._note}"
            if self._live:
                print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
            else:
                _say(text)


@contextmanager
def step(title: str) -> Iterator[Step]:
    """Show ``title`` with elapsed time while the block runs, and how it ended."""
    running = Step(title)
    running.begin()
    try:
        yield running
    except BaseException:
        running.end("FAILED")
        raise
    running.end("done")


def without_colours(text: str) -> str:
    """Return ``text`` without the codes that colour it on a terminal."""
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
