"""Importance: the vectorised one agrees with a plain loop, and says why it is what it is."""
from __future__ import annotations

import json
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.level_of_detail import viewer as viewers_of_agents
from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.importance_settings import PARTS, ImportanceSettings
from ai_core.level_of_detail.viewer import Viewer
from ai_core.saving.fields import StateError
from ai_core.snapshot import from_json, restore, take, to_json
from tests.level_of_detail.plain_importance import plain_importance

AT_ONCE = ImportanceSettings(smoothing_s=0)

COORDINATE = st.floats(-120, 120, width=32)
PLACE = st.tuples(COORDINATE, COORDINATE, COORDINATE)
VIEWER = st.builds(
    Viewer, PLACE,
    forward=st.one_of(st.none(), PLACE.filter(lambda one: math.hypot(*one) > 1e-3)),
    velocity=st.one_of(st.none(), PLACE),
    field_of_view_rad=st.sampled_from([0.5, math.pi / 2, math.tau]),
    weight=st.sampled_from([0.0, 0.5, 1.0]),
    near_m=st.sampled_from([None, 0.0, 12.0]),
    far_m=st.sampled_from([None, 20.0, 300.0]),
)


def places(*rows):
    return np.array(rows, np.float32).reshape(len(rows), -1)


def alone(settings=AT_ONCE, **properties):
    importance = Importance(settings)
    importance.add(1, **properties)
    return importance


@settings(max_examples=20)
@given(st.lists(VIEWER, max_size=4), st.lists(st.tuples(PLACE, PLACE, st.floats(0, 1, width=32)), max_size=12))
def test_it_is_what_a_plain_loop_over_agents_and_viewers_gives(viewers, agents):
    importance = Importance(AT_ONCE)
    importance.add(len(agents))
    for one, (_, _, role) in zip(importance.ids, agents, strict=True):
        importance.set_role(one, role)
        importance.notice(one, role / 2)
    where = np.array([one[0] for one in agents], np.float32).reshape(-1, 3)
    moving = np.array([one[1] for one in agents], np.float32).reshape(-1, 3)
    got = importance.update(viewers, where, 0.0, velocities=moving)
    own = [(role, role / 2, 0.0) for _, _, role in agents]
    wanted = plain_importance(viewers, where.tolist(), moving.tolist(), [1.0] * len(agents), own, AT_ONCE)
    assert got.tolist() == pytest.approx(wanted, abs=1e-4)


def test_many_blocks_give_the_same_as_one(monkeypatch):
    def values():
        importance = Importance(AT_ONCE)
        importance.add(500, role=0.1)
        where = np.linspace(-90, 90, 1500).astype(np.float32).reshape(500, 3)
        return importance.update([Viewer((0, 0, 0), (1, 0, 0))], where, 0.0).tobytes()

    whole = values()
    monkeypatch.setattr(viewers_of_agents, "BLOCK_NUMBERS", 64)
    assert values() == whole


def test_it_says_what_each_part_added():
    settings = ImportanceSettings(smoothing_s=0, distance=0.4, view=0.2, role=0.3, noticed=0.2, size=0.0)
    importance = alone(settings, role=0.5)
    importance.notice(0)
    importance.update([Viewer((0, 0, 0), (1, 0, 0))], places((42.5, 0, 0)), 0.0)
    told = importance.explain(0)
    assert told == pytest.approx({
        "distance": 0.2, "view": 0.2, "approach": 0, "size": 0, "role": 0.15, "noticed": 0.2, "damaged": 0,
        "total": 0.75, "value": 0.75,
    })
    assert dict(zip(PARTS, importance.parts()[:, 0].tolist(), strict=True))["distance"] == pytest.approx(0.2)


def test_behind_counts_less_than_in_view():
    importance = Importance(ImportanceSettings(smoothing_s=0, distance=0, size=0, view=1))
    importance.add(3)
    ahead, aside, behind = importance.update(
        [Viewer((0, 0), (1, 0), field_of_view_rad=1.0)], places((9, 0), (0, 9), (-9, 0)), 0.0
    )
    assert ahead == 1
    assert behind == 0
    assert 0.4 < aside < 0.6


def test_coming_nearer_counts_whoever_moves():
    importance = Importance(ImportanceSettings(smoothing_s=0, distance=0, size=0, view=0, approach=1))
    importance.add(2)
    where, moving = places((10, 0), (-10, 0)), places((-4, 0), (-4, 0))
    assert importance.update([Viewer((0, 0))], where, 0.0, velocities=moving).tolist() == [0.5, 0]
    chasing = Viewer((0, 0), velocity=(-8, 0))
    assert importance.update([chasing], where, 0.0, velocities=moving).tolist() == [0, 0.5]
    assert importance.update([chasing], where, 0.0).tolist() == [0, 1]


