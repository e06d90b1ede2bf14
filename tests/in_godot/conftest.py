"""What the tests inside Godot share: GDScript written in the test, and a scene with a scheduler."""
from __future__ import annotations

import textwrap

import pytest

from addons.ai_core.bridge.gd import construct


@pytest.fixture
def gdscript():
    """``gdscript(source)``: a compiled script, as if it stood in a .gd file."""
    made = []

    def compile_source(source):
        script = construct("GDScript")
        script.set("source_code", textwrap.dedent(source))
        assert script.reload() == 0, "the script does not compile"
        made.append(script)
        return script

    return compile_source


@pytest.fixture
def world(node):
    """A world of its own, with a navigation map and a space that no other test has."""
    return node("SubViewport", own_world_3d=True)


@pytest.fixture
def scheduler(node, request):
    """An AIScheduler without a limit on time, so that results do not depend on the machine.

    In tests marked ``in_its_own_world`` it is in ``world``, and goes on with physics, as bodies do.
    """
    if request.node.get_closest_marker("in_its_own_world") is None:
        return node("AIScheduler", budget=0.0)
    return node("AIScheduler", request.getfixturevalue("world"), budget=0.0, update=1)
