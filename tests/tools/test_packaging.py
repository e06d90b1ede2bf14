"""Packing: zips of the same bytes, and what is read from libraries and settings."""
from __future__ import annotations

import os
import zipfile

from tools.packaging.addon import oldest_libc
from tools.packaging.archive import pack
from tools.packaging.compile_modules import main as compile_modules
from tools.packaging.ingredients import pinned_numpy


def test_a_zip_depends_on_names_and_contents_alone(tmp_path):
    archives = []
    for number, order in enumerate((["b/two.py", "a.so"], ["a.so", "b/two.py"])):
        folder = tmp_path / str(number)
        for name in order:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
            os.utime(folder / name, (number * 1e9, number * 1e9))
        pack(folder, tmp_path / f"{number}.zip")
        archives.append((tmp_path / f"{number}.zip").read_bytes())
    assert archives[0] == archives[1]


def test_libraries_can_be_run_after_unpacking_and_nothing_else(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.so", "b.py"):
        (tmp_path / "in" / name).touch()
    pack(tmp_path / "in", tmp_path / "made.zip")
    modes = {one.filename: one.external_attr >> 16 for one in zipfile.ZipFile(tmp_path / "made.zip").infolist()}
    assert modes == {"a.so": 0o100755, "b.py": 0o100644}


def test_the_libc_needed_is_the_newest_that_any_library_asks_for(tmp_path):
    (tmp_path / "a.so").write_bytes(b"\x7fELF\0GLIBC_2.9\0GLIBC_2.35\0")
    (tmp_path / "b.so.1").write_bytes(b"\x7fELF\0GLIBC_2.4\0GLIBC_PRIVATE\0")
    assert oldest_libc(tmp_path) == "2.35"


def test_numpy_is_the_one_that_everything_is_tested_with():
    assert pinned_numpy('[dependency-groups]\ndev = ["mypy==2.0", "numpy==2.4.6"]\n') == "2.4.6"
    two = 'dev = ["numpy==2.4.6; python_version < \'3.15\'", "numpy==2.5.5; python_version >= \'3.15\'"]'
    assert pinned_numpy(f"[dependency-groups]\n{two}\n") == "2.4.6"


def test_modules_compile_to_the_same_bytes_at_any_source_time(tmp_path):
    source = tmp_path / "source" / "deep"
    source.mkdir(parents=True)
    made = []
    for time_s, way, name in ((1e9, "beside", "made1"), (2e9, "beside", "made2"), (3e9, "alone", "made3")):
        (source / "module.py").write_text('"""Text."""\nNAMES = {"a", "b"}\n')
        os.utime(source / "module.py", (time_s, time_s))
        compile_modules(tmp_path / "source", tmp_path / name, "shown", way)
        made.append(list((tmp_path / name).rglob("*.pyc")))
    [one], [two], [alone] = made
    assert one.read_bytes() == two.read_bytes()
    assert b"shown/deep/module.py" in one.read_bytes()
    assert one.parent.name == "__pycache__"
    assert alone == tmp_path / "made3" / "deep" / "module.pyc"
    assert b"Text." not in alone.read_bytes(), "a game needs no documentation of Python's"
