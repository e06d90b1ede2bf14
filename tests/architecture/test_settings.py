"""Settings that are handed on are written down once more, for completion and type checkers: as those that they name."""
import inspect
from dataclasses import fields

import pytest

from ai_core.decisions.habits.habits import Habit, HabitOptions
from ai_core.senses.graph.sense_graph_manager import SenseSettings
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.squads.formation import Formation, FormationSettings

BY_PATTERNS = {"pattern", "spacing_m", "files", "custom_slots"}
BY_BUILT_IN_HABITS = {"name", "tick", "tick_batch", "columns"}


def taken_by(kind):
    return {
        name: parameter.annotation for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD and name != "clock"}


@pytest.mark.parametrize(("settings", "taken"), [
    (SenseSettings, taken_by(RegionalSenseManager)),
    (HabitOptions, {name: one for name, one in taken_by(Habit).items() if name not in BY_BUILT_IN_HABITS}),
    (FormationSettings, {one.name: one.type for one in fields(Formation) if one.name not in BY_PATTERNS}),
], ids=lambda one: getattr(one, "__name__", ""))
def test_settings_that_are_handed_on_are_those_that_are_taken(settings, taken):
    assert {name: hint.__forward_arg__ for name, hint in settings.__annotations__.items()} == taken
