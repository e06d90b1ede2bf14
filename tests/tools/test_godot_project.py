"""What a project must hold before Godot starts on it."""
from __future__ import annotations

from tools.godot_project import (
    EXTENSION,
    PLUGIN,
    disable_plugin,
    enable_plugin,
    extension_list,
    hide_from_godot,
    import_digest,
    list_extension,
    unlist_extension,
)

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


def test_import_is_due_only_when_something_to_import_changes(tmp_path):
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


def test_only_tool_output_inside_a_project_is_hidden_from_godot(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    hide_from_godot(project, project / "dist" / "game")
    hide_from_godot(project, tmp_path / "elsewhere")
    assert (project / "dist/.gdignore").is_file()
    assert not (tmp_path / "elsewhere").exists()


SETTINGS = 'config_version=5\n\n[application]\n\nconfig/name="a"\n'


def test_a_plugin_is_enabled_beside_others_and_disabled_again(tmp_path):
    file = tmp_path / "project.godot"
    others = f'{SETTINGS}\n[editor_plugins]\n\nenabled=PackedStringArray("res://addons/other/plugin.cfg")\n\n[physics]\n\nx=1\n'
    for before in (SETTINGS, others):
        file.write_text(before)
        enable_plugin(tmp_path)
        enable_plugin(tmp_path)
        assert file.read_text().count(PLUGIN) == 1
        assert file.read_text().count("[editor_plugins]") == 1
        disable_plugin(tmp_path)
        assert file.read_text() == before


def test_disabling_the_only_plugin_takes_its_section_away(tmp_path):
    file = tmp_path / "project.godot"
    file.write_text(f'{SETTINGS}\n[editor_plugins]\n\nenabled=PackedStringArray("{PLUGIN}")\n\n[physics]\n\nx=1\n')
    disable_plugin(tmp_path)
    assert file.read_text() == f"{SETTINGS}\n[physics]\n\nx=1\n"
