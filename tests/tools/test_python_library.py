"""Finding the parts of a Python."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.progress import StepFailed
from tools.python_library import ask, find_or_fetch_library


@pytest.fixture
def odd_python(tmp_path):
    """A Python that says it lives in a folder of its own, without library and headers."""
    program = tmp_path / "python"
    answer = (
        f'{{"version": "3.11", "base": "{tmp_path}", "library": "", "folder": "{tmp_path}", '
        f'"multiarch": "", "include": "{tmp_path}"}}'
    )
    program.write_text(f"#!/bin/sh\necho '{answer}'\n")
    program.chmod(0o755)
    return program


def test_this_python_says_its_version_and_where_its_headers_are():
    facts = ask(Path(sys.executable))
    assert facts.version == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert facts.include.name.startswith("python3")


def test_a_library_left_unnamed_is_guessed_from_the_version(odd_python):
    assert ask(odd_python).library.name == "libpython3.11.so.1.0"


def test_python_without_shared_library_is_refused_with_advice(odd_python):
    with pytest.raises(StepFailed, match="has no shared library") as failure:
        find_or_fetch_library(odd_python)
    assert "--enable-shared" in failure.value.remedy


def test_a_python_with_library_and_headers_needs_nothing_fetched(odd_python, tmp_path):
    (tmp_path / "libpython3.11.so.1.0").touch()
    (tmp_path / "Python.h").touch()
    found = find_or_fetch_library(odd_python)
    assert found.libpython == tmp_path / "libpython3.11.so.1.0"
    assert found.include_dirs == ()
