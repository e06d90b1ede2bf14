"""dev.py sense-graph draws a good file, and says what is wrong with a bad one."""
from __future__ import annotations

from ai_core.senses.graph.graph_file import graph_to_text
from tests.senses.baking_levels import THREE_ROOMS, Level
from tools.sense_graph_drawing import draw


def test_a_graph_is_drawn(tmp_path, capsys):
    file, out = tmp_path / "level.json", tmp_path / "pictures" / "level.svg"
    file.write_text(graph_to_text(Level(THREE_ROOMS).bake().result), encoding="utf-8")
    assert draw(file, out) == 0
    assert out.read_text(encoding="utf-8").startswith("<svg")
    assert capsys.readouterr().out.startswith("3 regions, 6 portals one way each, 0 made by hand")


def test_a_file_cut_short_is_told_and_nothing_is_written(tmp_path, capsys):
    file, out = tmp_path / "level.json", tmp_path / "level.svg"
    file.write_text(graph_to_text(Level(THREE_ROOMS).bake().result)[:500], encoding="utf-8")
    assert draw(file, out) == 1
    assert not out.exists()
    assert "not JSON, or truncated" in capsys.readouterr().err
