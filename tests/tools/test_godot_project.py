"""What a project must hold before Godot starts on it."""
from __future__ import annotations

from tools.godot_project import EXTENSION, extension_list, import_digest, list_extension, unlist_extension

OTHER = "res://addons/other/other.gdextension"


def test_listing_the_extension_makes_the_list_and_twice_is_once(tmp_path):
    list_extension(tmp_path)
    list_extension(tmp_path)
    assert extension_list(tmp_path).read_text() == f"{EXTENSION}\n"


def test_other_extensions_stay_listed(tmp_path):
    extension_list(tmp_path).parent.mkdir()
    extension_list(tmp_path).write_text(OTHER)
    list_extension(tmp_path)
    assert extension_list(tmp_path).read_text().split() == [OTHER, EXTENSION]
    unlist_extension(tmp_path)
    assert extension_list(tmp_path).read_text().split() == [OTHER]


def test_unlisting_the_only_extension_leaves_no_trace(tmp_path):
    list_extension(tmp_path)
    unlist_extension(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_import_is_due_when_something_to_import_changes_and_not_otherwise(tmp_path):
    (tmp_path / "icon.svg").write_text("<svg/>")
    before = import_digest(tmp_path)
    (tmp_path / "notes.txt").touch()
    (tmp_path / ".godot").mkdir()
    (tmp_path / ".godot" / "cached.png").touch()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / ".gdignore").touch()
    (tmp_path / "tools" / "picture.png").touch()
    assert import_digest(tmp_path) == before
    (tmp_path / "icon.svg").write_text("<svg></svg>")
    assert import_digest(tmp_path) != before
