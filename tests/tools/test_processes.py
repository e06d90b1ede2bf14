"""Running programs with a time limit."""
from __future__ import annotations

import os
import sys

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


def test_a_program_that_never_ends_is_stopped_with_its_children_and_its_output_kept():
    finished = run(["sh", "-c", "sleep 60 & echo $!; wait"], timeout_s=0.1)
    assert finished.timed_out
    assert not finished.succeeded
    assert "no end after" in finished.explain()
    assert not is_running(int(finished.output))


def test_a_missing_program_is_said_by_name():
    with pytest.raises(StepFailed, match="starting no_such_program"):
        run(["no_such_program"], timeout_s=1.0)


def test_a_program_that_crashes_is_said_to_have_ended_by_its_signal():
    finished = run(["sh", "-c", "kill -SEGV $$"], timeout_s=5.0)
    assert "ended by signal SIGSEGV" in finished.explain()


def test_checking_a_failed_program_shows_what_it_said_and_the_remedy():
    finished = run([sys.executable, "-S", "-c", "print('no space left'); raise SystemExit(1)"], timeout_s=5.0)
    with pytest.raises(StepFailed) as failure:
        check("unpacking", "make room", finished)
    assert "no space left" in str(failure.value)
    assert "what to do: make room" in str(failure.value)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
    except ProcessLookupError:
        return os.getpid() == pid
