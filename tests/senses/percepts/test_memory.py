"""Memory: noticed, lost, noticed again, lost, forgotten; each once, in order."""
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from ai_core.senses.percepts.memory import RADIO, SenseMemory, TargetReport

HERE = (0.0, 0.0, 0.0)
THERE = (3.0, 0.0, 0.0)
REPORT = TargetReport(1, HERE, HERE, 1.0, 0.0)


def told(changes):
    return [(change.kind, change.target, change.at_s) for change in changes]


def test_target_is_gained_lost_regained_lost_and_forgotten_once():
    memory = SenseMemory(lose_after_s=1, max_age_s=10)
    story = []
    for tick in range(400):
        now_s = tick / 10
        if now_s in (0.0, 0.5, 5.0):
            story += memory.sense(7, "sight", 1.0, HERE, now_s)
        story += memory.advance(now_s)
    assert told(story) == [
        ("gained", 7, 0.0), ("lost", 7, 1.5), ("gained", 7, 5.0), ("lost", 7, 6.0),
        ("expired", 7, 15.0), ("forgotten", 7, 15.0),
    ]


def test_a_memory_asked_once_a_minute_tells_the_same_story():
    memory = SenseMemory(lose_after_s=1, max_age_s=10)
    story = memory.sense(7, "sight", 1.0, HERE, 0.0) + memory.sense(7, "sight", 1.0, HERE, 5.0)
    assert told(story + memory.advance(60.0)) == [
        ("gained", 7, 0.0), ("lost", 7, 1.0), ("gained", 7, 5.0), ("lost", 7, 6.0),
        ("expired", 7, 15.0), ("forgotten", 7, 15.0),
    ]


def test_changes_of_several_targets_order_by_time_then_by_target():
    memory = SenseMemory(lose_after_s=1, max_age_s=3)
    for target, at_s in ((9, 0.0), (4, 0.5), (2, 0.5)):
        memory.sense(target, "hearing", 1.0, HERE, at_s)
    assert told(memory.advance(10.0)) == [
        ("lost", 9, 1.0), ("lost", 2, 1.5), ("lost", 4, 1.5),
        ("expired", 9, 3.0), ("forgotten", 9, 3.0), ("expired", 2, 3.5), ("forgotten", 2, 3.5),
        ("expired", 4, 3.5), ("forgotten", 4, 3.5),
    ]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 3), st.booleans()), max_size=40))
def test_target_history_goes_gained_lost_expired_then_forgotten(steps):
    memory = SenseMemory(lose_after_s=2, max_age_s=9)
    story, now_s = [], 0
    for passed_s, target, is_sensed in steps:
        now_s += passed_s
        story += memory.sense(target, "sight", 1.0, HERE, now_s) if is_sensed else []
        story += memory.advance(now_s)
    story += memory.advance(now_s + 100)
    may_follow = {None: ["gained"], "gained": ["lost"], "lost": ["gained", "expired"],
                  "expired": ["forgotten"], "forgotten": ["gained"]}
    last, times = {}, {}
    for kind, target, at_s in told(story):
        assert kind in may_follow[last.get(target)]
        assert at_s >= times.get(target, 0)
        last[target], times[target] = kind, at_s
    assert set(last.values()) <= {"forgotten"}
    assert len(memory) == 0


def test_sensation_every_half_second_keeps_a_half_second_memory():
    memory = SenseMemory(lose_after_s=0.5)
    changes = [memory.sense(1, "sight", 1.0, HERE, tick / 2) for tick in range(10)]
    assert [len(change) for change in changes] == [1] + [0] * 9


def test_sound_moves_last_known_position_but_not_last_seen_one():
    memory = SenseMemory()
    memory.sense(1, "sight", 1.0, HERE, 0.0, is_seen=True)
    memory.sense(1, "hearing", 0.5, THERE, 0.1)
    record = memory.find(1)
    assert (record.last_known_position, record.last_seen_position) == (THERE, HERE)


def test_sound_older_than_last_sighting_does_not_overwrite_it():
    memory = SenseMemory()
    memory.sense(1, "sight", 1.0, HERE, 2.0, is_seen=True)
    memory.sense(1, "hearing", 0.5, THERE, 2.1, sent_at_s=1.0)
    record = memory.find(1)
    assert record.last_known_position == HERE
    assert record.last_sensed_s == 2.1


@pytest.mark.parametrize("looks_per_s", [1, 4, 60])
def test_velocity_is_the_same_however_often_one_looks(looks_per_s):
    memory = SenseMemory(lose_after_s=2)
    for tick in range(looks_per_s + 1):
        at_s = tick / looks_per_s
        memory.sense(1, "sight", 1.0, (2 * at_s, 0.0, -at_s), at_s, is_seen=True)
    record = memory.find(1)
    assert record.velocity == pytest.approx((2.0, 0.0, -1.0))
    assert record.extrapolated_position(3.0) == pytest.approx((6.0, 0.0, -3.0))


