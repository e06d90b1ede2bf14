"""Snapshots: everything goes on where it stood, and nothing that is wrong gets in."""
from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core import snapshot as module
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.faults import FaultIsolation
from ai_core.saving.chance import RandomState
from ai_core.snapshot import SnapshotError, from_json, restore, take, to_json
from tests.fuzz_snapshot import fuzz
from tests.saving.museum_night import LAST_FRAME, Night, lived, loaded, saved

ROOT = Path(__file__).parents[1]


def live_on(night, frames):
    night.diary.clear()
    for _ in range(frames):
        night.frame()
    return night.diary


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000), frame=st.integers(0, LAST_FRAME))
def test_loaded_again_at_any_frame_it_continues_unchanged(seed, frame):
    first = lived(seed, frame)
    second = loaded(seed, frame, saved(first))
    assert live_on(second, 8) == live_on(first, 8)
    assert from_json(saved(second)) == from_json(saved(first))


@pytest.mark.slow
def test_loaded_in_a_fresh_process_it_continues_unchanged():
    seed, frame, frames = 5, 17, 20
    night = lived(seed, frame)
    run = subprocess.run(
        [sys.executable, "-m", "tests.saving.museum_night", str(seed), str(frame), str(frames)],
        input=saved(night), capture_output=True, text=True, cwd=ROOT, check=True, timeout=30)
    diary, state = json.loads(run.stdout)
    assert diary == repr(live_on(night, frames))
    assert from_json(state) == from_json(saved(night))


def test_saving_changes_nothing():
    one, other = lived(3, 12), lived(3, 12)
    saved(one)
    assert live_on(one, 8) == live_on(other, 8)


def test_a_world_that_lived_on_goes_back_to_the_save():
    night = Night(4)
    for _ in range(6):
        night.frame()
    parts = night.parts()
    before = take(parts)
    live_on(night, 1)
    restore(before, parts)
    assert take(parts) == before


@pytest.fixture
def night():
    return lived(7, 12)


@pytest.fixture
def state(night):
    return take(night.parts())


def refusal(night, state):
    """What is said when a state is refused; nothing may have changed."""
    before = saved(night)
    with pytest.raises(SnapshotError) as raised:
        restore(state, night.parts())
    assert saved(night) == before
    return str(raised.value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "savegame", "snapshot: 'format' must be 'ai_core snapshot'; this is not an ai_core snapshot"),
        ("version", 2, "snapshot: 'version' is 2, and this ai_core reads up to 1; update ai_core to load it"),
        ("version", 0, "snapshot: 'version' is 0, which is no longer supported"),
        ("parts", [], "snapshot: 'parts' must be a dict, got []"),
        ("parts/clock/now", [12], "clock: 'now' must be a list of 2 items, got a list of 1"),
        ("parts/clock/now/0", True, "clock: 'now[0]' must be an integer, got True"),
        ("parts/clock/version", "1", "clock: 'version' must be an integer, got '1'"),
        ("parts/root/version", 9, "root: 'version' is 9, and this ai_core reads up to 1; update ai_core to load it"),
        ("parts/root/tasks/0/period_frames", 0, "root: 'tasks[0].period_frames' must be at least 1, got 0"),
        ("parts/root/tasks/0/name", "evnts", "root: unknown task 'evnts'; did you mean 'events'?"),
        ("parts/root/tasks/0/extra", 1, "root: 'tasks[0].extra' is an unknown field"),
        ("parts/root/tasks/0/work/queue", {}, "root: work of task 'events': 'queue' must be a list, got {}"),
        ("parts/station/topics/0/0", "near", "station: 'topics[0][0]': unknown topic 'near'"),
        ("parts/habits.guard 1/active", 3, "habits/guard 1: 'active' must be a list, got 3"),
        ("parts/habits.guard 1/active/0/path", "rot", "'active[0].path': unknown habit 'rot'; did you mean 'root'?"),
        ("parts/dice/source/words", "0" * 9, "dice: 'source.words' must be 624 words of 8 hex digits"),
        ("parts/clock/now/1", 77.0, "stands at"),
    ],
)
def test_what_is_wrong_is_named_with_part_and_place(night, state, path, value, message):
    box = state
    *keys, last = [key.replace(".", "/") for key in path.split("/")]
    for key in keys:
        box = box[int(key) if isinstance(box, list) else key]
    box[int(last) if isinstance(box, list) else last] = value
    if path.endswith("now/1"):
        state["parts"]["clock"]["steady_since"] = [0, 0.0]
        message = "root: 'now' is [12, 1.5], but 'clock' is at [12, 77.0]: they were saved at different times"
    assert message in refusal(night, state)


