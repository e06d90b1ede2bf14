"""The timeslicer beside a plain model of it, through anything that can happen to both."""
from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ai_core.budget import Budget
from ai_core.scheduling.timeslicer import Timing
from tests.scheduling.timeslicing.slicers import InlineExecutor, World

TRIES = 3


class Agent:
    """What the model knows of a key."""

    def __init__(self, key):
        self.key = key
        self.result = self.read_at = None
        self.failures = 0
        self.is_failing = False
        self.is_here = True


class Model:
    """Lists, and no shortcuts; nothing of the real one is used here."""

    def __init__(self, timing, most, has_threads):
        self.together_in, self.together_out = timing in (Timing.SIAO, Timing.SISO), timing in (Timing.SISO, Timing.AISO)
        self.most, self.has_threads = most, has_threads
        self.agents, self.batch, self.flying, self.unseen = [], [], [], []
        self.updates = 0
        self.bad = set()

    def of(self, key):
        return next(one for one in self.agents if one.key == key)

    def update(self, steps, frame):
        self.updates += 1
        self.land()
        self.batch = [(agent, told) for agent, told in self.batch if agent.is_here]
        if not self.batch:
            for agent, result, read_at in self.unseen:
                agent.result, agent.read_at = result, read_at
            self.unseen = []
            self.batch = [
                (agent, self.told(agent, frame) if self.together_in else None)
                for agent in self.agents if agent.failures < TRIES
            ]
        count = max(1, min(self.most or len(self.batch), steps))
        for _ in range(count):
            if self.batch:
                agent, told = self.batch.pop(0)
                self.flying.append((agent, told or self.told(agent, frame)))
        if not self.has_threads:
            self.land()

    def told(self, agent, frame):
        return (-frame if agent.key in self.bad else frame, self.updates)

    def land(self):
        for agent, (seen, read_at) in self.flying:
            if not agent.is_here:
                continue
            agent.is_failing = seen < 0
            agent.failures = agent.failures + 1 if seen < 0 else 0
            if seen >= 0 and self.together_out:
                self.unseen.append((agent, [agent.key, seen], read_at))
            elif seen >= 0:
                agent.result, agent.read_at = [agent.key, seen], read_at
        self.flying = []

    def seen(self):
        return {
            one.key: (
                one.result, None if one.read_at is None else self.updates - one.read_at,
                one.is_failing, one.failures >= TRIES,
            )
            for one in self.agents
        }


class Life(RuleBasedStateMachine):
    """Keys come, go, fail and are released; updates are cut short; the game is saved and loaded."""

    @initialize(
        timing=st.sampled_from(Timing), most=st.integers(1, 4), has_threads=st.booleans(),
        keys=st.integers(0, 5),
    )
    def begin(self, timing, most, has_threads, keys):
        self.arguments = {"timing": timing, "jobs_per_update": most}
        if has_threads:
            self.arguments |= {"executor": InlineExecutor()}
        self.world = World(**self.arguments)
        self.model = Model(timing, most, has_threads)
        self.next_key = 0
        for _ in range(keys):
            self.join()

    @rule()
    def join(self):
        self.world.slicer.add(self.next_key)
        self.model.agents.append(Agent(self.next_key))
        self.next_key += 1

    @precondition(lambda self: self.model.agents)
    @rule(pick=st.integers(0, 99), comes_back=st.booleans())
    def leave(self, pick, comes_back):
        agent = self.model.agents.pop(pick % len(self.model.agents))
        agent.is_here = False
        self.world.slicer.remove(agent.key)
        if comes_back:
            self.world.slicer.add(agent.key)
            self.model.agents.append(Agent(agent.key))

    @rule(key=st.integers(0, 5))
    def turn_bad_or_good(self, key):
        self.world.bad ^= {key}
        self.model.bad ^= {key}

    @precondition(lambda self: self.model.agents)
    @rule(pick=st.integers(0, 99))
    def release(self, pick):
        agent = self.model.agents[pick % len(self.model.agents)]
        self.world.slicer.release(agent.key)
        agent.failures = 0

    @rule(steps=st.integers(0, 5), times=st.integers(1, 4))
    def update(self, steps, times):
        for _ in range(times):
            self.world.update(budget=Budget.of_steps(steps))
            self.model.update(steps, self.world.clock.now.frame)

    @rule()
    def save_and_load_elsewhere(self):
        other = World(**self.arguments, keys=reversed(self.world.slicer.keys))
        other.update(2)
        state = self.world.save()
        other.load(state)
        assert other.save() == state
        assert other.slicer.keys == self.world.slicer.keys
        other.bad = self.world.bad
        self.world = other

    @invariant()
    def both_look_alike(self):
        if hasattr(self, "world"):
            seen, _ = self.world.seen()
            assert {key: (one[0], one[1], one[3], one[4]) for key, one in seen.items()} == self.model.seen()


Life.TestCase.settings = settings(max_examples=15, stateful_step_count=25)


class TestLife(Life.TestCase):
    """Run by pytest."""
