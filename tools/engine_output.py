"""What counts as a complaint in Godot's output."""
from __future__ import annotations

import re

# Godot colours its output only on a terminal, but says "ERROR:" at the line's start always.
_COMPLAINT = re.compile(r"^(?:\x1b\[[0-9;]*m)*\s*(?:USER )?(?:SCRIPT )?(?:ERROR|WARNING)\s*:")
_LEAK = re.compile(r"ObjectDB instances? (?:were )?leaked|Leaked instance:|resources still in use")

# Jolt says so when its worker threads get no processor for a while: a busy machine, no fault of a scene.
_BUSY_MACHINE = "Jolt Physics job system exceeded the maximum number of jobs"


def is_complaint(line: str) -> bool:
    """Return whether a line of Godot's output reports an error, a warning or a leak."""
    return bool(_COMPLAINT.match(line) or _LEAK.search(line)) and _BUSY_MACHINE not in line


def complaints(output: str) -> list[str]:
    """Return the lines of Godot's output that report errors, warnings and leaks."""
    return [line for line in output.splitlines() if is_complaint(line)]
