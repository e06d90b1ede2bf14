"""Every node class that has state: a life that is saved goes on as it would have, and damage is refused whole."""
from __future__ import annotations

import copy
import importlib
import inspect
import json
import random
from pathlib import Path

import pytest

import addons.ai_core.nodes
from addons.ai_core.bridge.gd import RefusedValue
from ai_core.saving.declared_state import DeclaredState
from tests.fuzz_snapshot import WAYS, Damage, box_at, places_by_kind
from tests.in_godot.saving.node_lives import LIVES, CoverLife

BASES = ("ImportanceAgent", "SavedState", "SenseMember", "SenseSourceBase", "SensorBase")
"""Classes of which others are made; the lives are those of the others."""

OPERATIONS = 14
"""Of a life before it is saved, and after (count); more find more, and take longer."""

WAYS_TO_SAVE = ("saved", "save_state")


def classes_with_state():
    package = addons.ai_core.nodes
    modules = [
        importlib.import_module(f"{package.__name__}.{file.parent.name}.{file.stem}")
        for file in Path(package.__file__).parent.glob("*/*.py")]
    return {kind for module in modules for kind in vars(module).values()
            if inspect.isclass(kind) and kind.__module__ == module.__name__
            and any(hasattr(kind, name) for name in ("STATE", *WAYS_TO_SAVE))}


@pytest.fixture
def world(node, gdscript, physics_frames):
    """``world(life)``: such a life in the tree."""
    return lambda life: life(node, gdscript, physics_frames)


every_life = pytest.mark.parametrize("life", LIVES, ids=lambda life: life.__name__)


def test_every_node_class_with_state_has_a_life():
    tested = {kind.__name__ for life in LIVES for kind in life.classes}
    found = {kind.__name__ for kind in classes_with_state()}
    assert not found - tested - {*BASES}, f"add a life to tests/in_godot/saving/node_lives.py: {found - tested}"
    assert not {*BASES} - found


@every_life
def test_save_is_made_by_the_classes_it_tests(life, world, monkeypatch):
    one, saved = world(life), set()
    one.live(random.Random(1), OPERATIONS)

    def note(owner, name):
        method = getattr(owner, name)

        def noted(*given, **named):
            saved.add(type(given[1] if owner is DeclaredState else given[0]).__name__)
            return method(*given, **named)

        monkeypatch.setattr(owner, name, noted)

    note(DeclaredState, "save")
    for kind in life.classes:
        for name in WAYS_TO_SAVE:
            if hasattr(kind, name):
                note(kind, name)
    one.save()
    assert {kind.__name__ for kind in life.classes} <= saved


@pytest.mark.parametrize("seed", range(3))
@every_life
def test_loaded_life_has_the_same_future(life, world, seed):
    chance = random.Random(seed)
    first, fresh, other = world(life), world(life), world(life)
    first.live(chance, chance.randint(0, 2 * OPERATIONS))
    other.live(chance, OPERATIONS)
    saved, future = first.save(), chance.random()
    for one in (fresh, other):
        one.load(copy.deepcopy(saved))
        assert not difference(one.save(), saved)
    expected, end = first.live(random.Random(future), OPERATIONS), first.save()
    for one in (fresh, other):
        assert one.live(random.Random(future), OPERATIONS) == expected
        assert not difference(one.save(), end)


def difference(one, other, place=""):
    """Return the first place at which two saves differ, with both values, or ""."""
    if type(one) is type(other) and isinstance(one, dict) and one.keys() == other.keys():
        return next(filter(None, (difference(one[key], other[key], f"{place}.{key}") for key in one)), "")
    if type(one) is type(other) and isinstance(one, list) and len(one) == len(other):
        return next(filter(None, (
            difference(*pair, f"{place}[{index}]") for index, pair in enumerate(zip(one, other, strict=True)))), "")
    return "" if one == other else f"{place}: {one!r} and {other!r}"


@every_life
def test_damaged_save_is_refused_whole_or_lives_on(life, world):
    chance = random.Random(1)
    one = world(life)
    one.live(chance, OPERATIONS)
    saved, damage = one.save(), Damage(chance)
    text = json.dumps(saved)
    for part in saved["parts"]:
        for places in places_by_kind(saved["parts"][part]).values():
            way, place, state = chance.choice(WAYS), chance.choice(places), json.loads(text)
            getattr(damage, way)(*box_at(state["parts"][part], place))
            try:
                if not is_refused(one, state, part):
                    one.free()
                    one = world(life)
                    one.load(json.loads(text))
                    assert not difference(one.save(), saved)
            except Exception as error:
                error.add_note(f"{life.__name__}: {way} of {part}: {place}")
                raise


def is_refused(one, state, part):
    """Load a damaged save; it is refused whole with a place, or loads as something that lives on and saves."""
    before, refusal = one.save(), ""
    try:
        one.load(state)
    except RefusedValue as error:
        refusal = str(error)
    if not refusal:
        one.live(random.Random(2), 3)
        one.save()
        return False
    assert not difference(one.save(), before), "a refused save changed something"
    assert "; nothing was changed" in refusal
    assert f"{part}: " in refusal, f"no place is named: {refusal}"
    return True


@every_life
def test_of_a_missing_character_all_else_is_loaded(life, world, expect_errors):
    one = world(life)
    one.live(random.Random(2), OPERATIONS)
    state = one.save()
    one.free()
    other = world(life)
    for actor in other.actors[1:3]:
        actor.free()
    expect_errors("load_state() left out", times=1)
    assert other.ai.call("load_state", state, True) is True
    assert {why for why in other.ai.get_left_out().values() if not why.startswith("has no jobs for keys")} == {
        "is not in the scene"}


@pytest.mark.parametrize(        # the engine builds the navigation map of a CoverLife in any number of frames
    "life", [one for one in LIVES if one is not CoverLife], ids=lambda life: life.__name__)
def test_same_life_again_has_the_same_save(life, world):
    saves = []
    for _ in range(2):
        one = world(life)
        one.live(random.Random(1), 2 * OPERATIONS)
        saves.append(one.save())
        one.free()
    assert not difference(*saves)