def test_the_best_viewer_counts_and_says_the_parts():
    importance = alone()
    far, near = Viewer((200, 0, 0)), Viewer((5, 0, 0))
    value = float(importance.update([far, near], places((0, 0, 0)), 0.0)[0])
    assert value == float(importance.update([near], places((0, 0, 0)), 0.0)[0])
    assert importance.explain(0)["distance"] == 0.5
    assert importance.update([], places((0, 0, 0)), 0.0).tolist() == [0]


def test_a_viewer_may_have_a_range_of_its_own():
    importance = Importance(ImportanceSettings(smoothing_s=0, distance=1.0, view=0, size=0, near_m=5, far_m=80))
    importance.add(3)
    where = places((10, 0), (50, 0), (200, 0))
    for viewer, wanted in (
        (Viewer((0, 0), far_m=405.0), [395 / 400, 355 / 400, 205 / 400]),
        (Viewer((0, 0), near_m=40.0), [1, 0.75, 0]),
        (Viewer((0, 0), near_m=0.0, far_m=20.0), [0.5, 0, 0]),
        (Viewer((0, 0)), [70 / 75, 30 / 75, 0]),
    ):
        assert importance.update([viewer], where, 0.0).tolist() == pytest.approx(wanted, abs=1e-6)
        assert importance.parts()[0].tolist() == pytest.approx(wanted, abs=1e-6)
    both = importance.update([Viewer((0, 0), far_m=20.0), Viewer((0, 0), far_m=405.0)], where, 0.0)
    assert both.tolist() == pytest.approx([395 / 400, 355 / 400, 205 / 400], abs=1e-6)


@pytest.mark.parametrize(
    ("own", "error", "message"),
    [({"near_m": -1.0}, ValueError, "near_m must be at least 0, got -1"),
     ({"far_m": 0.0}, ValueError, "far_m must be above 0, got 0"),
     ({"far_m": math.inf}, ValueError, "far_m must be a finite number"),
     ({"near_m": math.nan}, ValueError, "near_m must be a finite number"),
     ({"far_m": True}, TypeError, "far_m must be a number"),
     ({"near_m": 9.0, "far_m": 9.0}, ValueError, "far_m must be above near_m, got 9 and 9")],
)
def test_invalid_range_is_refused_when_the_viewer_is_made(own, error, message):
    with pytest.raises(error, match=message):
        Viewer((0, 0), **own)


def test_range_unfit_for_the_settings_is_refused_unchanged():
    importance = alone(ImportanceSettings(smoothing_s=0, near_m=5, far_m=80))
    before = importance.update([Viewer((0, 0))], places((9, 0)), 0.0).tolist()
    for viewer in (Viewer((0, 0), near_m=90.0), Viewer((0, 0), far_m=4.0)):
        with pytest.raises(ValueError, match="far_m must be above near_m"):
            importance.update([Viewer((0, 0)), viewer], places((50, 0)), 1.0)
        assert importance.values.tolist() == before


@pytest.mark.parametrize("frames", [1, 7, 60])
def test_smoothing_is_the_same_at_any_frame_rate(frames):
    importance = alone(ImportanceSettings(smoothing_s=0.5, distance=1.0, view=0, size=0))
    viewer = [Viewer((0, 0, 0))]
    importance.update(viewer, places((500, 0, 0)), 0.0)
    for _ in range(frames):
        importance.update(viewer, places((0, 0, 0)), 1.0 / frames)
    assert importance.values[0] == pytest.approx(1 - math.exp(-2), abs=1e-5)


def test_the_first_value_is_not_smoothed():
    importance = alone(ImportanceSettings(smoothing_s=100, distance=1))
    assert importance.values[0] == 0
    assert importance.update([Viewer((0, 0, 0))], places((0, 0, 0)), 0.0)[0] == 1


@pytest.mark.parametrize("frames", [1, 30])
def test_boosts_fade_by_time(frames):
    importance = alone(ImportanceSettings(smoothing_s=0, damaged=1.0, damaged_s=2.0))
    importance.damage(0)
    for _ in range(frames):
        importance.update([], places((0, 0, 0)), 2.0 / frames)
    assert importance.values[0] == pytest.approx(math.exp(-1), abs=1e-5)


