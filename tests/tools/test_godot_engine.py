"""Which Godot is taken, and what is said when none will do. The Godots are shell scripts."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools import debian_prefix
from tools.godot_engine import find_or_fetch, is_new_enough, template_folder, version_numbers
from tools.progress import StepFailed


@pytest.fixture
def bare_machine(tmp_path, monkeypatch):
    """A machine without Godot and with an empty cache; gives the folder that PATH names."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.delenv("GODOT", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("AI_CORE_CACHE", str(tmp_path / "cache"))
    return folder


def put_godot(file: Path, version: str) -> Path:
    file.write_text(f"#!/bin/sh\necho '{version}'\n")
    file.chmod(0o755)
    return file


def test_versions_are_read_from_what_godot_prints():
    assert version_numbers("4.6.3.stable.debian4.6.3+ds-2\n") == (4, 6)
    assert version_numbers("4.10.stable.official.abc") == (4, 10)
    assert version_numbers("command not found") is None


def test_version_4_4_is_the_oldest_that_will_do():
    assert is_new_enough("4.4.stable.official")
    assert is_new_enough("4.10.stable.official")
    assert not is_new_enough("4.3.stable.official")
    assert not is_new_enough("3.6.stable.official")
    assert not is_new_enough("")


def test_the_template_folder_is_named_by_version_and_status():
    assert template_folder("4.6.3.stable.official.abc123") == "4.6.3.stable"
    assert template_folder("4.5.beta2.official.abc123") == "4.5.beta2"


def test_godot_named_by_the_environment_wins(bare_machine, tmp_path, monkeypatch):
    put_godot(bare_machine / "godot", "4.6.stable")
    monkeypatch.setenv("GODOT", str(put_godot(tmp_path / "mine", "4.5.stable")))
    assert find_or_fetch(fetch=False).program == tmp_path / "mine"


def test_unusable_named_godot_is_refused_and_not_replaced(bare_machine, tmp_path, monkeypatch):
    put_godot(bare_machine / "godot", "4.6.stable")
    monkeypatch.setenv("GODOT", str(put_godot(tmp_path / "old", "3.6.stable")))
    with pytest.raises(StepFailed, match=r"GODOT is .*old, which says version '3\.6\.stable'"):
        find_or_fetch(fetch=False)


def test_fetched_engine_named_by_environment_keeps_its_template(bare_machine, monkeypatch):
    program = debian_prefix.program("godot")
    program.parent.mkdir(parents=True)
    monkeypatch.setenv("GODOT", str(put_godot(program, "4.6.3.stable")))
    found = find_or_fetch(fetch=False)
    assert (found.program, found.release_template) == (program, debian_prefix.program("godot-template-release"))
    assert found.drawing


def test_godot4_on_path_comes_before_godot(bare_machine):
    put_godot(bare_machine / "godot", "4.6.stable")
    put_godot(bare_machine / "godot4", "4.4.stable")
    assert find_or_fetch(fetch=False).program == bare_machine / "godot4"


def test_an_old_godot_on_path_is_passed_over(bare_machine):
    put_godot(bare_machine / "godot4", "4.2.stable")
    put_godot(bare_machine / "godot", "4.6.stable")
    assert find_or_fetch(fetch=False).program == bare_machine / "godot"


def test_without_any_godot_the_failure_lists_what_was_tried(bare_machine):
    put_godot(bare_machine / "godot", "3.5.stable")
    with pytest.raises(StepFailed) as failure:
        find_or_fetch(fetch=False)
    assert "$GODOT is not set" in failure.value.why
    assert "godot4 on PATH: none" in failure.value.why
    assert "godot on PATH: older than 4.4" in failure.value.why
    assert "cache" in failure.value.why


def test_runs_keep_settings_and_data_away_from_the_persons_own(bare_machine, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/home/somebody/data")
    put_godot(bare_machine / "godot", "4.6.stable")
    engine = find_or_fetch(fetch=False)
    assert engine.environment()["XDG_DATA_HOME"].startswith(engine.environment()["AI_CORE_CACHE"])
    assert engine.environment(private=False)["XDG_DATA_HOME"] == "/home/somebody/data"
