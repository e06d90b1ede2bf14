"""Saving a crowd of nodes that decide: who has their turns when, in which order, and whose turn it is."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from addons.ai_core.nodes.saving.scene_values import path_of
from ai_core.saving.fields import Fields, State

Key = tuple[int, int]
"""Of a pace: its period and phase (frames)."""


class SavedPace(NamedTuple):
    """Nodes that had their turns in the same frames.

    Attributes:
        late_s: how long before the save they had their last turns (s).
        population: state of what they live in.
        nodes: their paths, in the order of their turns; None in an early save.
    """

    late_s: float
    population: object
    nodes: list[str] | None


class CrowdSaving:
    """How a ``CharacterCrowd`` is saved and loaded; a part of that class."""

    paces: list[Any]
    new_population: Callable[[], Any]
    pace_at: Callable[[int, int], Any]
    seat: Callable[..., None]
    unseat: Callable[[Any], None]
    _resume: Callable[[], None]
    _pace_for: Callable[[int], Any]
    _scheduler: Any
    _nodes: dict[int, tuple[Any, float, Any]]
    _to_edit: dict[int, Any]
    _waiting: list[Any]
    _loaded: dict[Key, SavedPace]

    def save_state(self) -> State:
        """Return how long ago the nodes of each pace had their turns, whose turn it is, and who waits for one."""
        return {
            "version": 3, "paces": [
                {**_named(pace), "late_s": pace.late_s, "population": pace.population.save_state(),
                 "nodes": [path_of(self._scheduler, one) for one in nodes]}
                for pace, nodes in self._nodes_by_pace()],
            "waiting": [{**_named(one), "is_owed": one.is_owed} for one in self._waiting],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. A pace that is not here comes with its nodes."""
        fields = Fields.versioned(state, version=3, migrations={1: _from_1_to_2, 2: _from_2_to_3})
        saved: dict[Key, SavedPace] = {}
        for one in fields.groups("paces"):
            one.group("population")     # says where, if it is none
            key = _key(one)
            if key in saved:
                one.refuse("phase_frames", f"comes twice with the period {key[0]}")
            saved[key] = SavedPace(one.seconds("late_s"), one.anything("population"), _paths(one))
            self.new_population().prepare_state(saved[key].population)
            one.end()
        waiting: dict[Key, bool] = {}
        for one in fields.groups("waiting"):
            waiting[_key(one)] = one.flag("is_owed")
            one.end()
        fields.end()

        def change() -> None:
            self._arrange(saved)
            here = {pace.key: pace for pace in self.paces}
            for key, pace in here.items():
                pace.is_owed = waiting.get(key, False)
                _move(pace, saved[key].late_s if key in saved else 0.0)
            self._load_populations(saved)
            self._loaded = saved
            self._waiting = [here[key] for key in waiting if key in here]
            self._resume()

        return change

    def settle(self) -> None:
        """Let those sleep who slept when it was saved: as nodes are loaded they wake."""
        loaded, self._loaded = self._loaded, {}
        if loaded:
            self._load_populations(loaded)
            for pace, nodes in self._nodes_by_pace():
                for node in nodes:
                    node.has_settled(is_asleep=pace.population.is_sleeping(node.in_crowd))

    def _load_populations(self, saved: dict[Key, SavedPace]) -> None:
        for pace in self.paces:
            if pace.key in saved:
                pace.population.prepare_state(saved[pace.key].population)()

    def _arrange(self, saved: dict[Key, SavedPace]) -> None:
        """Give nodes the paces and the order of turns that they had; who was not there comes last."""
        nodes = {path_of(self._scheduler, node): node for _, _, node in self._nodes.values()}
        wanted: list[tuple[Key, Any]] = []
        for key, one in saved.items():
            wanted += [(key, nodes.pop(path)) for path in one.nodes or () if path in nodes]
        present = [(pace.key, node) for pace, of_pace in self._nodes_by_pace() for node in of_pace]
        if not wanted or present[:len(wanted)] == wanted:
            return
        edited = dict(self._to_edit)
        resting = {node.instance_id for pace, _, node in self._nodes.values()
                   if pace.population.is_resting(node.in_crowd)}
        for _, node in present:
            self.unseat(node)
        for key, node in wanted:
            self.seat(node, self.pace_at(*key), is_resting=node.instance_id in resting)
        for node in nodes.values():
            self.seat(node, self._pace_for(node.period_frames), is_resting=node.instance_id in resting)
        self._to_edit.update(edited)

    def _nodes_by_pace(self) -> list[tuple[Any, list[Any]]]:
        """Return the nodes of each pace in the order of their turns."""
        found: dict[Any, list[Any]] = {pace: [] for pace in self.paces}
        for pace, _, node in self._nodes.values():
            found[pace].append(node)
        return list(found.items())


def _named(pace: Any) -> State:
    return {"period_frames": pace.period_frames, "phase_frames": pace.phase_frames}


def _key(fields: Fields) -> Key:
    period_frames = fields.whole("period_frames", minimum=1)
    return period_frames, fields.whole("phase_frames", maximum=period_frames - 1)    # else its turn never comes


def _paths(fields: Fields) -> list[str] | None:
    if fields.anything("nodes") is None:
        return None
    paths = fields.items("nodes")
    for index, path in enumerate(paths):
        if not isinstance(path, str):
            fields.refuse(f"nodes[{index}]", f"must be a path, got {path!r}")
    return paths


def _move(pace: Any, late_s: float) -> None:
    """Let the nodes of a pace have had their last turns so long ago."""
    pace.advanced_s = pace.clock.now.seconds - late_s
    for one in pace.population:
        if pace.population.is_resting(one):      # loaded while the game is paused
            pace.population.rest(one, late_s=late_s)


def _from_1_to_2(old: State) -> State:
    return {**old, "version": 2, "waiting": []}


def _from_2_to_3(old: State) -> State:
    return {**old, "version": 3, "paces": [{**one, "nodes": None} for one in old["paces"]]}
