"""Coming and going of listeners, and of what they cost while they are there."""
from __future__ import annotations

import tracemalloc

from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from tools.benchmarking.declarations import Contest

MOST_BYTES = 200
"""Memory of one registration (bytes), its handler not counted."""


def coming_and_going(n: int) -> Contest:
    """n listeners of one code come and go again, the first first."""
    manager, rows = EventManager(ManualClock()), dict[object, object]()
    memory: list[str] = []

    def ours() -> int:
        listenings = [manager.listen("alarm", print) for _ in range(n)]
        for listening in listenings:
            listening.stop()
        return len(manager.codes)

    def dictionary() -> int:
        keys = [object() for _ in range(n)]
        for key in keys:
            rows[key] = print
        for key in keys:
            del rows[key]
        return len(rows)

    def complaint() -> str:
        if not memory:
            memory.append(_memory_complaint(n))
        return memory[0]

    return Contest(ours, {"set and delete in a dictionary": dictionary}, complaint=complaint)


def _memory_complaint(n: int) -> str:
    manager = EventManager(ManualClock())
    tracemalloc.start()
    kept = [manager.listen("alarm", print) for _ in range(n)]
    manager.has_listeners("alarm")
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    each = taken / len(kept)
    return f"a registration takes {each:.0f} bytes, {MOST_BYTES} are allowed" if each > MOST_BYTES else ""
