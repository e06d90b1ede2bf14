"""dev.py path-scenarios finds every way of a folder of maps, and says which one is wrong."""
from __future__ import annotations

import pytest

from tests.benchmarks.paths.scenarios import main

MAP = "type octile\nheight 3\nwidth 3\nmap\n...\n.@.\n...\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.map").write_text(MAP)
    return tmp_path


def scenario(folder, length):
    line = f"0\tsmall.map\t3\t3\t0\t0\t2\t2\t{length}\n"
    (folder / "small.map.scen").write_text(f"version 1\n{line}0\tsmall.map\t3\t3\t0\t0\t0\t2\t2.00\n")


def test_ways_as_cheap_as_the_file_prints_are_right(folder, capsys):
    scenario(folder, "4.00")
    assert main([str(folder)]) == 0
    said = capsys.readouterr().out
    for name in ("A*", "jumps", "anytime, at its end", "regions, within their bound"):
        assert f"small: {name}: 2 ways, 0 wrong" in said


def test_a_way_dearer_than_the_file_prints_is_told(folder, capsys):
    scenario(folder, "3.90")
    assert main([str(folder)]) == 1
    said = capsys.readouterr().out
    assert "A* from (0, 0) to (2, 2) costs 4.000000, the file says 3.90" in said
    assert "2 ways, 1 wrong" in said


def test_a_folder_without_maps_is_told(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert "no .map with a .map.scen" in capsys.readouterr().out
