"""CharacterPicker: a click in the running game chooses a character for the debugger."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import construct, singleton
from addons.ai_core.nodes.debugging.character_strip import STRIPS, STRIPS_LAYER, strip_of
from addons.ai_core.nodes.debugging.debug_watch import MOST_CHARACTERS, characters_of

INTERNAL = 1


class CharacterPicker:
    """Shows a strip at each character on the screen; the next click chooses the nearest one.

    Args:
        node: gets the strips as an internal child.
        on_picked: called with the path of the character.
    """

    def __init__(self, node: Any, on_picked: Callable[[str], object]) -> None:
        self._node, self._on_picked = node, on_picked
        self._scheduler: Any = None
        self._layer: Any = None
        self._strips: Any = None

    def begin(self, scheduler: Any) -> None:
        """Wait for a click on a character of a scheduler."""
        if self._layer is None:
            self._layer = construct("CanvasLayer")
            self._layer.layer = STRIPS_LAYER
            self._strips = singleton("ResourceLoader").load(STRIPS).new()
            self._strips.picks = True
            self._strips.connect("chosen", self._on_picked)
            self._layer.add_child(self._strips)
            self._node.add_child(self._layer, False, INTERNAL)
        self._scheduler = scheduler
        self.update()

    def update(self) -> None:
        """Show the strips of the characters that are on the screen now."""
        if self._layer is None or not self._layer.is_valid() or not self._scheduler.is_valid():
            return
        paths = characters_of(self._scheduler.joined_nodes, "", MOST_CHARACTERS)
        nodes = [self._scheduler.get_node_or_null(path) for path in self._strips.on_screen(paths)]
        self._strips.show_strips([strip_of(one) for one in nodes if one is not None])

    def end(self) -> None:
        """Remove the strips."""
        if self._layer is not None and self._layer.is_valid():
            self._layer.queue_free()
        self._layer = self._strips = self._scheduler = None
