"""Memory: noticed, lost, noticed again, lost, forgotten; each once, in order."""
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from ai_core.budget import Budget
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.memory import RADIO, SenseMemory, TargetReport
from tests.senses.worlds import ALL_ROUND, World, hearing

HERE = (0.0, 0.0, 0.0)
THERE = (3.0, 0.0, 0.0)
FAR = (900.0, 0.0, 0.0)
REPORT = TargetReport(1, HERE, HERE, 1.0, 0.0)
CHANGES = ("gained", "lost", "expired", "forgotten", "reported")


class Mind:
    """A sensor with a memory, and ten targets that it sees or hears at given times; ``changes`` is what it was told."""

    def __init__(self, *, delay_s_per_m=0.0, **durations):
        smell = Modality("smell", range_m=1000.0, kept_per_m=1.0)
        self.world = World(modalities=[
            Modality.sight(range_m=50.0), hearing(kept_per_m=1.0, delay_s_per_m=delay_s_per_m, range_m=1000.0), smell])
        self.memory, self.changes = SenseMemory(**durations), []
        self.eye = self.world.manager.add_sensor(
            position=HERE, forward=(0, 0, -1), thresholds={"sight": 0.0, "hearing": 0.0, "smell": 0.0},
            sight_cones=[ALL_ROUND], memory=self.memory, **{f"on_{kind}": self.changes.append for kind in CHANGES})
        for _ in range(10):
            self.world.thing(FAR)

    def wait(self, at_s):
        """Let time pass until ``at_s``, and return what was told."""
        before = len(self.changes)
        self.world.clock.advance(seconds=at_s - self.world.clock.now.seconds)
        self.world.manager.advance(Budget.unlimited())
        return told(self.changes[before:])

    def hear(self, target, at_s, *, modality="hearing", intensity=1.0, position=HERE):
        self.world.clock.advance(seconds=at_s - self.world.clock.now.seconds)
        self.world.manager.emit(target, modality, intensity, position)
        return self.wait(at_s)

    def see(self, target, position, at_s):
        """Let a target be in view for one look."""
        self.world.manager.move_sources([target], [position])
        found = self.wait(at_s)
        self.world.manager.move_sources([target], [FAR])
        return found + self.wait(at_s)


def told(changes):
    return [(change.kind, change.target, change.at_s) for change in changes]


def test_target_is_gained_lost_regained_lost_and_forgotten_once():
    mind = Mind(lose_after_s=1, max_age_s=10)
    for tick in range(400):
        now_s = tick / 10
        if now_s in (0.0, 0.5, 5.0):
            mind.hear(7, now_s)
        mind.wait(now_s)
    assert told(mind.changes) == [
        ("gained", 7, 0.0), ("lost", 7, 1.5), ("gained", 7, 5.0), ("lost", 7, 6.0),
        ("expired", 7, 15.0), ("forgotten", 7, 15.0),
    ]


def test_a_memory_asked_once_a_minute_tells_the_same_story():
    mind = Mind(lose_after_s=1, max_age_s=10)
    mind.hear(7, 0.0)
    mind.hear(7, 5.0)
    mind.wait(60.0)
    assert told(mind.changes) == [
        ("gained", 7, 0.0), ("lost", 7, 1.0), ("gained", 7, 5.0), ("lost", 7, 6.0),
        ("expired", 7, 15.0), ("forgotten", 7, 15.0),
    ]


def test_changes_of_several_targets_order_by_time_then_by_target():
    mind = Mind(lose_after_s=1, max_age_s=3)
    for target, at_s in ((9, 0.0), (4, 0.5), (2, 0.5)):
        mind.hear(target, at_s)
    assert mind.wait(10.0) == [
        ("lost", 9, 1.0), ("lost", 2, 1.5), ("lost", 4, 1.5),
        ("expired", 9, 3.0), ("forgotten", 9, 3.0), ("expired", 2, 3.5), ("forgotten", 2, 3.5),
        ("expired", 4, 3.5), ("forgotten", 4, 3.5),
    ]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 3), st.booleans()), max_size=40))
def test_target_history_goes_gained_lost_expired_then_forgotten(steps):
    mind, now_s = Mind(lose_after_s=2, max_age_s=9), 0
    for passed_s, target, is_sensed in steps:
        now_s += passed_s
        if is_sensed:
            mind.hear(target, now_s)
        mind.wait(now_s)
    mind.wait(now_s + 100)
    may_follow = {None: ["gained"], "gained": ["lost"], "lost": ["gained", "expired"],
                  "expired": ["forgotten"], "forgotten": ["gained"]}
    last, times = {}, {}
    for kind, target, at_s in told(mind.changes):
        assert kind in may_follow[last.get(target)]
        assert at_s >= times.get(target, 0)
        last[target], times[target] = kind, at_s
    assert set(last.values()) <= {"forgotten"}
    assert len(mind.memory) == 0


