"""Decision maps: whole updates in slices, readers on threads, saves in the middle, clear errors."""
from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.influence_map import CELLS_PER_SLICE, WRITTEN
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import MapLayer, standard_layers
from ai_core.saving.fields import StateError
from ai_core.snapshot import from_json, restore, take, to_json

ONE = Budget.of_steps


def two_layers(side=8, **settings):
    clock = ManualClock()
    layers = [MapLayer("heat", blur_passes=2), MapLayer("threat", kept_per_m=0.8)]
    return DecisionMap(MapArea(side, side), layers, clock, period_s=0, **settings), clock


def test_update_shows_only_what_was_written_before_it_began():
    whole, clock = two_layers()
    whole.write("heat", [9], 16)
    whole.begin()
    whole.advance(ONE(1))
    whole.write("threat", [0], 5)
    assert not whole.is_done
    whole.advance(Budget.unlimited())
    assert whole.picture["heat"].sum() == 16
    assert whole.picture["threat"].sum() == 0
    clock.advance()
    whole.advance(Budget.unlimited())
    assert whole.picture["threat"][0, 0] == 5


def test_until_an_update_is_whole_the_picture_is_the_one_before():
    whole, clock = two_layers()
    whole.write("heat", [9], 16)
    whole.advance(Budget.unlimited())
    clock.advance()
    whole.write("heat", [9], 16)
    seen = []
    while not seen or not whole.is_done:
        whole.advance(ONE(1))
        seen.append((whole.picture.at.frame, float(whole.picture["heat"].sum())))
    assert len(seen) > 3
    assert set(seen) == {(0, 16.0), (1, 32.0)}
    assert seen == sorted(seen)


def test_with_slices_of_one_step_the_result_is_that_of_one_go():
    pictures = []
    for steps in (1, 10_000):
        whole, _ = two_layers(side=300)
        rng = np.random.default_rng(3)
        for name in whole.layers:
            whole.write(name, rng.integers(0, 90_000, 500), rng.random(500))
        whole.begin()
        while not whole.is_done:
            whole.advance(ONE(steps))
        pictures.append({name: whole.result[name].tobytes() for name in whole.layers})
    assert pictures[0] == pictures[1]
    assert CELLS_PER_SLICE < 90_000  # else this test says nothing of slices of rows


@pytest.mark.parametrize("steps_before", [0, 1, 7])
def test_replaced_walls_count_from_the_next_update(steps_before):
    area, clock = MapArea(1, 4), ManualClock()
    layers = [MapLayer("heat", kept_per_m=0.5), MapLayer("cold", kept_per_m=0.5)]
    whole = DecisionMap(area, layers, clock, period_s=0)
    whole.write("heat", [0], 8)
    whole.write("cold", [0], 8)
    whole.begin()
    if steps_before:
        whole.advance(Budget.of_steps(steps_before))
    walls = np.array([[True, False, True, True]])
    whole.set_open(walls)
    walls[:] = True
    if not whole.is_done:
        whole.advance(Budget.unlimited())
    assert whole.picture["heat"].tolist() == whole.picture["cold"].tolist() == [[8, 4, 2, 1]]
    clock.advance()
    whole.advance(Budget.unlimited())
    assert whole.picture["heat"].tolist() == whole.picture["cold"].tolist() == [[8, 0, 0, 0]]
    with pytest.raises(ValueError, match="shape"):
        whole.set_open([[True]])
    whole.set_open(None)
    clock.advance()
    whole.advance(Budget.unlimited())
    assert whole.picture["cold"].tolist() == [[8, 4, 2, 1]]


@pytest.mark.slow
def test_a_reader_on_a_thread_never_sees_half_an_update():
    area, clock = MapArea(64, 64), ManualClock()
    layers = [MapLayer(name, writes="latest", blur_passes=1) for name in ("first", "second", "third")]
    whole = DecisionMap(area, layers, clock, period_s=0)
    wrong, reads, is_over = [], set(), threading.Event()

    def read():
        while not is_over.is_set():
            with whole.reading() as picture:
                frame = picture.at.frame
                for name in picture.names:
                    values = picture[name]
                    low, high = float(values.min()), float(values.max())
                    if not low == high == frame:
                        wrong.append((frame, name, low, high))
                reads.add(frame)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for frame in range(300):
        for name in whole.layers:
            whole.write(name, np.arange(area.size), float(frame))
        whole.begin()
        while not whole.is_done:
            whole.advance(ONE(1))
        clock.advance()
    is_over.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert len(reads) > 3
    assert len(whole.buffers) <= 2 + len(readers)


