"""Saved schedulers: tasks found by name, with their phases, lateness, failures and ids."""
from __future__ import annotations

import json

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.fields import StateError
from ai_core.saving.kinds import Whole
from ai_core.scheduling.long_work import Suspendable
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from tests.scheduling.makers import frequency, load_balancing


class Crew:
    """A scheduler whose work writes down its name and the time it was told."""

    def __init__(self, kind=load_balancing, names="abc", **settings):
        self.clock = ManualClock(0.25)
        self.faults = FaultIsolation(report=lambda fault: None)
        self.scheduler = kind(self.clock, faults=self.faults)
        self.ran = []
        self.tasks = {name: self.add(name, **settings) for name in names}

    def add(self, name, **settings):
        return self.scheduler.add(lambda turn: self.ran.append((name, turn.elapsed_s)), name=name, **settings)

    def live(self, frames, steps=99):
        for _ in range(frames):
            self.clock.advance()
            self.scheduler.advance(Budget.of_steps(steps))
        told, self.ran = self.ran, []
        return told

    def save(self):
        return json.loads(json.dumps({"clock": self.clock.save_state(), "scheduler": self.scheduler.save_state()}))

    def load(self, state):
        changes = [getattr(self, name).prepare_state(one) for name, one in state.items()]
        for change in changes:
            change()


def test_phases_priorities_pauses_and_elapsed_times_go_on():
    first = Crew(period_frames=3)
    first.scheduler.change(first.tasks["a"], period_frames=5, phase_frames=2, priority=4)
    first.scheduler.pause(first.tasks["b"])
    first.live(7)
    second = Crew(names="cab", period_frames=2)
    second.live(3)
    second.load(first.save())
    assert second.scheduler.statistics() == first.scheduler.statistics()
    assert second.live(30) == first.live(30)
    second.scheduler.resume(second.tasks["b"])
    first.scheduler.resume(first.tasks["b"])
    assert second.live(9) == first.live(9)


def test_waiting_work_keeps_its_place_in_the_queue():
    first = Crew(names="abcde", period_frames=4, phase_frames=0)
    first.live(2, steps=1)
    second = Crew(names="edcba")
    second.load(first.save())
    assert [task.name for task in second.scheduler.waiting] == [task.name for task in first.scheduler.waiting] != []
    assert second.live(9, steps=1) == first.live(9, steps=1)


def test_a_quarantined_task_stays_so_until_it_is_released():
    first, second = Crew(names=""), Crew(names="")
    for crew in (first, second):
        crew.bad = crew.scheduler.add(lambda turn: 1 / 0, name="bad")
    first.live(3)
    second.load(first.save())
    assert second.scheduler.statistics()[0]["is_quarantined"]
    second.live(1)
    assert second.bad.runs == 3
    second.scheduler.release(second.bad)
    second.live(1)
    assert second.bad.runs == 4


def test_ids_survive_and_new_tasks_get_ids_that_never_were():
    first = Crew(names="abcd")
    first.scheduler.remove(first.tasks["a"])
    first.scheduler.remove(first.tasks["d"])
    second = Crew(names="xcb")
    second.load(first.save())
    assert {name: task.id for name, task in second.tasks.items()} == {"b": 2, "c": 3, "x": 5}
    assert second.add("new").id == 6
    assert [task.name for task in second.scheduler.tasks] == ["b", "c", "x", "new"]


def test_automatic_phases_are_chosen_beside_the_loaded_ones():
    first = Crew(names="abc", period_frames=4)
    second = Crew(names="abc", period_frames=1)
    second.load(first.save())
    assert second.add("d", period_frames=4).phase_frames == first.add("d", period_frames=4).phase_frames


def test_a_missing_task_is_named():
    with pytest.raises(StateError, match="unknown task 'think'; did you mean 'thinks'"):
        Crew(names=["thinks"]).load(Crew(names=["think"]).save())


def test_tasks_of_one_name_are_told_apart_by_order():
    first, second = Crew(names=""), Crew(names="")
    for crew in (first, second):
        crew.twins = [crew.add("twin"), crew.add("twin", period_frames=2)]
    first.scheduler.pause(first.twins[1])
    second.load(first.save())
    assert [twin.is_paused for twin in second.twins] == [False, True]


def test_tasks_of_one_name_must_be_as_many():
    first, second = Crew(names="a"), Crew(names="a")
    first.add("a")
    with pytest.raises(StateError, match="2 saved tasks are named 'a', and 1 are present"):
        second.load(first.save())


