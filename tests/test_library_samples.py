"""The samples of pages of the library run one after the other; pages that print are tested beside their subject."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "library"
SAMPLES = {
    "bump_and_turn": 1, "cover": 1, "decision_maps": 4, "paths": 10, "scheduling": 6, "scheduling_policies": 3,
    "senses": 3}
"""Number of samples by page."""


@pytest.mark.parametrize("page", SAMPLES)
def test_samples_of_a_page_run_one_after_the_other(page, caplog):
    samples = re.findall(r"```python\n(.*?)```", (FOLDER / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(samples) == SAMPLES[page]
    names: dict[str, object] = {}
    for sample in samples:
        exec(compile(sample, f"docs/library/{page}.md", "exec"), names)
    assert not caplog.records       # no work failed
