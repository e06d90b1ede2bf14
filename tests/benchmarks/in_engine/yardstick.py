"""What scenes that measure need from Python: the yardstick, and versions."""
from __future__ import annotations

import json
import resource
import time
from pathlib import Path

import _bridge

from addons.ai_core.bridge.gd import Node, gdclass, method
from tools.benchmarking.empty_call import empty_call_ns
from tools.benchmarking.versions import python_versions


@gdclass
class BenchYardstick(Node):
    """Times an empty Python method call inside this process."""

    @method
    def empty_call_ns(self) -> float:
        """Return the time of one (ns)."""
        return empty_call_ns()

    @method
    def thread_us(self) -> int:
        """Return how long the engine's main thread has run on a processor (µs)."""
        return time.thread_time_ns() // 1000

    @method
    def resident_kb(self) -> int:
        """Return the memory that this process holds (kB)."""
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize() // 1024

    @method
    def versions(self) -> str:
        """Return what is measured, as a JSON object."""
        return json.dumps({**python_versions(), "bridge": Path(_bridge.__file__).name})
