"""Who is to be what."""
from __future__ import annotations

import math

import pytest

from ai_core.squads.commander import SquadMember
from ai_core.squads.slot_assignment import RoleNeed, assign_roles


def members(*roles):
    return {number: SquadMember(number, 3.0, 0.4, one) for number, one in enumerate(roles)}


def test_hard_needs_go_to_who_can_and_are_told_missing_otherwise():
    given = assign_roles(members((), ("medic",), ()), [RoleNeed("healer", 2, only=("medic",)), RoleNeed("guard")])
    assert given.roles[1] == "healer"
    assert sorted(given.roles.values()) == ["guard", "healer"]
    assert given.missing == {"healer": 1}


def test_it_never_fails_where_everybody_could_have_a_role():
    given = assign_roles(members(("medic", "gunner"), ("medic",)), [
        RoleNeed("healer", only=("medic",)), RoleNeed("machine gun", only=("gunner",))])
    assert given.roles == {0: "machine gun", 1: "healer"}
    assert given.missing == {}


def test_costs_choose_who_is_best_at_it():
    given = assign_roles(members((), (), ()), [RoleNeed("scout", cost=lambda one: abs(one.member_id - 2))])
    assert given.roles == {2: "scout"}


def test_earlier_needs_are_met_first():
    given = assign_roles(members((), ()), [RoleNeed("a"), RoleNeed("b"), RoleNeed("c")])
    assert sorted(given.roles.values()) == ["a", "b"]
    assert given.missing == {"c": 1}


def test_role_is_kept_unless_another_is_clearly_better():
    cost = {0: 1.0, 1: 1.5}
    need = [RoleNeed("scout", cost=lambda one: cost[one.member_id])]
    assert assign_roles(members((), ()), need, {1: "scout"}).roles == {1: "scout"}
    cost[1] = 5.0
    assert assign_roles(members((), ()), need, {1: "scout"}).roles == {0: "scout"}


def test_each_of_too_many_in_a_role_leaves_it_at_the_same_cost():
    cost = {0: 2.0, 1: 1.0, 2: 1.0}
    needs = [RoleNeed("scout", 2), RoleNeed("guard", cost=lambda one: cost[one.member_id])]
    held = dict.fromkeys(range(3), "scout")
    assert assign_roles(members((), (), ()), needs, held).roles in (
        {0: "scout", 1: "guard", 2: "scout"}, {0: "scout", 1: "scout", 2: "guard"})
    cost[2] = 0.5
    assert assign_roles(members((), (), ()), needs, held).roles == {0: "scout", 1: "scout", 2: "guard"}
    cost[0] = 0.2
    assert assign_roles(members((), (), ()), needs, held).roles == {0: "guard", 1: "scout", 2: "scout"}


def test_nobody_and_no_needs_are_no_error():
    assert assign_roles({}, [RoleNeed("a")]).missing == {"a": 1}
    assert assign_roles(members(()), []).roles == {}


def test_mistakes_are_clear_errors():
    with pytest.raises(TypeError, match="role must be a non-empty string"):
        RoleNeed("")
    with pytest.raises(ValueError, match="count must be at least 0"):
        RoleNeed("a", -1)
    with pytest.raises(TypeError, match="cost must be a callable"):
        RoleNeed("a", cost=3)
    with pytest.raises(ValueError, match="cost of role 'a' must be at least 0"):
        assign_roles(members(()), [RoleNeed("a", cost=lambda one: -1.0)])
    with pytest.raises(TypeError, match="needs must be a sequence of RoleNeed"):
        assign_roles(members(()), None)
    with pytest.raises(TypeError, match="members must map ids to members"):
        assign_roles([0, 1], [RoleNeed("a")])
    assert assign_roles(members(()), [RoleNeed("a", cost=lambda one: math.inf)]).missing == {"a": 1}