def test_sensation_every_half_second_keeps_a_half_second_memory():
    mind = Mind(lose_after_s=0.5)
    assert [len(mind.hear(1, tick / 2)) for tick in range(10)] == [1] + [0] * 9


def test_sound_moves_last_known_position_but_not_last_seen_one():
    mind = Mind()
    mind.see(1, HERE, 0.0)
    mind.hear(1, 0.1, position=THERE)
    record = mind.memory.find(1)
    assert (record.last_known_position, record.last_seen_position) == (THERE, HERE)


def test_sound_older_than_last_sighting_does_not_overwrite_it():
    mind = Mind(delay_s_per_m=0.1)
    mind.hear(1, 1.0, position=(11.0, 0.0, 0.0))
    mind.see(1, HERE, 2.0)
    mind.wait(2.1)
    record = mind.memory.find(1)
    assert record.last_known_position == HERE
    assert record.last_sensed_s == pytest.approx(2.1)
    assert record.strengths == {"sight": 1.0, "hearing": 1.0}


@pytest.mark.parametrize("looks_per_s", [1, 4, 60])
def test_velocity_is_the_same_however_often_one_looks(looks_per_s):
    mind = Mind(lose_after_s=2)
    for tick in range(looks_per_s + 1):
        at_s = tick / looks_per_s
        mind.see(1, (2 * at_s, 0.0, -at_s), at_s)
    record = mind.memory.find(1)
    assert record.velocity == pytest.approx((2.0, 0.0, -1.0))
    assert record.extrapolated_position(3.0) == pytest.approx((6.0, 0.0, -3.0))


def test_target_regained_after_loss_has_no_velocity_across_gap():
    mind = Mind(lose_after_s=1)
    mind.see(1, HERE, 0.0)
    mind.see(1, THERE, 5.0)
    assert mind.memory.find(1).velocity == (0.0, 0.0, 0.0)


def test_the_dominant_sense_is_the_newest_then_the_strongest():
    mind = Mind()
    mind.hear(1, 0.0, intensity=5.0)
    mind.hear(1, 1.0, modality="smell", intensity=2.0)
    mind.see(1, HERE, 1.0)
    record = mind.memory.find(1)
    assert (record.dominant_modality, record.strength) == ("smell", 2.0)
    assert record.strengths == {"hearing": 5.0, "sight": 1.0, "smell": 2.0}


def test_known_targets_come_strongest_first_then_by_id():
    mind = Mind()
    for target, intensity in ((5, 1.0), (3, 2.0), (4, 1.0)):
        mind.hear(target, 0.0, intensity=intensity)
    assert [record.target for record in mind.memory.known()] == [3, 4, 5]


def test_infinite_age_never_forgets():
    mind = Mind(lose_after_s=1, max_age_s=math.inf)
    mind.hear(1, 0.0)
    assert mind.wait(1e9) == [("lost", 1, 1.0)]
    assert mind.memory.find(1).age_s(1e9) == 1e9


def test_dropped_target_makes_no_change_and_is_gained_next_time():
    mind = Mind()
    mind.hear(1, 0.0)
    mind.memory.forget(1)
    assert mind.wait(100.0) == []
    assert mind.hear(1, 100.0) == [("gained", 1, 100.0)]


def test_forgetting_before_losing_is_refused():
    with pytest.raises(ValueError, match="lost before it expires"):
        SenseMemory(lose_after_s=5, max_age_s=1)


def test_expired_target_is_kept_for_a_while_and_can_be_regained():
    mind = Mind(lose_after_s=1, max_age_s=3, keep_expired_s=2)
    mind.hear(1, 0.0)
    assert mind.wait(4.0) == [("lost", 1, 1.0), ("expired", 1, 3.0)]
    assert mind.memory.find(1).is_expired
    assert mind.hear(1, 4.5) == [("gained", 1, 4.5)]
    assert not mind.memory.find(1).is_expired
    assert mind.wait(99.0) == [("lost", 1, 5.5), ("expired", 1, 7.5), ("forgotten", 1, 9.5)]


def test_first_and_last_seen_and_the_age_by_each_sense_are_known():
    mind = Mind(lose_after_s=9)
    mind.hear(1, 1.0)
    mind.see(1, HERE, 2.0)
    mind.see(1, THERE, 3.0)
    record = mind.memory.find(1)
    assert (record.first_sensed_s, record.first_seen_s, record.last_seen_s) == (1.0, 2.0, 3.0)
    assert [record.age_s(4.0, name) for name in ("hearing", "sight", "smell", None)] == [3.0, 1.0, math.inf, 1.0]


