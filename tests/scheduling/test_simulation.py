"""A simulation: clock, scheduler and loop in one object."""
from __future__ import annotations

import math

import pytest

from ai_core import Simulation
from ai_core.events import EventManager
from ai_core.scheduling import Policy


def test_simulation_runs_work_in_frames_of_equal_length():
    simulation, ran = Simulation(frames_per_second=4), []
    simulation.add(lambda turn: ran.append((turn.now, turn.elapsed_s)), period_frames=2, phase_frames=0)
    simulation.run(frames=5)
    assert ran == [((0, 0.0), 0), ((2, 0.5), 0.5), ((4, 1.0), 0.5)]
    assert simulation.clock.now == (5, 1.25)


def test_simulation_runs_for_seconds_of_game_time():
    simulation = Simulation()
    simulation.run(seconds=1.5)
    simulation.run(seconds=0.5)
    assert simulation.clock.now == (120, 2.0)


def test_simulation_limits_the_steps_of_each_frame():
    simulation = Simulation(steps_per_frame=2, policy=Policy.LOAD_BALANCING)
    tasks = [simulation.add(lambda turn: None) for _ in range(4)]
    simulation.run(frames=4)
    assert [task.runs for task in tasks] == [2, 2, 2, 2]


def test_simulation_hands_its_clock_to_other_parts():
    simulation = Simulation(frames_per_second=10)
    events, heard = EventManager(simulation.clock), []
    simulation.add(events, name="events")
    events.listen("noise", lambda event: heard.append(simulation.clock.now.frame))
    events.send("noise", delay_s=0.3)
    simulation.run(frames=6)
    assert heard == [3]


def test_simulation_shows_its_time_and_tasks():
    simulation = Simulation()
    simulation.add(print)
    assert repr(simulation) == "<Simulation at 0 s, 1 tasks>"


@pytest.mark.parametrize(("settings", "message"), [
    ({"frames_per_second": 0}, "frames_per_second must be above 0, got 0; use 60"),
    ({"frames_per_second": math.nan}, "frames_per_second must be a finite number"),
    ({"steps_per_frame": -1}, "steps_per_frame must be at least 0, got -1; use None for no limit"),
])
def test_simulation_refuses_settings_out_of_range(settings, message):
    with pytest.raises(ValueError, match=message):
        Simulation(**settings)


@pytest.mark.parametrize(("length", "error", "message"), [
    ({}, TypeError, "give frames or seconds, got frames=None, seconds=None"),
    ({"frames": 1, "seconds": 1}, TypeError, "give frames or seconds"),
    ({"frames": -1}, ValueError, "frames must be at least 0"),
    ({"seconds": -1}, ValueError, "seconds must be at least 0"),
    ({"frames": "6"}, TypeError, "frames must be an integer"),
])
def test_simulation_refuses_a_length_out_of_range(length, error, message):
    with pytest.raises(error, match=message):
        Simulation().run(**length)
