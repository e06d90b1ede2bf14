"""Pages of the manual made of the class reference."""
from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tools.documentation.class_pages import class_page, limits_of, markdown
from tools.documentation.site import with_menu

XML = """<class name="Lamp" inherits="Node3D">
<brief_description>Gives light.</brief_description><description>Gives light.</description>
<methods>
<method name="burn"><return type="bool"/><param index="0" name="for_s" type="float" default="1"/>
<description>Burn as [code]wax[/code] does.</description></method>
<method name="_went_out" qualifiers="virtual"><return type="void"/><description>Told.</description></method>
</methods>
<members><member name="angle" type="float" default="1.5708" hint="0,180,0.1,radians_as_degrees">How wide.</member>
<member name="oil" type="Oil" default="null" hint="">What it burns, of max_oil.</member></members>
<signals><signal name="lit"><param index="0" name="by" type="Node"/>
<description>It burns.</description></signal></signals>
<constants><constant name="WICK_SHORT" value="0" enum="Wick">x</constant></constants></class>"""


@pytest.fixture
def page():
    return class_page(ElementTree.fromstring(XML), ["Lamp", "Oil"])


def test_every_member_has_a_heading_and_its_text(page):
    for heading in ("# Lamp", "### angle", "### oil", "### burn", "### lit", "### Wick"):
        assert f"{heading}\n" in page
    for text in ("Gives light.", "How wide.", "Burn as `wax` does.", "Told.", "It burns.", "- `WICK_SHORT` = 0"):
        assert text in page


def test_signatures_show_types_and_defaults(page):
    assert "`burn(for_s: float = 1)` → [bool](" in page
    assert "`lit(by: Node)`" in page
    titles = ["## Methods\n", "## Methods that a script may override", "### _went_out"]
    assert sorted(titles, key=page.index) == titles


def test_angles_are_shown_in_degrees_and_limits_in_words(page):
    assert "= `90°`, 0 to 180°" in page
    assert limits_of("0,100,0.1,or_greater,suffix:m") == "0 to 100 m and more"
    assert limits_of("0,1e+09,0.001,or_greater,suffix:s") == "in s, 0 or more"
    assert limits_of("Idle:0,Physics:1") == ""


def test_own_classes_link_to_the_manual_and_others_to_the_engine(page):
    assert "[Oil](Oil.md)" in page
    assert "[Node3D](https://docs.godotengine.org/" in page


def test_names_with_underscores_are_no_mark_up():
    assert markdown("of max_oil and [code]a_b[/code], [lb]day[rb]") == "of max\\_oil and `a_b`, \\[day\\]"


def test_brackets_are_brackets_within_code_and_without():
    assert markdown("[code]then(time, [lb]day[rb])[/code] while oil < 3") == "`then(time, [day])` while oil &lt; 3"


def test_every_page_is_in_the_menu(tmp_path):
    (tmp_path / "nodes").mkdir()
    for name in ("index.md", "new.md", "nodes/index.md", "nodes/Lamp.md"):
        (tmp_path / name).touch()
    menu = with_menu("nav:\n  - index.md\n  - Nodes: nodes/\n", tmp_path)
    assert "  - Nodes: [nodes/index.md, nodes/Lamp.md]\n" in menu
    assert menu.endswith("  - More:\n      - new.md\n")
