"""What a frame must not do: read modules from the disk, which takes tens of milliseconds, once."""
import subprocess
import sys
from pathlib import Path

import pytest

WATCH = """
import sys
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps import Grid
from ai_core.paths import GridPathProvider, PathService
from demo_project.scenarios import SCENARIOS, build

paths = PathService(GridPathProvider(Grid([[True] * 9] * 9).passage()), ManualClock())
worlds = [build(name) for name in SCENARIOS]
known = set(sys.modules)
paths.request_path(0, 80)
paths.advance(Budget.unlimited())
for world in worlds:
    for _ in range(3):
        world.step()
print(sorted(set(sys.modules) - known))
"""


@pytest.mark.slow
def test_no_module_is_imported_while_frames_run():
    finished = subprocess.run(
        [sys.executable, "-c", WATCH], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert finished.stdout.strip() == "[]"
