"""The file that tells the loader which Python to start."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.python_config import config_file, config_text, write_config


def test_the_file_names_library_and_program_line_by_line():
    text = config_text(Path("/lib/libpython3.11.so.1.0"), Path("/my env/bin/python"))
    assert text == "libpython=/lib/libpython3.11.so.1.0\nprogram=/my env/bin/python\n"


def test_a_path_with_a_line_break_is_refused():
    with pytest.raises(ValueError, match="must be one line"):
        config_text(Path("/lib/a\nb"), Path("/python"))


def test_writing_the_same_text_again_leaves_the_file_untouched(tmp_path):
    write_config(tmp_path, "libpython=/a\n")
    file = config_file(tmp_path)
    file.chmod(0o444)
    before = file.stat().st_mtime_ns
    write_config(tmp_path, "libpython=/a\n")
    assert file.stat().st_mtime_ns == before


def test_writing_another_text_replaces_it(tmp_path):
    write_config(tmp_path, "libpython=/a\n")
    write_config(tmp_path, "libpython=/b\n")
    assert config_file(tmp_path).read_text() == "libpython=/b\n"