@pytest.mark.parametrize("smoothing_s", [0.0, 0.25])
def test_fading_ends_at_zero_and_not_at_denormal_numbers(smoothing_s):
    importance = alone(ImportanceSettings(smoothing_s=smoothing_s, damaged_s=0.2, noticed_s=0.2))
    importance.damage(0)
    importance.notice(0)
    ever = {float(importance.update([], places((0, 0, 0)), 0.1)[0]) for _ in range(400)}
    assert min(ever - {0.0}) > 1e-35           # below 1e-38 every step takes eight times as long
    assert importance.values[0] == 0
    assert importance.explain(0)["damaged"] == importance.explain(0)["noticed"] == 0
    importance.damage(0)                       # and it may be hurt again
    assert importance.update([], places((0, 0, 0)), 0.1)[0] > 0.05


def test_a_script_overrides_at_once_until_its_time_is_over():
    importance = alone(ImportanceSettings(smoothing_s=0))
    importance.force(0, 0.9, for_s=1.0)
    got = [float(importance.update([], places((0, 0, 0)), 0.4)[0]) for _ in range(5)]
    assert got == pytest.approx([0.9, 0.9, 0.9, 0, 0])
    importance.force([0], 1)
    assert importance.explain(0)["forced"] == 1
    importance.unforce(0)
    assert "forced" not in importance.explain(0)


def test_ids_stay_in_order_and_are_never_given_twice():
    importance = Importance(AT_ONCE)
    importance.add(4, role=0.5)
    importance.force([1, 3], 1.0)
    importance.remove([1])
    assert importance.add(1).tolist() == [4]
    assert importance.ids.tolist() == [0, 2, 3, 4]
    values = importance.update([], np.zeros((4, 2), np.float32), 0.0)
    assert values.tolist() == pytest.approx([0.15, 0.15, 1.0, 0.0])
    assert importance.values_of([3, 0]).tolist() == pytest.approx([1.0, 0.15])
    with pytest.raises(UnknownNameError, match="it was removed"):
        importance.notice(1)


def test_an_update_allocates_nothing_that_grows_with_the_agents():
    importance = Importance()
    importance.add(20_000)
    where = np.ones((20_000, 3), np.float32)
    out = np.zeros(20_000, np.float32)
    viewers = [Viewer((0, 0, 0), (1, 0, 0), (1, 0, 0)) for _ in range(4)]
    importance.update(viewers, where, 0.1, velocities=where, out=out)
    tracemalloc.start()
    try:
        assert importance.update(viewers, where, 0.1, velocities=where, out=out) is out
        assert tracemalloc.get_traced_memory()[1] < 8_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_non_finite_position_is_named_and_changes_nothing(wrong):
    importance = Importance(AT_ONCE)
    importance.add(3)
    importance.update([Viewer((0, 0, 0))], np.zeros((3, 3), np.float32), 0.0)
    before = json.dumps(importance.save_state())
    where = places((0, 0, 0), (0, 0, 0), (1, wrong, 2))
    with pytest.raises(ValueError, match=r"positions must be finite, got \[1.0, .*\] for agent 2"):
        importance.update([Viewer((0, 0, 0))], where, 1.0)
    with pytest.raises(ValueError, match="velocities must be finite"):
        importance.update([Viewer((0, 0, 0))], np.zeros((3, 3), np.float32), 1.0, velocities=where)
    assert json.dumps(importance.save_state()) == before


@pytest.mark.filterwarnings("error")
def test_values_float32_cannot_hold_are_refused_unchanged():
    for name, wrong in (("distance", 1e300), ("full_approach_m_s", 1e-300), ("full_size_rad", 1e-300)):
        with pytest.raises(ValueError, match=f"{name} must be (between|at least)"):
            ImportanceSettings(**{name: wrong})
    importance = Importance(AT_ONCE)
    with pytest.raises(ValueError, match="size_m must be between"):
        importance.add(1, size_m=1e300)
    importance.add(1)
    before, out = importance.save_state(), np.zeros(1, np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out must be a writable float32 array"):
        importance.update([Viewer((0, 0))], places((1, 1)), 0.1, out=out)
    assert importance.save_state() == before


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [1e18, 1e25, 3e38])
def test_a_place_beyond_all_maps_is_far_away_and_no_more(far):
    importance = Importance(AT_ONCE)
    importance.add(4)
    where = places((0, 0, 1), (far, -far, far), (far, 0, 0), (0, 0, 0))
    moving = places((0, 0, 0), (far, far, -far), (0, 0, 0), (-far, 0, 0))
    viewers = [Viewer((0, 0, 0), (0, 0, 1), (1, 0, 0)), Viewer((far * 10, 0, 0), velocity=(-far * 10, 0, 0))]
    values = importance.update(viewers, where, 0.1, velocities=moving)
    assert values[0] == pytest.approx(0.8)
    assert ((values >= 0) & (values <= 1)).all()
    assert np.isfinite(importance.parts()).all()