def test_held_picture_stays_unchanged_by_updates():
    whole, clock = two_layers()
    whole.write("heat", [9], 16)
    whole.advance(Budget.unlimited())
    with whole.reading() as held:
        before = held["heat"].copy()
        for _ in range(3):
            clock.advance()
            whole.write("heat", [9], 16)
            whole.advance(Budget.unlimited())
        assert held["heat"].tolist() == before.tolist()
        assert whole.picture["heat"].sum() == 64
    assert len(whole.buffers) == 3


def test_updates_allocate_nothing_that_grows_with_the_map():
    whole, clock = two_layers(side=512)
    cells, strengths = np.arange(500, dtype=np.int32), np.ones(500, np.float32)

    def update():
        clock.advance()
        whole.write("heat", cells, strengths)
        whole.advance(Budget.unlimited())

    update()
    tracemalloc.start()
    update()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 512 * 512 * 4 / 8, f"{peak} bytes at once: more than NumPy's own buffers"


def test_update_begins_once_a_period_and_never_twice_a_frame():
    clock = ManualClock(seconds_per_frame=0.1)
    whole = DecisionMap(MapArea(2, 2), [MapLayer("heat")], clock, period_s=0.25)
    began = []
    for _ in range(10):
        for _ in range(2):
            whole.advance(Budget.unlimited())
        began.append(whole.updates)
        clock.advance()
    assert began == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4]


def test_age_grows_where_nobody_looks_and_is_zero_where_seen():
    clock = ManualClock(seconds_per_frame=1.0)
    age = next(layer for layer in standard_layers() if layer.name == "exploration")
    whole = DecisionMap(MapArea(1, 3), [age], clock, period_s=0)
    for _ in range(3):
        whole.write("exploration", [0], 0)
        whole.advance(Budget.unlimited())
        clock.advance()
    assert whole.picture["exploration"].tolist() == [[0.0, 600.0, 600.0]]
    for _ in range(4):
        whole.advance(Budget.unlimited())
        clock.advance()
    assert whole.picture["exploration"].tolist() == [[4.0, 600.0, 600.0]]


@pytest.mark.parametrize("steps_done", range(16))
def test_saved_at_any_slice_it_goes_on_as_if_nothing_had_been(steps_done):
    def world():
        clock = ManualClock()
        layers = [MapLayer("heat", blur_passes=1, kept_per_s=0.5), MapLayer("food", writes="latest")]
        return clock, DecisionMap(MapArea(4, 5), layers, clock, period_s=0.02)

    clock, whole = world()
    rng = np.random.default_rng(5)
    for frame in range(6):
        for name in whole.layers:
            whole.write(name, rng.integers(0, 20, 4), rng.random(4))
        whole.advance(ONE(3))
        if frame == 3:
            whole.advance(ONE(steps_done))
        clock.advance()
    other_clock, other = world()
    text = to_json(take({"clock": clock, "map": whole}))
    restore(from_json(text), {"clock": other_clock, "map": other})
    for one, its_clock in ((whole, clock), (other, other_clock)):
        for frame in range(8):
            one.write("heat", [frame], 3)
            one.advance(ONE(2))
            its_clock.advance()
    assert to_json(take({"clock": other_clock, "map": other})) == to_json(take({"clock": clock, "map": whole}))
    assert {name: other.picture[name].tolist() for name in other.layers} == {
        name: whole.picture[name].tolist() for name in whole.layers}


@pytest.mark.parametrize(("change", "words"), [
    ({"shape": [3, 3]}, r"'shape' must be \[8, 8\]"),
    ({"layers": {}}, "'layers.heat' is missing"),
    ({"progress": [False]}, "'progress' must be a list of 2"),
    ({"began_at": [0, -1.0]}, "'picture.shown_at' must not be after 'began_at'"),
])
def test_a_save_of_something_else_is_refused_and_changes_nothing(change, words):
    whole, _ = two_layers()
    whole.write("heat", [9], 16)
    whole.advance(Budget.unlimited())
    state = whole.save_state()
    with pytest.raises(StateError, match=words):
        whole.prepare_state(state | change)
    unwritten = whole.save_state()
    unwritten["layers"]["heat"]["written"] = WRITTEN.save(np.full((8, 8), np.nan, np.float32), None)
    with pytest.raises(StateError, match=r"'layers.heat': 'written' must not hold NaN"):
        whole.prepare_state(unwritten)
    assert whole.save_state() == state
    assert whole.picture["heat"].sum() == 16


