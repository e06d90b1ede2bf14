"""Which suites there are: every folder of tests/benchmarks with a suite.py."""
from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from tools.benchmarking.declarations import Suite
from tools.progress import StepFailed

FOLDER = Path("tests") / "benchmarks"


def suite_names(root: Path) -> list[str]:
    """Return the names of all suites, sorted."""
    return sorted(file.parent.name for file in (root / FOLDER).glob("*/suite.py"))


def chosen(root: Path, names: Sequence[str]) -> list[str]:
    """Return the named suites, all for no name.

    Raises:
        StepFailed: if there is no suite of such a name.
    """
    known = suite_names(root)
    for name in names:
        if name not in known:
            raise StepFailed("choosing suites", f"there is no suite {name!r}", f"use some of: {', '.join(known)}")
    return [name for name in known if name in names or not names]


def load(name: str) -> Suite:
    """Import a suite's declaration.

    Raises:
        StepFailed: if its suite.py binds no Suite to SUITE.
    """
    module = importlib.import_module(f"tests.benchmarks.{name}.suite")
    suite = getattr(module, "SUITE", None)
    if not isinstance(suite, Suite):
        why = f"{module.__file__} binds no Suite to SUITE"
        raise StepFailed(f"loading suite {name}", why, "write SUITE = Suite(…)")
    return suite
