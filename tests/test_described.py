"""The short repr of public classes."""
from __future__ import annotations

import importlib
import inspect
import pkgutil
import random

import pytest

import ai_core
from ai_core.described import Described
from tests.saving.lives.all_lives import LIVES

LONGEST = 250
"""Of a repr that somebody reads in a debugger's row (characters)."""


class Door(Described):
    SHOWN = ("name", "keys", "place", "weight_kg", "owner.name")

    def __init__(self):
        self.name, self.keys, self.place, self.weight_kg = "back door", [1, 2], (1.0, 2.5), 1 / 3


def public_classes():
    packages = [importlib.import_module(f"ai_core.{one.name}") for one in pkgutil.iter_modules(ai_core.__path__)]
    found = {kind for package in [ai_core, *packages] for name in getattr(package, "__all__", ())
             if inspect.isclass(kind := getattr(package, name)) and kind.__module__.startswith("ai_core.")}
    return sorted(found, key=lambda kind: kind.__qualname__)


def test_repr_shows_values_sizes_and_places():
    assert repr(Door()) == "<Door name='back door' keys=2 place=(1.0, 2.5) weight_kg=0.333333>"


def test_repr_of_a_half_made_object_does_not_raise():
    assert repr(Door.__new__(Door)) == "<Door>"


@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__qualname__)
def test_public_class_has_a_repr(kind):
    is_interface = getattr(kind, "_is_protocol", False) or inspect.isabstract(kind)
    assert is_interface or kind.__repr__ is not object.__repr__, "add Described to its bases, and SHOWN"


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.__name__)
def test_repr_of_living_objects_shows_all_that_is_named(life):
    world = life()
    world.live(random.Random(1), 14)
    for part in world.parts().values():
        text = repr(part)
        assert len(text) <= LONGEST
        if isinstance(part, Described):
            assert all(f" {name}=" in text for name in part.SHOWN), text