class Counting:
    """A generator that says how far it has come, or not."""

    def __init__(self, diary):
        self.diary, self.next = diary, 0

    def __call__(self, turn):
        while self.next < 6:
            self.diary.append(self.next)
            self.next += 1
            yield
        self.next = 0


class Declared(Counting, Saveable):
    STATE = DeclaredState(next=Whole(maximum=6))


@pytest.mark.parametrize("frames", range(9))
def test_a_generator_that_declares_its_progress_goes_on(frames):
    crews = [Crew(names=""), Crew(names="")]
    for crew in crews:
        crew.diary = []
        crew.scheduler.add(Declared(crew.diary), name="count")
    first, second = crews
    first.live(frames, steps=1)
    second.live(2, steps=1)
    second.load(first.save())
    for crew in crews:
        crew.diary.clear()
        crew.live(10, steps=1)
    assert second.diary == first.diary != []


def test_a_generator_that_does_not_begins_anew():
    def count(turn):
        for number in range(6):
            diary.append(number)
            yield

    diary, first, second = [], Crew(names=""), Crew(names="")
    first.scheduler.add(count)
    second.scheduler.add(count)
    first.live(3, steps=1)
    second.live(2, steps=1)
    second.load(first.save())
    del diary[:]
    second.live(2, steps=1)
    assert diary == [0, 1]


def test_effects_of_generators_closed_by_loading_precede_it():
    class Falling(Declared):
        def __call__(self, turn):
            try:
                yield from super().__call__(turn)
            finally:
                self.next = 99
                raise OSError("fell")

    first, second = Crew(names=""), Crew(names="")
    for crew in (first, second):
        crew.diary, crew.reported = [], []
        crew.faults._report = crew.reported.append
        crew.task = crew.scheduler.add(Falling(crew.diary), name="climb")
    first.live(3, steps=1)
    second.live(2, steps=1)
    second.load(first.save())
    assert [(fault.name, str(fault.error)) for fault in second.reported] == [("climb", "fell")]
    assert (second.faults.failures_of(second.task), second.task.work.next) == ((0, False), 3)
    assert second.scheduler.save_state() == first.scheduler.save_state()
    first.scheduler.remove(first.task)


def test_raising_cleanup_on_loading_blocks_no_other_work():
    def stubborn():
        try:
            yield 0.5
            yield 0.75
        finally:
            raise OSError("the file is gone")

    def crew():
        one = Crew(names="")
        one.counting = Declared([])
        one.scheduler.add(Suspendable(stubborn), name="stubborn")
        one.scheduler.add(one.counting, name="counting")
        return one

    saved, other = crew(), crew()
    state = saved.save()
    faults = []
    other.faults._report = faults.append
    other.live(1, steps=2)
    assert other.counting.next > 0
    other.load(state)
    assert other.counting.next == 0
    assert [(fault.name, str(fault.error)) for fault in faults] == [("stubborn", "the file is gone")]
    assert other.save() == state


def test_a_task_that_clean_up_removes_is_not_loaded():
    def leaving(turn):
        try:
            while True:
                yield
        finally:
            if not task.is_removed:
                second.scheduler.remove(task)

    first, second = Crew(names="abc"), Crew(names="ac")
    task = second.scheduler.add(leaving, name="b")
    first.live(1, steps=1)
    second.live(1, steps=9)
    second.load(first.save())
    assert [one.name for one in second.scheduler.tasks] == ["a", "c"]
    assert [one.name for one in second.scheduler.waiting] == ["c"]


def test_nested_schedulers_are_saved_with_their_parents():
    crews = []
    for _ in range(2):
        crew = Crew(names="a")
        crew.inner = Scheduler(crew.clock, policy=Policy.FREQUENCY)
        crew.inner.add(lambda turn, crew=crew: crew.ran.append(("inner", turn.elapsed_s)), name="w", period_frames=3)
        crew.scheduler.add(crew.inner, name="inner", period_frames=2)
        crews.append(crew)
    first, second = crews
    first.live(7)
    second.load(first.save())
    assert second.live(20) == first.live(20)


def test_work_that_can_no_longer_be_loaded_is_named():
    first, second = Crew(names=""), Crew(names="")
    first.scheduler.add(Scheduler(first.clock, policy=Policy.FREQUENCY), name="inner")
    second.scheduler.add(print, name="inner")
    with pytest.raises(StateError, match="work of task 'inner' has a saved state, but the current"):
        second.load(first.save())


def test_a_frequency_scheduler_takes_over_no_waiting_work():
    first = Crew(names="ab")
    first.live(1, steps=1)
    second = Crew(frequency, names="ab")
    second.load(first.save())
    assert second.scheduler.waiting == ()


