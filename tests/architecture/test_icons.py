"""Icons of nodes stay icons: what the editor makes of them does not change by being drawn."""
from __future__ import annotations

from pathlib import Path

ICONS = Path(__file__).parents[2] / "addons/ai_core/icons"


def test_icon_drawn_in_3d_is_not_imported_as_3d_texture():
    # Godot then imports it anew, compressed, and does not find it when the editor starts the next time.
    settings = {icon.name: Path(f"{icon}.import").read_text() for icon in sorted(ICONS.glob("*.svg"))}
    assert len(settings) > 40
    assert [name for name, text in settings.items() if "\ndetect_3d/compress_to=0\n" not in text] == []
