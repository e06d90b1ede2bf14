"""Running other programs: always with a time limit, never leaving children behind."""
from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tools.progress import StepFailed, without_colours


@dataclass(frozen=True)
class Finished:
    """How a program ended.

    ``code`` is its exit status (negative: the signal that ended it), ``output`` its
    stdout and stderr in the order written, ``timed_out`` whether we had to end it.
    """

    command: tuple[str, ...]
    code: int
    output: str
    seconds: float
    timed_out: bool

    @property
    def succeeded(self) -> bool:
        return self.code == 0 and not self.timed_out

    def explain(self, last_lines: int = 40) -> str:
        """Say how it ended, with the last lines of what it said."""
        if self.timed_out:
            ending = f"no end after {self.seconds:.0f} s, so it was stopped"
        elif self.code < 0:
            ending = f"ended by signal {signal.Signals(-self.code).name}"
        else:
            ending = f"exit status {self.code}"
        tail = "\n".join(without_colours(self.output).splitlines()[-last_lines:])
        return f"{' '.join(self.command[:6])} …: {ending}\n{tail}"


def run(
    command: Sequence[str | Path],
    *,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Finished:
    """Run a program to its end, or end it and its children when the time is up.

    Args:
        command: program and arguments.
        timeout_s: time limit (s); above 0.
        env: the whole environment; None is ours.
        cwd: folder to run in.
        on_line: called with each line of output as it comes, on another thread.

    Raises:
        StepFailed: if the program is not there.
    """
    words = tuple(str(word) for word in command)
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            words, env=None if env is None else dict(env), cwd=cwd, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise StepFailed(f"starting {words[0]}", str(error), f"install {Path(words[0]).name}") from None
    lines: list[str] = []
    reader = threading.Thread(target=_read, args=(process, lines, on_line), daemon=True)
    reader.start()
    timed_out = False
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        end_group(process)
        # A grandchild that left the group could hold the pipe open: do not wait for it.
        reader.join(2.0)
    return Finished(words, process.returncode, "".join(lines), time.monotonic() - started, timed_out)


def check(step: str, remedy: str, finished: Finished) -> Finished:
    """Return ``finished`` if the program succeeded, else raise StepFailed with its output."""
    if not finished.succeeded:
        raise StepFailed(step, finished.explain(), remedy)
    return finished


def end_group(process: subprocess.Popen[str]) -> None:
    """End a process started in its own session, with all its children."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read(
    process: subprocess.Popen[str], lines: list[str], on_line: Callable[[str], None] | None
) -> None:
    assert process.stdout is not None
    with process.stdout as output:
        for line in output:
            lines.append(line)
            if on_line is not None:
                on_line(line)
