"""A display without a screen, for pictures: Xvfb of the machine or of the cache."""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.godot_engine import debian_prefix, own_loader
from tools.processes import end_group
from tools.progress import StepFailed

# What Xvfb holds as the folder of the program that compiles keyboard maps. No option
# changes it, so our copy of Xvfb looks in the folder it is started in instead.
_KEYMAP_PROGRAMS = b"\0/usr/bin\0"
_HERE = b"\0.".ljust(len(_KEYMAP_PROGRAMS), b"\0")


@contextmanager
def virtual_display(width: int, height: int) -> Iterator[str]:
    """Run an X server for the block and give the name for $DISPLAY, such as ":99".

    Raises:
        StepFailed: if it cannot be had or does not start.
    """
    with tempfile.TemporaryDirectory(prefix="ai_core_display.") as name:
        folder = Path(name)
        server = _server_command(folder)
        ready, writer = os.pipe()
        errors = folder / "errors"
        with errors.open("w") as error_file:
            process = subprocess.Popen(
                [*server, "-displayfd", str(writer), "-screen", "0", f"{width}x{height}x24",
                 "-nolisten", "tcp", "-noreset"],
                cwd=folder, pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=error_file, text=True, start_new_session=True,
            )
        os.close(writer)
        try:
            with os.fdopen(ready) as answer:
                number = answer.readline().strip()  # ends when Xvfb is ready or dead
            if not number:
                raise StepFailed("starting Xvfb", errors.read_text(), "install xvfb, or use --window")
            yield f":{number}"
        finally:
            end_group(process)


def _server_command(folder: Path) -> list[str]:
    if installed := shutil.which("Xvfb"):
        return [installed]
    prefix = debian_prefix(needed_for="drawing without a display")
    programs = prefix / "usr/bin"
    patched = folder / "Xvfb"
    patched.write_bytes(with_keymap_programs_here((programs / "Xvfb").read_bytes()))
    patched.chmod(0o755)
    compiler = folder / "xkbcomp"
    words = " ".join(f"'{word}'" for word in [*own_loader(prefix), str(programs / "xkbcomp")])
    compiler.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    compiler.chmod(0o755)
    return [*own_loader(prefix), str(patched), "-xkbdir", str(prefix / "usr/share/X11/xkb")]


def with_keymap_programs_here(program: bytes) -> bytes:
    """Return Xvfb's bytes changed so that it starts xkbcomp from the current folder.

    Raises:
        StepFailed: if the place to change is not there exactly once.
    """
    if program.count(_KEYMAP_PROGRAMS) != 1:
        raise StepFailed("preparing Xvfb", "this version of Xvfb is laid out differently", "install xvfb")
    return program.replace(_KEYMAP_PROGRAMS, _HERE)
