"""A display without a screen, for pictures: Xvfb of the machine or of the cache."""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools import debian_prefix
from tools.processes import end_group
from tools.progress import StepFailed


@contextmanager
def virtual_display(width: int, height: int) -> Iterator[str]:
    """Run an X server for the block and give the name for $DISPLAY, such as ":99".

    Raises:
        StepFailed: if it cannot be had or does not start.
    """
    server, folder, drawing = _server()
    ready, writer = os.pipe()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*server, "-displayfd", str(writer), "-screen", "0", f"{width}x{height}x24",
             "-nolisten", "tcp", "-noreset"],
            cwd=folder, env={**os.environ, **drawing}, pass_fds=[writer], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors, text=True, start_new_session=True,
        )
        os.close(writer)
        try:
            with os.fdopen(ready) as answer:
                number = answer.readline().strip()  # comes when Xvfb is ready, ends if it dies
            if not number:
                errors.seek(0)
                raise StepFailed("starting Xvfb", errors.read(), "install xvfb, then try again")
            yield f":{number}"
        finally:
            end_group(process)


def _server() -> tuple[list[str], Path | None, dict[str, str]]:
    """Return Xvfb's command, the folder it must be started in, and variables by which it finds what it draws with."""
    if installed := shutil.which("Xvfb"):
        return [installed], None, {}
    if not debian_prefix.is_there():
        debian_prefix.fetch(["Xvfb on PATH: none"])
    keymaps = debian_prefix.prefix_folder() / "usr/share/X11/xkb"
    xvfb = debian_prefix.program("Xvfb")
    return [str(xvfb), "-xkbdir", str(keymaps)], xvfb.parent, debian_prefix.drawing_environment()
