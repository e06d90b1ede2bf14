"""Tests of other platforms, on this machine: run by their names only (`dev.py test windows`)."""
from __future__ import annotations

import pytest

from tools.preparation import ROOT, Prepared, build


@pytest.fixture(scope="session")
def prepared() -> Prepared:
    """Godot, which describes its interface, and this machine's build."""
    return build(ROOT)
