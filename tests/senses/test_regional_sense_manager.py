"""The manager as a whole: what a sensor's owner is told, and what is refused."""
import math

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.trace import Trace
from tests.senses.worlds import AHEAD, ALL_ROUND, Rays, World, hearing


def diary_of(world, **abilities):
    """Add a guard with eyes and ears who writes down what he is told, by moment."""
    diary = []

    def writes(word):
        def write(what):
            name = getattr(what, "name", getattr(what, "modality", None))
            diary.append((round(what.at_s, 3), word, name))
        return write

    world.manager.add_sensor(
        position=(0, 0, 0), forward=AHEAD, sight_cones=[ALL_ROUND],
        thresholds={"sight": 0.5, "hearing": 0.1},
        on_sensed=writes("sensed"), on_gained=writes("gained"), on_lost=writes("lost"),
        on_forgotten=writes("forgotten"), on_awareness_changed=writes("aware"), **abilities,
    )
    return diary


def test_guard_hears_sees_loses_and_forgets_a_thief_in_order():
    rays = Rays(blocked={(0, 0)})
    world = World(seconds_per_frame=0.25, line_of_sight=rays, report_every_s=100)
    diary = diary_of(
        world, memory=SenseMemory(lose_after_s=0.5, max_age_s=3),
        awareness=AwarenessSettings(gain_per_s=1.0, decay_per_s=0.5, gain_per_signal=0.5),
    )
    thief = world.thing((0, 0, -2))
    world.manager.emit(thief, "hearing", 1.0)
    world.tick()
    rays.blocked = set()
    world.tick(frames=4)
    rays.blocked = {(0, 0)}
    world.tick(frames=20)
    assert diary == [
        (0.25, "gained", None), (0.25, "sensed", "hearing"), (0.25, "aware", "suspicious"),
        (0.5, "sensed", "sight"), (1.22, "aware", "alert"),
        (1.75, "lost", None), (2.5, "aware", "suspicious"), (3.3, "aware", "unaware"),
        (4.25, "forgotten", None),
    ]


