"""Which lines of Godot's output are complaints."""
from __future__ import annotations

import pytest

from tools.engine_output import complaints, is_complaint


@pytest.mark.parametrize("line", [
    "ERROR: Cannot open file 'res://a.tscn'.",
    "WARNING: ObjectDB instances leaked at exit (run with --verbose for details).",
    "SCRIPT ERROR: Parse Error: Expected statement.",
    "USER WARNING: from push_warning",
    "\x1b[1;31mERROR:\x1b[0;91m coloured",
    "Leaked instance: Node:123",
])
def test_errors_warnings_and_leaks_are_complaints(line):
    assert is_complaint(line)


@pytest.mark.parametrize("line", [
    "12.3 s  guard A  heard a noise: no error here",
    "   at: load (scene/resources/resource_format_text.cpp:1430)",
    "0 ERRORS",
    "",
])
def test_ordinary_lines_are_not(line):
    assert not is_complaint(line)


def test_complaints_are_picked_out_in_order():
    assert complaints("fine\nERROR: one\n  at: here\nWARNING: two\n") == ["ERROR: one", "WARNING: two"]


def test_jolts_word_on_a_busy_machine_is_no_complaint():
    assert complaints("WARNING: Jolt Physics job system exceeded the maximum number of jobs. This is bad.") == []
