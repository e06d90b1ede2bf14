"""Recording and replaying a small world: it runs again, and what differs is named."""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.faults import FaultIsolation
from ai_core.recording import Recorder, Replay, read_recording
from ai_core.recording.recorder import DIGEST_EVERY_FRAMES, FLUSH_EVERY_FRAMES
from ai_core.scheduling.scheduler import Scheduler
from ai_core.trace import HOOK_NAMES, Trace

FRAMES = 20


class Walker:
    """Goes on by what it is told; ``spoil`` may change one of its results."""

    def __init__(self, name, spoil=None):
        self.name = name
        self.place = 0.0
        self.told = 0.0
        self.spoil = spoil

    def think(self, turn):
        self.place += self.told * turn.elapsed_s
        if self.spoil:
            self.place = self.spoil(self.name, turn.now.frame, self.place)
        return self.place

    def observe(self):
        return {"place": self.place}


class World:
    def __init__(self, *, count=3, spoil=None):
        self.clock, self.trace = ManualClock(0.1), Trace()
        self.faults = FaultIsolation(report=lambda fault: None)
        self.scheduler = Scheduler(self.clock, trace=self.trace, faults=self.faults)
        self.events = EventManager(self.clock, trace=self.trace)
        self.walkers = [Walker(f"walker {number}", spoil) for number in range(count)]
        self.tasks = [self.scheduler.add(one.think, name=one.name) for one in self.walkers]
        self.parts = {one.name: one for one in self.walkers}

    def step(self, budget, inputs):
        self.clock.advance()
        if inputs["shout"]:
            self.events.send("shout", inputs["shout"])
        for walker in self.walkers:
            walker.told = inputs["speed"]
        self.scheduler.advance(budget)

    def recorder(self, lines, **settings):
        settings = {"digest_every_frames": 1, **settings}
        return Recorder(lines.append, clock=self.clock, trace=self.trace, parts=self.parts, **settings)

    def replay(self, lines):
        return Replay(read_recording(lines), clock=self.clock, trace=self.trace, parts=self.parts)


def inputs_of(frame):
    return {"speed": math.sin(frame), "shout": frame % 7 == 0}


def recorded(*, budget=lambda: Budget.of_steps(2), world=None, **settings):
    lines = []
    world = world or World()
    with world.recorder(lines, **settings) as recorder:
        for frame in range(FRAMES):
            inputs = inputs_of(frame)
            world.step(recorder.begin_frame(budget(), inputs), inputs)
            recorder.end_frame()
    return lines


def one_bit(name, frame):
    return lambda who, when, value: math.nextafter(value, 9.0) if (who, when) == (name, frame) else value


@pytest.mark.parametrize("exact", [False, True])
def test_a_recording_runs_again(exact):
    lines = recorded(exact=exact)
    world = World()
    assert world.replay(lines).run(world.step) is None
    assert world.clock.now.frame == FRAMES


def test_two_runs_write_the_same_lines():
    assert recorded() == recorded()


@pytest.mark.parametrize("frame", [4, 11, FRAMES])
def test_one_bit_of_one_result_is_found_in_its_frame_and_named(frame):
    lines = recorded(exact=True, budget=Budget.unlimited)
    world = World(spoil=one_bit("walker 1", frame))
    difference = world.replay(lines).run(world.step)
    assert (difference.frame, difference.part, difference.description) == (frame, "walker 1", "its result differs")
    assert difference.also == ()
    assert str(difference) == f"replay differs at frame {frame}: walker 1: its result differs"


def test_one_bit_is_no_difference_between_quantised_digests():
    lines = recorded()
    world = World(spoil=one_bit("walker 1", 4))
    assert world.replay(lines).run(world.step) is None


def test_a_part_that_changes_without_its_work_is_named_too():
    lines = recorded()
    world = World()

    def step(budget, inputs):
        world.step(budget, inputs)
        if world.clock.now.frame == 9:
            world.walkers[2].place += 1

    difference = world.replay(lines).run(step)
    assert (difference.frame, difference.part, difference.description) == (9, "walker 2", "its state differs")


def test_an_event_that_was_not_sent_is_missed():
    lines = recorded()
    world = World()
    difference = world.replay(lines).run(
        lambda budget, inputs: world.step(budget, {**inputs, "shout": world.clock.now.frame == 3 or inputs["shout"]})
    )
    assert (difference.frame, difference.part, difference.description) == (4, "events", "the reports differ")


def test_all_that_differs_in_the_frame_is_listed():
    lines = recorded(budget=Budget.unlimited)
    world = World(spoil=lambda who, when, place: place + (when == 6))
    difference = world.replay(lines).run(world.step)
    assert (difference.frame, difference.part, difference.also) == (6, "walker 0", ("walker 1", "walker 2"))
    assert str(difference).endswith("; also different: walker 1, walker 2")


