"""Formations scale with numbers, and say who may stand where."""
from __future__ import annotations

import math

import numpy as np
import pytest

from ai_core.errors import UnknownNameError
from ai_core.squads.formation import Formation, FormationSlot
from ai_core.squads.slot_assignment import assign

SHAPES = {
    "line": Formation.line(), "column": Formation.column(), "wedge": Formation.wedge(),
    "phalanx": Formation.phalanx(files=5), "circle": Formation.circle(),
    "custom": Formation.custom([(0, 0), (-1, 3), (-1, -3)]),
}
each_shape = pytest.mark.parametrize("formation", SHAPES.values(), ids=SHAPES)


def test_patterns_as_pictures():
    def picture(formation, count):
        offsets = formation.slots(count).astype(int)
        rows = range(offsets[:, 0].max(), offsets[:, 0].min() - 1, -1)
        columns = range(offsets[:, 1].min(), offsets[:, 1].max() + 1)
        return ["".join("x" if [row, column] in offsets.tolist() else "." for column in columns) for row in rows]

    assert picture(Formation.line(1), 5) == ["xxxxx"]
    assert picture(Formation.column(1), 3) == ["x", "x", "x"]
    assert picture(Formation.column(1, files=2), 5) == ["xx", "xx", "x."]
    assert picture(Formation.wedge(1), 5) == ["..x..", ".x.x.", "x...x"]
    assert picture(Formation.phalanx(1), 8) == ["xxxxx", ".xxx."]
    assert picture(Formation.phalanx(1, files=3), 7) == ["xxx", "xxx", ".x."]


@each_shape
@pytest.mark.parametrize("count", [0, 1, 2, 3, 9, 50])
def test_as_many_slots_as_members_and_none_in_the_same_place(formation, count):
    offsets = formation.slots(count)
    assert offsets.shape == (count, 2)
    apart = np.sqrt(((offsets[:, None] - offsets[None]) ** 2).sum(axis=2)) + 99 * np.eye(count)
    assert count < 2 or apart.min() >= formation.spacing_m * 0.999
    assert not count or offsets[0].tolist() == [0, 0]


@pytest.mark.parametrize("name", ["line", "column", "wedge", "phalanx", "custom"])
def test_one_member_more_leaves_the_others_where_they_are(name):
    formation = SHAPES[name]
    for count in range(30):
        assert (formation.slots(count + 1)[:count] == formation.slots(count)).all()


def test_a_circle_is_round_and_keeps_its_spacing():
    offsets = Formation.circle(2.0).slots(13)[1:]
    assert np.sqrt((offsets ** 2).sum(axis=1)) == pytest.approx(1 / math.sin(math.pi / 12))
    assert np.sqrt(((offsets[0] - offsets[1]) ** 2).sum()) == pytest.approx(2.0)


def role_costs(formation, roles, count):
    """The costs of slots, a row for each member."""
    costs, rows = formation.role_costs(roles, count)
    return costs[rows]


def test_custom_slots_come_again_behind_and_keep_their_roles():
    formation = Formation.custom([FormationSlot(0, 0), FormationSlot(-2, 1, only=("archer",))], spacing_m=3)
    assert formation.slots(5).tolist() == [[0, 0], [-2, 1], [-5, 0], [-7, 1], [-10, 0]]
    costs = role_costs(formation, [["archer"], ["healer"]], 4)
    assert costs.tolist() == [[0, 0, 0, 0], [0, math.inf, 0, math.inf]]


def test_hard_limits_are_kept_and_soft_ones_cost():
    formation = Formation.custom([(0, 0), FormationSlot(-1, 0, prefers=("shield",)),
        FormationSlot(-2, 0, only=("healer",))])
    roles = [["shield"], [], ["healer"]]
    costs = role_costs(formation, roles, 3)
    assert costs.tolist() == [[0, 0, math.inf], [0, 6, math.inf], [0, 6, 0]]
    assert assign(costs).slots.tolist() == [1, 0, 2]


def test_healers_are_in_rear_and_shields_in_front_without_slots():
    formation = Formation.phalanx(2.0, files=3, places={"healer": "rear", "shield": "front"})
    roles = [["healer"], ["shield"], ["shield"], ["shield"], [], []]
    slots = assign(role_costs(formation, roles, 6)).slots
    assert slots[0] >= 3
    assert sorted(slots[1:4].tolist()) == [0, 1, 2]


def test_the_flank_and_the_center_are_places_too():
    formation = Formation.line(places={"rider": "flank", "king": "center"})
    costs = role_costs(formation, [["rider"], ["king"]], 5)
    assert costs[0].argmin() in (3, 4)
    assert costs[1].argmin() == 0


@pytest.mark.parametrize(("make", "error", "complaint"), [
    (lambda: Formation.custom([]), ValueError, "a custom formation must have at least one slot, got none"),
    (lambda: Formation.custom(None), TypeError, "slots must be FormationSlots or pairs"),
    (lambda: Formation.custom("x"), TypeError, "slot 0 must be a FormationSlot or a pair"),
    (lambda: Formation.custom([(1,)]), TypeError, "slot 0 must be a FormationSlot or a pair"),
    (lambda: Formation.wedge(0), ValueError, "spacing_m must be above 0"),
    (lambda: Formation.wedge(math.nan), ValueError, "spacing_m must be a finite number"),
    (lambda: Formation("wegde"), UnknownNameError, "did you mean 'wedge'"),
    (lambda: Formation.phalanx(files=-1), ValueError, "files must be at least 0"),
    (lambda: Formation.custom([(0, math.inf)]), ValueError, "right_m of slot 0 must be a finite number"),
    (lambda: Formation.custom([FormationSlot(0, 0, only="healer")]), TypeError, "only of slot 0 must be role names"),
    (lambda: Formation("custom", custom_slots=((0, 0),)), TypeError, "slot 0 must be a FormationSlot"),
    (lambda: Formation.wedge(places={"healer": "behind"}), UnknownNameError, "place of role 'healer'"),
    (lambda: Formation.wedge().slots(-1), ValueError, "count must be at least 0"),
    (lambda: Formation.wedge().slots(1_000_000), ValueError, "count must be at most 10000"),
])
def test_what_is_no_formation_is_refused(make, error, complaint):
    with pytest.raises(error, match=complaint):
        make()