def test_a_report_is_known_with_its_age_but_nobody_notices_by_it():
    one, other = Mind(), Mind(lose_after_s=1, max_age_s=10)
    one.see(1, HERE, 1.0)
    one.see(1, THERE, 1.25)
    other.wait(4.0)
    assert told(other.memory.hear_report(one.memory.report_of(1), age_s=2.75)) == [("reported", 1, 4.0)]
    record = other.memory.find(1)
    assert (record.last_known_position, record.velocity, record.last_seen_s) == (THERE, (12.0, 0.0, 0.0), None)
    assert (record.age_s(4.0), record.dominant_modality, record.strength) == (2.75, RADIO, 1.0)
    assert not record.is_noticed
    other.wait(99.0)
    assert told(other.changes) == [("reported", 1, 4.0), ("expired", 1, 11.25), ("forgotten", 1, 11.25)]


def test_reports_and_forgetting_pass_over_no_other_memories():
    mind, other = Mind(), SenseMemory()
    mind.world.eye(FAR, memory=other)
    for target in range(3):
        mind.see(target, THERE, 1.0)
    table = mind.world.manager._perception.table
    rows = table.rows
    mind.memory.forget(0)
    rows.append("no row")       # raises if it is looked at
    mind.memory.hear_report(mind.memory.report_of(1)._replace(at_s=2.0))
    mind.memory.forget_all()
    assert rows.pop() == "no row"
    assert rows is table.rows
    assert [one.target for one in rows] == other.targets


def test_known_echoes_and_too_old_sensations_change_nothing():
    one, other = Mind(lose_after_s=9), Mind(max_age_s=5)
    one.hear(1, 1.0)
    other.memory.hear_report(one.memory.report_of(1), 0.5)
    assert one.memory.hear_report(other.memory.report_of(1), 1.0) == []
    assert Mind(max_age_s=5).memory.hear_report(one.memory.report_of(1), 5.5) == []
    assert one.memory.report_of(2) is None


def test_newer_report_moves_a_lost_target_without_another_loss():
    mind = Mind(lose_after_s=1, max_age_s=10)
    mind.hear(1, 0.0)
    report = TargetReport(1, THERE, HERE, 1.0, 3.0)
    assert told(mind.memory.hear_report(report)) == [("lost", 1, 1.0), ("reported", 1, 3.0)]
    assert mind.memory.find(1).last_known_position == THERE
    assert mind.wait(20.0) == [("expired", 1, 13.0), ("forgotten", 1, 13.0)]


@pytest.mark.parametrize(
    ("report", "age_s", "error"),
    [((1, HERE), 0.0, TypeError), (REPORT, -1.0, ValueError), (REPORT, math.nan, ValueError),
     (REPORT, True, TypeError)],
)
def test_reports_that_cannot_be_are_refused(report, age_s, error):
    mind = Mind()
    with pytest.raises(error):
        mind.memory.hear_report(report, age_s)
    assert len(mind.memory) == 0


def test_memory_of_no_sensor_knows_nothing():
    mind = Mind()
    mind.hear(1, 0.0)
    assert len(mind.memory) == 1
    mind.world.manager.remove_sensor(mind.eye)
    for memory in (mind.memory, SenseMemory()):
        assert (len(memory), memory.known(), memory.find(1), memory.report_of(1)) == (0, [], None, None)
        memory.forget_all()
        with pytest.raises(RuntimeError, match="belongs to no sensor; pass it to add_sensor"):
            memory.hear_report(REPORT)


def test_records_can_only_be_read():
    mind = Mind()
    mind.hear(1, 0.0)
    with pytest.raises(AttributeError, match="velocity"):
        mind.memory.find(1).velocity = THERE


class TargetStory(RuleBasedStateMachine):
    """A memory beside the plainest thing that could be right: a list of when it was sensed."""

    def __init__(self):
        super().__init__()
        self.mind = Mind(lose_after_s=2, max_age_s=5, keep_expired_s=3)
        self.now_s = 0
        self.sensed = {}   # target -> moments

    @rule(who=st.integers(1, 3))
    def sense(self, who):
        self.sensed.setdefault(who, []).append(self.now_s)
        self.mind.hear(who, self.now_s)

    @rule(passed_s=st.integers(1, 12))
    def wait(self, passed_s):
        self.now_s += passed_s

    @rule()
    def ask(self):
        self.mind.wait(self.now_s)
        for target, moments in self.sensed.items():
            changes = [one for one in self.mind.changes if one.target == target]
            assert told(changes) == self.story(target, moments)

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