@pytest.mark.parametrize(
    ("change", "part", "what"),
    [
        (lambda world: world.scheduler.remove(world.tasks[2]), "walker 2", "did not run"),
        (lambda world: world.scheduler.add(lambda turn: None, name="new"), "new", "ran, but is not in the recording"),
        (lambda world: world.scheduler.pause(world.tasks[0]), "walker 1", "ran where 'walker 0' ran"),
        (lambda world: world.clock.advance(), "clock", "it is at frame 2, "),
    ],
)
def test_other_work_is_named(change, part, what):
    lines = recorded(budget=Budget.unlimited)
    world = World()
    change(world)
    difference = world.replay(lines).run(world.step)
    assert (difference.frame, difference.part) == (1, part)
    assert what in difference.description


def test_work_that_takes_more_steps_than_recorded_is_named():
    lines = recorded(budget=lambda: Budget.of_steps(99))
    world = World(spoil=None)
    walk = world.walkers[1].think
    world.scheduler.remove(world.tasks[1])
    world.scheduler.remove(world.tasks[2])
    world.scheduler.add(lambda turn: (turn.budget.spend(3), walk(turn))[1], name="walker 1")
    world.scheduler.add(world.walkers[2].think, name="walker 2")
    difference = world.replay(lines).run(world.step)
    assert (difference.part, difference.description) == ("walker 1", "took 3 steps, but 1 in the recording")


def test_work_that_raises_is_recorded_as_raising():
    def fails(who, when, place):
        if (who, when) == ("walker 1", 5):
            raise ValueError
        return place

    lines = recorded(budget=Budget.unlimited)
    world = World(spoil=fails)
    difference = world.replay(lines).run(world.step)
    assert (difference.frame, difference.part, difference.description) == (5, "walker 1", "its result differs")


def test_what_ran_on_time_runs_again_by_the_steps_it_was_granted(stopwatch):
    world = World(count=6, spoil=lambda who, when, place: (stopwatch.passes(when * 7 % 60), place)[1])
    lines = recorded(world=world, budget=lambda: Budget.of_time(100, stopwatch), is_timed=True, exact=True)
    loads = [len(frame.runs) for frame in read_recording(lines).frames]
    assert len(set(loads)) > 2, "time must have cut some frames short"
    again = World(count=6)
    assert again.replay(lines).run(again.step) is None


def test_all_parts_are_looked_at_first_and_then_they_take_turns():
    lines = recorded(digest_every_frames=5)
    looked = [set(frame.parts or ()) for frame in read_recording(lines).frames]
    assert looked[0] == {"walker 0", "walker 1", "walker 2"}
    assert looked[5:10] == [{"walker 0"}, {"walker 1"}, {"walker 2"}, set(), set()]
    world = World()
    assert world.replay(lines).run(world.step) is None


def test_a_part_that_changes_is_found_when_its_turn_comes():
    lines = recorded(digest_every_frames=5)
    world = World()
    world.walkers[1].observe = lambda: {"place": world.walkers[1].place + (world.clock.now.frame == 7)}
    difference = world.replay(lines).run(world.step)
    assert (difference.frame, difference.part) == (7, "walker 1")


def test_results_are_compared_each_frame_with_rare_part_checks():
    lines = recorded(digest_every_frames=DIGEST_EVERY_FRAMES, exact=True, budget=Budget.unlimited)
    world = World(spoil=one_bit("walker 1", 13))
    difference = world.replay(lines).run(world.step)
    assert (difference.frame, difference.part) == (13, "walker 1")


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, math.nan])
def test_parts_are_looked_at_every_whole_number_of_frames(bad):
    with pytest.raises((TypeError, ValueError), match="digest_every_frames must be"):
        World().recorder([], digest_every_frames=bad)


def test_frames_are_written_some_at_a_time_or_on_demand():
    lines, world = [], World()
    recorder, written = world.recorder(lines), []
    for frame in range(2 * FLUSH_EVERY_FRAMES):
        world.step(recorder.begin_frame(Budget.unlimited(), inputs_of(frame)), inputs_of(frame))
        recorder.end_frame()
        written.append(len(lines) - 1)
        if frame == 3:
            recorder.flush()
            assert len(read_recording(lines, allow_cut=True).frames) == 4
    assert sorted(set(written)) == [0, 4, 4 + FLUSH_EVERY_FRAMES]
    recorder.close()
    assert len(read_recording(lines).frames) == 2 * FLUSH_EVERY_FRAMES


def test_inputs_are_recorded_as_they_were_when_the_frame_began():
    lines, world, inputs = [], World(), {"speed": 1.0, "shout": False}
    with world.recorder(lines) as recorder:
        recorder.begin_frame(Budget.unlimited(), inputs)
        inputs["speed"] = 2.0
        recorder.end_frame()
    assert read_recording(lines).frames[0].inputs == {"speed": 1.0, "shout": False}


def test_inputs_that_are_no_plain_data_are_refused_at_once():
    recorder = World().recorder([])
    with pytest.raises(TypeError, match="inputs must be plain JSON data, got <object"):
        recorder.begin_frame(Budget.unlimited(), object())
    recorder.begin_frame(Budget.unlimited(), None)


