"""Any tree in any world enters, ticks and exits as the plain rules say."""
from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.decisions.habit_tree import HabitTree
from ai_core.decisions.habits import Habit, Launch, Status
from tests.decisions.reference_habits import ReferenceTree

LAUNCHES = ("prioritized", "sequential", "random")
RESULTS = ("running", "running", "running", "succeeded", "failed")


def shapes(depth):
    """Return trees without names: (launch, beside, held, ticks, children)."""
    children = st.just([]) if depth == 0 else st.lists(shapes(depth - 1), max_size=3)
    return st.tuples(
        st.sampled_from(LAUNCHES), st.integers(0, 5), st.integers(0, 7), st.booleans(), children
    )


def specify(shape, name="r"):
    """Name every habit by its place and make the specification one that can run."""
    launch, beside, held, ticks, below = shape
    children = [specify(child, f"{name}{number}") for number, child in enumerate(below)]
    return {
        "name": name,
        "launch": launch if any(not c["beside"] for c in children) else "prioritized",
        "beside": beside == 0,
        "held": held == 0,
        "ticks": ticks or not children,
        "children": children,
    }


class World:
    """Says by name and tick, the same to whoever asks, who wants, ends and holds."""

    def __init__(self, seed):
        self.seed = seed
        self.now = 0
        self.draws = random.Random(seed)

    def says(self, *question):
        return random.Random(repr((self.seed, self.now, question)))

    def wants(self, name):
        return self.says("wants", name).random() < 0.6

    def result(self, name):
        return self.says("result", name).choice(RESULTS)

    def holds(self, name):
        return self.says("holds", name).choice([None, None, True, False])

    def draw(self):
        return self.draws.random()


def build(spec, world, log):
    """Return the definition of a specification, writing what happens to ``log``."""
    name = spec["name"]

    def tick(context):
        log.append(f"tick {name}")
        if world.holds(name) is not None:
            (context.hold if world.holds(name) else context.release)()
        return Status(world.result(name))

    return Habit(
        name,
        [build(child, world, log) for child in spec["children"]],
        Launch(spec["launch"]),
        non_blocking=spec["beside"],
        uninterruptible=spec["held"],
        can_activate=lambda context: world.wants(name),
        enter=lambda context: log.append(f"enter {name}"),
        tick=tick if spec["ticks"] else None,
        exit=lambda context: log.append(f"exit {name}"),
    )


class Generator:
    """Lets the tree draw from the world's numbers."""

    def __init__(self, world):
        self.random = world.draw


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(shapes(3), st.integers(0, 10**6), st.lists(st.sampled_from(["tick"] * 7 + ["stop"]), max_size=10))
def test_enters_ticks_and_exits_are_those_of_the_plain_rules(shape, seed, script):
    spec, log = specify(shape), []
    ours_world, reference_world = World(seed), World(seed)
    ours = HabitTree(build(spec, ours_world, log), random=Generator(ours_world))
    reference = ReferenceTree(spec, reference_world)

    for command in [*script, "tick", "stop"]:
        ours_world.now = reference_world.now = ours_world.now + 1
        if command == "tick":
            status = ours.tick(0.1)
            assert (status and status.value) == reference.tick()
        else:
            ours.stop()
            reference.stop()
        assert log == reference.log
    assert_every_enter_has_its_exit_and_children_are_gone_first(log)
    assert ours.holds == {}


def assert_every_enter_has_its_exit_and_children_are_gone_first(log):
    active = set()
    for line in log:
        what, name = line.split()
        if what == "enter":
            assert name not in active
            assert name == "r" or name[:-1] in active
            active.add(name)
        elif what == "exit":
            active.remove(name)
            assert not [other for other in active if other.startswith(name)]
        else:
            assert name in active
    assert not active
