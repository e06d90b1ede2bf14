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


def test_the_signals_of_the_page_are_those_of_a_sensor(node, scheduler):
    page = (DOCS / "senses.md").read_text(encoding="utf-8")
    said = {
        name: re.findall(r"`(\w+): (\w+)`", arguments)
        for names, arguments in re.findall(r"^\| (`.*`) \| (`.*`) \|$", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)}
    eyes = node("Sensor3D", scheduler)
    own = {one["name"]: one["args"] for one in eyes.get_signal_list() if one["name"] in said}
    kinds = {2: "int", 3: "float", 4: "String", 9: "Vector3"}
    assert len(said) == 7
    assert {
        name: [(one["name"], one["class_name"] or kinds[one["type"]]) for one in arguments]
        for name, arguments in own.items()} == said


def test_the_noise_of_five_minutes_is_heard_from_behind(node, scheduler, signals, physics_frames):
    page = (DOCS / "five_minutes.md").read_text(encoding="utf-8")
    strength, metres = map(float, re.search(r'emit\("hearing", ([\d.]+)\).*from up to (\d+) m', page).groups())
    node("SenseManager", scheduler)
    eyes = node("Sensor3D", scheduler, position=Vector3(0, 1, 0))
    body = node("SenseSource3D", scheduler, position=Vector3(0, 1, metres))
    sensed = signals(eyes, "sensed")
    physics_frames(5)
    assert sensed == []
    body.emit("hearing", strength)
    body.emit("hearing", 2.0)
    physics_frames(10)
    assert [modality for _, modality, *_ in sensed] == ["hearing"]
    assert eyes.why(body)["senses"]["hearing"]["strength"] == body.sound_strength
