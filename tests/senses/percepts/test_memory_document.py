"""The samples in docs/library/memory_and_awareness.md run as they stand."""
import re
from pathlib import Path

import pytest

from ai_core.senses.sight.continuous_sensing import PATIENCE_PASSES

TEXT = (Path(__file__).parents[3] / "docs" / "library" / "memory_and_awareness.md").read_text(encoding="utf-8")
SAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_runs(sample):
    exec(compile(sample, "docs/library/memory_and_awareness.md", "exec"), {})


def test_the_stated_bound_is_the_one_that_holds():
    assert len(SAMPLES) == 3
    assert f"+ {PATIENCE_PASSES} passes" in TEXT
