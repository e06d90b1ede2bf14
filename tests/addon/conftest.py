"""What tests that start Godot share: what is built, and the zip that users get, packed once."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.packaging.command import package
from tools.preparation import ROOT, Prepared, build

HERE = Path(__file__).parent
LIMIT_S = 400.0
"""How long a test here may take (s); those that need more say so."""


@pytest.fixture(scope="session")
def prepared() -> Prepared:
    """Godot, and the addon as built."""
    return build(ROOT)


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The addon's zip, as `dev.py package` makes it."""
    return package(build(ROOT), tmp_path_factory.mktemp("package"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test here that sets no limit of its own more time than others have: starting Godot takes
    2 s on a quiet machine, and was seen to take 20 on a slow one that starts two at once."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_S))