def test_what_a_listener_asks_about_is_already_known():
    world = World()
    asked = []

    def ask(change):
        asked.append(world.manager.memory_of(0).find(change.target).last_known_position)
        asked.append(world.manager.awareness_of(0, change.target).visibility)

    world.eye((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings(), on_gained=ask)
    world.thing((0, 0, -2))
    world.tick()
    assert asked == [(0.0, 0.0, -2.0), 1.0]


def test_memory_follows_what_moves_in_view():
    world = World()
    guard = world.eye((0, 0, 0), memory=SenseMemory())
    thief = world.thing((0, 0, -2))
    for step in range(4):
        world.manager.move_sources([thief], [[step, 0, -2]])
        world.tick()
    known = world.manager.memory_of(guard).find(thief)
    assert known.last_seen_position == (3.0, 0.0, -2.0)
    assert known.velocity == (8.0, 0.0, 0.0)


def test_removed_target_is_lost_and_forgotten_like_any_other():
    world = World()
    kinds = []
    world.eye((0, 0, 0), memory=SenseMemory(lose_after_s=0.5, max_age_s=1),
              on_lost=lambda change: kinds.append(change.kind),
              on_forgotten=lambda change: kinds.append(change.kind))
    thief = world.thing((0, 0, -2))
    world.tick()
    world.manager.remove_source(thief)
    world.tick(frames=20)
    assert kinds == ["lost", "forgotten"]
    assert world.manager.sensed_by(0) == []


def test_raising_listener_is_quarantined_while_the_others_go_on():
    world = World(reraise=False, report_every_s=0)

    def fails(sensation):
        raise RuntimeError("deaf")

    bad, good = world.eye((0, 0, 0), on_sensed=fails), world.eye((0, 0, 0))
    world.thing((0, 0, -2))
    world.tick(frames=6)
    assert len(world.heard) == 6
    assert {one.sensor_id for one in world.heard} == {good}
    assert [fault.is_quarantined for fault in world.reported] == [False, False, True]
    assert world.reported[0].name == "on_sensed of sensor 0"
    world.manager.release(bad)
    world.tick()
    assert len(world.reported) == 4


def test_a_listener_may_remove_its_own_sensor_and_others():
    world = World(report_every_s=0)
    world.thing((0, 0, -2))
    second = []

    def remove_both(sensation):
        world.manager.remove_sensor(first)
        world.manager.remove_sensor(second[0])

    first = world.eye((0, 0, 0), on_sensed=remove_both, memory=SenseMemory())
    second.append(world.eye((0, 0, 0), memory=SenseMemory()))
    world.tick(frames=3)
    assert world.heard == []
    assert world.manager.statistics()["sensors"] == 0


def test_a_listener_must_not_advance_the_manager():
    world = World()
    world.eye((0, 0, 0), on_sensed=lambda _: world.manager.advance(Budget.unlimited()))
    world.thing((0, 0, -2))
    with pytest.raises(RuntimeError, match="a listener must not call it"):
        world.tick()


def test_the_trace_is_told_every_sensation():
    class Tool:
        def __init__(self):
            self.seen = []

        def sensed(self, sensor_id, source_id, modality_name, intensity, now):
            self.seen.append((sensor_id, source_id, modality_name, intensity, now.frame))

    trace, tool = Trace(), Tool()
    trace.listen(tool)
    world = World(trace=trace)
    world.eye((0, 0, 0), on_sensed=None)
    world.thing((0, 0, -2))
    world.tick()
    assert tool.seen == [(0, 0, "sight", 1.0, 1)]


def test_two_dimensional_positions_and_forwards_are_accepted():
    world = World(up=(0, 0, 1))
    narrow = SightCone(10, math.radians(60), math.radians(60))
    guard = world.eye((0, 0), forward=(1, 0), cones=[narrow])
    thief = world.thing((-5, 0))
    world.tick()
    assert world.manager.sensed_by(guard) == []
    world.manager.move_sensors([guard], np.array([[0, 1]]), np.array([[-3, 0]]))
    world.tick()
    assert world.manager.sensed_by(guard) == [thief]


def test_abilities_can_be_changed_one_by_one():
    world = World(report_every_s=0)
    guard, thief = world.eye((0, 0, 0), detection_mask=0b10), world.thing((0, 0, -20), affiliation=0b01)

    def sees():
        world.tick()
        return world.manager.sensed_by(guard) == [thief]

    assert not sees()
    world.manager.change_source(thief, affiliation=0b10)
    assert sees()
    world.manager.change_sensor(guard, thresholds={"sight": 2.0})
    assert not sees()
    world.manager.change_source(thief, strengths={"sight": 2.0})
    assert sees()
    world.manager.change_sensor(guard, sight_cones=[SightCone(19, 1.0, 1.0)])
    assert not sees()
    world.manager.change_sensor(guard, sight_cones=[SightCone(21, 1.0, 1.0)], self_source=thief)
    assert not sees()
    world.manager.change_sensor(guard, self_source=-1)
    assert sees()


@pytest.mark.parametrize("steps", [[1], [2, 3], [9, 1, 5]])
def test_tiny_budgets_starve_nothing_and_the_same_is_sensed(steps):
    def play(budgets):
        world = World(seconds_per_frame=1.0, report_every_s=100, line_of_sight=Rays(), max_rays=4)
        for k in range(4):
            world.eye((k, 0, 0), memory=SenseMemory())
            world.ear((k, 0, 0))
        sources = [world.thing((k, 0, -3)) for k in range(3)]
        for source in sources:
            world.manager.emit(source, "hearing", 3.0)
        world.clock.advance()
        for budget in budgets:
            world.manager.advance(budget)
        known = [len(world.manager.memory_of(2 * k)) for k in range(4)]
        return sorted(one[:5] for one in world.heard), known

    whole = play([Budget.unlimited()] * 4)
    assert len(whole[0]) == 24
    assert play([Budget.of_steps(n) for n in (steps * 110)[:110]]) == whole


def test_two_worlds_told_the_same_do_the_same_bit_for_bit():
    def play():
        world = World(line_of_sight=Rays(), max_rays=2)
        for k in range(3):
            world.eye((k / 3, 0, 0), memory=SenseMemory())
        things = [world.thing((0.1 * k, 0, -3)) for k in range(4)]
        for frame in range(20):
            world.manager.move_sources(things, [[frame * 0.3, k, -3] for k in range(4)])
            world.tick()
        return world.heard, [(k.velocity, k.strength) for k in world.manager.memory_of(0).known()]

    assert play() == play()


NAN = float("nan")
BAD_SENSORS = [
    ({"position": (NAN, 0, 0)}, "position must be finite"),
    ({"position": (1, 2, 3, 4)}, "position must have shape"),
    ({"forward": (0, 0, 0)}, "forward must not be a zero vector"),
    ({"thresholds": {"hearing": -1}}, r"thresholds\['hearing'\] must be at least 0"),
    ({"thresholds": {"hearing": NAN}}, r"thresholds\['hearing'\] must be a finite number"),
    ({"thresholds": {"sight": 1}}, "at least one cone"),
    ({"sight_cones": [ALL_ROUND]}, "add one for 'sight'"),
    ({"detection_mask": -1}, "detection_mask must be at least 0"),
    ({"detection_mask": 1 << 32}, "mask of 32 bits"),
    ({"self_source": 1 << 31}, "self_source must be at most 2147483647, got 2147483648; use -1 for none"),
]


def test_invalid_name_is_refused_and_nothing_else_changes():
    world = World()
    ear, thing = world.ear((0, 0, 0)), world.thing((0, 0, -3))
    before = world.manager.save_state()
    with pytest.raises(TypeError, match="name must be a string, got 7"):
        world.manager.change_sensor(ear, thresholds={"hearing": 9.0}, name=7)
    with pytest.raises(TypeError, match="name must be a string, got 7"):
        world.manager.change_source(thing, light=0.5, name=7)
    assert world.manager.save_state() == before


def test_what_is_no_budget_is_refused_before_anything_is_done():
    world = World()
    world.ear((0, 0, 0))
    before = world.manager.save_state()
    with pytest.raises(TypeError, match="budget must be a Budget, got None"):
        world.manager.advance(None)
    assert world.manager.save_state() == before


@pytest.mark.parametrize(("wrong", "message"), BAD_SENSORS)
def test_impossible_sensors_are_refused_and_nothing_is_added(wrong, message):
    world = World()
    with pytest.raises(ValueError, match=message):
        world.manager.add_sensor(
            **{"position": (0, 0, 0), "forward": AHEAD, "thresholds": {"hearing": 1}, **wrong}
        )
    assert world.manager.statistics()["sensors"] == 0


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"thresholds": {"heering": 1}}, UnknownNameError),
        ({"thresholds": {"hearing": "far"}}, TypeError),
        ({"on_sensed": "print"}, TypeError),
        ({"memory": SenseMemory}, TypeError),
        ({"awareness": 0.5}, TypeError),
        ({"name": 7}, TypeError),
        ({"sight_cones": [3], "thresholds": {"sight": 1}}, TypeError),
    ],
)
def test_sensors_of_the_wrong_kind_are_refused_and_none_is_added(wrong, error):
    world = World()
    with pytest.raises(error):
        world.manager.add_sensor(
            **{"position": (0, 0, 0), "forward": AHEAD, "thresholds": {"hearing": 1}, **wrong}
        )
    assert world.manager.statistics()["sensors"] == 0