def test_bad_input_is_refused_at_the_call_and_nothing_is_written():
    whole, _ = two_layers()
    for cells, strengths, words in (
        ([0, 1], [1, -1], "must be 0 to 1e[+]09, got -1; write enemies into a layer of their own$"),
        ([0, 1], [1, np.nan], "got nan$"),
        ([0, 1], [np.inf, 1], "got inf$"),
        ([0, 1], [1, 2, 3], "must be one, or one per cell, 2, got"),
        ([64], 1, "cells must be 0 to 63"),
        ([-1], 1, "cells must be 0 to 63"),
    ):
        with pytest.raises(ValueError, match=words):
            whole.write("heat", cells, strengths)
    with pytest.raises(TypeError, match="integers"):
        whole.write("heat", [0.5], 1)
    with pytest.raises(TypeError, match="must be numbers"):
        whole.write("heat", [0], ["much"])
    with pytest.raises(UnknownNameError, match="did you mean 'heat'"):
        whole.write("haet", [0], 1)
    with pytest.raises(ValueError, match="finite"):
        whole.write_at("heat", [[0.0, np.nan]], 1)
    whole.advance(Budget.unlimited())
    assert whole.picture["heat"].sum() == 0


def test_layers_of_wrong_size_and_invalid_walls_are_refused():
    area, clock = MapArea(2, 2), ManualClock()
    with pytest.raises(ValueError, match="shape"):
        DecisionMap(area, [MapLayer("heat")], clock, is_open=np.ones((3, 2), bool))
    with pytest.raises(TypeError, match="bool"):
        DecisionMap(area, [MapLayer("heat")], clock, is_open=np.ones((2, 2)))
    with pytest.raises(ValueError, match="used twice"):
        DecisionMap(area, [MapLayer("heat"), MapLayer("heat")], clock)
    with pytest.raises(ValueError, match="at least one layer"):
        DecisionMap(area, [], clock)
    whole = DecisionMap(area, [MapLayer("heat")], clock)
    with pytest.raises(ValueError, match="out must be"):
        whole.picture.combined({"heat": 1}, out=np.zeros((3, 3), np.float32))
    with pytest.raises(UnknownNameError):
        whole.picture.combined({"heet": 1})
    with pytest.raises(ValueError, match="read-only"):
        whole.picture["heat"][0, 0] = 1


def test_positions_outside_the_area_write_nothing():
    whole, _ = two_layers()
    assert whole.write_at("heat", [[-1, 0], [3.5, 2.5], [8, 8]], [1, 2, 4]) == 1
    whole.advance(Budget.unlimited())
    assert whole.picture["heat"].sum() == 2


def test_an_update_under_way_is_not_begun_again():
    whole, _ = two_layers()
    whole.begin()
    with pytest.raises(RuntimeError, match="in progress"):
        whole.begin()
    with pytest.raises(RuntimeError, match="is not done"):
        whole.result  # noqa: B018


def test_a_period_of_one_frame_updates_in_every_frame():
    clock = ManualClock(0.05)
    whole = DecisionMap(MapArea(2, 2), [MapLayer("heat")], clock, period_s=0.05)
    for _ in range(200):
        whole.advance(Budget.unlimited())
        clock.advance()
    assert whole.updates == 200


def test_any_number_of_writes_into_a_cell_can_be_saved():
    maps = DecisionMap(MapArea(2, 2), [MapLayer("threat")], ManualClock())
    for _ in range(1002):
        maps.write("threat", [0, 0], 1e9)
    other = DecisionMap(MapArea(2, 2), [MapLayer("threat")], ManualClock())
    other.prepare_state(maps.save_state())()
    other.advance(Budget.unlimited())
    assert other.picture["threat"].tolist() == [[1e9, 0], [0, 0]]
