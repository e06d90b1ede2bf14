"""Any tree in any world enters, ticks and exits as the plain rules say, whatever is edited."""
from __future__ import annotations

import copy
import random
from itertools import count

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ai_core.decisions.habits.habit_status import Launch, Outcome, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from tests.decisions.habits.reference_habits import ReferenceTree

LAUNCHES = ("prioritized", "prioritized", "sequential", "random", "fallback")
RESULTS = ("running", "running", "running", "succeeded", "failed")
TICK_S = 0.25

once = st.sampled_from
options = st.fixed_dictionaries({
    "launch": once(LAUNCHES), "beside": once([False] * 5 + [True]), "held": once([False] * 7 + [True]),
    "ticks": st.booleans(), "waits": st.booleans(), "inverted": once([False, False, True]),
    "timeout_s": once([float("inf")] * 3 + [0.5, 1.0]), "cooldown_s": once([0.0, 0.0, 0.0, 0.5, 1.0]),
    "repeats": once([1, 1, 1, 2]), "retries": once([0, 0, 0, 1]), "silent": once([False, False, True]),
    "plain": st.booleans()})

PLAIN = {
    "beside": False, "held": False, "waits": False, "inverted": False, "timeout_s": float("inf"), "cooldown_s": 0.0,
    "repeats": 1, "retries": 0, "silent": True}
"""Of a habit that does nothing but launch others or tick."""


def shapes(depth):
    """Return specifications without names."""
    children = st.just([]) if depth == 0 else st.lists(shapes(depth - 1), max_size=3)
    return st.tuples(options, children)


def specify(shape, name):
    """Name every habit by its place and make the specification one that can run."""
    options, below = shape
    children = [specify(child, f"{name}{number}") for number, child in enumerate(below)]
    spec = {**options, "name": name, "children": children}
    if spec["plain"]:
        spec |= {**PLAIN, "launch": "fallback" if spec["launch"] == "random" else "sequential", "ticks": not children}
    spec["waits"] = spec["waits"] and not spec["silent"]
    if not can_launch(children):
        spec["launch"] = "prioritized"
    spec["ticks"] = spec["ticks"] or not children
    return spec


def can_launch(children):
    return any(not child["beside"] for child in children)


class World:
    """Says by name and tick, the same to whoever asks, who wants, ends and holds.

    Who waits changes its mind only when it is told to.
    """

    def __init__(self, seed):
        self.seed, self.now, self.minds = seed, 0, {}
        self.draws = random.Random(seed)

    def says(self, *question):
        return random.Random(repr((self.seed, question)))

    def wants(self, name):
        return self.says("wants", name, self.minds.get(name, self.now)).random() < 0.6

    def result(self, name):
        return self.says("result", name, self.now).choice(RESULTS)

    def holds(self, name):
        return self.says("holds", name, self.now).choice([None, None, True, False])

    def draw(self):
        return self.draws.random()


def build(spec, world, log):
    """Return the definition of a specification, writing what happens to ``log``."""
    name = spec["name"]
    if spec["waits"]:
        world.minds.setdefault(name, 0)

    def tick(context):
        log.append(f"tick {name}")
        if world.says("looks", name, world.now).random() < 0.1:
            assert context.path.rpartition("/")[0] == (context.parent.path if context.parent is not None else "")
            assert context.tree.root_run.path == "r"
        if world.holds(name) is not None:
            (context.hold if world.holds(name) else context.release)()
        return Status(world.result(name))

    says = {} if spec["silent"] else {
        "can_activate": lambda context: world.wants(name), "enter": lambda context: log.append(f"enter {name}"),
        "exit": lambda context: log.append(f"exit {name}")}
    return Habit(
        name, [build(child, world, log) for child in spec["children"]], Launch(spec["launch"]),
        non_blocking=spec["beside"], uninterruptible=spec["held"],
        wakes_on=(name,) if spec["waits"] else (), tick=tick if spec["ticks"] else None, **says,
        timeout_s=spec["timeout_s"], cooldown_s=spec["cooldown_s"], repeats=spec["repeats"], retries=spec["retries"],
        outcome=Outcome.INVERTED if spec["inverted"] else Outcome.UNCHANGED)


