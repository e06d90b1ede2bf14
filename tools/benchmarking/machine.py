"""What the numbers were taken on: without it they say nothing to anybody else."""
from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from tools.processes import run

_CPU_FILE = Path("/proc/cpuinfo")


def machine() -> dict[str, object]:
    """Return processor, cores, system and how busy it is, as plain JSON data."""
    facts: dict[str, object] = {
        "processor": processor_name(_CPU_FILE.read_text() if _CPU_FILE.is_file() else ""),
        "cores": os.cpu_count(),
        "system": platform.platform(),
    }
    if hasattr(os, "getloadavg"):
        facts["load_1_min"] = round(os.getloadavg()[0], 2)
    return facts


def processor_name(cpuinfo: str) -> str:
    """Return the processor's name out of Linux's list, or what the platform says."""
    found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def commit(root: Path) -> str:
    """Return what is measured: the commit, with a + if files differ from it; "" without git."""
    finished = run(["git", "describe", "--always", "--dirty=+"], timeout_s=20.0, cwd=root)
    return finished.output.strip() if finished.succeeded else ""
