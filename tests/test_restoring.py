"""Restoring a snapshot of which a part is broken: what is refused, left out, put back, and what is said."""
from __future__ import annotations

import pytest

from ai_core.clock import ManualClock
from ai_core.snapshot import PartFailedError, SnapshotError, restore, take
from tests.saving.museum_night import lived


class Part:
    """A part that saves what it is given, and is restored to nothing."""

    def __init__(self, save=dict):
        self.save_state = save

    def prepare_state(self, state):
        return int


class Fragile:
    """A part that cannot take some levels when its checked state is applied."""

    def __init__(self, level, *refused):
        self.level, self.refused = level, refused

    def save_state(self):
        return {"level": self.level}

    def prepare_state(self, state):
        return lambda: self.fill(state["level"])

    def fill(self, level):
        if level in self.refused:
            raise RuntimeError(f"burst at {level}")
        self.level = level


def test_part_failing_on_apply_is_named_and_others_are_restored():
    clock, jug = ManualClock(), Fragile(1)
    parts = {"jug": jug, "clock": clock}
    before = take(parts)
    clock.advance(3)
    jug.refused = (1,)
    message = "^jug: RuntimeError: burst at 1: failed while .* applied; .* the other 1 parts were restored$"
    with pytest.raises(PartFailedError, match=message) as raised:
        restore(before, parts)
    assert (list(raised.value.failures), raised.value.restored) == (["jug"], ("clock",))
    assert clock.now.frame == 0


def test_a_load_that_rolls_back_leaves_every_part_as_it_was():
    clock, jug = ManualClock(), Fragile(1)
    parts = {"clock": clock, "jug": jug, "lamp": Part()}
    before = take(parts)
    clock.advance(3)
    jug.level, jug.refused = 2, (1,)
    now = take(parts)
    with pytest.raises(PartFailedError, match=r"burst at 1: failed .*; all parts were rolled back to"):
        restore(before, parts, roll_back=True)
    assert take(parts) == now
    with pytest.raises(PartFailedError, match="all parts were rolled back"):
        restore(before, parts, roll_back=True, skip_broken=True)
    assert take(parts) == now


def test_a_roll_back_that_fails_too_says_so():
    clock, jug = ManualClock(), Fragile(1)
    parts = {"clock": clock, "jug": jug}
    before = take(parts)
    jug.level, jug.refused = 2, (1, 2)
    with pytest.raises(PartFailedError, match=r"burst at 1: .* rolling back failed, too: jug: .* burst at 2"):
        restore(before, parts, roll_back=True)


def test_a_load_that_could_not_be_rolled_back_changes_nothing():
    clock = ManualClock()
    before = take({"clock": clock, "torch": Part()})
    clock.advance()
    with pytest.raises(SnapshotError, match=r"roll_back needs .* torch: 'oil' must be plain data"):
        restore(before, {"clock": clock, "torch": Part(save=lambda: {"oil": object()})}, roll_back=True)
    assert clock.now.frame == 1


def test_broken_parts_are_left_out_and_reported_on_request():
    clock, jug, lamp, other = ManualClock(), Fragile(1), Fragile(5), Fragile(8)
    state = take({"clock": clock, "jug": jug, "lamp": lamp, "gone": Part()})
    clock.advance()
    jug.level, lamp.level = 2, 6
    state["parts"]["jug"] = {"level": float("nan")}
    parts = {"clock": clock, "jug": jug, "lamp": lamp, "other": other}
    assert restore(state, parts, skip_broken=True) == {
        "gone": "is not among the parts", "other": "is not in the snapshot",
        "jug": "'level' must be a finite number, got nan",
    }
    assert (clock.now.frame, jug.level, lamp.level, other.level) == (0, 2, 5, 8)


def test_part_failing_on_apply_is_reported_with_skip_broken():
    jug, lamp = Fragile(1), Fragile(5)
    state = take({"jug": jug, "lamp": lamp})
    jug.refused, lamp.level = (1,), 6
    left_out = restore(state, {"jug": jug, "lamp": lamp}, skip_broken=True)
    assert left_out == {
        "jug": "failed while its state was applied, and may be partly changed: RuntimeError: burst at 1"}
    assert lamp.level == 5


@pytest.mark.parametrize("skip_broken", [False, True])
def test_save_of_very_many_absent_parts_is_refused_without_hints(skip_broken):
    parts = {f"Level/Room {number}/Guard": Fragile(1) for number in range(300)}
    state = take(parts)
    state["parts"] |= {f"Level/Room {number}/Thief": 1 for number in range(300_000)}
    if skip_broken:
        assert len(restore(state, parts, skip_broken=True)) == 300_000
    else:
        with pytest.raises(SnapshotError, match=r"unknown part 'Level/Room 0/Thief'; did you mean"):
            restore(state, parts)


@pytest.mark.parametrize("values", [{str(one): one for one in range(3_000_001)}, [[0] * 1000] * 3001])
def test_a_save_of_too_many_values_is_refused_and_never_written(values):
    jug = Fragile(values)
    with pytest.raises(SnapshotError, match="jug: a snapshot must hold at most 3000000 values, got more; let memories"):
        take({"jug": jug})
    state = {**take({"jug": Fragile(1)}), "parts": {"jug": {"level": values}}}
    with pytest.raises(SnapshotError, match="jug: a snapshot must hold at most 3000000 values, got more; let memories"):
        restore(state, {"jug": jug})


def test_the_values_of_all_parts_together_are_limited():
    with pytest.raises(SnapshotError, match="lamp: a snapshot must hold at most 3000000 values"):
        take({"jug": Fragile([0] * 1_600_000), "lamp": Fragile([0] * 1_600_000)})


def test_a_broken_clock_is_never_left_out():
    clock, jug = ManualClock(), Fragile(1)
    state = take({"clock": clock, "jug": jug})
    state["parts"]["clock"]["now"] = [-1, 0.0]
    jug.level = 2
    with pytest.raises(SnapshotError, match=r"clock: 'now\[0\]' must be at least 0"):
        restore(state, {"clock": clock, "jug": jug}, skip_broken=True)
    assert jug.level == 2


def test_a_part_of_another_moment_is_left_out_on_request():
    night = lived(7, 12)
    state = take(night.parts())
    state["parts"]["root"]["now"] = [999, 99.0]
    assert list(restore(state, night.parts(), skip_broken=True)) == ["root"]