def test_target_regained_after_loss_has_no_velocity_across_gap():
    memory = SenseMemory(lose_after_s=1)
    memory.sense(1, "sight", 1.0, HERE, 0.0, is_seen=True)
    memory.sense(1, "sight", 1.0, THERE, 5.0, is_seen=True)
    assert memory.find(1).velocity == (0.0, 0.0, 0.0)


def test_the_dominant_sense_is_the_newest_then_the_strongest():
    memory = SenseMemory()
    memory.sense(1, "hearing", 5.0, HERE, 0.0)
    memory.sense(1, "sight", 1.0, HERE, 1.0)
    memory.sense(1, "smell", 2.0, HERE, 1.0)
    assert memory.find(1).dominant_modality == "smell"
    assert memory.find(1).strength == 2.0
    assert memory.find(1).strengths == {"hearing": 5.0, "sight": 1.0, "smell": 2.0}


def test_known_targets_come_strongest_first_then_by_id():
    memory = SenseMemory()
    for target, intensity in ((5, 1.0), (3, 2.0), (4, 1.0)):
        memory.sense(target, "sight", intensity, HERE, 0.0)
    assert [record.target for record in memory.known()] == [3, 4, 5]


def test_infinite_age_never_forgets():
    memory = SenseMemory(lose_after_s=1, max_age_s=math.inf)
    memory.sense(1, "sight", 1.0, HERE, 0.0)
    assert told(memory.advance(1e9)) == [("lost", 1, 1.0)]
    assert memory.find(1).age_s(1e9) == 1e9


def test_dropped_target_makes_no_change_and_is_gained_next_time():
    memory = SenseMemory()
    memory.sense(1, "sight", 1.0, HERE, 0.0)
    memory.forget(1)
    assert memory.advance(100.0) == []
    assert told(memory.sense(1, "sight", 1.0, HERE, 100.0)) == [("gained", 1, 100.0)]


def test_time_that_goes_back_is_refused():
    memory = SenseMemory()
    memory.advance(2.0)
    with pytest.raises(ValueError, match="now_s must not decrease"):
        memory.sense(1, "sight", 1.0, HERE, 1.0)
    assert len(memory) == 0


def test_forgetting_before_losing_is_refused():
    with pytest.raises(ValueError, match="lost before it expires"):
        SenseMemory(lose_after_s=5, max_age_s=1)


def test_expired_target_is_kept_for_a_while_and_can_be_regained():
    memory = SenseMemory(lose_after_s=1, max_age_s=3, keep_expired_s=2)
    memory.sense(1, "sight", 1.0, HERE, 0.0)
    assert told(memory.advance(4.0)) == [("lost", 1, 1.0), ("expired", 1, 3.0)]
    assert memory.find(1).is_expired
    assert told(memory.sense(1, "sight", 1.0, HERE, 4.5)) == [("gained", 1, 4.5)]
    assert not memory.find(1).is_expired
    assert told(memory.advance(99.0)) == [
        ("lost", 1, 5.5), ("expired", 1, 7.5), ("forgotten", 1, 9.5),
    ]


def test_first_and_last_seen_and_the_age_by_each_sense_are_known():
    memory = SenseMemory(lose_after_s=9)
    memory.sense(1, "hearing", 0.5, HERE, 1.0)
    memory.sense(1, "sight", 1.0, HERE, 2.0, is_seen=True)
    memory.sense(1, "sight", 1.0, THERE, 3.0, is_seen=True)
    record = memory.find(1)
    assert (record.first_sensed_s, record.first_seen_s, record.last_seen_s) == (1.0, 2.0, 3.0)
    assert [record.age_s(4.0, name) for name in ("hearing", "sight", "smell", None)] == [3.0, 1.0, math.inf, 1.0]


def test_a_report_is_known_with_its_age_but_nobody_notices_by_it():
    one, other = SenseMemory(), SenseMemory(lose_after_s=1, max_age_s=10)
    one.sense(1, "sight", 0.7, HERE, 1.0, is_seen=True)
    one.sense(1, "sight", 0.7, THERE, 1.25, is_seen=True)
    other.advance(4.0)
    assert told(other.hear_report(one.report_of(1), age_s=2.75)) == [("reported", 1, 4.0)]
    record = other.find(1)
    assert (record.last_known_position, record.velocity, record.last_seen_s) == (THERE, (12.0, 0.0, 0.0), None)
    assert (record.age_s(4.0), record.dominant_modality, record.strength) == (2.75, RADIO, 0.7)
    assert not record.is_noticed
    assert told(other.advance(99.0)) == [("expired", 1, 11.25), ("forgotten", 1, 11.25)]