def test_a_missing_field_is_named(night, state):
    del state["parts"]["root"]["frame"]
    assert refusal(night, state) == "root: 'frame' is missing"


def test_a_part_that_is_not_handed_in_is_named(night, state):
    state["parts"]["squads"] = {"version": 1}
    assert refusal(night, state).startswith("unknown part 'squads'; known: 'clock', 'dice', 'faults'")


def test_a_part_that_was_not_saved_is_named(night, state):
    del state["parts"]["station"]
    assert refusal(night, state) == (
        "station: is not in the snapshot; leave it out of the parts to keep its state"
    )


def test_a_forgotten_clock_is_noticed():
    clock = ManualClock()
    events = EventManager(clock)
    clock.advance(5)
    snapshot = take({"events": events})
    clock.advance()
    with pytest.raises(SnapshotError, match="include the clock among the parts"):
        restore(snapshot, {"events": events})


def test_invalid_later_part_leaves_the_earlier_ones_alone(night, state):
    state["parts"]["dice"]["source"]["index"] = 625
    live_on(night, 2)
    assert refusal(night, state) == "dice: 'source.index' must be at most 624, got 625"


def test_a_part_of_somebody_elses_may_refuse_with_any_error():
    class Careless:
        def save_state(self):
            return {}

        def prepare_state(self, state):
            raise KeyError("hats")

    with pytest.raises(SnapshotError, match="wardrobe: KeyError: 'hats'"):
        restore(take({"wardrobe": Careless()}), {"wardrobe": Careless()})


class Part:
    """Saveable, with what is wrong with it handed in."""

    def __init__(self, save=lambda: {"version": 1}, prepare=lambda state: int):
        self.save_state, self.prepare_state = save, prepare


def test_a_part_that_returns_no_change_leaves_all_others_alone():
    clock = ManualClock()
    saved = take({"clock": clock, "torch": Part()})
    clock.advance()
    with pytest.raises(SnapshotError, match=r"torch: prepare_state must return the function .*, got None"):
        restore(saved, {"clock": clock, "torch": Part(prepare=lambda state: None)})
    assert clock.now.frame == 1


@pytest.mark.parametrize("part", [5, None, Part, object()])
def test_a_part_that_is_not_saveable_is_named(part):
    with pytest.raises(SnapshotError, match="torch: must be an object with save_state and prepare_state, got"):
        take({"torch": part})
    with pytest.raises(SnapshotError, match="torch: must be an object with save_state and prepare_state, got"):
        restore(take({"torch": Part()}), {"torch": part})


def test_part_with_broken_code_is_named_on_saving_and_loading():
    with pytest.raises(SnapshotError, match="torch: AttributeError: 'object' object has no attribute 'oil'"):
        take({"torch": Part(save=lambda: object().oil)})
    with pytest.raises(SnapshotError, match="torch: AttributeError: 'object' object has no attribute 'oil'"):
        restore(take({"torch": Part()}), {"torch": Part(prepare=lambda state: object().oil)})


@pytest.mark.parametrize("value", [object(), (1, 2), {1: 2}, float("nan"), b"x", {"deep": [[float("inf")]]}])
def test_a_part_that_does_not_give_plain_data_is_named(value):
    class Odd:
        def save_state(self):
            return {"version": 1, "value": value}

        def prepare_state(self, state):
            raise AssertionError("never asked")

    with pytest.raises(SnapshotError, match=r"odd: 'value.*must"):
        take({"odd": Odd()})


def test_a_state_that_contains_itself_is_refused():
    class Circle:
        def save_state(self):
            state = {}
            state["self"] = state
            return state

        def prepare_state(self, state):
            raise AssertionError("never asked")

    with pytest.raises(SnapshotError, match="nested deeper than 200"):
        take({"circle": Circle()})


