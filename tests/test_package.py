"""What ``import ai_core`` alone gives."""
from __future__ import annotations

import configparser
import subprocess
import sys
from pathlib import Path

import pytest

import ai_core

ROOT = Path(__file__).parents[1]


def test_the_version_is_that_of_the_addon():
    plugin = configparser.ConfigParser()
    plugin.read(ROOT / "addons/ai_core/plugin.cfg")
    assert plugin["plugin"]["version"].strip('"') == ai_core.__version__


def test_each_package_is_there_at_its_first_use_and_not_before():
    code = (
        "import sys, ai_core\n"
        "assert 'ai_core.senses' not in sys.modules\n"
        "for name in ai_core.PACKAGES: assert getattr(ai_core, name).__name__ == 'ai_core.' + name\n")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
    packages = {folder.parent.name for folder in (ROOT / "ai_core").glob("*/__init__.py")}
    assert set(ai_core.PACKAGES) == packages


def test_a_name_that_is_not_there_lists_the_packages():
    with pytest.raises(AttributeError, match="no attribute 'sences'; packages are decisions, events"):
        _ = ai_core.sences