def test_known_echoes_and_too_old_sensations_change_nothing():
    one, other = SenseMemory(lose_after_s=9), SenseMemory(max_age_s=5)
    one.sense(1, "sight", 0.7, HERE, 1.0)
    other.hear_report(one.report_of(1), 0.5)
    assert one.hear_report(other.report_of(1), 1.0) == []
    assert SenseMemory(max_age_s=5).hear_report(one.report_of(1), 5.5) == []
    assert one.report_of(2) is None


def test_newer_report_moves_a_lost_target_without_another_loss():
    memory = SenseMemory(lose_after_s=1, max_age_s=10)
    memory.sense(1, "sight", 1.0, HERE, 0.0)
    report = TargetReport(1, THERE, HERE, 1.0, 3.0)
    assert told(memory.hear_report(report)) == [("lost", 1, 1.0), ("reported", 1, 3.0)]
    assert memory.find(1).last_known_position == THERE
    assert told(memory.advance(20.0)) == [("expired", 1, 13.0), ("forgotten", 1, 13.0)]


@pytest.mark.parametrize(
    ("report", "age_s", "error"),
    [((1, HERE), 0.0, TypeError), (REPORT, -1.0, ValueError), (REPORT, math.nan, ValueError),
     (REPORT, True, TypeError)],
)
def test_reports_that_cannot_be_are_refused(report, age_s, error):
    memory = SenseMemory()
    with pytest.raises(error):
        memory.hear_report(report, age_s)
    assert len(memory) == 0


def test_records_can_only_be_read():
    memory = SenseMemory()
    memory.sense(1, "sight", 1.0, HERE, 0.0)
    with pytest.raises(AttributeError, match="velocity"):
        memory.find(1).velocity = THERE


class TargetStory(RuleBasedStateMachine):
    """A memory beside the plainest thing that could be right: a list of when it was sensed."""

    def __init__(self):
        super().__init__()
        self.memory = SenseMemory(lose_after_s=2, max_age_s=5, keep_expired_s=3)
        self.now_s = 0
        self.sensed = {}   # target -> moments
        self.told = []

    @rule(who=st.integers(1, 3))
    def sense(self, who):
        self.sensed.setdefault(who, []).append(self.now_s)
        self.told += self.memory.sense(who, "sight", 1.0, HERE, self.now_s)

    @rule(passed_s=st.integers(1, 12))
    def wait(self, passed_s):
        self.now_s += passed_s

    @rule()
    def ask(self):
        self.told += self.memory.advance(self.now_s)
        for target, moments in self.sensed.items():
            assert told([one for one in self.told if one.target == target]) == self.story(target, moments)

    def story(self, target, moments):
        events = []
        for moment, following in zip(moments, [*moments[1:], None], strict=True):
            if not events or events[-1][0] != "gained":
                events.append(("gained", target, moment))
            for kind, after_s in (("lost", 2), ("expired", 5), ("forgotten", 8)):
                if moment + after_s < (self.now_s if following is None else following):
                    events.append((kind, target, moment + after_s))
        return events


def test_each_change_signal_comes_once_and_in_order():
    run_state_machine_as_test(TargetStory, settings=settings(max_examples=15, stateful_step_count=25))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"target": 1.5}, "target must be an integer"), ({"target": -1}, "target must be at least 0"),
        ({"modality": None}, "modality must be a string"),
        ({"intensity": math.nan}, "intensity must be a finite number"),
        ({"intensity": -1.0}, "intensity must be at least 0"),
        ({"position": (0, math.nan, 0)}, "position must be finite"),
        ({"position": None}, "position must"), ({"at_s": math.inf}, "at_s must be a finite number"),
        ({"at_s": 1e300}, "at_s must be between"), ({"sent_at_s": math.nan}, "sent_at_s must be a finite number"),
    ],
)
def test_invalid_sensation_is_refused_and_changes_nothing(wrong, message):
    memory = SenseMemory()
    memory.sense(1, "sight", 1.0, HERE, 0.0)
    before = memory.save_state()
    told_of = {"target": 1, "modality": "sight", "intensity": 1.0, "position": HERE, "at_s": 1.0}
    with pytest.raises((TypeError, ValueError), match=message):
        memory.sense(**{**told_of, **wrong})
    assert memory.save_state() == before


def test_remembered_place_is_a_copy_of_the_array_it_came_from():
    places = np.array([[1.0, 2.0, 3.0]])
    memory = SenseMemory()
    memory.sense(1, "sight", 1.0, places[0], 0.0, is_seen=True)
    places[0] = 9.0
    assert memory.find(1).last_known_position == (1.0, 2.0, 3.0)
    saved = json.loads(json.dumps(memory.save_state()))
    assert [saved["rows"]["memory"][name] for name in "xyz"] == [[1.0], [2.0], [3.0]]