@pytest.mark.parametrize(
    ("ids", "positions", "forwards", "message"),
    [
        ([0, 1], [[5, 0, 0], [NAN, 0, 0]], None, "in row 1"),
        ([0, 1], [[5, 0, 0]], None, "a row per id, got 1 for 2 ids"),
        ([0, 1], [[5, 0, 0], [5, 0, 0]], [[1, 0, 0], [0, 0, 0]], "forwards must not be a zero vector"),
        ([0, 7], [[5, 0, 0], [5, 0, 0]], None, "unknown sensor id 7"),
    ],
)
def test_a_bad_row_moves_nobody(ids, positions, forwards, message):
    world = World()
    world.eye((0, 0, 0), cones=[SightCone(4.5, 1.0, 1.0)])
    world.eye((0, 0, 0), cones=[SightCone(4.5, 1.0, 1.0)])
    world.thing((0, 0, -4))
    with pytest.raises((ValueError, LookupError), match=message):
        world.manager.move_sensors(ids, positions, forwards)
    world.tick()
    assert world.sensed() == [(0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, "hearing", -1.0), ValueError, "strength must be at least 0"),
        ((0, "hearing", NAN), ValueError, "strength must be a finite number"),
        ((0, "hearing", 1.0, (NAN, 0, 0)), ValueError, "position must be finite"),
        ((0, "hearing"), ValueError, "got None: source 0 has no strength"),
        ((0, "sight", 1.0), ValueError, "change the strength of the source in that"),
        ((0, "sound", 1.0), UnknownNameError, "unknown modality 'sound'"),
        ((1, "hearing", 1.0), UnknownNameError, "unknown source id 1"),
    ],
)
def test_impossible_signals_are_refused_and_not_sent(arguments, error, message):
    world = World()
    world.ear((0, 0, 0))
    world.thing((0, 0, 0))
    with pytest.raises(error, match=message):
        world.manager.emit(*arguments)
    world.tick()
    assert world.heard == []


