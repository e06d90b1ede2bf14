"""What a test inside Godot asks for: the tree, nodes, scenes, frames, signals, expected errors."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _bridge import GDObject, construct, singleton

from pytest_godot_headless.engine_errors import ExpectedErrors
from pytest_godot_headless.inside import current_runner

EXPECTED = pytest.StashKey[ExpectedErrors]()


@pytest.fixture(scope="session")
def tree() -> Any:
    """The SceneTree."""
    return current_runner().get_tree()


@pytest.fixture(scope="session")
def root(tree: Any) -> Any:
    """The root window."""
    return tree.get_root()


@pytest.fixture(scope="session")
def frames() -> Callable[..., None]:
    """``frames(n=1)``: let the engine run n whole frames; timers, deferred calls and all."""
    return lambda count=1: current_runner().wait_for("process", count)


@pytest.fixture(scope="session")
def physics_frames() -> Callable[..., None]:
    """``physics_frames(n=1)``: let the engine run n physics steps; the physics space is open afterwards."""
    return lambda count=1: current_runner().wait_for("physics", count)


class Nodes:
    """Nodes made for one test, freed when it ends."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._made: list[GDObject] = []

    def keep(self, made: Any, parent: Any) -> Any:
        """Add a node below ``parent`` (by default the root) and free it when the test ends."""
        self._made.append(made)
        (self._root if parent is None else parent).add_child(made)
        return made

    def free_all(self) -> None:
        for made in reversed(self._made):
            if made.is_valid():
                made.free()


@pytest.fixture
def nodes_of_test(root: Any) -> Iterator[Nodes]:
    """The nodes that the fixtures ``node`` and ``scene`` made."""
    nodes = Nodes(root)
    yield nodes
    nodes.free_all()


@pytest.fixture
def node(nodes_of_test: Nodes) -> Callable[..., Any]:
    """``node(class_name, parent=None, **properties)``: a new node in the tree.

    The properties are set before it enters the tree, as a scene file does. ``class_name``
    may also be a node class written in Python.
    """

    def add(class_name: str | type, parent: Any = None, **properties: Any) -> Any:
        made = construct(getattr(class_name, "__engine_class__", class_name))
        for name, value in properties.items():
            made.set(name, value)
        return nodes_of_test.keep(made, parent)

    return add


@pytest.fixture
def scene(nodes_of_test: Nodes) -> Callable[..., Any]:
    """``scene(path, parent=None)``: an instance of a scene file in the tree."""

    def add(path: str, parent: Any = None) -> Any:
        packed = singleton("ResourceLoader").load(path)
        if packed is None:
            raise FileNotFoundError(f"no scene could be loaded from {path!r}; give a res:// path of a .tscn file")
        return nodes_of_test.keep(packed.instantiate(), parent)

    return add


@pytest.fixture
def signals() -> Iterator[Callable[[Any, str], list[tuple[Any, ...]]]]:
    """``signals(node, name)``: a list that grows by the arguments of each emission."""
    connections: list[tuple[Any, str, Callable[..., None]]] = []

    def listen(node: Any, name: str) -> list[tuple[Any, ...]]:
        if not node.has_signal(name):
            raise LookupError(f"{node!r} has no signal {name!r}")
        heard: list[tuple[Any, ...]] = []

        def hear(*arguments: Any) -> None:
            heard.append(arguments)

        node.connect(name, hear)
        connections.append((node, name, hear))
        return heard

    yield listen
    for node, name, hear in connections:
        if node.is_valid() and node.is_connected(name, hear):
            node.disconnect(name, hear)


@pytest.fixture
def expect_errors(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``expect_errors(text, times=None, at_least=1)``: the engine will complain with this text, and that is right."""
    return request.node.stash[EXPECTED].expect
