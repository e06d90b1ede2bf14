"""Lives of schedulers and of work that takes long."""
from __future__ import annotations

from contextlib import suppress

from ai_core.budget import Budget
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import Whole
from ai_core.saving.values import SavedValues
from ai_core.scheduling.long_work import BackgroundJob, Suspendable, UntilGoodEnough
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.simulation import Simulation
from ai_core.scheduling.threaded_work import ThreadedWork
from ai_core.scheduling.timeslicer import Timeslicer
from tests.saving.lives.life import Life, plain, steps
from tests.scheduling.makers import frequency, load_balancing, priority, requested_time


class Digging(Saveable):
    """Work of some legs, which is saved with how deep it is."""

    STATE = DeclaredState(depth_m=Whole(maximum=lambda digging: digging.most_m))

    def __init__(self, depth_m=6):
        self.most_m, self.depth_m = depth_m, 0

    def __call__(self):
        while self.depth_m < self.most_m:
            self.depth_m += 1
            yield self.depth_m / self.most_m
        return self.depth_m


class FrequencyLife(Life):
    classes = (Scheduler,)
    kind = staticmethod(frequency)
    names = "abcd"

    def build(self):
        self.scheduler = self.kind(self.clock, faults=self.faults)
        self.tasks = {name: self.scheduler.add(self.work(name), name=name, period_frames=1 + number)
                      for number, name in enumerate(self.names)}

    def work(self, name):
        def run(turn):
            self.told.append((name, turn.elapsed_s, turn.budget.left))
            turn.budget.spend(self.chance.randint(0, 3))
            if self.chance.random() < 0.15:
                raise RuntimeError("tripped")
        return run

    def subjects(self):
        return {"scheduler": self.scheduler}

    def any_task(self, chance):
        return self.tasks[chance.choice(sorted(self.tasks))]

    def do_advance(self, chance):
        self.clock.advance()
        self.scheduler.advance(steps(chance, 12))
        return plain(self.scheduler.statistics())

    def do_change(self, chance):
        self.scheduler.change(
            self.any_task(chance), period_frames=chance.randint(1, 5), priority=chance.choice([None, 0.5, 3.0]))

    def do_pause(self, chance):
        self.scheduler.pause(self.any_task(chance))

    def do_resume(self, chance):
        self.scheduler.resume(self.any_task(chance))

    def do_release(self, chance):
        self.scheduler.release(self.any_task(chance))

    def do_rephase(self, chance):
        return self.scheduler.rephase(by_cost=False)


class LoadBalancingLife(FrequencyLife):
    kind = staticmethod(load_balancing)


class PriorityLife(FrequencyLife):
    kind = staticmethod(priority)


class HierarchicalLife(FrequencyLife):
    kind = staticmethod(load_balancing)

    def build(self):
        super().build()
        self.inner = Scheduler(self.clock, policy=Policy.FREQUENCY, faults=self.faults)
        self.inner.add(self.work("inner"), name="inner")
        self.scheduler.add(self.inner, name="nested", period_frames=2)


class RequestedTimeLife(FrequencyLife):
    kind = staticmethod(requested_time)

    def do_request(self, chance):
        self.scheduler.request(self.any_task(chance), chance.choice([None, 3, 9]))
        return [task.name for task in self.scheduler.waiting]


class Guessing(Saveable):
    """Anytime work whose answer grows by one a step."""

    STATE = DeclaredState(best=Whole())

    def __init__(self):
        self.best = 0

    @property
    def quality(self):
        return min(1.0, self.best / 40)

    @property
    def is_done(self):
        return self.best >= 40

    def advance(self, budget):
        self.best += 1
        budget.spend()


class LongWorkLife(Life):
    """A job, and anytime work that stops when it is good enough."""

    classes = (BackgroundJob, Suspendable, UntilGoodEnough)

    def build(self):
        self.scheduler = Scheduler(self.clock, faults=self.faults)
        self.digging = Suspendable(Digging(30))
        self.job = BackgroundJob(self.scheduler, self.digging, then=self.told.append, name="dig")
        self.search = UntilGoodEnough(Guessing(), quality=0.9, deadline_s=30.0, clock=self.clock)

    def subjects(self):
        return {"search": self.search, "job": self.job, "digging": self.digging}

    def parts(self):
        return {**super().parts(), "scheduler": self.scheduler}

    def loaded(self):
        pass

    def do_advance(self, chance):
        self.clock.advance()
        if not self.job.task.is_removed:
            self.scheduler.advance(Budget.of_steps(1))
        return self.digging.is_done, self.digging.progress

    def do_search(self, chance):
        if not self.search.is_done:
            self.search.advance(Budget.of_steps(1))
        return self.search.best, self.search.quality, self.search.is_done


class SimulationLife(Life):
    """Work of a simulation, which has a clock of its own."""

    classes = (Simulation,)

    def build(self):
        self.simulation = Simulation(frames_per_second=8, steps_per_frame=5)
        for number in range(4):
            self.simulation.add(
                lambda turn, number=number: self.told.append((number, turn.now, turn.elapsed_s)), name=str(number),
                period_frames=1 + number)

    def subjects(self):
        return {"simulation": self.simulation}

    def do_run(self, chance):
        self.simulation.run(frames=chance.randint(0, 5))
        return plain(self.simulation.scheduler.statistics())

    def do_change(self, chance):
        task = chance.choice(self.simulation.scheduler.tasks)
        self.simulation.scheduler.change(task, priority=chance.choice([0.5, 3.0]))


class ThreadedLife(Life):
    classes = (ThreadedWork,)

    def build(self):
        self.work = ThreadedWork(
            self.square, clock=self.clock, executor=None, delay_frames=2, values=SavedValues(),
            then=lambda one: self.told.append((self.clock.now.frame, one.id, one.result)))

    @staticmethod
    def square(number):
        if number < 0:
            raise ValueError(f"{number} is below 0")
        return number * number

    def subjects(self):
        return {"work": self.work}

    def do_submit(self, chance):
        return self.work.submit(chance.randint(-1, 9)).id

    def do_advance(self, chance):
        self.clock.advance()
        with suppress(ValueError):
            self.work.advance(steps(chance))


class TimeslicerLife(Life):
    classes = (Timeslicer,)

    def build(self):
        self.slicer = Timeslicer(
            self.clock, self.job, inputs=lambda key: self.clock.now.frame, name="decide", faults=self.faults,
            jobs_per_update=2)
        for key in "abcde":
            self.slicer.add(key)

    def job(self, key, frame):
        self.told.append((key, frame))
        if self.chance.random() < 0.2:
            raise ValueError(key)
        return [key, frame]

    def subjects(self):
        return {"slicer": self.slicer}

    def do_advance(self, chance):
        self.clock.advance()
        started = self.slicer.advance(steps(chance))
        return started, self.slicer.statistics(), [
            (self.slicer.result_of(key), self.slicer.age_updates(key), self.slicer.is_quarantined(key))
            for key in self.slicer.keys]

    def do_release(self, chance):
        self.slicer.release(chance.choice("abcde"))


LIVES = (FrequencyLife, LoadBalancingLife, PriorityLife, HierarchicalLife, RequestedTimeLife,
         LongWorkLife, SimulationLife, ThreadedLife, TimeslicerLife)
