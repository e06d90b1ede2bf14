"""What docs/library/saving.md shows works as it says."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.scheduler import Scheduler
from ai_core.snapshot import SnapshotError, from_json, restore, take, to_json
from tests.saving.museum_night import lived

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "saving.md").read_text(encoding="utf-8")


def test_the_first_sample_prints_what_it_says(capsys):
    sample = re.findall(r"```python\n(.*?)```", TEXT, re.S)[0]
    exec(sample, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\) +# (.*)$", sample, re.M)


def test_a_part_of_ones_own_is_saved_loaded_and_checked():
    (sample,) = (code for code in re.findall(r"```python\n(.*?)```", TEXT, re.S) if "class Torch" in code)
    known = {}
    exec(sample, known)
    torch = known["Torch"]()
    torch.oil_s = 12.5
    text = to_json(take({"torch": torch}))
    other = known["Torch"]()
    restore(from_json(text), {"torch": other})
    assert other.oil_s == 12.5
    with pytest.raises(SnapshotError, match=r"torch: 'oil_s' must be at least 0, got -1\.0"):
        restore(from_json(text.replace("12.5", "-1")), {"torch": other})
    assert other.oil_s == 12.5


def test_object_that_is_both_work_and_a_part_is_loaded():
    first, second = lived(2, 14), lived(2, 14)
    saved, loaded = ({**night.parts(), "senses": night.senses} for night in (first, second))
    state = take(saved)
    second.senses.remove_sensor(second.senses.add_sensor(position=(0, 0, 0), forward=(1, 0, 0), thresholds={}))
    restore(state, loaded)
    assert take(loaded) == state


@pytest.mark.parametrize("frames", [1, 3])
def test_a_background_job_that_was_done_is_not_begun_again(frames):
    (sample,) = (code for code in re.findall(r"```python\n(.*?)```", TEXT, re.S) if "class Map" in code)
    known = {"from_json": from_json, "restore": restore}
    exec(sample, known)
    worlds = []
    for _ in range(2):
        clock = ManualClock()
        scheduler = Scheduler(clock)
        worlds.append({"clock": clock, "scheduler": scheduler, "map": known["Map"](scheduler)})
    first, second = worlds
    first["map"].begin()
    for _ in range(frames):
        first["scheduler"].advance(Budget.of_steps(1))
    known["load"](to_json(take(first)), second)
    assert (second["map"].cells, len(second["scheduler"].tasks)) == ((None, 1) if frames == 1 else ([1, 2, 3], 0))
    for _ in range(5):
        second["scheduler"].advance(Budget.of_steps(1))
    assert (second["map"].cells, second["scheduler"].tasks) == ([1, 2, 3], ())
