"""Saved graph senses: waves, smells, doors and lights go on where they stood."""
from __future__ import annotations

import copy
import json

import pytest

from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.percepts.memory import SenseMemory
from tests.senses.graph.graph_worlds import SIGHT, GraphWorld, door, hearing, room, smell
from tests.senses.worlds import ALL_ROUND


class Level(GraphWorld):
    """Four rooms in a row, people in each, noises and smells in the first."""

    def __init__(self, gradual=()):
        rooms = [room(str(k), (2.0 * k, 0, 0), dissipation={"smell": 0.01}) for k in range(4)]
        doors = [one for k in range(3) for one in door(
            str(k), str(k + 1), (2.0 * k + 1, 0, 0), "hearing", "smell", "sight", name=f"door {k}")]
        self.build(SenseGraph(rooms, doors), gradual)

    def build(self, graph, gradual=()):
        super().__init__(graph, smells=["smell"], gradual=gradual, smell_step_s=0.5,
                         modalities=[SIGHT, hearing(0.95, 0.3), smell(0.2)])
        for k in range(4):
            self.sensor((2.0 * k, 0, 0), {"hearing": 0.01, "smell": 0.01, "sight": 0.01}, name=f"ear {k}",
                        memory=SenseMemory(), sight_cones=[ALL_ROUND])
        self.noise, self.lamp = (
            self.manager.add_source(position=(0, 0, z), strengths={"sight": 1.0}, name=name)
            for z, name in ((0.5, "noise"), (0, "lamp")))

    def live(self, frames, steps):
        for _ in range(frames):
            self.clock.advance()
            now = self.clock.now.frame
            if now % 5 == 1:
                self.manager.emit(self.noise, "hearing", 2.0)
            if now % 7 == 1:
                self.manager.emit(self.lamp, "smell", 50.0)
            self.manager.change_source(self.lamp, gives_light=now % 9 < 5)
            self.graph.set_open("door 1", now % 11 < 8)
            self.manager.advance(Budget.of_steps(steps))
        told, self.heard[:] = list(self.heard), []
        return told

    def save(self):
        return json.loads(json.dumps({"clock": self.clock.save_state(), "manager": self.manager.save_state()}))

    def load(self, state):
        changes = [getattr(self, name).prepare_state(one) for name, one in state.items()]
        for change in changes:
            change()


@pytest.mark.parametrize("steps", [2, 5, 999])
@pytest.mark.parametrize("gradual", [(), ("hearing",)])
@pytest.mark.parametrize("frames", [3, 10, 26])
def test_loaded_into_another_they_sense_what_they_would_have(frames, gradual, steps):
    first, second = Level(gradual), Level(gradual)
    first.live(frames, steps)
    second.live(4, 99)
    state = first.save()
    second.load(copy.deepcopy(state))
    assert second.save() == state
    assert second.live(30, steps) == first.live(30, steps)
    assert second.save() == first.save()


def half_way():
    level = Level(("hearing",))
    level.live(12, 6)
    state = level.save()
    assert state["manager"]["signals"]["waves"]
    assert state["manager"]["smells"]["scents"]
    return level, state


def broken(path, value, part=None):
    def break_it(state):
        place = state["manager"] if part is None else state["manager"][part]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    return break_it


@pytest.mark.parametrize(
    "break_it",
    [
        broken(["version"], 9), broken(["graph"], {}),
        broken(["graph", "portals", "door 0: 0 to 1"], [1, None]),
        broken(["graph", "wind"], [0, 0]), broken(["sources", "rows", 0, "details", "gives_light"], 1),
        broken(["smells", "steps"], -1), broken(["smells", "begun_s"], None),
        broken(["smells", "scents", 0, 1, "regions"], ["0", "0"]), broken(["smells", "scents", 0, 1, "regions"], [0]),
        broken(["smells", "scents", 0, 1, "mass"], [-1.0]), broken(["smells", "scents", 0, 0], ["hearing", 1]),
        broken(["smells", "scents", 0, 1, "entry"], [[0, 0]]), broken(["smells", "turn"], [["smell", 9]]),
        broken(["smells", "more"], 1), broken(["more"], 1),
        *(broken(["waves", 0, *path], value, "signals") for path, value in (
            (["signal", "modality"], "aura"), (["signal", "strength"], -1.0), (["signal", "order"], 99),
            (["region"], 4), (["settled"], [99]), (["waiting"], [[0, 1.0]]), (["passed"], [[1.0, -1.0, 99]]),
            (["passed"], [[1.0, 1.0, 0]]), (["waiting"], [[-1.0, -1.0, 0]]))),
        broken(["sent"], 0, "signals"), broken(["followed"], -1, "signals"), broken(["level"], None, "signals"),
        lambda state: state["manager"].pop("graph"),
        lambda state: state["manager"].update(more=1),
    ],
)
def test_a_damaged_save_is_refused_whole(break_it):
    level, state = half_way()
    before = level.save()
    break_it(state)
    with pytest.raises(StateError):
        level.manager.prepare_state(state["manager"])
    assert level.save() == before


