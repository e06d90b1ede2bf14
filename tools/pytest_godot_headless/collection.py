"""Items that stand outside for the tests inside; their names and node ids are the same."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

JUDGED_INSIDE = {"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "timeout"}
"""Marks that pytest acts on; inside it does, and outside must not do it again."""


class GodotItem(pytest.Item):
    """One test inside Godot."""

    def __init__(self, *, description: dict[str, Any], **values: Any) -> None:
        super().__init__(**values)
        self.description = description
        for name in description["markers"]:
            if name not in JUDGED_INSIDE:
                self.add_marker(name)
        if self.config.pluginmanager.hasplugin("timeout"):
            self.add_marker(pytest.mark.timeout(0))  # godot_timeout_s holds instead

    def runtest(self) -> None:
        raise RuntimeError("a test inside Godot cannot run outside it")

    def reportinfo(self) -> tuple[Path, int | None, str]:
        _, line, name = self.description["location"]
        return self.path, line, name


class GodotGroup(pytest.Collector):
    """A test class inside Godot."""

    def __init__(self, *, descriptions: Sequence[dict[str, Any]], depth: int, **values: Any) -> None:
        super().__init__(**values)
        self._descriptions, self._depth = descriptions, depth

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return children(self, self._descriptions, self._depth)


class GodotFile(pytest.File):
    """A test file that is imported inside Godot alone."""

    describe: Callable[[Path], list[dict[str, Any]]]

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return children(self, self.describe(self.path), 0)


def children(
    parent: pytest.Collector, descriptions: Sequence[dict[str, Any]], depth: int
) -> list[pytest.Item | pytest.Collector]:
    """Return the items and groups below ``parent``, in the order inside.

    Args:
        parent: a file or class.
        descriptions: all tests below it.
        depth: how many names of each the parents took already.
    """
    made: list[pytest.Item | pytest.Collector] = []
    grouped: dict[str, list[dict[str, Any]]] = {}
    for description in descriptions:
        name, *rest = description["names"][depth:]
        if not rest:
            made.append(GodotItem.from_parent(parent, name=name, description=description))
            continue
        if name not in grouped:
            grouped[name] = []
            made.append(
                GodotGroup.from_parent(parent, name=name, descriptions=grouped[name], depth=depth + 1)
            )
        grouped[name].append(description)
    return made
