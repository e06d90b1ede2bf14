"""Where the cache is, and that a part of a download never counts as whole."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.cache_folder import cache_folder, contents_note, fill_whole, is_whole


def test_the_cache_is_where_the_environment_says_nearest_first():
    assert cache_folder({"AI_CORE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert cache_folder({"XDG_CACHE_HOME": "/b"}) == Path("/b/ai_core")
    assert cache_folder({}) == Path.home() / ".cache" / "ai_core"


def test_a_filled_folder_is_whole_and_keeps_its_note(tmp_path):
    def fill(part: Path) -> dict[str, object]:
        (part / "file").write_text("contents")
        return {"from": "here"}

    fill_whole(tmp_path / "wanted", fill)
    assert is_whole(tmp_path / "wanted")
    assert (tmp_path / "wanted" / "file").read_text() == "contents"
    assert contents_note(tmp_path / "wanted") == {"from": "here"}


def test_a_download_that_breaks_off_leaves_nothing_behind(tmp_path):
    def break_off(part: Path) -> dict[str, object]:
        (part / "file").write_text("half")
        raise ConnectionError("the network went away")

    with pytest.raises(ConnectionError):
        fill_whole(tmp_path / "wanted", break_off)
    assert not is_whole(tmp_path / "wanted")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_stamp_is_replaced(tmp_path):
    (tmp_path / "wanted").mkdir()
    (tmp_path / "wanted" / "half").touch()
    fill_whole(tmp_path / "wanted", lambda part: {})
    assert is_whole(tmp_path / "wanted")
    assert not (tmp_path / "wanted" / "half").exists()


def test_the_folder_that_was_filled_first_stays(tmp_path):
    def fill_while_another_run_is_quicker(part: Path) -> dict[str, object]:
        fill_whole(tmp_path / "wanted", lambda other: {"by": "the other"})
        return {"by": "us"}

    fill_whole(tmp_path / "wanted", fill_while_another_run_is_quicker)
    assert contents_note(tmp_path / "wanted") == {"by": "the other"}


def test_remains_of_killed_runs_are_removed_and_live_runs_kept(tmp_path):
    for name in ("killed", "running"):
        (tmp_path / f"wanted.part.{name}").mkdir()
    os.utime(tmp_path / "wanted.part.killed", (0, 0))
    fill_whole(tmp_path / "wanted", lambda part: {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["wanted", "wanted.part.running"]
