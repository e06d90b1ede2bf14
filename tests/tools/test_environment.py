"""The pinned versions, and when the environment counts as up to date."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.environment import pinned_requirements, requirements_digest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pyproject():
    return (ROOT / "pyproject.toml").read_text()


def test_every_development_requirement_is_pinned_to_one_version(pyproject):
    assert all("==" in requirement for requirement in pinned_requirements(pyproject))
    assert any(requirement.startswith("numpy==") for requirement in pinned_requirements(pyproject))


def test_a_loose_requirement_is_refused():
    with pytest.raises(ValueError, match="must pin each version with ==, got 'numpy>=2'"):
        pinned_requirements('[dependency-groups]\ndev = ["numpy>=2"]')


def test_other_pin_or_place_requires_a_new_installation(pyproject):
    digest = requirements_digest(pyproject, Path("/here"))
    assert requirements_digest(pyproject.replace('"numpy==', '"numpy==1'), Path("/here")) != digest
    assert requirements_digest(pyproject, Path("/there")) != digest


def test_a_lint_setting_does_not_ask_for_a_new_installation(pyproject):
    changed = pyproject.replace("line-length = 120", "line-length = 100")
    assert changed != pyproject
    assert requirements_digest(changed, Path("/here")) == requirements_digest(pyproject, Path("/here"))