@pytest.mark.parametrize("method", ["save_state", "prepare_state"])
def test_saving_and_loading_wait_for_the_end_of_the_frame(method):
    crew = Crew(names="")
    crew.faults._reraise = True
    crew.scheduler.add(lambda turn: getattr(crew.scheduler, method)(*[{}] * (method == "prepare_state")))
    with pytest.raises(RuntimeError, match="save and load between two frames"):
        crew.live(1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("tasks", 0, "id"), 2, "'tasks' must be sorted by ascending id, each once"),
        (("tasks", 1, "id"), 9, "'next_id' must be above the id of every task, got 3"),
        (("tasks", 0, "last_s"), 99.0, r"'tasks\[0\].last_s' must not be after now"),
        (("tasks", 0, "priority"), 0, r"'tasks\[0\].priority' must be at least 1e-06"),
        (("tasks", 0, "runs"), -1, r"'tasks\[0\].runs' must be at least 0"),
        (("tasks", 0, "is_paused"), 1, r"'tasks\[0\].is_paused' must be true or false"),
        (("tasks", 0, "due_since"), 99, r"'tasks\[0\].due_since' must be at most the frame, 2"),
    ],
)
def test_a_state_that_cannot_be_is_refused(path, value, message):
    crew = Crew(names="ab")
    crew.live(2)
    state = crew.save()
    box = state["scheduler"]
    for key in path[:-1]:
        box = box[key]
    box[path[-1]] = value
    before = crew.save()
    with pytest.raises(StateError, match=message):
        crew.load(state)
    assert crew.save() == before


def test_times_survive_and_percentiles_begin_anew(stopwatch):
    first, second = Crew(frequency, names="a"), Crew(frequency, names="a")
    for crew in (first, second):
        crew.scheduler._stopwatch = stopwatch
        crew.scheduler.add(lambda turn: stopwatch.passes(5), name="work")
    for _ in range(4):
        first.scheduler.advance(Budget.unlimited())
    second.load(first.save())
    row = second.scheduler.statistics()[1]
    assert (row["used_us_mean"], row["used_us_max"], row["used_us_p95"]) == (5, 5, 0)


def test_renamed_task_is_saved_and_found_by_its_new_name():
    before, after = Crew(), Crew(names="adc")
    before.scheduler.change(before.tasks["b"], name="d")
    after.load(before.save())
    assert [task.name for task in after.scheduler.tasks] == ["a", "d", "c"]
    with pytest.raises(TypeError, match="name must be a non-empty string, got ''"):
        before.scheduler.change(before.tasks["a"], name="")
    with pytest.raises(ValueError, match="belongs to another scheduler"):
        before.scheduler.change(after.tasks["a"], name="x")


def test_a_task_that_is_not_saved_is_kept_when_a_save_is_loaded(clock):
    first, second = Scheduler(clock), Scheduler(clock)
    ran = []
    for scheduler in (first, second):
        scheduler.add(lambda turn: None, name="think")
    first.add(lambda turn: None, name="errand", is_saved=False)
    errand = second.add(lambda turn: ran.append(turn.now), name="errand", is_saved=False)
    state = first.save_state()
    assert [task["name"] for task in state["tasks"]] == ["think"]
    second.prepare_state(state)()
    second.advance(Budget.unlimited())
    assert (len(ran), errand.is_removed) == (1, False)


@pytest.mark.parametrize("frames", [2, 20])
def test_tasks_that_are_not_in_a_save_count_as_just_run(frames):
    clock, elapsed = ManualClock(0.5), []
    saved = Scheduler(clock)
    saved.add(print, name="a")
    for _ in range(10):
        clock.advance()
    states = clock.save_state(), saved.save_state()
    here = ManualClock(0.5)
    scheduler, nested = Scheduler(here), Scheduler(here)
    scheduler.add(print, name="a", period_frames=1000, phase_frames=999)
    scheduler.add(lambda turn: elapsed.append(turn.elapsed_s), name="b")
    scheduler.add(nested, name="c")
    nested.add(lambda turn: elapsed.append(turn.elapsed_s), name="d")
    for _ in range(frames):
        scheduler.advance(Budget.unlimited())
        here.advance()
    elapsed.clear()
    here.prepare_state(states[0])()
    scheduler.prepare_state(states[1])()
    here.advance()
    scheduler.advance(Budget.unlimited())
    assert elapsed == [0.5, 0.5]
    assert nested.prepare_state(nested.save_state())
