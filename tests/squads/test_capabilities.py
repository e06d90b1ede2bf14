"""What a group can do against what it meets, by numbers that can be checked by hand."""
from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.squads.capabilities import Capabilities, Force, power_ratio
from ai_core.squads.formation import Formation

soldier = Capabilities("ground", attack={"ground": 2.0}, toughness=10.0)
gunner = Capabilities("ground", attack={"ground": 1.0, "air": 4.0}, toughness=10.0)
plane = Capabilities("air", attack={"ground": 3.0}, toughness=5.0)
medic = Capabilities("ground", toughness=5.0, heals=1.0)


def test_twice_the_numbers_are_twice_as_strong():
    assert power_ratio(Force([(soldier, 6)]), Force([(soldier, 3)])) == 2.0
    assert power_ratio(Force([(soldier, 3)]), Force([(soldier, 6)])) == 0.5


def test_who_cannot_hit_air_has_no_power_over_it():
    assert power_ratio(Force([(soldier, 10)]), Force([(plane, 1)])) == 0.0
    assert power_ratio(Force([(plane, 1)]), Force([(soldier, 10)])) == math.inf


def test_one_gunner_among_soldiers_gives_some_power_over_air():
    few = power_ratio(Force([(soldier, 9), (gunner, 1)]), Force([(plane, 3)]))
    many = power_ratio(Force([(soldier, 5), (gunner, 5)]), Force([(plane, 3)]))
    assert 0 < few < many


def test_each_attacks_only_what_it_can_hit():
    mixed = Force([(soldier, 1), (plane, 3)])
    assert Force([(soldier, 1)]).attack_against(mixed) == 2.0
    assert Force([(gunner, 1)]).attack_against(mixed) == (1 * 1.0 + 3 * 4.0) / 4
    assert Force([(medic, 4)]).attack_against(mixed) == 0.0


def test_attackers_that_cannot_be_hit_weaken_by_their_share():
    own, other = Force([(soldier, 4)]), Force([(soldier, 2), (plane, 1)])
    assert own.unanswered_attack_share(other) == pytest.approx(3 / 7)
    assert power_ratio(own, other) < power_ratio(own, Force([(soldier, 2)]))


def test_healers_count_as_toughness():
    assert Force([(soldier, 2), (medic, 1)]).toughness == 2 * 10 + 5 + 1.0 * 10
    assert Force([(medic, 3)]).heals == 3.0


def test_who_hurts_nobody_and_is_not_hurt_is_equal():
    assert power_ratio(Force([(medic, 1)]), Force([(medic, 5)])) == 1.0
    assert power_ratio(Force(), Force()) == 1.0


def test_equal_capabilities_are_one_row():
    again = Capabilities("ground", attack={"ground": 2}, toughness=10)
    force = Force([(soldier, 2), (again, 3)]) + Force.of_members([soldier])
    assert force.rows == ((soldier, 6.0),)
    assert force.counts_by_kind() == {"ground": 6.0}


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50))
def test_more_of_ours_is_never_weaker(ours, more, theirs):
    met = Force([(soldier, theirs), (plane, 1)])
    assert power_ratio(Force([(gunner, ours + more)]), met) > power_ratio(Force([(gunner, ours)]), met)


@pytest.mark.parametrize(("arguments", "complaint"), [
    ({"attack": {"ground": -1.0}}, "attack on 'ground' must be at least 0, got -1.0; use 0 for none"),
    ({"attack": {"ground": math.nan}}, "attack on 'ground' must be a finite number"),
    ({"attack": {"ground": "far"}}, "attack on 'ground' must be a number"),
    ({"attack": [1.0]}, "attack must map kinds to damage per second"),
    ({"attack": {3: 1.0}}, "a kind in attack must be a non-empty string"),
    ({"kind": ""}, "kind must be a non-empty string"),
    ({"toughness": 0.0}, "toughness must be above 0"),
    ({"toughness": math.inf}, "toughness must be a finite number"),
    ({"heals": -2}, "heals must be at least 0"),
    ({"range_m": -1}, "range_m must be at least 0"),
])
def test_strengths_that_are_none_are_refused(arguments, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        Capabilities(**arguments)


def test_counts_that_are_none_are_refused():
    with pytest.raises(ValueError, match="count must be at least 0, got -1"):
        Force([(soldier, -1)])
    with pytest.raises(TypeError, match="rows of a force must hold Capabilities"):
        Force.of_members(["soldier"])


@pytest.mark.parametrize("setting", [
    Capabilities(attack={"ground": 1.0, "air": 2.0}), Formation.wedge(places={"healer": "rear"}),
    Formation.custom([(0, 0), (1, 1)])])
def test_settings_of_squads_can_be_copied_and_pickled(setting):
    assert copy.deepcopy(setting) == setting
    assert pickle.loads(pickle.dumps(setting)) == setting
    assert type(setting)(**dataclasses.asdict(setting)) == setting
