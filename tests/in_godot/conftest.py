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
def scheduler(node):
    """An AIScheduler without a limit on time, so that results do not depend on the machine."""
    return node("AIScheduler", budget_us=0.0)