def test_a_failed_change_changes_nothing():
    world = World()
    guard, thief = world.eye((0, 0, 0)), world.thing((0, 0, -4))
    with pytest.raises(ValueError, match="detection_mask"):
        world.manager.change_sensor(guard, thresholds={"sight": 9.0}, detection_mask=-1)
    with pytest.raises(ValueError, match="affiliation"):
        world.manager.change_source(thief, strengths={}, affiliation=-1)
    world.tick()
    assert world.sensed() == [(guard, thief)]


def test_a_removed_sensor_or_source_is_refused_everywhere():
    world = World()
    guard, thief = world.eye((0, 0, 0)), world.thing((0, 0, -4))
    world.manager.remove_sensor(guard)
    world.manager.remove_source(thief)
    for call in (
        lambda: world.manager.remove_sensor(guard),
        lambda: world.manager.move_sensors([guard], [[0, 0, 0]]),
        lambda: world.manager.memory_of(guard),
        lambda: world.manager.sensed_by(guard),
        lambda: world.manager.change_source(thief),
        lambda: world.manager.emit(thief, "hearing", 1.0),
    ):
        with pytest.raises(UnknownNameError, match="it was removed"):
            call()


def test_sensors_with_equal_settings_have_equal_rows():
    world = World(modalities=[Modality.sight(), hearing()])
    cones = [SightCone(30.0, 1.0, 1.0, lose_range_m=40.0), SightCone(5.0, 6.0, 3.0, acuity=0.5)]
    thresholds = {"sight": 0.5, "hearing": 0.25}

    def added(**changes):
        return world.manager.add_sensor(**{
            "position": (0, 0, 0), "forward": AHEAD, "thresholds": thresholds, "sight_cones": cones, **changes})

    def rows(one):
        table = world.manager._sensors
        slot = table.ids.slot(one)
        columns = (table.own_threshold, table.threshold, table.log_threshold, table.sensitivity, table.cones)
        return [column[slot].tolist() for column in columns]

    first, second = added(), added()
    assert rows(first) == rows(second)
    other = added(thresholds={"sight": 0.5}, sight_cones=cones[:1])
    assert rows(other) != rows(first)
    assert rows(added()) == rows(first)
    thresholds["hearing"] = 0.75
    assert rows(added())[0] == [0.5, 0.75]
    world.manager.set_sensitivity(first, "sight", 0.5)
    assert rows(added())[1] == [0.5, 0.75]
    with pytest.raises(TypeError, match="thresholds"):
        added(thresholds={"sight": True, "hearing": 0.75})
    with pytest.raises(ValueError, match="sight_cones must hold at least one cone"):
        added(sight_cones=[])


def test_two_coordinates_are_for_2d_worlds_only():
    world, flat = World(), World(up=(0, 0, 1))
    for one in (world, flat):
        one.eye((0, 0, 0))
        one.thing((0, 0, -4))
    flat.manager.move_sensors([0], [(1.0, 2.0)], [(0.0, 1.0)])
    flat.manager.move_sources([0], [(3.0, 4.0)])
    for move in (lambda: world.manager.move_sources([0], [(1.0, -6.0)]),
                 lambda: world.manager.move_sensors([0], [(1.0, -6.0, 0.0)], [(0.0, 1.0)])):
        with pytest.raises(ValueError, match="shape \\(n, 3\\), got 2 columns; for a 2D world"):
            move()
    assert world.manager.arrays_to_write()[2][0].tolist() == [0.0, 0.0, -4.0]