def test_a_listener_must_not_save():
    level = Level()
    refused = []

    def save(_):
        with pytest.raises(RuntimeError):
            level.manager.save_state()
        refused.append(True)

    level.sensor((0, 0, 0), {"hearing": 0.0}, on_sensed=save)
    level.manager.emit(level.noise, "hearing", 1.0)
    level.tick(frames=8)
    assert refused


class ChangedLevel(Level):
    """The same, built again: regions and doors in another order, one door walled up, a cellar dug."""

    def __init__(self):
        rooms = [room(str(k), (2.0 * k, 0, 0), dissipation={"smell": 0.01}) for k in (3, 1, 0, 2)]
        rooms.insert(1, room("cellar", (0, -9, 0)))
        doors = [one for k in (2, 0) for one in door(
            str(k), str(k + 1), (2.0 * k + 1, 0, 0), "hearing", "smell", "sight", name=f"door {k}")]
        doors[:0] = door("cellar", "0", (0, -1, 0), "hearing", name="hatch", is_open=False)
        self.build(SenseGraph(rooms, doors))


def smells_in(level):
    return {one.name: level.manager.smell_in(one.name, level.lamp, "smell") for one in level.graph.regions}


def test_a_changed_level_has_its_doors_winds_and_smells_by_name():
    first, second = Level(), ChangedLevel()
    first.live(26, 999)
    first.graph.set_open("door 2", False)
    first.graph.set_portal_wind("door 0", 2.5)
    first.graph.set_portal_wind("door 1", 1.0)
    before = smells_in(first)
    second.load(first.save())
    assert [second.graph.is_open(name) for name in ("door 0", "door 2", "hatch")] == [True, False, False]
    assert (second.graph.portal_wind("door 0"), second.graph.portal_wind("door 2")) == (2.5, None)
    after = smells_in(second)
    assert (after["0"], after["3"], after["cellar"]) == (pytest.approx(before["0"]), pytest.approx(before["3"]), 0)
    # Rooms too small for their doors count as large enough for them; these have lost one.
    assert [after[name] / before[name] for name in "12"] == [pytest.approx(1.25)] * 2
    for _ in range(30):
        second.clock.advance()
        second.manager.advance(Budget.unlimited())
    assert {one.modality for one in second.heard} >= {"smell", "sight"}, "life goes on"


def test_sounds_in_transit_in_a_changed_level_are_dropped_safely():
    first, second = Level(gradual=("hearing",)), ChangedLevel()
    first.clock.advance()
    first.manager.emit(first.noise, "hearing", 9.0)
    first.manager.advance(Budget.unlimited())
    assert first.save()["manager"]["signals"]["waves"]
    second.load(first.save())
    assert second.save()["manager"]["signals"]["waves"] == []


@pytest.mark.parametrize(("name", "value", "message"), [
    ("portals", {"gate: a to b": [True]}, "'portals.gate: a to b' must be a list of 2"),
    ("portals", {"gate: a to b": [1, None]}, r"'portals.gate: a to b\[0\]' must be true or false"),
    ("portals", [], "'portals' must be a dict"),
    ("wind", [1, 2], "'wind' must be a list of 3"),
])
def test_damaged_doors_and_winds_are_refused(name, value, message):
    graph = Level().graph
    with pytest.raises(StateError, match=message):
        graph.prepare_state({**graph.save_state(), name: value})
