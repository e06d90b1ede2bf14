"""What tests that start Godot share: the zip that users get, packed once."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.packaging.command import package
from tools.preparation import ROOT, build


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The addon's zip, as `dev.py package` makes it."""
    return package(build(ROOT), tmp_path_factory.mktemp("package"))