def nested_world(stopwatch, told):
    """Schedulers in schedulers, three deep, whose work takes time."""
    clock, trace = ManualClock(0.1), Trace()
    root, middle, inner = (Scheduler(clock, trace=trace) for _ in range(3))

    def work(name):
        def think(turn):
            for step in range(5):
                stopwatch.passes((clock.now.frame * 7 + step * 3) % 11)
                told.append((clock.now.frame, name, step))
                yield

        return think

    for number, scheduler in enumerate((root, middle, inner)):
        for which in range(3):
            scheduler.add(work(f"{number}.{which}"), period_frames=which + 1, name=f"{number}.{which}")
    root.add(middle, name="middle")
    middle.add(inner, name="inner")

    def step(budget, inputs):
        clock.advance()
        root.advance(budget)

    return {"clock": clock, "trace": trace, "parts": {}}, step


def test_schedulers_in_schedulers_on_time_run_again_step_by_step(stopwatch):
    told, again, lines = [], [], []
    world, step = nested_world(stopwatch, told)
    with Recorder(lines.append, **world, is_timed=True) as recorder:
        for _ in range(30):
            step(recorder.begin_frame(Budget.of_time(90, stopwatch)), None)
            recorder.end_frame()
    recording = read_recording(lines)
    assert {run.depth for frame in recording.frames for run in frame.runs} == {0, 1, 2}
    assert any(grant is not None for frame in recording.frames for grant in frame.grants)
    world, step = nested_world(stopwatch, again)
    assert Replay(recording, **world).run(step) is None
    assert again == told


def test_a_recorder_that_is_closed_leaves_no_hook_behind():
    world = World()
    recorded(world=world)
    assert [getattr(world.trace, name) for name in HOOK_NAMES] == [()] * len(HOOK_NAMES)


def test_a_replay_leaves_no_hook_behind():
    lines, world = recorded(), World(spoil=one_bit("walker 1", 4))
    world.replay(lines).run(world.step)
    assert [getattr(world.trace, name) for name in HOOK_NAMES] == [()] * len(HOOK_NAMES)


def test_a_crash_leaves_what_happened_before_it():
    lines, world = [], World()

    def run_into_a_crash():
        with world.recorder(lines) as recorder:
            world.step(recorder.begin_frame(Budget.unlimited(), inputs_of(0)), inputs_of(0))
            recorder.end_frame()
            recorder.begin_frame(Budget.unlimited(), inputs_of(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_into_a_crash()
    recording = read_recording(lines, allow_cut=True)
    assert (len(recording.frames), recording.is_whole) == (1, False)


def test_a_part_that_shows_objects_is_named():
    world = World()
    world.walkers[1].observe = lambda: {"target": object()}
    recorder = world.recorder([])
    recorder.begin_frame(Budget.unlimited())
    with pytest.raises(TypeError, match="part 'walker 1': digested data must be plain"):
        recorder.end_frame()


def test_a_part_without_a_way_to_look_at_it_is_refused():
    with pytest.raises(TypeError, match=r"part 'door' must have a method observe\(\) or save_state\(\), got 3"):
        Recorder(print, clock=ManualClock(), trace=Trace(), parts={"door": 3})


def test_a_part_may_show_the_state_that_it_saves():
    class Door:
        def save_state(self):
            return {"version": 1, "is_open": True}

    lines = []
    with Recorder(lines.append, clock=ManualClock(), trace=Trace(), parts={"door": Door()}) as recorder:
        recorder.begin_frame(Budget.unlimited())
        recorder.end_frame()
    assert list(read_recording(lines).frames[0].parts) == ["door"]


def test_other_parts_than_those_recorded_are_refused():
    lines, world = recorded(), World()
    world.parts["door"] = world.walkers[0]
    with pytest.raises(ValueError, match="parts must be those of the recording, got 'door' not in the recording"):
        world.replay(lines)
    del world.parts["door"], world.parts["walker 0"]
    with pytest.raises(ValueError, match="got 'walker 0' only in the recording"):
        world.replay(lines)


def test_frames_are_begun_and_ended_in_turn():
    recorder = World().recorder([])
    with pytest.raises(RuntimeError, match="no frame was begun; call begin_frame"):
        recorder.end_frame()
    recorder.begin_frame(Budget.unlimited())
    with pytest.raises(RuntimeError, match="the previous frame has not ended"):
        recorder.begin_frame(Budget.unlimited())
    recorder.end_frame()
    recorder.close()
    recorder.close()
    with pytest.raises(RuntimeError, match="the recorder is closed"):
        recorder.begin_frame(Budget.unlimited())


def test_a_budget_of_another_kind_than_announced_is_refused(stopwatch):
    with pytest.raises(ValueError, match="must match is_timed=False, got one of time"):
        World().recorder([]).begin_frame(Budget.of_time(100, stopwatch))


def test_a_replay_ends_with_the_recording():
    lines, world = recorded(), World()
    replay = world.replay(lines)
    assert replay.run(world.step) is None
    assert replay.is_done
    with pytest.raises(RuntimeError, match="all 20 frames of the recording are done"):
        replay.begin_frame()
