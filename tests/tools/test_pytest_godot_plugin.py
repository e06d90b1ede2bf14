"""What the outer pytest tells of a Godot that is gone."""
from __future__ import annotations

from pytest_godot_headless.godot_process import GodotDied
from pytest_godot_headless.plugin import SHOWN_OUTPUT, death_text


def test_long_output_shows_lines_before_a_crash_and_stack_end():
    stack = "\n".join(f"  frame {number}" for number in range(10_000))
    told = death_text(GodotDied("ended by SIGABRT", f"last words\n{stack}"))
    assert "last words\n  frame 0\n" in told
    assert told.endswith("  frame 9999")
    assert len(told) < SHOWN_OUTPUT + 100


def test_short_output_is_shown_whole_and_missing_one_is_stated():
    assert death_text(GodotDied("ended", "all of it\n")).endswith(":\nall of it")
    assert death_text(GodotDied("ended", "")).endswith("(nothing)")
