"""Compiled loops inside Godot: the same file that Python alone imports."""
from __future__ import annotations

import ai_core
import ai_core.senses.sight.sight_loops as sight_loops
from ai_core.loops import loop_modules


def test_godot_s_python_runs_the_loops_that_were_built():
    assert ai_core.compiled() == loop_modules()
    assert type(sight_loops.shown).__name__ == "cython_function_or_method"
