"""What is done for all who decide, sensing or finding ways, is not starved by how many they are."""
from __future__ import annotations

import pytest

CHARACTERS = 40


@pytest.fixture
def weight_of(scheduler):
    """``weight_of("senses")``: how much a piece of work of the scheduler weighs, by the end of its name."""
    def ask(end):
        weight, = [task.priority for task in scheduler.core.tasks if task.name.endswith(end)]
        return weight
    return ask


def characters(node, scheduler, count):
    """Trees in the scene, one a character."""
    trees = [node("HabitTree", node("Node3D", scheduler)) for _ in range(count)]
    for tree in trees:
        node("Habit", tree)
    return trees


def test_a_service_weighs_as_much_as_its_members(
        node, scheduler, frames, weight_of):
    node("SenseManager", scheduler).core  # noqa: B018  it senses from now on
    trees = characters(node, scheduler, CHARACTERS)
    frames(2)
    assert weight_of("senses") == weight_of("habit trees") == CHARACTERS
    node("PathService", scheduler, priority=2.0)
    assert weight_of("paths") == 2 * CHARACTERS
    for tree in trees[1:]:
        tree.free()
    frames(2)
    assert (weight_of("senses"), weight_of("paths")) == (1, 2)


def test_a_priority_set_later_counts_beside_all_members(node, scheduler, frames, weight_of):
    ways = node("PathService", scheduler)
    characters(node, scheduler, CHARACTERS)
    frames(2)
    ways.priority = 0.5
    assert weight_of("paths") == CHARACTERS / 2


def saved_tasks(state):
    """What is saved of each piece of work, wherever it stands."""
    if isinstance(state, list):
        return [task for one in state for task in saved_tasks(one)]
    if not isinstance(state, dict):
        return []
    found = [state] if {"name", "priority"} <= state.keys() else []
    return found + [task for one in state.values() for task in saved_tasks(one)]


def test_a_save_of_before_services_were_weighed_starves_nobody(node, scheduler, frames, weight_of):
    node("SenseManager", scheduler).core  # noqa: B018
    characters(node, scheduler, CHARACTERS)
    frames(2)
    state = scheduler.call("save_state")
    task, = [one for one in saved_tasks(state) if one["name"].endswith("senses")]
    task["priority"] = 1.0
    assert scheduler.call("load_state", state) is True
    assert weight_of("senses") == CHARACTERS


def test_behaviors_that_decide_count_like_trees(node, scheduler, frames, weight_of):
    node("SenseManager", scheduler).core  # noqa: B018
    ids = [scheduler.add_behavior(lambda elapsed_s: None, priority=2.0) for _ in range(CHARACTERS)]
    assert weight_of("senses") == 2 * CHARACTERS
    scheduler.set_behavior_priority(ids[0], 12.0)
    assert weight_of("senses") == 2 * CHARACTERS + 10
    for one in ids:
        scheduler.remove_behavior(one)
    assert weight_of("senses") == 1


def test_a_service_priority_set_by_id_is_not_weighed_twice(
        node, scheduler, frames, weight_of):
    node("SenseManager", scheduler).core  # noqa: B018
    characters(node, scheduler, CHARACTERS)
    frames(2)
    senses, = [task.id for task in scheduler.core.tasks if task.name.endswith("senses")]
    for phase in range(3):
        scheduler.set_behavior_phase(senses, phase)
        assert weight_of("senses") == CHARACTERS
    scheduler.set_behavior_priority(senses, 0.5)
    characters(node, scheduler, CHARACTERS)
    frames(2)
    assert weight_of("senses") == CHARACTERS
