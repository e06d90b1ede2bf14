"""What docs/library/sense_graph.md shows works as it says."""
from __future__ import annotations

import re
from pathlib import Path

from ai_core.senses.graph.graph_file import graph_from_text

TEXT = (Path(__file__).parents[3] / "docs" / "library" / "sense_graph.md").read_text(encoding="utf-8")


def test_the_samples_run():
    known = {}
    for sample in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        exec(sample, known)
    assert [one.sensor_id for one in known["heard"]] == [known["guard"]]


def test_the_file_shown_is_one():
    (sample,) = re.findall(r"```json\n(.*?)```", TEXT, re.S)
    graph = graph_from_text(sample)
    assert graph.region_at((5, 1, 1)) == 1
    assert graph.regions[1].volume_m3 == 30
