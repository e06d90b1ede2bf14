"""Running programs with a time limit."""
from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tools.processes import check, run
from tools.progress import StepFailed


def test_output_of_both_streams_and_the_exit_status_come_back():
    finished = run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout_s=5.0)
    assert (finished.code, sorted(finished.output.split()), finished.timed_out) == (3, ["err", "out"], False)


def test_lines_are_told_as_they_come():
    heard: list[str] = []
    run(["sh", "-c", "echo one; echo two"], timeout_s=5.0, on_line=heard.append)
    assert heard == ["one\n", "two\n"]


def test_endless_program_stops_with_children_and_keeps_output():
    # A busy machine may need longer to come as far as the output: then it gets longer.
    tries = (run(["sh", "-c", "sleep 60 & echo $!; wait"], timeout_s=limit_s) for limit_s in (0.1, 1.0, 5.0))
    finished = next(finished for finished in tries if finished.output)
    assert finished.timed_out
    assert not finished.succeeded
    assert "no end after" in finished.explain()
    assert ends_soon(int(finished.output))


def test_a_missing_program_is_said_by_name():
    with pytest.raises(StepFailed, match="starting no_such_program"):
        run(["no_such_program"], timeout_s=1.0)


def test_crashed_program_is_reported_with_its_signal():
    finished = run(["sh", "-c", "kill -SEGV $$"], timeout_s=5.0)
    assert "ended by signal SIGSEGV" in finished.explain()


def test_checking_a_failed_program_shows_its_output_and_remedy():
    finished = run([sys.executable, "-S", "-c", "print('no space left'); raise SystemExit(1)"], timeout_s=5.0)
    with pytest.raises(StepFailed) as failure:
        check("unpacking", "make room", finished)
    assert "no space left" in str(failure.value)
    assert "what to do: make room" in str(failure.value)


def ends_soon(pid: int) -> bool:
    """Return whether a process is gone, or dead and not yet cleared away, within two seconds."""
    deadline = time.monotonic() + 2.0
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False
