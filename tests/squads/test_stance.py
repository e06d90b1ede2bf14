"""Fight, hold or retreat, and not back and forth."""
from __future__ import annotations

import json

import pytest

from ai_core.saving.fields import StateError
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.stance import StanceJudge, StancePolicy

soldier = Capabilities("ground", attack={"ground": 2.0}, toughness=10.0)
gunner = Capabilities("ground", attack={"ground": 1.0, "air": 4.0}, toughness=10.0)
plane = Capabilities("air", attack={"ground": 3.0}, toughness=5.0)
balloon = Capabilities("air", toughness=5.0)
medic = Capabilities("ground", toughness=5.0, heals=1.0)


def stance_of(own, met, **policy):
    return StanceJudge(StancePolicy(**policy)).judge(Force(own), Force(met), 0.0)


def test_nobody_can_hit_air_flee():
    assert stance_of([(soldier, 20)], [(plane, 1)]) == ("retreat", 0.0, ("no member can hit air",))


def test_some_can_hit_air_and_are_healed_hold():
    stance = stance_of([(soldier, 8), (gunner, 1), (medic, 1)], [(plane, 10)])
    assert 0.35 <= stance.ratio < 0.7
    assert stance.kind == "hold"
    assert stance.reasons == (
        f"1 of 10 can hit the enemy, with {stance.ratio:.2f} times its power",
        "a fight would leave 0% of the squad and 83% of the enemy", "healers support the attackers")


def test_some_can_hit_air_and_nobody_heals_go_by_the_ratio():
    assert stance_of([(soldier, 8), (gunner, 1)], [(plane, 10)]).kind == "retreat"


def test_stronger_fight_equal_hold_and_weaker_retreat():
    for count, kind in ((8, "fight"), (5, "hold"), (2, "retreat")):
        assert stance_of([(soldier, count)], [(soldier, 5)]).kind == kind


def test_what_cannot_hurt_us_is_no_reason_to_flee():
    stance = stance_of([(soldier, 1)], [(balloon, 9)])
    assert stance.kind == "hold"
    assert stance.reasons == ("no member can hit air", "the enemy cannot hit the squad either")


def test_nobody_met_and_nobody_here_are_stances_too():
    assert stance_of([(soldier, 1)], []).reasons == ("no enemy is met",)
    assert stance_of([], [(soldier, 1)]).kind == "retreat"


def test_ratio_near_a_limit_does_not_flip_the_stance_repeatedly():
    judge = StanceJudge(StancePolicy(min_duration_s=0.0))
    kinds = [judge.judge(Force([(soldier, 14 - step % 2)]), Force([(soldier, 10)]), float(step)).kind
             for step in range(20)]
    assert kinds == ["fight"] * 20
    judge.forget()
    kinds = [judge.judge(Force([(soldier, 12)]), Force([(soldier, 10)]), float(step)).kind for step in range(3)]
    assert kinds == ["hold"] * 3


def test_stance_lasts_a_while_unless_nobody_can_hit_the_enemy():
    judge = StanceJudge()
    assert judge.judge(Force([(soldier, 9)]), Force([(soldier, 5)]), 0.0).kind == "fight"
    stayed = judge.judge(Force([(soldier, 2)]), Force([(soldier, 5)]), 1.0)
    assert stayed.kind == "fight"
    assert stayed.reasons[-1] == "fight lasts at least 2 s"
    assert judge.judge(Force([(soldier, 2)]), Force([(plane, 5)]), 1.1).kind == "retreat"
    assert judge.judge(Force([(soldier, 9)]), Force([(soldier, 5)]), 2.0).kind == "retreat"
    assert judge.judge(Force([(soldier, 9)]), Force([(soldier, 5)]), 3.2).kind == "fight"


def test_a_stance_is_saved_with_its_age():
    judge, other = StanceJudge(), StanceJudge()
    judge.judge(Force([(soldier, 9)]), Force([(soldier, 5)]), 7.0)
    other.prepare_state(json.loads(json.dumps(judge.save_state())))()
    assert other.stance == judge.stance
    assert other.judge(Force([(soldier, 2)]), Force([(soldier, 5)]), 8.0).kind == "fight"


@pytest.mark.parametrize("change", [
    {"version": 2}, {"stance": ["flee", 1.0, []]}, {"stance": ["hold", -1.0, []]}, {"stance": ["hold", 1.0, [3]]},
    {"since_s": "soon"}, {"more": 1},
])
def test_what_is_no_stance_is_not_loaded(change):
    judge = StanceJudge()
    judge.judge(Force([(soldier, 9)]), Force([(soldier, 5)]), 7.0)
    before = judge.stance
    with pytest.raises(StateError):
        judge.prepare_state({**judge.save_state(), **change})
    assert judge.stance == before


def test_limits_out_of_order_are_refused():
    with pytest.raises(ValueError, match=r"must be in ascending order, got 0\.35, 0\.7 and 0\.5"):
        StancePolicy(fight_at=0.5)
    with pytest.raises(ValueError, match="hysteresis must be at least 0"):
        StancePolicy(hysteresis=-0.1)
    with pytest.raises(TypeError, match="policy must be a StancePolicy"):
        StanceJudge("bold")
