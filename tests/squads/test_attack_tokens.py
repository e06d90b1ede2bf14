"""At most so many attack at once, and everybody gets his turn."""
from __future__ import annotations

import json
from itertools import permutations

import pytest

from ai_core.saving.fields import StateError
from ai_core.squads.attack_tokens import AttackTokens


def ask(tokens, members, now_s, urgency=None):
    for one in members:
        tokens.request(one, now_s, (urgency or {}).get(one, 0.0))
    return tokens.grant(now_s)


def test_two_of_five_attack_and_never_a_third():
    tokens = AttackTokens(2)
    for step in range(200):
        assert len(ask(tokens, range(5), step * 0.1)) <= 2
    assert ask(tokens, range(5), 20.0)


def test_the_order_of_asking_does_not_matter():
    assert {ask(AttackTokens(2), order, 0.0, {3: 1.0}) for order in permutations(range(4))} == {(0, 3)}


def test_order_is_urgency_then_longest_wait_then_smallest_id():
    tokens = AttackTokens(1)
    tokens.request(7, 0.0)
    for one in (5, 2, 7):
        tokens.request(one, 0.5)
    assert tokens.grant(0.5) == (7,)
    tokens.release(7, 0.6)
    assert tokens.grant(0.6) == (2,)


def test_everybody_gets_his_turn_within_a_bound():
    tokens, last = AttackTokens(2, max_hold_s=1.0, cooldown_s=0.5), dict.fromkeys(range(6), 0.0)
    for step in range(600):
        now_s = step / 30
        for one in ask(tokens, range(6), now_s):
            last[one] = now_s
        assert all(now_s - since <= 3 * 1.0 + 0.2 for since in last.values())


def test_a_token_is_kept_while_nobody_else_wants_it():
    tokens = AttackTokens(1, max_hold_s=1.0)
    for step in range(50):
        assert ask(tokens, [4], step * 0.1) == (4,)


def test_withdrawn_request_does_not_wait_and_lost_holds_nothing():
    tokens = AttackTokens(1)
    ask(tokens, [1, 2], 0.0)
    tokens.release(1, 1.5)
    assert tokens.grant(1.5) == ()
    ask(tokens, [3], 1.5)
    tokens.forget(3)
    assert tokens.holders == ()


def test_who_gave_it_back_rests():
    tokens = AttackTokens(1, cooldown_s=1.0)
    ask(tokens, [1], 0.0)
    tokens.release(1, 0.0)
    assert ask(tokens, [1], 0.5) == ()
    assert ask(tokens, [1], 1.0) == (1,)


def test_holders_waiting_and_resting_are_saved():
    tokens = AttackTokens(2, max_hold_s=1.0)
    for step in range(13):
        ask(tokens, range(5), step * 0.1)
    other = AttackTokens(2, max_hold_s=1.0)
    other.prepare_state(json.loads(json.dumps(tokens.save_state())))()
    for step in range(13, 60):
        assert ask(tokens, range(5), step * 0.1) == ask(other, range(5), step * 0.1)


@pytest.mark.parametrize("change", [
    {"held": [[1, 0], [2, 0], [3, 0]]}, {"held": [[1, 0], [1, 0]]}, {"held": [[0.5, 0]]}, {"waiting": [[1, 0]]},
    {"resting": 3}, {"more": 1},
])
def test_what_is_no_state_is_refused(change):
    tokens = AttackTokens(2)
    with pytest.raises(StateError):
        tokens.prepare_state({**tokens.save_state(), **change})


@pytest.mark.parametrize(("arguments", "complaint"), [
    ({"count": 0}, "count must be at least 1"), ({"max_hold_s": 0}, "max_hold_s must be above 0"),
    ({"cooldown_s": -1}, "cooldown_s must be at least 0"),
])
def test_numbers_out_of_range_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        AttackTokens(**arguments)
    with pytest.raises(ValueError, match="urgency must be a finite number"):
        AttackTokens().request(1, 0.0, float("nan"))


@pytest.mark.parametrize("call", [
    lambda tokens, now: tokens.request(3, now), lambda tokens, now: tokens.grant(now),
    lambda tokens, now: tokens.release(1, now),
])
@pytest.mark.parametrize("now_s", [float("inf"), float("nan"), None])
def test_a_moment_that_is_none_is_refused_and_changes_nothing(call, now_s):
    tokens = AttackTokens(1)
    ask(tokens, [1, 2], 0.0)
    before = tokens.save_state()
    with pytest.raises((TypeError, ValueError), match="now_s must be"):
        call(tokens, now_s)
    assert tokens.save_state() == before


def test_the_time_of_a_token_begins_on_arrival():
    tokens = AttackTokens(1, max_hold_s=5)
    tokens.request(1, 0.0, travel_s=4.0)
    assert tokens.grant(0.0) == (1,)
    tokens.request(2, 8.9)
    assert tokens.grant(8.9) == (1,)
    tokens.request(2, 9.0)
    assert tokens.grant(9.0) == (2,)
