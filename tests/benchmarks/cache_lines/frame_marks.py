"""Marks of a frame that is stepped through: system calls that the command lines looks for."""
from __future__ import annotations

import importlib
import os
import signal
from pathlib import Path
from typing import Any

from addons.ai_core.bridge.gd import Node, gdclass, method

mark_frame, mark_phase = os.getpgid, os.getppid
names: list[str] = []


def count_apart(function: str) -> None:
    """Let a function of the form "module:Class.name" be a phase of its own."""
    module, _, path = function.partition(":")
    owner: Any = importlib.import_module(module)
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    inner = getattr(owner, name)

    def counted(*args: Any, **more: Any) -> Any:
        names.append(f"in {path}")
        mark_phase()
        try:
            return inner(*args, **more)
        finally:
            names.append(f"after {path}")
            mark_phase()

    setattr(owner, name, counted)


@gdclass
class FrameMarks(Node):
    """Stops the process before a frame, and marks the beginning and the end of it."""

    @method
    def prepare(self) -> None:
        """Count the functions apart that the environment names."""
        for function in os.environ["LINES_PHASES"].split():
            count_apart(function)

    @method
    def stop(self) -> None:
        """Stop until somebody steps through this process."""
        os.kill(os.getpid(), signal.SIGSTOP)

    @method
    def begin(self) -> None:
        """Mark the beginning of the frame."""
        names.clear()
        mark_frame(0)

    @method
    def end(self) -> None:
        """Mark the end of the frame, and write the names of its phases."""
        mark_frame(0)
        Path(os.environ["LINES_NAMES"]).write_text("\n".join(names), encoding="utf-8")
