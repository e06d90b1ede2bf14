"""What the engine complained about while a test ran, and what the test expected it to."""
from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

BEGINNING = re.compile(r"^(?:USER )?(?:SCRIPT )?(?:ERROR|WARNING): ")
END = re.compile(r"^\s+at: ")
BUSY_MACHINE = "Jolt Physics job system exceeded the maximum number of jobs"
"""Jolt says so when its worker threads get no processor for a while; no test is at fault."""


def complaints(output: str) -> list[str]:
    """Return each error and warning in the engine's output, with its traceback.

    A complaint runs from its ``ERROR:`` to its ``at:`` and the indented lines after it.

    >>> complaints("hello\\nERROR: no such node\\n   at: get_node (node.cpp:1)\\nbye")
    ['ERROR: no such node\\n   at: get_node (node.cpp:1)']
    """
    found: list[list[str]] = []
    is_open = is_ended = False
    for line in output.splitlines():
        if BEGINNING.match(line):
            found.append([line])
            is_open, is_ended = True, False
        elif is_open and is_ended and not line.startswith(" "):
            is_open = False
        elif is_open:
            found[-1].append(line)
            is_ended = is_ended or END.match(line) is not None
    return ["\n".join(lines) for lines in found if BUSY_MACHINE not in lines[0]]


class EngineOutput:
    """The file that the engine's stdout and stderr go to, read piece by piece."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._position = 0

    def read_new(self) -> str:
        """Return what was written since the last call."""
        with self._file.open("rb") as stream:
            stream.seek(self._position)
            written = stream.read()
        self._position += len(written)
        return written.decode("utf-8", "replace")


class Expectation(NamedTuple):
    """A complaint that contains ``text``, ``times`` times, or any number of times from ``at_least`` on."""

    text: str
    times: int | None
    at_least: int


class ExpectedErrors:
    """The complaints one test declares; everything else is a failure."""

    def __init__(self) -> None:
        self._expected: list[Expectation] = []

    def expect(self, text: str, times: int | None = None, at_least: int = 1) -> None:
        """Declare that the engine will complain with ``text`` in it.

        Args:
            text: part of the message or of its traceback; not empty.
            times: how often exactly; None allows any number from ``at_least`` on.
            at_least: 0 or more; 0 for a complaint that depends on the speed of the machine.
        """
        if not text:
            raise ValueError("an expected engine error needs a text, got ''; name a part of its message")
        if times is not None and times < 1:
            raise ValueError(f"times must be at least 1, got {times}; an error that is not declared must not come")
        self._expected.append(Expectation(text, times, at_least))

    def problems(self, found: Iterable[str]) -> list[str]:
        """Return what is wrong: complaints nobody declared, declared ones that did not come."""
        found = list(found)
        wrong = self.undeclared(found)
        for text, times, at_least in self._expected:
            count = sum(text in one for one in found)
            if count < at_least if times is None else count != times:
                wanted = f"at least {at_least} times" if times is None else f"{times} times"
                wrong.append(f"The engine was expected to complain {wanted} with {text!r}, it did so {count} times")
        return wrong

    def undeclared(self, found: Iterable[str]) -> list[str]:
        """Return the complaints that nobody declared."""
        return [
            f"The engine complained:\n{one}"
            for one in found
            if not any(wanted.text in one for wanted in self._expected)
        ]
