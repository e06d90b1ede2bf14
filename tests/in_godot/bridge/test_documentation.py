"""Every class, property, method and signal of the nodes is described in the editor's format."""
from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from addons.ai_core import nodes
from addons.ai_core.bridge.documentation import _shown, class_xml
from addons.ai_core.bridge.gd import singleton

ROOT = Path(__file__).parents[3]

NAMES = sorted(name for name, one in vars(nodes).items() if "__declared__" in getattr(one, "__dict__", {}))
"""Names of all nodes."""


@pytest.mark.parametrize("name", NAMES)
def test_every_member_of_a_node_has_a_description(name):
    page = ElementTree.fromstring(class_xml(getattr(nodes, name)))
    assert page.findtext("brief_description")
    members = {one.get("name"): one.text for one in page.iter("member")}
    for kind in ("method", "signal"):
        members |= {one.get("name"): one.findtext("description") for one in page.iter(kind)}
    assert members
    assert [member for member, text in members.items() if not (text or "").strip()] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_the_engine_knows_of_a_class_is_described(name):
    page, db = ElementTree.fromstring(class_xml(getattr(nodes, name))), singleton("ClassDB")
    members = {one.get("name") for one in page.iter("member")}
    accessors = {one.get(kind) for one in page.iter("member") for kind in ("getter", "setter")}
    described = {one.get("name") for kind in ("method", "signal", "constant") for one in page.iter(kind)}
    groups = 64 | 128 | 256
    properties = {one["name"] for one in db.class_get_property_list(name, True) if not one["usage"] & groups}
    methods = {one["name"] for one in db.class_get_method_list(name, True)} - accessors
    assert properties == members
    assert methods - described == set()
    assert {one["name"] for one in db.class_get_signal_list(name, True)} - described == set()
    assert set(db.class_get_integer_constant_list(name, True)) - described == set()


def test_a_class_is_found_by_other_words_than_its_name():
    pages = {name: ElementTree.fromstring(class_xml(getattr(nodes, name))) for name in NAMES}
    found = {name for name, page in pages.items() if "behavior" in page.get("keywords", "")}
    assert {"HabitTree", "Habit"} <= found


def test_enums_read_as_words():
    hints = {one["name"]: one["hint_string"] for one in singleton("ClassDB").class_get_property_list("SenseManager")}
    assert hints["dimensions"] == "3D:0,2D:1"
    timing = {one["name"]: one["hint_string"] for one in singleton("ClassDB").class_get_property_list("Timeslicer")}
    assert timing["timing"].startswith("Asynchronous in and out:0,Synchronous in and asynchronous out:1")


def test_a_length_says_what_it_is_in_2d():
    page = ElementTree.fromstring(class_xml(nodes.SenseManager))
    [text] = [one.text for one in page.iter("member") if one.get("name") == "sight_range"]
    assert text.endswith("In 2D in px, by default 1920.")


def test_an_empty_dictionary_is_told_from_an_empty_array():
    page = ElementTree.fromstring(class_xml(nodes.Sensor3D))
    defaults = {one.get("name"): one.get("default") for one in page.iter("member")}
    assert (defaults["other_thresholds"], defaults["sight_cones"]) == ("{}", "[]")


def test_brackets_are_shown_and_ticks_become_code():
    assert _shown("at [day] call ``step()``") == "at [lb]day[rb] call [code]step()[/code]"


@pytest.mark.parametrize("name", NAMES)
def test_every_class_has_an_icon_of_sixteen_pixels(name):
    icon = ROOT / getattr(nodes, name).__declared__["icon"].removeprefix("res://")
    picture = ElementTree.parse(icon).getroot()
    assert (picture.get("width"), picture.get("height")) == ("16", "16")
    settings = icon.with_name(icon.name + ".import").read_text()
    assert "editor/scale_with_editor_scale=true" in settings
    assert "editor/convert_colors_with_editor_theme=true" in settings
