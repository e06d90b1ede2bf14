"""The README's samples do what the README says."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from addons.ai_core.bridge.registration import declared_classes

README = (Path(__file__).parents[3] / "README.md").read_text()


def samples(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_guard_tells_what_it_notices(gdscript, node, scheduler, physics_frames):
    node("SenseManager", scheduler)
    [source] = samples("gdscript")
    guard = gdscript(source).new()
    eyes = construct("Sensor3D")
    eyes.name = "Sensor3D"
    guard.add_child(eyes)
    scheduler.add_child(guard)
    thief = node("SenseSource3D", position=Vector3(0, 0, -4))
    physics_frames(3)
    assert guard.call("strongest_belief")["target"] == thief


@pytest.mark.parametrize("class_name", re.findall(r"^\| (`[^|]*) \|", README, re.MULTILINE))
def test_every_node_of_the_table_exists(class_name):
    for name in re.findall(r"`(\w+)`", class_name):
        made = construct(name)
        assert made.get_class() == name
        if made.is_class("Node"):  # a resource goes when nobody holds it
            made.free()


def test_every_node_is_in_the_table():
    rows = re.findall(r"^\| (`[^|]*) \|.*", README, re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    told |= {name.replace("3D", "2D") for name in told}        # "(and 2D)"
    ours = {one.__name__ for one in declared_classes if one.__module__.startswith("addons.ai_core.nodes")}
    assert "Squad" in ours
    assert ours - told == set()
