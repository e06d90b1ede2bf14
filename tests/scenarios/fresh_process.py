"""Prints a digest of all bits of each scenario; run in a process of its own by the tests.

    python -m tests.scenarios.fresh_process [--quantised]
"""
from __future__ import annotations

import hashlib
import sys

from ai_core.loops import compiled
from demo_project.scenarios import SCENARIOS, build
from tests.scenarios.expected_digests import lines_of

if __name__ == "__main__":
    print(*compiled(), file=sys.stderr)
    exact = "--quantised" not in sys.argv
    for name in SCENARIOS:
        text = "\n".join(lines_of(build(name, 3), 90, exact=exact))
        print(name, hashlib.sha256(text.encode()).hexdigest())