class Lives(RuleBasedStateMachine):
    """The same tree lives twice, in the same world: ours and by the plain rules."""

    @initialize(shape=shapes(3), seed=st.integers(0, 10**6))
    def begin(self, shape, seed):
        self.spec, self.log, self.new_names = specify(shape, "r"), [], count()
        self.ours_world, self.reference_world = World(seed), World(seed)
        self.ours = HabitTree(build(self.spec, self.ours_world, self.log), random=self.ours_world.draws)
        self.reference = ReferenceTree(self.spec, self.reference_world)
        self.reference_world.minds = self.ours_world.minds

    @rule(times=st.integers(1, 3))
    def tick(self, times):
        for _ in range(times):
            self.ours_world.now = self.reference_world.now = self.ours_world.now + 1
            status = self.ours.tick(TICK_S)
            assert (status and status.value) == self.reference.tick(TICK_S)
            assert self.log == self.reference.log

    @rule()
    def stop(self):
        self.ours.stop()
        self.reference.stop()

    @rule(data=st.data())
    def change_a_mind(self, data):
        minds = self.ours_world.minds
        waiting = sorted(name for name in minds if any(spec["name"] == name for _, spec in self.places()))
        if waiting:
            name = data.draw(once(waiting))
            minds[name] += 1
            self.ours.notify(name)

    @precondition(lambda self: len(self.spec["children"]) > 0)
    @rule(data=st.data(), what=once(["add", "remove", "replace", "replace by its like"]), shape=shapes(1))
    def edit(self, data, what, shape):
        path, parent = data.draw(once([(p, s) for p, s in self.places() if s["children"]]))
        index = data.draw(st.integers(0, len(parent["children"]) - 1))
        child = parent["children"][index]
        name = child["name"] if what == "replace by its like" else f"{parent['name']}{chr(97 + next(self.new_names))}"
        new = specify(shape, name)
        instead = {"add": (new, child), "remove": ()}.get(what, (new,))
        after = [*parent["children"][:index], *instead, *parent["children"][index + 1 :]]
        if parent["launch"] != "prioritized" and not can_launch(after):
            return
        habit = build(new, self.ours_world, self.log)
        if what == "add":
            self.ours.add(path, habit, before=child["name"])
        elif what == "remove":
            self.ours.remove(f"{path}/{child['name']}")
        else:
            self.ours.replace(f"{path}/{child['name']}", habit)
        self.reference.replace(parent, index, *instead)

    @rule()
    def save_and_load(self):
        self.ours.prepare_state(copy.deepcopy(self.ours.save_state()))()

    @invariant()
    def logs_are_the_same(self):
        if hasattr(self, "ours"):
            assert self.log == self.reference.log

    def teardown(self):
        if hasattr(self, "ours"):
            self.stop()
            assert_every_enter_has_its_exit_and_children_are_gone_first(self.log)
            assert self.ours.holds == {}

    def places(self):
        found = [("r", self.spec)]
        for path, spec in found:
            found += [(f"{path}/{child['name']}", child) for child in spec["children"]]
        return found


def assert_every_enter_has_its_exit_and_children_are_gone_first(log):
    active, spoke = set(), {line.split()[1] for line in log if line.startswith("enter")}
    for line in log:
        what, name = line.split()
        if what == "enter":
            assert name not in active
            assert name[:-1] in active or name[:-1] not in spoke
            active.add(name)
        elif what == "exit":
            active.remove(name)
            assert not [other for other in active if other.startswith(name)]
        else:
            assert name in active or name not in spoke
    assert not active


Lives.TestCase.settings = settings(max_examples=40, stateful_step_count=15, deadline=None, derandomize=True)
TestLives = Lives.TestCase