def test_floats_come_back_from_text_bit_for_bit():
    state = {"values": [0.1, 1 / 3, 1e-320, 1.7976931348623157e308, -0.0]}
    assert list(map(repr, from_json(to_json(state))["values"])) == list(map(repr, state["values"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ('{"parts": {"clock"', "not valid JSON"),
        ("[1, 2]", "a snapshot must be a dict, got a list of 2"),
        ('{"parts": {"clock": {"now": [1, NaN]}}}', r"'parts.clock.now\[1\]' must be a finite number, got NaN"),
        ('{"parts": {"clock": {"now": [1, 1e999]}}}', r"'parts.clock.now\[1\]' must be a finite number, got inf"),
        ('{"parts": {"clock": {"now": 1, "now": 2}}}', "'parts.clock.now' occurs twice"),
        ("[" * 300 + "]" * 300, "nested deeper than 200"),
        ("[" * 1_000_000, "nested deeper than 200"),
        ('{"a": ' * 100_000, "nested deeper than 200"),
        ('{"number": ' + "9" * 5000 + "}", "not valid JSON"),
        ("[" + "0," * 3_000_001 + "0]", "at most 3000000 values, got"),
        ('"' + "x" * 32_000_000 + '"', "at most 32000000 characters, got 32000002"),
    ],
    ids=lambda value: value[:30],
)
def test_text_that_is_no_snapshot_is_refused(text, message):
    with pytest.raises(SnapshotError, match=message):
        from_json(text)


def test_a_name_as_long_as_a_book_is_refused_without_reading_it(night, state):
    for path in ("tasks", "sensors"):
        long = copy.deepcopy(state)
        tasks, name = long["parts"]["root"]["tasks"], "guard" * 1_000_000
        if path == "sensors":
            next(task["work"] for task in tasks if task["name"] == "senses")["sensors"]["rows"][0]["name"] = name
        else:
            tasks[0]["name"] = name
        assert len(refusal(night, long)) < 600


def test_table_for_too_many_sensors_keeps_memory_bounded(night, state):
    senses = next(task["work"] for task in state["parts"]["root"]["tasks"] if task["name"] == "senses")
    rows = len(senses["sensors"]["generations"])
    senses["sensors"]["generations"] += [0] * (60_000 - rows)
    senses["sensors"]["free"] += range(rows, 60_000)
    senses["sensors"]["rows"][0]["cones"] *= 100
    assert "must be at most 16 cones for 65536 sensors, got 200" in refusal(night, state)


def test_text_must_be_text():
    with pytest.raises(SnapshotError, match="must be a string, got b'x'"):
        from_json(b"x")


def test_what_is_written_can_be_read(monkeypatch):
    monkeypatch.setattr(module, "MAXIMUM_CHARACTERS", 100)
    with pytest.raises(SnapshotError, match="at most 100 characters"):
        to_json({"long": "x" * 101})


def test_a_save_in_the_middle_of_a_frame_is_refused():
    clock = ManualClock()
    events = EventManager(clock, faults=FaultIsolation(reraise=True))
    events.listen("x", lambda event: take({"events": events}))
    events.send("x")
    with pytest.raises(RuntimeError, match="save and load between two frames"):
        events.advance(Budget.unlimited())


def test_a_generator_of_chance_is_a_part():
    dice = random.Random(3)
    parts = {"dice": RandomState(dice)}
    before = take(parts)
    rolls = [dice.random() for _ in range(5)]
    restore(from_json(to_json(before)), parts)
    assert [dice.random() for _ in range(5)] == rolls


@pytest.mark.slow
def test_damaged_snapshots_are_refused_or_run_on():
    """A few seconds of it; ``python -m tests.fuzz_snapshot --minutes 10`` goes on for longer."""
    outcomes = fuzz(first_seed=1, seconds=10, most=200, per_save=10)
    assert outcomes["refused"] > 50
    assert outcomes["loaded"] > 5


def test_restoring_does_not_keep_or_change_the_snapshot(night, state):
    kept = copy.deepcopy(state)
    restore(state, night.parts())
    night.look_up_ids()
    live_on(night, 5)
    assert state == kept