def test_misuse_is_told_at_the_call():
    importance = Importance()
    importance.add(2)
    good = np.zeros((2, 3), np.float32)
    with pytest.raises(TypeError, match="float32 array"):
        importance.update([], [[0, 0, 0]] * 2, 0.0)
    with pytest.raises(ValueError, match=r"shape \(2, 2\) or \(2, 3\), one row for each id, got \(1, 3\)"):
        importance.update([], good[:1], 0.0)
    with pytest.raises(ValueError, match="both in 2D or both in 3D"):
        importance.update([Viewer((0, 0))], good, 0.0)
    with pytest.raises(TypeError, match="viewers must hold Viewer"):
        importance.update([(0, 0, 0)], good, 0.0)
    with pytest.raises(ValueError, match="elapsed_s must be at least 0"):
        importance.update([], good, -1)
    with pytest.raises(ValueError, match="out must be a writable float32"):
        importance.update([], good, 0.0, out=np.zeros(2))
    for call in (importance.notice, importance.damage):
        with pytest.raises(ValueError, match="amount must be at most 1"):
            call(0, 2)
    with pytest.raises(TypeError, match="must be integers"):
        importance.remove([0.5])
    with pytest.raises(TypeError, match="must be integers"):
        importance.remove(True)
    with pytest.raises(UnknownNameError):
        importance.explain(9)
    with pytest.raises(ValueError, match="value must be a finite number"):
        importance.force(0, math.nan)
    with pytest.raises(ValueError, match="for_s must be above 0"):
        importance.force(0, 1, for_s=0)
    with pytest.raises(TypeError, match="settings must be"):
        Importance({"near_m": 1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"far_m": 5.0, "near_m": 5.0}, "far_m must be above near_m, got 5 and 5"),
        ({"distance": -1}, "distance must be at least 0"),
        ({"smoothing_s": math.nan}, "smoothing_s must be a finite number"),
        ({"noticed_s": 0}, "noticed_s must be above 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ImportanceSettings(**settings)


@pytest.mark.parametrize(
    ("viewer", "message"),
    [
        ({"position": (0,)}, "two or three coordinates"),
        ({"position": (0, math.nan)}, "position must be a finite number"),
        ({"position": (0, 0), "forward": (0, 0)}, "forward must have a length"),
        ({"position": (0, 0), "forward": (0, 0, 1)}, "forward must have 2 coordinates, as many as position"),
        ({"position": (0, 0), "weight": 2}, "weight must be at most 1"),
        ({"position": (0, 0), "field_of_view_rad": 0}, "field_of_view_rad must be above 0"),
    ],
)
def test_a_viewer_out_of_range_is_refused(viewer, message):
    with pytest.raises(ValueError, match=message):
        Viewer(**viewer)


def lived():
    importance = Importance(ImportanceSettings(smoothing_s=1.0))
    importance.add(3, role=0.2, size_m=2.0)
    importance.remove(1)
    importance.notice(2, 0.7)
    importance.force(0, 0.8, for_s=0.5)
    importance.update([Viewer((0, 0, 0))], places((1, 0, 0), (20, 0, 0)), 0.1)
    return importance


def test_loaded_it_goes_on_as_if_nothing_had_happened():
    first, second = lived(), Importance(ImportanceSettings(smoothing_s=1.0))
    second.add(7)
    restore(from_json(to_json(take({"it": first}))), {"it": second})
    for importance in (first, second):
        assert importance.add().tolist() == [3]
        for _ in range(9):
            importance.update([], np.zeros((3, 2), np.float32), 0.1)
    assert first.values.tobytes() == second.values.tobytes()
    assert first.save_state() == second.save_state()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": [2, 0]}, "'ids' must be ascending"),
        ({"ids": [0, 9]}, "all below next_id"),
        ({"forced": [[1, [0.5, 1.0]]]}, "must be agents of ids"),
        ({"columns": {}}, "'columns.role' is missing"),
    ],
)
def test_a_damaged_save_is_refused(change, message):
    importance = lived()
    state = {**importance.save_state(), **change}
    before = importance.save_state()
    with pytest.raises(StateError, match=message):
        importance.prepare_state(state)
    assert importance.save_state() == before


def test_a_full_angle_sees_what_is_exactly_behind():
    importance = Importance(ImportanceSettings(distance=0, approach=0, size=0, role=0, view=1, smoothing_s=0))
    importance.add(3)
    around = Viewer((0, 0), (1, 0), field_of_view_rad=math.tau)
    assert importance.update([around], places((-5, 0), (-5, 0.001), (5, 0)), 1.0).tolist() == [1, 1, 1]
