"""The demos, played as a user plays them: the museum, first command of the README, its puzzle, the crowd, the city."""
from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tools.engine_output import complaints
from tools.preparation import ROOT

# Warm it takes 3 s; this guards against a hang.
LIMIT_S = 240.0

pytestmark = pytest.mark.slow


def play(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tools/dev.py", "demo", name], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False,
    )


def timeline(output: str) -> list[str]:
    return [line for line in output.splitlines() if re.match(r" *\d+\.\d\d s  ", line)]


def test_the_demo_tells_the_same_story_twice_without_a_complaint():
    first, second = play("museum"), play("museum")
    for played in (first, second):
        assert played.returncode == 0, played.stdout
        assert complaints(played.stdout) == []
    assert len(timeline(first.stdout)) > 10
    assert timeline(first.stdout) == timeline(second.stdout)


def test_the_puzzle_tells_the_same_story_twice():
    first, second = play("puzzle"), play("puzzle")
    for played in (first, second):
        assert played.returncode == 0, played.stdout
        assert complaints(played.stdout) == []
        assert "summary: 13 of 13 expected happenings" in played.stdout
    assert timeline(first.stdout) == timeline(second.stdout)


def test_the_crowd_is_timed_three_ways_and_drawn():
    played = play("crowd")
    assert played.returncode == 0, played.stdout
    assert complaints(played.stdout) == []
    number = r" +([\d.]+)"
    rows = re.findall(rf"^  (\w.*?)  {3 * number}{number}%{4 * number}$", played.stdout, re.MULTILINE)
    ways = {name.strip(): [float(one) for one in numbers] for name, *numbers in rows}
    assert list(ways) == ["everyone, every frame", "naive slices of 100", "AIScheduler, 700 µs"]
    for p50, p99, longest, over_percent, *_ in ways.values():
        assert 0 < p50 <= p99 <= longest
        assert 0 <= over_percent <= 100
    everyone, naive, ours = ways.values()
    # A busy machine is slow for all three: the middle of hundreds of frames keeps their order.
    assert ours[0] < everyone[0] / 2
    assert naive[0] < everyone[0] / 2
    assert everyone[4:] == [0, 0, 0, 0], "all have decided in this frame"
    near, oldest_near, far, oldest_far = naive[4:]
    assert abs(near - far) < 1
    assert oldest_near <= oldest_far == 9
    near, oldest_near, far, oldest_far = ours[4:]
    assert near < far, "who is near decides more often"
    assert oldest_near <= oldest_far
    for suffix in ("svg", "png"):
        picture = ROOT / "recordings" / f"demo_crowd.{suffix}"
        assert str(picture) in played.stdout
        assert picture.stat().st_size > 5000
    assert "character" in (ROOT / "recordings" / "demo_crowd.svg").read_text()


def counts(output: str) -> list[tuple[float, ...]]:
    """People, blocks, quarters, towns and inhabitants of each second; the time it took is left out."""
    row = re.compile(
        r" *\d+ s +(\d+) people +(\d+) blocks +(\d+) quarters +(\d+) towns"
        r" +(\d+) inhabitants +wealth ([\d.]+)"
    )
    return [tuple(map(float, found.groups())) for found in map(row.match, output.splitlines()) if found]


def test_the_city_is_the_same_twice_and_nobody_gets_lost():
    first, second = play("city"), play("city")
    for played in (first, second):
        assert played.returncode == 0, played.stdout
        assert complaints(played.stdout) == []
        assert "totals never drifted" in played.stdout
    seconds = counts(first.stdout)
    assert len(seconds) == 60
    assert seconds == counts(second.stdout)
    assert {row[4:] for row in seconds} == {(100_001, 3_004_000.0)}
    assert {row[3] for row in seconds} == {3, 4}, "it comes to a town, and leaves it"
    assert 0 < max(row[0] for row in seconds) <= 1_000


def test_soldiers_take_cover_again_when_a_crate_is_pushed_away():
    played = play("cover")
    assert played.returncode == 0, played.stdout
    assert complaints(played.stdout) == []
    told = timeline(played.stdout)
    assert re.search(r"yard +has \d+ spots along its walls", told[0])
    for name in ("Ann", "Bob", "Cid", "Dee"):
        assert any(name in line and "hides behind" in line for line in told)
    assert any("hides behind a crate, crouching" in line for line in told)
    pushed = next(number for number, line in enumerate(told) if "a crate is pushed away" in line)
    assert any("lost its cover" in line for line in told[pushed:pushed + 3])
    share, = re.findall(r"summary: hidden (\d+) % of the time, \d+ times in cover, 0 spots shared: as expected",
                        played.stdout)
    assert int(share) >= 75
