"""How far each sensor senses anything: what is kept is what would be worked out anew."""
from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.own_reach import MOST_KEPT, OwnReach
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.stimuli.waves import ModalityNumbers

HEARING, SIGHT = ModalityNumbers(1, 100.0, 0.9, needs_cone=False), ModalityNumbers(0, 50.0, 0.9, needs_cone=True)
CONE = SightCone(20.0, math.pi, math.pi)
CHANGE = st.tuples(
    st.sampled_from(["add", "remove", "threshold", "sensitivity", "cones"]), st.integers(0, 30), st.floats(0.0, 5.0))


def a_table(count=3, threshold=0.5):
    table = SensorTable(ModalitySet([Modality.sight(), Modality.hearing()]))
    for _ in range(count):
        table.add((0, 0, 0), (1, 0, 0), {"sight": 0.5, "hearing": threshold}, [CONE], 1, None)
    return table


def kept(table, sense, strength):
    table.own_reach.squares(table, sense, strength)
    return table.own_reach.squares(table, sense, strength)


def anew(table, sense, strength):
    own = OwnReach()
    own.squares(table, sense, strength)
    return own.squares(table, sense, strength)


def test_a_sensor_senses_as_far_as_its_threshold_lets_it():
    table = a_table()
    table.put_keenness(int(table.ids.ids[0]), 1, 0.0)
    deaf, one, _ = kept(table, HEARING, 1.0).tolist()
    assert deaf == -math.inf
    assert math.isclose(math.sqrt(one), math.log(0.5) / math.log(0.9), rel_tol=1e-3)


def test_amplifying_cone_lets_all_be_asked_from_farther_away():
    """One number holds for all; what was kept of those that did not change is too short then."""
    table = a_table()
    plain = kept(table, SIGHT, 1.0)
    table.change(int(table.ids.ids[0]), None, [SightCone(20.0, math.pi, math.pi, acuity=3.0)], None, None)
    np.testing.assert_allclose(np.sqrt(plain), math.log(0.5) / math.log(0.9), rtol=1e-3)
    np.testing.assert_allclose(np.sqrt(kept(table, SIGHT, 1.0)), math.log(0.5 / 3.0) / math.log(0.9), rtol=1e-3)


def test_what_nobody_asked_before_is_not_worth_knowing():
    table = a_table()
    assert table.own_reach.squares(table, HEARING, 1.0) is None
    assert table.own_reach.squares(table, HEARING, 0.6) is not None     # up to the same power of 2
    assert table.own_reach.squares(table, HEARING, 1.1) is None
    assert table.own_reach.squares(table, HEARING._replace(range_m=1e30), 1.0) is None


def test_without_loss_all_sense_equally_far_and_nothing_is_kept():
    table = a_table()
    assert kept(table, HEARING._replace(kept_per_m=1.0), 1e300) is None      # as slow fronts ask, in each frame


def test_a_range_that_changes_with_every_question_keeps_nothing():
    table = a_table()
    asked = [table.own_reach.squares(table, HEARING._replace(range_m=float(k)), 1.0) for k in range(3 * MOST_KEPT)]
    assert asked == [None] * (3 * MOST_KEPT)


@settings(max_examples=60)
@given(st.lists(st.tuples(CHANGE, st.sampled_from([HEARING, SIGHT]), st.sampled_from([0.0, 0.3, 1.0, 7.0, 1e308]))))
def test_it_is_kept_up_to_date_whatever_changes(steps):
    table = a_table()
    for (what, which, number), sense, strength in steps:
        ids = table.ids.ids.tolist()
        one = ids[which % len(ids)] if ids else None
        if what == "add" or one is None:
            for _ in range(4):
                table.add((0, 0, 0), (1, 0, 0), {"sight": 1.0, "hearing": number}, [CONE], 1, None)
        elif what == "remove":
            table.remove(one)
        elif what == "threshold":
            table.change(one, {"sight": number, "hearing": number}, None, None, None)
        elif what == "sensitivity":
            table.put_keenness(one, 1, number)
        else:
            table.change(one, None, [SightCone(10 * number + 0.1, 1.0, 1.0, acuity=number)], None, None)
        np.testing.assert_array_equal(kept(table, sense, strength), anew(table, sense, strength))


def test_changes_that_nobody_asks_about_are_not_noted_for_ever():
    table = a_table()
    before = kept(table, HEARING, 1.0).copy()
    one = int(table.ids.ids[0])
    for _ in range(40 * table.ids.capacity):
        table.put_keenness(one, 1, 0.5)
    assert len(table.own_reach._changes) <= table.ids.capacity
    after = kept(table, HEARING, 1.0)
    assert after[0] < before[0]
    assert after[1:].tolist() == before[1:].tolist()
