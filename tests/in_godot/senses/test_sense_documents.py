"""The GDScript of docs/godot/senses.md and docs/godot/memory_and_awareness.md works as described."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import Vector3

DOCS = Path(__file__).parents[3] / "docs" / "godot"


@pytest.fixture
def guard(gdscript, node, scheduler):
    """``guard(page)``: a node with the script of a page, and a Sensor3D "Eyes" below it."""
    node("SenseManager", scheduler)
    made = []

    def make(page, **properties):
        source, = re.findall(r"```gdscript\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
        made.append(gdscript(source).new())
        node("Sensor3D", made[-1], name="Eyes")
        for name, value in properties.items():
            made[-1].set(name, value)
        scheduler.add_child(made[-1])
        return made[-1]

    yield make
    for one in made:
        one.free()


@pytest.fixture
def thief(node, scheduler):
    body = node("Node3D", scheduler, name="Thief", position=Vector3(0, 0, -5))
    node("SenseSource3D", body)
    return body


def test_guard_of_the_senses_page_gives_the_reason(guard, thief, physics_frames):
    one = guard("senses.md")
    physics_frames(5)
    assert one.call("why_not", thief) == "sensed"
    thief.set("position", Vector3(0, 0, 5))
    physics_frames(2)
    assert one.call("why_not", thief) == "outside every cone"


def test_guard_of_the_memory_page_informs_its_partner(guard, thief, node, scheduler, physics_frames):
    partner = node("Sensor3D", scheduler, position=Vector3(0, 0, 20))
    reports = []
    partner.target_reported.connect(lambda *arguments: reports.append(arguments))
    one = guard("memory_and_awareness.md", partner=partner)
    physics_frames(120)
    assert one.get("goal") == Vector3(0, 0, -5)
    assert len(reports) == 1
