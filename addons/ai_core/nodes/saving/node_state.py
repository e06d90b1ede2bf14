"""State of nodes, declared once; see ``ai_core.saving.declared_state``."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from addons.ai_core.bridge.gd import get_object
from addons.ai_core.nodes.saving.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.saving.scene_values import leave_out, path_of
from ai_core.saving.declared_state import Change, DeclaredState, Refuse
from ai_core.saving.fields import LeftOutError, State, StateError, checked_dict, place_in
from ai_core.saving.kinds import Kind, MapOf, Text


class SavedState:
    """Base of a node with a declared ``STATE``, for ``saving``; a field "settings" is a ``Hook``.

    Attributes:
        cannot_load: error of loading while ``is_in_use`` is false.
        parts_noun: kind of the parts that an update of the game may change: "habits"; "" if there are none.
        kept_of_others: what is loaded if they are others, for the message.
    """

    STATE: DeclaredState
    cannot_load = "does not run; add an AIScheduler first"
    parts_noun = kept_of_others = ""

    def saved(self: Any) -> State:
        """Return the state as plain data."""
        return self.STATE.save(self)

    def prepared(self: Any, state: object) -> Change:
        """Check a saved state; return the function that loads it, or raise StateError."""
        if not self.is_in_use():
            raise StateError(self.cannot_load)
        if self.parts_noun and has_other_parts(self, *self._parts(checked_dict("", state))):
            return self._prepared_of_others(state)
        return self.STATE.prepare(self, state)

    def _parts(self, state: State) -> tuple[Iterable[str], Iterable[str]]:
        """Return the names of its parts in a save, and those of the present ones."""
        raise NotImplementedError

    def _prepared_of_others(self, state: State) -> Change:
        """Check the save of a node with other parts; return the function that loads what fits the present ones."""
        raise NotImplementedError

    def _save_settings(self) -> State:
        return saved_settings(self)

    def _prepare_settings(self, plain: object, place: str) -> Change:
        return prepared_settings(self, plain, place)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Raise by ``refuse(field, why)`` if fields do not fit each other; ``values`` has those that were read."""

    def _finish_load(self) -> None:
        """Update what is derived from the fields, after a load."""


def saved_scripts(node: Any, nodes: Mapping[str, Any]) -> State:
    """Return what scripts of some nodes below a node save, by their paths; a freed node saves nothing."""
    plain = node._scheduler.values.plain
    return {path: plain(one.script_state() if one.is_valid() else None, f"_save_state() ({path})")
            for path, one in nodes.items()}


def prepared_scripts(node: Any, nodes: Mapping[str, Any], plain: object, place: str) -> Change:
    """Check what scripts of these nodes saved; return the function that hands it back."""
    scripts, read = MapOf(Kind(), names=nodes).read(plain, place, node), node._scheduler.values.engine_value
    found = {path: read(scripts[path], place_in(place, path)) for path in nodes}

    def change() -> None:
        for path, one in nodes.items():
            if one.is_valid():
                one.load_script_state(found[path])

    return change


class NodeAt(Kind):
    """A node of the scene, saved as its path from the ``_scheduler`` of the object that is saved."""

    def __init__(self, class_name: str = "Node", *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.class_name = class_name

    def save(self, value: Any, owner: Any) -> str:
        """Return the path."""
        return path_of(owner._scheduler, value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the node."""
        node = owner._scheduler.get_node_or_null(Text().read(plain, place, owner))
        if node is None or not node.is_class(self.class_name):
            leave_out(owner._scheduler, plain, place, self.class_name)
            raise LeftOutError(place)
        return node


class ByNode(MapOf):
    """A dict of values of one kind by the instance ids of nodes, saved as pairs, by path; freed nodes are left out."""

    def __init__(self, kind: Kind, class_name: str = "Node", *, at: str | None = None) -> None:
        super().__init__(kind, key=NodeAt(class_name), at=at)

    def save(self, value: dict[int, Any], owner: Any) -> Any:
        """Return the pairs of paths and values."""
        here = {get_object(one): kept for one, kept in value.items() if is_in_scene(one)}
        return sorted(super().save(here, owner), key=lambda pair: pair[0])

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the values by instance id."""
        return {node.instance_id: one for node, one in super().read(plain, place, owner).items()}


def has_other_parts(node: SavedState, saved: Iterable[str], here: Iterable[str]) -> bool:
    """Return whether the parts of a node are not those of its save, as after an update of the game; note it then.

    Raises:
        StateError: if they are not, unless the load under way leaves out what does not fit.
    """
    saved = {*map(str, saved)}
    new, gone, kept = sorted({*here} - saved), sorted(saved - {*here}), node.kept_of_others
    if not new and not gone:
        return False
    named = [f"{word} {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"
             for word, names in (("new:", new), ("gone:", gone)) if names]
    why, top = f"has other {node.parts_noun} than in the save ({'; '.join(named)})", node._scheduler.top
    if top.leaving_out is None:
        raise StateError(
            f"{why}; restore them before loading, or call load_state(state, true) of the AIScheduler, which loads only"
            f" {kept}")
    top.leaving_out[path_of(top, node)] = f"{why}; only {kept} are loaded"
    return True


def is_in_scene(instance_id: int) -> bool:
    """Return whether an id is that of a node inside the tree."""
    node = get_object(instance_id)
    return node is not None and bool(node.is_inside_tree())
