"""Every class, property, method and signal of the nodes is described in the editor's format."""
from __future__ import annotations

from xml.etree import ElementTree

import pytest

from addons.ai_core import nodes
from addons.ai_core.bridge.documentation import class_xml


@pytest.mark.parametrize("name", nodes.__all__)
def test_every_member_of_a_node_has_a_description(name):
    page = ElementTree.fromstring(class_xml(getattr(nodes, name)))
    assert page.findtext("brief_description")
    members = {one.get("name"): one.text for one in page.iter("member")}
    for kind in ("method", "signal"):
        members |= {one.get("name"): one.findtext("description") for one in page.iter(kind)}
    assert members
    assert [member for member, text in members.items() if not (text or "").strip()] == []
