"""Versions of what measures, as seen from inside the process."""
from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def python_versions() -> dict[str, str]:
    """Return the versions of this Python and of NumPy."""
    versions = {"python": platform.python_version()}
    try:
        versions["numpy"] = version("numpy")
    except PackageNotFoundError:
        versions["numpy"] = "none"
    return versions
