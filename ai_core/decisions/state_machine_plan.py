"""What a definition of states is worked out to: nodes, routes between them, ways they take."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ai_core.decisions.state_machine_states import Action, State, Transition

if TYPE_CHECKING:
    from ai_core.decisions.state_machine import StateMachine

__all__ = ["Node", "Route", "Step", "Way", "deepest_common", "first_leaf", "is_notice"]

Step = tuple[Callable[["StateMachine"], object], str]
"""A callback, and what faults call it."""

Finder = Callable[["Node", "Node | None", dict[int, int]], "Way | None"]
"""Told the active leaf, the one before, and where each state was left; finds the way."""


class Node:
    """A state at its place in a definition.

    Attributes:
        index: number in the definition, parents before those inside; -1 for the root.
        depth: states around it.
        enter, update, exit: its callback, or nothing.
        table: of a leaf: by event, the routes to try in turn.
        automatic: of a leaf: the routes to try at each update.
        updates: of a leaf: what an update calls, the outermost first.
        is_still: of a leaf: an update does nothing.
    """

    __slots__ = (
        "automatic", "children", "depth", "enter", "exit", "index", "initial", "is_still", "name",
        "parent", "path", "table", "update", "updates",
    )

    def __init__(self, state: State | None, path: str, parent: Node | None, index: int) -> None:
        self.name = path.rpartition("/")[2]
        self.path = path
        self.parent = parent
        self.index = index
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.children: list[Node] = []
        self.initial: Node | None = None
        self.enter = _steps(None if state is None else state.enter, f"enter of {path}")
        self.update = _steps(None if state is None else state.update, f"update of {path}")
        self.exit = _steps(None if state is None else state.exit, f"exit of {path}")
        self.table: dict[str, tuple[Route, ...]] = {}
        self.automatic: tuple[Route, ...] = ()
        self.updates: tuple[Step, ...] = ()
        self.is_still = True

    def up(self) -> list[Node]:
        """Return this and all around it, the root last."""
        return [self] if self.parent is None else [self, *self.parent.up()]

    def up_to(self, domain: Node) -> list[Node]:
        """Return this and those around it that are inside ``domain``."""
        above = self.up()
        return above[: above.index(domain)]

    def leaf(self, index: int) -> Node:
        """Return the node of an index inside this one."""
        for child in self.children:
            if child.index == index:
                return child
            if child.children and child.index < index <= last_index(child):
                return child.leaf(index)
        raise LookupError(f"{self.path!r} has no state {index} inside")


class Way:
    """What is left and entered between two leaves.

    Attributes:
        leaf: where it ends.
        exits: what leaving calls, the innermost first.
        enters: what entering calls, the outermost first.
        entered: the states that begin.
        remembered: indexes of states left that a transition with history leads to.
        timed: indexes of states entered that a transition without event waits in.
        only_tells: leaving and entering call nothing but notices.
    """

    __slots__ = ("entered", "enters", "exits", "leaf", "only_tells", "remembered", "timed")

    def __init__(
        self, leaf: Node, exited: list[Node] | tuple[()], entered: list[Node], remembered: set[int], timed: set[int]
    ) -> None:
        self.leaf = leaf
        self.exits = tuple(step for node in exited for step in node.exit)
        self.enters = tuple(step for node in entered for step in node.enter)
        self.entered = tuple(entered)
        self.remembered = tuple(node.index for node in exited if node.index in remembered)
        self.timed = tuple(node.index for node in entered if node.index in timed)
        self.only_tells = all(map(is_notice, (*self.exits, *self.enters)))


class Route:
    """A transition as it stands open to one leaf.

    Attributes:
        source: the state it leads from: the leaf, or one around it.
        way: None if it stays, or if ``find`` finds the way each time.
        only_tells: its actions are nothing but notices.
    """

    __slots__ = ("actions", "after_s", "find", "guard", "guard_name", "only_tells", "reason", "source", "way")

    def __init__(self, source: Node, transition: Transition, reason: str) -> None:
        self.source = source
        self.guard: Action | None = transition.guard
        self.guard_name = ""
        self.after_s = transition.after_s
        self.reason = reason
        self.actions: tuple[Step, ...] = ()
        self.only_tells = True
        self.way: Way | None = None
        self.find: Finder | None = None


def is_notice(step: Step) -> bool:
    """Return whether a callback only tells whoever listens, and says so by a true attribute ``is_notice``."""
    return getattr(step[0], "is_notice", False) is True


def deepest_common(source: Node, target: Node) -> Node:
    """Return the innermost state that contains the target, and is the source or contains it."""
    above = source.up()
    return next(node for node in target.up()[1:] if node in above)


def first_leaf(node: Node) -> Node:
    """Return where a state begins: its initial state's initial state, and so on."""
    while node.initial is not None:
        node = node.initial
    return node


def last_index(node: Node) -> int:
    """Return the largest index inside a node."""
    while node.children:
        node = node.children[-1]
    return node.index


def _steps(action: Action | None, name: str) -> tuple[Step, ...]:
    return () if action is None else ((action, name),)
