"""Posts of tactics lie where somebody can stand, so that who goes there comes there."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.free_cells import GridClearance, NearestFreeCell
from ai_core.squads.situation import Sighting
from tests.squads.marching import FRAME_S, squad_of

FREE = np.ones((60, 60), bool)
FREE[38:, :] = False
FREE[:22, :] = False                                  # a street along x, 16 m wide


def in_the_open(place):
    return bool(FREE[int(place[1]), int(place[0])])


def squad_with(standing, **settings):
    clock = ManualClock()
    squad = squad_of(6, clock, at=(10, 30), standing=standing, **settings)
    return squad, clock


def test_place_in_a_wall_goes_to_nearest_free_cell_others_stay():
    standing = NearestFreeCell(FREE, cell_size_m=1.0)
    found = standing(np.array([[5.3, 30.1], [5.3, 10.0], [-4.0, 30.0], [5.0, 1000.0]]))
    assert found.tolist() == [[5.3, 30.1], [5.5, 22.5], [0.5, 29.5], [4.5, 37.5]]
    high = NearestFreeCell(FREE, origin=(100.0, 0.0))(np.array([[105.3, 7.0, 10.0]]))
    assert high.tolist() == [[105.5, 7.0, 22.5]], "heights stay"


@pytest.mark.parametrize("tactic", ["flanking", "sacrifice", "healing_support", "bounding_overwatch", "scouting"])
def test_no_tactic_sends_anybody_into_a_wall(tactic):
    squad, _ = squad_with(NearestFreeCell(FREE))
    squad.change_member(0, roles=("healer",))
    squad.change_member(1, roles=("scout",))
    squad.move_to((40, 36.5))
    squad.set_sightings([Sighting(70, (22.0, 36.0)), Sighting(71, (23.0, 24.0))])
    squad.use_tactic(tactic)
    squad.think()
    places = [task.position for task in squad.tasks.values() if task.position is not None]
    assert places
    assert all(map(in_the_open, places))


def test_flankers_whose_posts_were_in_walls_get_there_and_attack():
    kinds = {}
    for name, standing in (("open ground", None), ("walls", NearestFreeCell(FREE))):
        squad, clock = squad_with(standing)
        squad.set_sightings([Sighting(70, (24.0, 30.0))])
        squad.use_tactic("flanking")
        for frame in range(400):
            if frame % 3 == 0:
                squad.think()
            squad.move_slots(FRAME_S)
            new = squad.positions + squad.velocities() * np.float32(FRAME_S)
            stays = [not in_the_open(one) for one in new]
            new[stays] = squad.positions[stays]        # walls hold everybody up
            squad.set_positions(new)
            clock.advance()
        kinds[name] = {task.kind for task in squad.tasks.values()}
    assert "attack" in kinds["walls"]
    assert "attack" not in kinds["open ground"], "their posts are in the wall, and they never come there"


def test_attackers_stop_at_their_range_where_they_can_stand():
    free = np.ones((40, 40), bool)
    free[:, 12:18] = False
    free[20, 12:18] = True                            # a wall with a gap
    clock = ManualClock()
    squad = squad_of(4, clock, at=(4, 5.5), standing=NearestFreeCell(free), tokens=AttackTokens(4))
    for number in range(4):
        squad.change_member(number, capabilities=Capabilities(attack={"ground": 1.0}, range_m=8.0))
    squad.set_sightings([Sighting(70, (21.5, 5.5))])
    squad.use_tactic("flanking")
    places = []
    for _ in range(20):
        squad.think()
        for number, task in squad.tasks.items():
            if task.kind == "attack":
                places.append(task.position)
            elif task.position is not None:
                squad.marchers.positions[squad.row_of(number)] = task.position
        clock.advance()
    assert places
    assert all(free[int(y), int(x)] for x, y in places)


def test_what_is_no_answer_is_a_fault_that_says_so():
    squad, _ = squad_with(lambda places: places[:1], faults=FaultIsolation(reraise=True))
    squad.set_sightings([Sighting(70, (24.0, 30.0))])
    squad.use_tactic("flanking")
    with pytest.raises(ValueError, match="standing must return"):
        squad.think()
    with pytest.raises(TypeError, match="standing must be a callable"):
        squad_with("nowhere")
    with pytest.raises(ValueError, match="must have at least one free cell"):
        NearestFreeCell(np.zeros((2, 2), bool))


@pytest.mark.parametrize(("points", "directions", "most_m", "complaint"), [
    (-1, np.ones((1, 2)), 1.0, "points must be an array of numbers of shape"),
    (np.ones(2), np.ones((1, 2)), 1.0, "points must be an array of numbers of shape"),
    (np.ones((1, 2)), None, 1.0, r"directions must have shape \(1, 2\)"),
    (np.ones((1, 2)), np.ones((1, 2)), "x", "most_m must be a number"),
])
def test_clearance_of_wrong_arguments_is_refused(points, directions, most_m, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        GridClearance(FREE)(points, directions, most_m)
    with pytest.raises(TypeError, match="places must be an array of numbers of shape"):
        NearestFreeCell(FREE)([3, 4])
