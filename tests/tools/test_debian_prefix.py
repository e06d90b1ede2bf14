"""The folder of Debian's packages: when it counts as there, and what is changed in it."""
from __future__ import annotations

import pytest

from tools import debian_prefix
from tools.cache_folder import fill_whole
from tools.progress import StepFailed


def test_moved_cache_is_fetched_again_as_it_holds_its_old_path(tmp_path, monkeypatch):
    monkeypatch.setenv("AI_CORE_CACHE", str(tmp_path / "old"))
    folder = debian_prefix.prefix_folder()
    assert not debian_prefix.is_there()
    fill_whole(folder, lambda part: {"folder": str(folder)})
    assert debian_prefix.is_there()
    (tmp_path / "old").rename(tmp_path / "new")
    monkeypatch.setenv("AI_CORE_CACHE", str(tmp_path / "new"))
    assert not debian_prefix.is_there()


def test_xvfb_is_patched_for_keymap_programs_at_same_length():
    before = b"code\0/usr/bin\0/usr/share/X11/xkb\0"
    after = debian_prefix.with_keymap_programs_here(before)
    assert after == b"code\0.\0\0\0\0\0\0\0\0/usr/share/X11/xkb\0"
    assert len(after) == len(before)


def test_an_xvfb_laid_out_differently_is_not_touched():
    with pytest.raises(StepFailed, match="laid out differently"):
        debian_prefix.with_keymap_programs_here(b"code without the folder")


def test_machine_without_font_and_key_settings_uses_the_prefix(tmp_path, monkeypatch):
    monkeypatch.setenv("AI_CORE_CACHE", str(tmp_path))
    there, missing = tmp_path / "there", tmp_path / "etc/missing"
    there.touch()
    monkeypatch.setattr(debian_prefix, "_FONT_SETTINGS", missing)
    monkeypatch.setattr(debian_prefix, "_KEY_LOCALES", there)
    given = debian_prefix.drawing_environment()
    assert given["FONTCONFIG_FILE"] == str(debian_prefix.prefix_folder() / missing.relative_to("/"))
    assert "XLOCALEDIR" not in given
