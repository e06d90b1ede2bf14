"""What docs/library/interruptible_work.md shows works as it says."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from ai_core.budget import Budget
from ai_core.scheduling.long_work import UntilGoodEnough
from ai_core.scheduling.statistics import QualityOfService

TEXT = (Path(__file__).parents[3] / "docs" / "library" / "interruptible_work.md").read_text(encoding="utf-8")
SAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.S)


@pytest.fixture(scope="module")
def told():
    """What all samples print, one after the other, and what they define."""
    lines = []
    known = {"print": lambda *words: lines.append(" ".join(map(str, words)))}
    for sample in SAMPLES:
        exec(sample, known)
    return lines, known


def test_the_samples_print_what_their_comments_say(told):
    lines, _ = told
    assert lines[:3] == ["False 1.0", "['room 0'] True", "on the way to room 0"]
    assert [line for line in lines if "[" in line][-3:] == ["False []", "False []", "True ['north']"]
    assert "30 2500" in lines


def test_the_table_has_the_work_that_used_most_first(told):
    lines, _ = told
    table = lines[-1].splitlines()
    assert table[0].split() == ["name", "runs", "used_us_mean", "used_us_max", "faults"]
    assert {line.split()[0] for line in table[2:]} == {"think", "look"}
    means = [float(line.split()[2]) for line in table[2:]]
    assert means == sorted(means, reverse=True)


def test_the_round_gets_shorter_until_it_is_good_enough(told):
    _, known = told
    assert known["first"] < 0.4 < 0.8 <= known["work"].quality
    assert sorted(known["work"].result) == list(range(40))


def test_undisturbed_no_turn_shortens_the_round_and_bound_holds(told):
    _, known = told
    short = known["ShortRound"](known["posts"][:12])
    work = UntilGoodEnough(short)
    while not work.is_done:
        length_m = short.length_m
        work.advance(Budget.of_steps(7))
        assert short.bound_m <= short.length_m <= length_m
    for first in range(1, 12):
        for last in range(first + 1, 13):
            other = known["ShortRound"](known["posts"][:12])
            other.best = short.best[:first] + short.best[first:last][::-1] + short.best[last:]
            assert other.length_m >= short.length_m - 1e-6
    assert work.result == short.best


def test_the_deadline_ends_it_with_the_best_so_far(told):
    _, known = told
    clock = known["clock"]
    work = UntilGoodEnough(known["ShortRound"](known["posts"]), deadline_s=clock.now.seconds + 0.05, clock=clock)
    while not work.is_done:
        work.advance(Budget.of_steps(5))
        clock.advance()
    assert 0 < work.quality < 1
    assert not known["ShortRound"](known["posts"]).is_done


def test_the_page_names_frames_that_no_task_exceeded():
    service = QualityOfService(target_hz=60, ai_share=0.15)
    service.note(3000.0, 500.0)
    [row] = service.offenders()
    assert f"`{row['name']}`" in TEXT
