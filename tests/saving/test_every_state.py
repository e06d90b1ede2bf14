"""Every class that has state: a life that is saved goes on as it would have, and damaged saves are refused whole."""
from __future__ import annotations

import copy
import importlib
import inspect
import json
import pkgutil
import random

import pytest

import ai_core
from ai_core.saving.declared_state import DeclaredState
from ai_core.saving.fields import StateError
from tests.fuzz_snapshot import WAYS, Damage, box_at, places_by_kind
from tests.saving.lives.all_lives import LIVES

BASES = (
    "ai_core.decisions.population.DeciderPopulation",
    "ai_core.level_of_detail.population.people.People",
    "ai_core.saving.declared_state.Saveable",
    "ai_core.senses.graph.sense_graph_waves.GraphSignals",
    "ai_core.senses.turns.Turns",
    "ai_core.senses.stimuli.emitted_signals.EmittedSignals",
    "ai_core.snapshot.SnapshotPart",
    "ai_core.squads.tactics.Tactic",
)
"""Classes of which others are made, or that are only parts of others; the lives are those of the others."""

OPERATIONS = 14
"""Of a life before it is saved, and after (count); more find more, and take longer."""


def name_of(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def classes_with_state():
    modules = [importlib.import_module(one.name) for one in pkgutil.walk_packages(ai_core.__path__, "ai_core.")]
    kinds = {kind for module in modules for kind in vars(module).values()
             if inspect.isclass(kind) and kind.__module__.startswith("ai_core.")}
    return {name_of(kind) for kind in kinds
            if hasattr(kind, "STATE") or (hasattr(kind, "save_state") and hasattr(kind, "prepare_state"))}


every_life = pytest.mark.parametrize("life", LIVES, ids=lambda life: life.__name__)


def test_every_class_with_state_has_a_life():
    tested = {name_of(kind) for life in LIVES for kind in life.classes}
    missing = classes_with_state() - tested - {*BASES}
    assert not missing, f"add a life to tests/saving/lives for {sorted(missing)}"
    assert not {*BASES} - classes_with_state()


@every_life
def test_save_is_made_by_the_classes_it_tests(life, monkeypatch):
    world, saved = life(), set()
    world.live(random.Random(1), OPERATIONS)

    def note(owner, name):
        """Have calls of a method noted: those of ``DeclaredState`` under the class of their first argument."""
        method = getattr(owner, name)

        def noted(*given):
            saved.add((type(given[1]) if owner is DeclaredState else owner, name.removesuffix("_state")))
            return method(*given)

        monkeypatch.setattr(owner, name, noted)

    for name in ("save", "prepare"):
        note(DeclaredState, name)
        for kind in life.classes:
            if hasattr(kind, f"{name}_state"):
                note(kind, f"{name}_state")
    world.load(world.save())
    assert saved >= {(kind, name) for kind in life.classes for name in ("save", "prepare")}


@pytest.mark.parametrize("seed", range(3))
@every_life
def test_loaded_life_has_the_same_future(life, seed):
    chance = random.Random(seed)
    first, fresh, other = life(), life(), life()
    first.live(chance, chance.randint(0, 2 * OPERATIONS))
    other.live(chance, OPERATIONS)
    saved, future = first.save(), chance.random()
    first.loaded()
    first.told.clear()
    for world in (fresh, other):
        world.load(copy.deepcopy(saved))
        assert world.save() == saved
    expected = first.live(random.Random(future), OPERATIONS), first.save()
    for world in (fresh, other):
        assert (world.live(random.Random(future), OPERATIONS), world.save()) == expected


@every_life
def test_damaged_save_is_refused_whole_or_lives_on(life):
    chance = random.Random(1)
    world = life()
    world.live(chance, OPERATIONS)
    saved, damage = world.save(), Damage(chance)
    text = json.dumps(saved)
    for subject in world.subjects():
        for places in places_by_kind(saved[subject]).values():
            way, place, states = chance.choice(WAYS), chance.choice(places), json.loads(text)
            getattr(damage, way)(*box_at(states[subject], place))
            try:
                if not is_refused(world, states, subject):
                    world = life()
                    world.load(json.loads(text))
                    assert world.save() == saved
            except Exception as error:
                error.add_note(f"{life.__name__}: {way} of {subject}: {place}")
                raise


def is_refused(world, states, subject):
    """Load a damaged save; it is refused whole with a place, or loads as something that lives on and saves."""
    before, refusal = world.subjects()[subject].save_state(), ""
    try:
        world.load(states)
    except StateError as error:
        refusal = str(error)
    if not refusal:
        world.live(random.Random(2), 3)
        world.save()
        return False
    assert world.subjects()[subject].save_state() == before, "a refused save changed something"
    names = [*before, *states[subject], "the state"]
    is_named = any(str(name).rstrip("s") in refusal for name in names)
    assert is_named or not world.names_whole_places, f"no place is named: {refusal}"
    return True
