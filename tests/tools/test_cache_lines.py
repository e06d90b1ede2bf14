"""The counts of tools/cache_lines.py; stepping itself needs ptrace, which not every machine allows."""
from __future__ import annotations

import argparse

import pytest

from tools.cache_lines import Footprint, Mapping, Symbols, start
from tools.progress import StepFailed


def test_a_line_counts_once_in_the_phase_that_touches_it_first():
    footprint = Footprint()
    footprint.note(0x1000, 4, [0x8000, 0x8008])
    footprint.note(0x1004, 4, [0x8040])
    footprint.begin_phase()
    footprint.note(0x103E, 4, [0x8000, 0x8080])     # reaches into the next line of code
    assert [(len(one.code), len(one.data), one.instructions) for one in footprint.phases] == [(1, 2, 2), (1, 1, 1)]
    assert footprint.sums() == (2, 3, 3)


def test_an_address_without_a_file_has_no_function():
    symbols = Symbols([Mapping(0x1000, 0x2000, 0, "[heap]")])
    assert symbols.name(0x1800) == "[heap]: ?"
    assert symbols.name(0x9000) == ": ?"


def test_unknown_work_is_refused():
    with pytest.raises(StepFailed, match="no work 'naps'"):
        start(argparse.Namespace(work=["naps"], guards=1, frame=140, phases=[], top=0))
