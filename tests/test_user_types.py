"""mypy --strict accepts a user's program: what is returned and taken has the types that users need."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = '''
from collections.abc import Generator

from ai_core import Budget, ManualClock
from ai_core.decisions import Habit, HabitTree
from ai_core.maps import Grid
from ai_core.paths import GridPathProvider, PathService
from ai_core.scheduling import NEXT_TURN, QualityOfService, Scheduler, Turn, statistics_table, tree_statistics
from ai_core.senses import RegionalSenseManager, SightCone
from ai_core.snapshot import SnapshotPart, from_json, restore, take, to_json

clock = ManualClock()
scheduler = Scheduler(clock)
service = PathService(GridPathProvider(Grid([[True, False], [True, True]]).passage()), clock)


def patrol(turn: Turn) -> Generator[object, Turn, None]:
    walked_s = 0.0
    while True:
        walked_s += turn.elapsed_s
        turn = yield NEXT_TURN


scheduler.add(patrol)
scheduler.add(service, name="paths")
ticket = service.request_path(0, 3)
scheduler.advance(Budget.of_steps(100))
cost: float = 0.0 if ticket.path is None else ticket.path.cost
most: int = max(row["runs"] for row in scheduler.statistics())
print(statistics_table(tree_statistics(scheduler)))
quality = QualityOfService(target_hz=60.0, ai_share=0.1)
budget_us: int = round(quality.report()["budget_us"])
senses = RegionalSenseManager(clock)
guard: int = senses.add_sensor(
    position=(0, 0), forward=(1, 0), thresholds={"sight": 0.1}, sight_cones=[SightCone(9.0, 1.0, 1.0)])
tree = HabitTree(Habit("stand"), clock=clock)
tree.blackboard.watch("alarm", print)
parts: dict[str, SnapshotPart] = {"clock": clock, "scheduler": scheduler, "tree": tree, "senses": senses}
restore(from_json(to_json(take(parts))), parts)
'''


@pytest.mark.parametrize(("program", "wrong"), [
    (PROGRAM, ""), (PROGRAM + "cost = ticket\n", 'has type "PathTicket"')])
def test_mypy_accepts_what_a_user_writes(tmp_path, program, wrong):
    (tmp_path / "game.py").write_text(program, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", str(tmp_path / "game.py")], cwd=ROOT, text=True, capture_output=True,
        env={**os.environ, "MYPYPATH": str(ROOT)}, check=False)
    assert (checked.returncode, wrong in checked.stdout) == (int(bool(wrong)), True), checked.stdout + checked.stderr


def test_the_program_of_a_user_runs():
    exec(PROGRAM, {})
