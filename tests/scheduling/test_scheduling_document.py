"""docs/library/scheduling.md describes all statistics."""
from __future__ import annotations

import re
from pathlib import Path

from ai_core.clock import ManualClock
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "scheduling.md").read_text(encoding="utf-8")


def test_it_names_every_field_of_the_statistics():
    scheduler = Scheduler(ManualClock(), policy=Policy.FREQUENCY)
    scheduler.add(print)
    (row,) = scheduler.statistics()
    for field in row:
        name = re.sub(r"_(p95|max)$", "", field)
        assert f"`{field}`" in TEXT or f"`{name}_mean`" in TEXT, field
