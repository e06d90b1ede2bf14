"""Any machine, any events: the same as the plain reference, saved and loaded or not."""
from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import PREVIOUS, History, State, StateMachineDefinition, Transition
from tests.decisions.state_machines.reference_machine import ReferenceMachine

EVENTS = ("hit", "see", "calm")
TREE = {
    "": ["peace", "hostile", "dead"],
    "peace": ["peace/idle", "peace/patrol"],
    "hostile": ["hostile/alert", "hostile/combat"],
    "hostile/alert": ["hostile/alert/listen", "hostile/alert/search"],
    "hostile/combat": ["hostile/combat/chase", "hostile/combat/melee"]}
PATHS = [path for inside in TREE.values() for path in inside]

transitions = st.builds(
    lambda event, source, target, has_guard, acts, history: (event, source, target, has_guard, acts, history),
    st.sampled_from(EVENTS), st.sampled_from([*PATHS, None]), st.sampled_from([*PATHS, *PATHS, PREVIOUS, None]),
    st.booleans(), st.booleans(), st.sampled_from([None, None, History.DEEP, History.SHALLOW]))


def made(tell, allowed, rows):
    """Return the transitions, without those that a definition refuses, and the outermost states."""
    found, certain = [], set()
    for event, source, target, has_guard, acts, history in rows:
        if (event, source) in certain:
            continue
        number = len(found)
        found.append(Transition(
            event, source, target,
            guard=(lambda machine, number=number: number in allowed) if has_guard else None,
            action=(lambda machine, number=number: tell(f"action {number}", machine)) if acts else None,
            history=history if target in TREE else None))
        if not has_guard and target != PREVIOUS:
            certain.add((event, source))

    def state(path):
        return State(
            path.rpartition("/")[2], [state(inside) for inside in TREE.get(path, ())],
            enter=lambda machine: tell(f"enter {path}", machine),
            exit=lambda machine: tell(f"exit {path}", machine))

    return found, [state(path) for path in TREE[""]]


@pytest.mark.slow
@settings(max_examples=120)
@given(
    rows=st.lists(transitions, min_size=1, max_size=10),
    moments=st.lists(st.tuples(st.sampled_from(EVENTS), st.sets(st.integers(0, 9), max_size=6)), max_size=12))
def test_enters_exits_and_actions_are_those_of_the_reference(rows, moments):
    allowed, said, wanted = set(), [], []
    ways, states = made(lambda what, machine: said.append((what, machine.state)), allowed, rows)
    machine = StateMachine(StateMachineDefinition("any", states, ways))
    reference = ReferenceMachine(
        TREE, ways, lambda number: number in allowed, lambda what: wanted.append((what, reference.active)))
    machine.start()
    reference.start()
    for event, allows in moments:
        if event not in machine.definition.events:
            continue
        allowed.clear()
        allowed.update(allows)
        assert machine.send(event) == reference.send(event)
        assert said == wanted
        assert machine.state == reference.leaf


@pytest.mark.slow
@settings(max_examples=60)
@given(
    rows=st.lists(transitions, min_size=1, max_size=8),
    before=st.lists(st.sampled_from(EVENTS), max_size=8),
    after=st.lists(st.sampled_from(EVENTS), max_size=8))
def test_a_loaded_machine_goes_on_as_the_saved_one(rows, before, after):
    diaries = [], []
    machines = []
    for diary in diaries:
        ways, states = made(lambda what, _, diary=diary: diary.append(what), {0, 2, 4, 6}, rows)
        machines.append(StateMachine(StateMachineDefinition("any", states, ways)))
    first, second = machines
    first.start()
    for event in before:
        if event in first.definition.events:
            first.send(event)
            first.update(0.25)
    second.prepare_state(json.loads(json.dumps(first.save_state())))()
    assert diaries[1] == []
    assert second.to_text() == first.to_text()
    diaries[0].clear()
    for event in after:
        if event in first.definition.events:
            assert first.send(event) == second.send(event)
    assert diaries[0] == diaries[1]
    assert first.save_state() == second.save_state()
