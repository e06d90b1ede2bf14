"""Godot's side: a node that runs pytest in a greenlet, beside the engine's frames.

The engine calls the node each frame; the node switches to pytest; a test that waits for
frames switches back. The node is the last to be processed, so a frame is complete when a
test goes on. Imported when the extension starts, because ``AI_CORE_MODULES`` names it.
"""
from __future__ import annotations

import json
import os
from typing import Any

import greenlet

from addons.ai_core.bridge.gd import Node, gdclass

ALWAYS = 3
"""Process mode of the engine that a paused tree does not stop."""

LAST = 1 << 30
"""Priority of the runner; larger comes later, and nobody sensible uses as much."""

SETTINGS = "PYTEST_GODOT_HEADLESS"
"""Environment variable with our settings as JSON; pytest is inside Godot when it is set."""

_runner: GodotPytestRunner | None = None


def current_runner() -> Any:
    """Return the node that runs pytest."""
    if _runner is None:
        raise RuntimeError("pytest does not run inside Godot; start it outside, it starts Godot by itself")
    return _runner


@gdclass
class GodotPytestRunner(Node):
    """Runs pytest between frames; made by run_pytest.gd, never by hand."""

    def __init__(self) -> None:
        self._pytest: greenlet.greenlet | None = None
        self._engine: greenlet.greenlet | None = None
        self._awaited = "process"
        self._frames_left = 1

    def _enter_tree(self) -> None:
        global _runner
        _runner = self
        self.set_process_mode(ALWAYS)        # tests go on in a game that is paused
        self.set_process_priority(LAST)
        self.set_physics_process_priority(LAST)
        self._pytest = greenlet.greenlet(run_pytest)

    def _process(self, delta: float) -> None:
        self._frame_is_over("process")

    def _physics_process(self, delta: float) -> None:
        self._frame_is_over("physics")

    def wait_for(self, kind: str, count: int) -> None:
        """Called by a test: return when ``count`` frames of a kind are over.

        Raises:
            RuntimeError: inside something that the engine called, such as a signal handler.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"the number of frames must be a whole number of at least 1, got {count!r}")
        if greenlet.getcurrent() is not self._pytest or _callback_depth() > 1:
            raise RuntimeError(
                "frames cannot be awaited inside a call from the engine (a signal handler, a virtual"
                " method); note what happened there and wait in the test itself"
            )
        self._awaited, self._frames_left = kind, count
        assert self._engine is not None
        self._engine.switch()

    def _frame_is_over(self, kind: str) -> None:
        if self._pytest is None or self._pytest.dead or kind != self._awaited:
            return
        self._frames_left -= 1
        if self._frames_left > 0:
            return
        self._engine = greenlet.getcurrent()
        result = self._pytest.switch()
        if self._pytest.dead:
            self.get_tree().quit(int(result))


def _callback_depth() -> int:
    """Return how many calls from the engine we are in; the runner's own frame is the first."""
    import _bridge

    return int(_bridge.callback_depth())


def run_pytest() -> int:
    """Run pytest as the outer half asks; returns its exit status."""
    import pytest

    from pytest_godot_headless.service import Service

    settings = json.loads(os.environ[SETTINGS])
    try:
        return int(pytest.main(settings["arguments"], plugins=[Service(settings)]))
    except BaseException:
        import traceback

        traceback.print_exc()  # else nobody would hear of it: the outer half shows our output
        return 3
